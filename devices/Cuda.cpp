#include "devices/GpuDevice.h"
#include "devices/internal/AddressRanges.h"
#include "devices/internal/CudaDriver.h"
#include "devices/internal/FramePool.h"
#include "devices/internal/IdleMemory.h"
#include "devices/internal/SharedDevices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace plim::devices {
namespace {

using internal::AddressRanges;
using internal::CuAddress;
using internal::CudaCalls;
using internal::CudaDriver;
using internal::CuFunction;
using internal::CuModule;
using internal::CuStream;
using internal::FramePool;
using internal::IdleMemory;

/// Memory of the device.
class CudaBlock {
public:
  /// The context is current. The driver outlives the block.
  static StatusOr<std::unique_ptr<CudaBlock>> create(CudaDriver &driver, size_t bytes) {
    std::unique_ptr<CudaBlock> block(new CudaBlock(driver));
    PLIM_RETURN_IF_ERROR(
        driver.check(driver.calls.memoryAllocate(&block->address, bytes), "cuMemAlloc"));
    return block;
  }
  ~CudaBlock() {
    if (!address)
      return;
    CudaDriver::Current current(driver);
    if (current.status.ok())
      driver.calls.memoryFree(address);
  }
  CudaBlock(const CudaBlock &) = delete;
  CudaBlock &operator=(const CudaBlock &) = delete;

  CuAddress address = 0;

private:
  explicit CudaBlock(CudaDriver &driver) : driver(driver) {}
  CudaDriver &driver;
};

/// What the programs of a device share.
struct CudaShared {
  std::unique_ptr<CudaDriver> driver;
  AddressRanges<CuAddress> allocations; // what GpuDevice::allocate() gave
  IdleMemory<CudaBlock> idle;

  bool isLost() const { return driver->isLost(); }

  /// The context is current.
  StatusOr<CuAddress> allocate(size_t bytes) {
    return idle.withMemory([&]() -> StatusOr<CuAddress> {
      CuAddress address = 0;
      PLIM_RETURN_IF_ERROR(
          driver->check(driver->calls.memoryAllocate(&address, bytes), "cuMemAlloc"));
      return address;
    });
  }
};

constexpr size_t blockAlignment = 256;

size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// What one launch at a time needs: a stream, a block of memory, and the parameters of its kernels.
class Frame {
public:
  Frame(CudaShared &shared, const GpuCode &code, const std::vector<CuFunction> &functions);
  ~Frame();
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  // The context is current in all of them.
  Status create();
  Status run(const GpuLaunch &launch);

private:
  /// Where a buffer of the launch is: an argument or a temporary.
  struct Slot {
    bool isUsed = false; // by a kernel that runs
    bool copiesIn = false;
    bool copiesOut = false;
    bool isInBlock = false;
    CuAddress address = 0; // in the block: counted from its begin, until that is known
    std::shared_ptr<const CudaBlock> constant; // that it is in
  };

  Status runIn(const GpuLaunch &launch);
  Status placeBuffers(const GpuLaunch &launch);
  Status placeConstant(Slot &slot, const GpuLaunch::Buffer &argument);
  StatusOr<std::shared_ptr<const CudaBlock>> copyConstant(const void *data, size_t bytes);
  Status reserveBlock(size_t bytes);
  Status enqueue(const GpuLaunch &launch);
  Status launchKernel(const GpuLaunch::Kernel &launch, size_t position);

  CudaShared &shared;
  CudaDriver &driver;
  const CudaCalls &cuda;
  const GpuCode &code;
  const std::vector<CuFunction> &functions;
  CuStream stream = nullptr;
  CuAddress block = 0;
  size_t blockBytes = 0;
  std::vector<Slot> slots;        // arguments, then temporaries
  std::vector<void *> parameters; // of the kernel that is launched
};

Frame::Frame(CudaShared &shared, const GpuCode &code, const std::vector<CuFunction> &functions)
    : shared(shared), driver(*shared.driver), cuda(driver.calls), code(code), functions(functions),
      slots(code.arguments.size() + code.temporaries.size()) {
  size_t most = 0;
  for (const GpuKernel &kernel : code.kernels)
    most = std::max(most, kernel.buffers.size() + kernel.words.size());
  parameters.reserve(most);
}

Frame::~Frame() {
  CudaDriver::Current current(driver);
  if (!current.status.ok())
    return;
  if (stream)
    cuda.streamDestroy(stream);
  if (block)
    cuda.memoryFree(block);
}

Status Frame::create() {
  constexpr unsigned nonBlocking = 1; // it has no order with the streams of others
  return driver.check(cuda.streamCreate(&stream, nonBlocking), "cuStreamCreate");
}

Status Frame::run(const GpuLaunch &launch) {
  Status status = runIn(launch);
  for (Slot &slot : slots)
    slot.constant = nullptr;
  return status;
}

Status Frame::runIn(const GpuLaunch &launch) {
  PLIM_RETURN_IF_ERROR(placeBuffers(launch));
  Status enqueued = enqueue(launch);
  // Also after a fault: what was enqueued uses the caller's memory.
  Status ended = driver.check(cuda.streamSynchronize(stream), "cuStreamSynchronize");
  return enqueued.ok() ? ended : enqueued;
}

Status Frame::placeBuffers(const GpuLaunch &launch) {
  std::ranges::fill(slots, Slot());
  for (size_t i = 0; i < launch.kernels.size(); ++i)
    if (launch.kernels[i].workgroups > 0)
      for (uint32_t buffer : code.kernels[i].buffers)
        slots[buffer].isUsed = true;

  size_t needed = 0, arguments = launch.arguments.size();
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    if (!slot.isUsed)
      continue;
    size_t bytes = i < arguments ? launch.arguments[i].bytes : launch.temporaryBytes[i - arguments];
    if (i < arguments && bytes > 0) {
      auto address = reinterpret_cast<uintptr_t>(launch.arguments[i].data);
      if (auto found = shared.allocations.find(address)) {
        if (bytes > found->bytes)
          return outOfRangeError("an argument reaches beyond the device's memory that it is in");
        slot.address = address;
        continue;
      }
      slot.copiesIn = code.arguments[i].isRead;
      slot.copiesOut = code.arguments[i].isWritten;
      if (slot.copiesIn && !slot.copiesOut)
        PLIM_RETURN_IF_ERROR(placeConstant(slot, launch.arguments[i]));
      if (slot.constant)
        continue;
    }
    slot.isInBlock = true;
    slot.address = needed;
    if (__builtin_add_overflow(needed, bytes, &needed) || needed > INT64_MAX)
      return resourceExhaustedError("the buffers of a launch together");
    needed = roundUp(needed, blockAlignment);
  }
  PLIM_RETURN_IF_ERROR(reserveBlock(needed));
  for (Slot &slot : slots)
    if (slot.isInBlock)
      slot.address += block;
  return okStatus();
}

/// If the argument is in a constant, and that is in the device's memory.
Status Frame::placeConstant(Slot &slot, const GpuLaunch::Buffer &argument) {
  PLIM_ASSIGN_OR_RETURN(auto found, shared.idle.constants.find(argument.data, argument.bytes,
                                                               [&](const void *data, size_t bytes) {
                                                                 return copyConstant(data, bytes);
                                                               }));
  if (!found.copy)
    return okStatus();
  slot.address = found.copy->address + found.offset;
  slot.constant = std::move(found.copy);
  slot.copiesIn = false;
  return okStatus();
}

/// It is there when this returns: other streams do not wait for this one.
StatusOr<std::shared_ptr<const CudaBlock>> Frame::copyConstant(const void *data, size_t bytes) {
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<const CudaBlock> copy, shared.idle.withoutIdleFrames([&] {
    return CudaBlock::create(driver, bytes);
  }));
  PLIM_RETURN_IF_ERROR(
      driver.check(cuda.copyToDevice(copy->address, data, bytes, stream), "cuMemcpyHtoDAsync"));
  PLIM_RETURN_IF_ERROR(driver.check(cuda.streamSynchronize(stream), "cuStreamSynchronize"));
  return copy;
}

Status Frame::reserveBlock(size_t bytes) {
  if (bytes <= blockBytes)
    return okStatus();
  if (block) {
    cuda.memoryFree(block);
    block = 0;
    blockBytes = 0;
  }
  // An eighth of reserve at most, so that sizes which grow slowly do not need a new block each time.
  size_t rounded = roundUp(bytes, std::max<size_t>(65536, std::bit_floor(bytes) / 8));
  PLIM_ASSIGN_OR_RETURN(block, shared.allocate(rounded));
  blockBytes = rounded;
  return okStatus();
}

Status Frame::enqueue(const GpuLaunch &launch) {
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    if (slots[i].copiesIn)
      PLIM_RETURN_IF_ERROR(
          driver.check(cuda.copyToDevice(slots[i].address, launch.arguments[i].data,
                                         launch.arguments[i].bytes, stream),
                       "cuMemcpyHtoDAsync"));
  for (size_t i = 0; i < launch.kernels.size(); ++i)
    if (launch.kernels[i].workgroups > 0)
      PLIM_RETURN_IF_ERROR(
          launchKernel(launch.kernels[i], i).withContext("kernel '" + code.kernels[i].entry + "'"));
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    if (slots[i].copiesOut)
      PLIM_RETURN_IF_ERROR(driver.check(cuda.copyToHost(launch.arguments[i].data, slots[i].address,
                                                        launch.arguments[i].bytes, stream),
                                        "cuMemcpyDtoHAsync"));
  return okStatus();
}

Status Frame::launchKernel(const GpuLaunch::Kernel &launch, size_t position) {
  const GpuKernel &kernel = code.kernels[position];
  parameters.clear();
  for (uint32_t buffer : kernel.buffers)
    parameters.push_back(&slots[buffer].address);
  // The driver reads as many bytes of each as the kernel declares.
  for (size_t i = 0; i < kernel.words.size(); ++i)
    parameters.push_back(const_cast<std::byte *>(launch.words.data() + 8 * i));
  const auto &[x, y, z] = kernel.workgroupSize;
  return driver.check(cuda.launchKernel(functions[position], launch.workgroups, 1, 1, x, y, z,
                                        kernel.workgroupMemory, stream, parameters.data(), nullptr),
                      "cuLaunchKernel");
}

class CudaProgram final : public GpuProgram {
public:
  CudaProgram(std::shared_ptr<CudaShared> shared, GpuCode code)
      : shared(std::move(shared)), program(std::move(code)) {
    this->shared->idle.frames.add(&frames);
  }

  ~CudaProgram() override {
    shared->idle.frames.remove(&frames);
    frames.drop();
    shared->idle.constants.tryAgain();
    CudaDriver::Current current(driver());
    if (current.status.ok())
      for (CuModule module : modules)
        driver().calls.moduleUnload(module);
  }

  Status load();

  const GpuCode &code() const override { return program; }

  Status run(const GpuLaunch &launch) override {
    PLIM_RETURN_IF_ERROR(driver().checkAlive());
    CudaDriver::Current current(driver());
    PLIM_RETURN_IF_ERROR(current.status);
    PLIM_ASSIGN_OR_RETURN(auto frame, takeFrame());
    return frame->run(launch);
  }

private:
  CudaDriver &driver() const { return *shared->driver; }
  Status checkFeature(std::string_view feature) const;
  Status checkWorkgroup(const GpuKernel &kernel) const;
  Status loadModule(const std::string &text);
  Status findFunction(const GpuKernel &kernel);

  StatusOr<FramePool<Frame>::Lease> takeFrame() {
    return frames.take([&]() -> StatusOr<std::unique_ptr<Frame>> {
      auto frame = std::make_unique<Frame>(*shared, program, functions);
      PLIM_RETURN_IF_ERROR(frame->create());
      return frame;
    });
  }

  std::shared_ptr<CudaShared> shared;
  const GpuCode program;
  std::vector<CuModule> modules;
  std::vector<CuFunction> functions; // of each kernel
  FramePool<Frame> frames;
};

Status CudaProgram::load() {
  for (const std::string &feature : program.features)
    PLIM_RETURN_IF_ERROR(checkFeature(feature));
  for (const GpuKernel &kernel : program.kernels)
    PLIM_RETURN_IF_ERROR(checkWorkgroup(kernel).withContext("kernel '" + kernel.entry + "'"));
  CudaDriver::Current current(driver());
  PLIM_RETURN_IF_ERROR(current.status);
  for (const std::string &text : program.modules)
    PLIM_RETURN_IF_ERROR(loadModule(text));
  for (const GpuKernel &kernel : program.kernels)
    PLIM_RETURN_IF_ERROR(findFunction(kernel).withContext("kernel '" + kernel.entry + "'"));
  return takeFrame().status(); // the first launch finds it
}

/// "sm_80": at least; "sm_90a": exactly; "sm_100f": at least, of the same major version.
Status CudaProgram::checkFeature(std::string_view feature) const {
  constexpr std::string_view prefix = "sm_";
  std::string_view rest = feature;
  if (!rest.starts_with(prefix))
    return failedPreconditionError("the device '" + driver().model + "' has no " +
                                   std::string(feature));
  rest.remove_prefix(prefix.size());
  int needed = 0;
  const char *end = std::from_chars(rest.data(), rest.data() + rest.size(), needed).ptr;
  std::string_view suffix(end, static_cast<size_t>(rest.data() + rest.size() - end));
  int found = driver().capability;
  bool runs = end != rest.data() && (suffix.empty()  ? found >= needed
                                     : suffix == "a" ? found == needed
                                     : suffix == "f" ? found >= needed && found / 10 == needed / 10
                                                     : false);
  return runs ? okStatus()
              : failedPreconditionError("the device '" + driver().model + "' is sm_" +
                                        std::to_string(found) + ", the code is for " +
                                        std::string(feature));
}

Status CudaProgram::checkWorkgroup(const GpuKernel &kernel) const {
  uint64_t threads = 1;
  for (size_t i = 0; i < kernel.workgroupSize.size(); ++i) {
    threads *= kernel.workgroupSize[i];
    if (kernel.workgroupSize[i] > driver().maxBlock[i] || threads > driver().maxBlockThreads)
      return failedPreconditionError("a workgroup is larger than the device's, which has " +
                                     std::to_string(driver().maxBlockThreads) + " threads");
  }
  return okStatus();
}

Status CudaProgram::loadModule(const std::string &text) {
  enum Option : int { ErrorLog = 5, ErrorLogBytes = 6 };
  std::array<char, 4096> log = {};
  std::array<int, 2> options = {ErrorLog, ErrorLogBytes};
  std::array<void *, 2> values = {log.data(), std::bit_cast<void *>(log.size() - 1)};
  CuModule module = nullptr;
  Status status = driver().check(driver().calls.moduleLoad(&module, text.c_str(), options.size(),
                                                           options.data(), values.data()),
                                 "cuModuleLoadDataEx");
  if (!status.ok())
    return log[0] ? Status(status.code(), std::string(status.message()) + ": " + log.data())
                  : status;
  modules.push_back(module);
  return okStatus();
}

Status CudaProgram::findFunction(const GpuKernel &kernel) {
  CuFunction function = nullptr;
  PLIM_RETURN_IF_ERROR(driver().check(
      driver().calls.moduleGetFunction(&function, modules[kernel.module], kernel.entry.c_str()),
      "cuModuleGetFunction"));
  if (kernel.workgroupMemory > 0) {
    constexpr int maxDynamicSharedBytes = 8;
    if (kernel.workgroupMemory > driver().maxWorkgroupMemory)
      return failedPreconditionError("a workgroup needs " + std::to_string(kernel.workgroupMemory) +
                                     " bytes of memory, the device has " +
                                     std::to_string(driver().maxWorkgroupMemory));
    PLIM_RETURN_IF_ERROR(driver().check(
        driver().calls.functionSetAttribute(function, maxDynamicSharedBytes,
                                            static_cast<int>(kernel.workgroupMemory)),
        "cuFuncSetAttribute"));
  }
  functions.push_back(function);
  return okStatus();
}

class CudaDevice final : public GpuDevice {
public:
  explicit CudaDevice(std::shared_ptr<CudaShared> shared) : shared(std::move(shared)) {}

  const std::string &model() const override { return shared->driver->model; }

  StatusOr<std::shared_ptr<GpuProgram>> load(GpuCode code) override {
    PLIM_RETURN_IF_ERROR(shared->driver->checkAlive());
    PLIM_RETURN_IF_ERROR(verify(code));
    if (code.kind != GpuCodeKind::Ptx)
      return failedPreconditionError("a device of CUDA runs PTX only");
    auto program = std::make_shared<CudaProgram>(shared, std::move(code));
    PLIM_RETURN_IF_ERROR(program->load());
    return std::shared_ptr<GpuProgram>(std::move(program));
  }

  void *allocate(size_t bytes, size_t) override { // the driver aligns to 256
    if (shared->isLost())
      return nullptr;
    CudaDriver::Current current(*shared->driver);
    if (!current.status.ok())
      return nullptr;
    bytes = std::max<size_t>(bytes, 1);
    StatusOr<CuAddress> address = shared->allocate(bytes);
    if (!address.ok())
      return nullptr;
    shared->allocations.insert(*address, bytes, *address);
    return std::bit_cast<void *>(*address);
  }

  void release(void *memory, size_t) override {
    auto address = shared->allocations.erase(reinterpret_cast<uintptr_t>(memory));
    if (!address)
      return;
    CudaDriver::Current current(*shared->driver);
    if (current.status.ok())
      shared->driver->calls.memoryFree(*address);
    shared->idle.constants.tryAgain();
  }

  std::shared_ptr<const void> keepConstant(const void *data, size_t bytes) override {
    return internal::keepConstant(shared, data, bytes);
  }

private:
  std::shared_ptr<CudaShared> shared;
};

} // namespace

StatusOr<std::shared_ptr<GpuDevice>> openCuda(int ordinal, const std::string &library) {
  static auto &devices = *new internal::SharedDevices<CudaShared>; // outlives every thread
  auto open = [&]() -> StatusOr<std::shared_ptr<CudaShared>> {
    auto shared = std::make_shared<CudaShared>();
    PLIM_ASSIGN_OR_RETURN(shared->driver, CudaDriver::open(ordinal, library));
    return shared;
  };
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<CudaShared> shared, devices.get(library, ordinal, open));
  return std::shared_ptr<GpuDevice>(std::make_shared<CudaDevice>(std::move(shared)));
}

} // namespace plim::devices
