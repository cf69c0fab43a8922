#include "targets/cuda/Cuda.h"

#include "targets/internal/DynamicLibrary.h"

#include <algorithm>
#include <array>

namespace plim::targets {
namespace {

// The driver's ABI: names and numbers are those of cuda.h.
using CuResult = int;
using CuDevice = int;
constexpr CuResult cuSuccess = 0;
constexpr CuResult cuErrorStubLibrary = 34;
constexpr CuResult cuErrorNoDevice = 100;

enum CuAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxSharedMemoryPerBlock = 8,
  WarpSize = 10,
  ClockRateKHz = 13,
  MultiprocessorCount = 16,
  CanMapHostMemory = 19,
  MemoryClockRateKHz = 36,
  GlobalMemoryBusBits = 37,
  L2CacheBytes = 38,
  MaxThreadsPerMultiprocessor = 39,
  UnifiedAddressing = 41,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  ConcurrentManagedAccess = 89,
  PageableMemoryAccess = 88,
  MaxSharedMemoryPerBlockOptIn = 97,
};

struct Driver {
  CuResult (*init)(unsigned flags);
  CuResult (*driverGetVersion)(int *version);
  CuResult (*deviceGetCount)(int *count);
  CuResult (*deviceGet)(CuDevice *device, int ordinal);
  CuResult (*deviceGetName)(char *name, int length, CuDevice device);
  CuResult (*deviceGetAttribute)(int *value, int attribute, CuDevice device);
  CuResult (*deviceTotalMem)(size_t *bytes, CuDevice device);
  CuResult (*getErrorString)(CuResult error, const char **text); // may be absent
};

template <typename Function> Status load(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(internal::findSymbol(library, name));
  return function ? okStatus() : unavailableError(std::string("no symbol ") + name);
}

StatusOr<Driver> loadDriver(void *library) {
  Driver driver = {};
  PLIM_RETURN_IF_ERROR(load(library, "cuInit", driver.init));
  PLIM_RETURN_IF_ERROR(load(library, "cuDriverGetVersion", driver.driverGetVersion));
  PLIM_RETURN_IF_ERROR(load(library, "cuDeviceGetCount", driver.deviceGetCount));
  PLIM_RETURN_IF_ERROR(load(library, "cuDeviceGet", driver.deviceGet));
  PLIM_RETURN_IF_ERROR(load(library, "cuDeviceGetName", driver.deviceGetName));
  PLIM_RETURN_IF_ERROR(load(library, "cuDeviceGetAttribute", driver.deviceGetAttribute));
  PLIM_RETURN_IF_ERROR(load(library, "cuDeviceTotalMem_v2", driver.deviceTotalMem));
  driver.getErrorString = reinterpret_cast<decltype(driver.getErrorString)>(
      internal::findSymbol(library, "cuGetErrorString"));
  return driver;
}

Status check(const Driver &driver, CuResult result, const char *call) {
  if (result == cuSuccess)
    return okStatus();
  const char *text = nullptr;
  if (!driver.getErrorString || driver.getErrorString(result, &text) != cuSuccess || !text)
    text = "no description";
  return unavailableError(std::string(call) + ": error " + std::to_string(result) + ", " + text);
}

/// "+ptx84" for a driver of CUDA 12.4, or empty if it is older than this rule. From 12.6 on the
/// versions of PTX are one behind; from 13.0 on they agree again.
std::string ptxFeature(int driverVersion) {
  int major = driverVersion / 1000, minor = driverVersion % 1000 / 10;
  if (major < 11)
    return {};
  if (major == 12 && minor > 5)
    --minor;
  return "+ptx" + std::to_string(major - 4) + std::to_string(minor);
}

/// One device and what must be said about memories because of it.
struct Found {
  DeviceDescription device;
  std::vector<MemoryDescription> memories;
  bool mapsHostMemory = false;
  bool readsPageableMemory = false;
};

StatusOr<Found> describe(const Driver &driver, int ordinal, int driverVersion) {
  CuDevice handle = 0;
  PLIM_RETURN_IF_ERROR(check(driver, driver.deviceGet(&handle, ordinal), "cuDeviceGet"));
  std::array<char, 256> model = {};
  PLIM_RETURN_IF_ERROR(check(driver, driver.deviceGetName(model.data(), model.size() - 1, handle),
                             "cuDeviceGetName"));
  size_t totalBytes = 0;
  PLIM_RETURN_IF_ERROR(
      check(driver, driver.deviceTotalMem(&totalBytes, handle), "cuDeviceTotalMem"));
  // An attribute that an old driver does not know is 0, which is "no" or "unknown" for all of them.
  auto ask = [&](CuAttribute attribute) -> int64_t {
    int value = 0;
    return driver.deviceGetAttribute(&value, attribute, handle) == cuSuccess ? std::max(0, value)
                                                                             : 0;
  };

  Found found;
  DeviceDescription &device = found.device;
  device.name = "cuda" + std::to_string(ordinal);
  device.kind = DeviceKind::Cuda;
  device.description = model.data();
  device.triple = "nvptx64-nvidia-cuda";
  const int64_t capability = ask(ComputeCapabilityMajor) * 10 + ask(ComputeCapabilityMinor);
  // With what only this one architecture has, and none after it: code is for this device.
  device.cpu = "sm_" + std::to_string(capability) + (capability == 90 ? "a" : "");
  device.tuneCpu = device.cpu;
  if (std::string ptx = ptxFeature(driverVersion); !ptx.empty())
    device.features = {ptx};
  device.vectorBits = 128; // the widest load of one thread
  device.cores = std::max<int64_t>(1, ask(MultiprocessorCount));
  device.hardwareThreads = std::max<int64_t>(1, device.cores * ask(MaxThreadsPerMultiprocessor));
  device.clockMHz = ask(ClockRateKHz) / 1000;
  if (int64_t bytes = ask(L2CacheBytes); bytes > 0)
    device.caches = {{.level = 2, .bytes = bytes, .lineBytes = 128, .sharedBy = device.cores}};
  device.stackAddressable = false;
  device.workspaceAlignment = 256;
  device.scratchBytes = ask(MaxSharedMemoryPerBlock);
  device.subgroupSize = std::max<int64_t>(1, ask(WarpSize));
  device.maxWorkgroupSize = std::max<int64_t>(1, ask(MaxThreadsPerBlock));
  device.unifiedAddressing = ask(UnifiedAddressing) != 0;

  // Two transfers a clock.
  double gigabytesPerSecond = 2.0 * static_cast<double>(ask(MemoryClockRateKHz)) * 1e3 *
                              static_cast<double>(ask(GlobalMemoryBusBits)) / 8 / 1e9;
  found.memories.push_back({.name = device.name + ".global",
                            .kind = MemoryKind::Device,
                            .bytes = static_cast<int64_t>(totalBytes),
                            .alignment = 256,
                            .readGBps = gigabytesPerSecond,
                            .writeGBps = gigabytesPerSecond,
                            .accessibleBy = {device.name}});
  found.memories.push_back(
      {.name = device.name + ".shared",
       .kind = MemoryKind::Scratch,
       .bytes = std::max(device.scratchBytes, ask(MaxSharedMemoryPerBlockOptIn)),
       .alignment = 16,
       .accessibleBy = {device.name}});
  found.mapsHostMemory = ask(CanMapHostMemory) != 0 && device.unifiedAddressing;
  found.readsPageableMemory = ask(PageableMemoryAccess) != 0;
  if (ask(ConcurrentManagedAccess) != 0)
    found.memories.push_back(
        {.name = device.name + ".managed", .kind = MemoryKind::Unified, .alignment = 256});
  return found;
}

} // namespace

Status queryCuda(TargetDescription &target, const std::string &library) {
  PLIM_ASSIGN_OR_RETURN(void *handle, internal::openLibrary(library));
  if (!handle)
    return okStatus();
  StatusOr<Driver> driver = loadDriver(handle);
  if (!driver.ok())
    return driver.status().withContext(library);

  CuResult started = driver->init(0);
  if (started == cuErrorNoDevice || started == cuErrorStubLibrary)
    return okStatus();
  PLIM_RETURN_IF_ERROR(check(*driver, started, "cuInit"));
  int version = 0, count = 0;
  PLIM_RETURN_IF_ERROR(check(*driver, driver->driverGetVersion(&version), "cuDriverGetVersion"));
  PLIM_RETURN_IF_ERROR(check(*driver, driver->deviceGetCount(&count), "cuDeviceGetCount"));

  TargetDescription result = target;
  MemoryDescription pinned = {.name = "cuda.pinned", .kind = MemoryKind::Pinned, .alignment = 256};
  std::string host = target.devices.empty() ? "" : target.devices[0].name;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    PLIM_ASSIGN_OR_RETURN(Found found, describe(*driver, ordinal, version));
    const std::string &name = found.device.name;
    for (MemoryDescription &memory : found.memories) {
      if (memory.kind == MemoryKind::Unified)
        memory.accessibleBy = {host, name};
      result.memories.push_back(std::move(memory));
    }
    if (found.mapsHostMemory)
      pinned.accessibleBy.push_back(name);
    if (found.readsPageableMemory)
      for (MemoryDescription &memory : result.memories)
        if (memory.kind == MemoryKind::Host)
          memory.accessibleBy.push_back(name);
    result.devices.push_back(std::move(found.device));
  }
  if (!pinned.accessibleBy.empty()) {
    pinned.accessibleBy.insert(pinned.accessibleBy.begin(), host);
    result.memories.push_back(std::move(pinned));
  }
  PLIM_RETURN_IF_ERROR(verify(result).withContext("the CUDA driver's answers"));
  target = std::move(result);
  return okStatus();
}

} // namespace plim::targets
