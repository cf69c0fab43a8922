#include "devices/internal/SharedDevices.h"
#include "devices/internal/VulkanProgram.h"

#include <algorithm>
#include <sys/mman.h>

namespace plim::devices {
namespace {

using internal::VulkanBuffer;
using internal::VulkanDriver;
using internal::VulkanShared;

/// Addresses that nothing else in the process has, and that nobody can read.
void *reserveAddresses(size_t bytes) {
  void *base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}

class VulkanDevice final : public GpuDevice {
public:
  explicit VulkanDevice(std::shared_ptr<VulkanShared> shared) : shared(std::move(shared)) {}

  const std::string &model() const override { return shared->driver->model; }

  StatusOr<std::shared_ptr<GpuProgram>> load(GpuCode code) override {
    PLIM_RETURN_IF_ERROR(shared->driver->checkAlive());
    PLIM_RETURN_IF_ERROR(verify(code));
    if (code.kind != GpuCodeKind::Spirv)
      return failedPreconditionError("a device of Vulkan runs SPIR-V only");
    return internal::loadVulkan(shared, std::move(code));
  }

  void *allocate(size_t bytes, size_t) override {
    if (shared->isLost())
      return nullptr;
    bytes = std::max<size_t>(bytes, 1);
    StatusOr<VulkanBuffer> buffer = shared->idle.withMemory(
        [&] { return shared->driver->createBuffer(VulkanDriver::Memory::Kernels, bytes); });
    if (!buffer.ok())
      return nullptr;
    auto owned = std::make_unique<VulkanBuffer>(std::move(*buffer));
    void *base = reserveAddresses(bytes);
    if (base)
      shared->allocations.insert(reinterpret_cast<uintptr_t>(base), bytes, owned.release());
    return base;
  }

  void release(void *memory, size_t bytes) override {
    auto buffer = shared->allocations.erase(reinterpret_cast<uintptr_t>(memory));
    if (!buffer)
      return;
    delete *buffer;
    munmap(memory, std::max<size_t>(bytes, 1));
    shared->idle.constants.tryAgain();
  }

  std::shared_ptr<const void> keepConstant(const void *data, size_t bytes) override {
    return internal::keepConstant(shared, data, bytes);
  }

private:
  std::shared_ptr<VulkanShared> shared;
};

StatusOr<std::shared_ptr<VulkanShared>> open(int ordinal, const std::string &library,
                                             const internal::VulkanOptions &options) {
  auto shared = std::make_shared<VulkanShared>();
  PLIM_ASSIGN_OR_RETURN(shared->driver, VulkanDriver::open(ordinal, library, options));
  return shared;
}

} // namespace

StatusOr<std::shared_ptr<GpuDevice>> openVulkan(int ordinal, const std::string &library) {
  static auto &devices = *new internal::SharedDevices<VulkanShared>; // outlives every thread
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<VulkanShared> shared,
                        devices.get(library, ordinal, [&] { return open(ordinal, library, {}); }));
  return std::shared_ptr<GpuDevice>(std::make_shared<VulkanDevice>(std::move(shared)));
}

StatusOr<std::shared_ptr<GpuDevice>>
internal::openVulkanApart(int ordinal, const std::string &library, const VulkanOptions &options) {
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<VulkanShared> shared, open(ordinal, library, options));
  return std::shared_ptr<GpuDevice>(std::make_shared<VulkanDevice>(std::move(shared)));
}

} // namespace plim::devices
