#include "devices/internal/CudaDriver.h"

#include "targets/internal/DynamicLibrary.h"

#include <algorithm>
#include <array>

namespace plim::devices::internal {
namespace {

enum Attribute : int {
  MaxThreadsPerBlock = 1,
  MaxBlockX = 2, // then y and z
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerBlockOptin = 97,
};

enum class Meaning { NoMemory, Lost, CodeRefused, Fault };

Meaning meaningOf(CuResult result) {
  switch (result) {
  case 2:   // out of memory
  case 701: // a launch needs more registers or threads than there are
    return Meaning::NoMemory;
  case 4:   // the driver has gone down
  case 46:  // device unavailable
  case 214: // memory error that could not be corrected
  case 220: // the same on NVLink
  case 226: // a fault that the driver contained
  case 700: // illegal address
  case 702: // a launch took too long
  case 709: // the context is destroyed
  case 710: // an assertion
  case 714: // stack
  case 715: // illegal instruction
  case 716: // misaligned address
  case 717: // address space
  case 718: // program counter
  case 719: // launch failed
  case 721: // tensor memory not given back
  case 999: // unknown
    return Meaning::Lost;
  case 200: // image
  case 209: // no binary for this device
  case 218: // PTX
  case 221: // no compiler of PTX
  case 222: // version of PTX
  case 223: // compiler switched off
  case 300: // source
  case 301: // a file, which PTX may refer to
  case 302: // a symbol of a shared object
  case 303: // a shared object
  case 500: // no such name
    return Meaning::CodeRefused;
  default:
    return Meaning::Fault;
  }
}

} // namespace

StatusOr<std::unique_ptr<CudaDriver>> CudaDriver::open(int ordinal, const std::string &library) {
  PLIM_ASSIGN_OR_RETURN(void *handle, targets::internal::openLibrary(library));
  if (!handle)
    return unavailableError("no library " + library);
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  PLIM_RETURN_IF_ERROR(driver->loadCalls(handle).withContext(library));
  Status found = driver->findDevice(ordinal);
  if (!found.ok() && found.code() != StatusCode::ResourceExhausted)
    return unavailableError(std::string(found.message()));
  PLIM_RETURN_IF_ERROR(found);
  return driver;
}

CudaDriver::~CudaDriver() {
  if (context)
    calls.primaryContextRelease(device);
}

Status CudaDriver::loadCalls(void *library) {
#define CALL(member, symbol, parameters)                                                           \
  calls.member =                                                                                   \
      reinterpret_cast<decltype(calls.member)>(targets::internal::findSymbol(library, #symbol));   \
  if (!calls.member)                                                                               \
    return unavailableError("no symbol " #symbol);
  PLIM_CUDA_CALLS(CALL)
#undef CALL
  return okStatus();
}

Status CudaDriver::findDevice(int ordinal) {
  PLIM_RETURN_IF_ERROR(check(calls.init(0), "cuInit"));
  int count = 0;
  PLIM_RETURN_IF_ERROR(check(calls.deviceGetCount(&count), "cuDeviceGetCount"));
  if (ordinal < 0 || ordinal >= count)
    return unavailableError("no CUDA device #" + std::to_string(ordinal) + ", there are " +
                            std::to_string(count));
  PLIM_RETURN_IF_ERROR(check(calls.deviceGet(&device, ordinal), "cuDeviceGet"));
  std::array<char, 256> name = {};
  PLIM_RETURN_IF_ERROR(
      check(calls.deviceGetName(name.data(), name.size() - 1, device), "cuDeviceGetName"));
  model = name.data();
  auto ask = [&](int attribute) {
    int value = 0;
    return calls.deviceGetAttribute(&value, attribute, device) == 0 ? std::max(0, value) : 0;
  };
  capability = ask(ComputeCapabilityMajor) * 10 + ask(ComputeCapabilityMinor);
  maxBlockThreads = static_cast<uint32_t>(ask(MaxThreadsPerBlock));
  maxWorkgroupMemory = static_cast<uint32_t>(ask(MaxSharedMemoryPerBlockOptin));
  for (int i = 0; i < 3; ++i)
    maxBlock[i] = static_cast<uint32_t>(ask(MaxBlockX + i));
  return check(calls.primaryContextRetain(&context, device), "cuDevicePrimaryCtxRetain");
}

std::string CudaDriver::describe(CuResult result) const {
  const char *name = nullptr, *text = nullptr;
  std::string description = "error " + std::to_string(result);
  if (calls.getErrorName(result, &name) == 0 && name)
    description += std::string(" (") + name + ")";
  if (calls.getErrorString(result, &text) == 0 && text)
    description += std::string(", ") + text;
  return description;
}

Status CudaDriver::check(CuResult result, const char *call) {
  if (result == 0)
    return okStatus();
  std::string message = std::string(call) + ": " + describe(result);
  switch (meaningOf(result)) {
  case Meaning::NoMemory:
    return resourceExhaustedError(std::move(message));
  case Meaning::Lost:
    lost = true;
    return unavailableError(std::move(message));
  case Meaning::CodeRefused:
    return failedPreconditionError(std::move(message));
  case Meaning::Fault:
    break;
  }
  return internalError(std::move(message));
}

Status CudaDriver::checkAlive() const {
  return isLost() ? unavailableError("the device is lost: " + model) : okStatus();
}

CudaDriver::Current::Current(CudaDriver &driver)
    : status(driver.check(driver.calls.contextPush(driver.context), "cuCtxPushCurrent")),
      driver(driver) {}

CudaDriver::Current::~Current() {
  CuContext popped = nullptr;
  if (status.ok())
    driver.calls.contextPop(&popped);
}

} // namespace plim::devices::internal
