// VulkanProgram: code of a dispatch on a device of Vulkan, a pipeline for each kernel.
//
// A frame is what one launch at a time needs: descriptors, commands, and the blocks that hold what the device does
// not have already. Threads: any, for the methods of VulkanProgram.
#pragma once

#include "devices/GpuDevice.h"
#include "devices/internal/AddressRanges.h"
#include "devices/internal/FramePool.h"
#include "devices/internal/VulkanDriver.h"

#include <memory>
#include <vector>

namespace plim::devices::internal {

/// What the programs of a device share.
struct VulkanShared {
  std::unique_ptr<VulkanDriver> driver;
  /// What GpuDevice::allocate() gave.
  AddressRanges<const VulkanBuffer *> allocations;
  FramePools pools;

  bool isLost() const { return driver->isLost(); }

  /// `attempt`, and once more without the frames that rest if it lacks memory.
  template <typename AttemptT> auto withMemory(AttemptT attempt) {
    auto result = attempt();
    if (codeOf(result) != StatusCode::ResourceExhausted)
      return result;
    pools.drop();
    return attempt();
  }

private:
  static StatusCode codeOf(const Status &status) { return status.code(); }
  template <typename T> static StatusCode codeOf(const StatusOr<T> &value) {
    return value.status().code();
  }
};

/// Code for Vulkan on this device; the errors are those of GpuDevice::load(). `code` is one that verify() takes.
StatusOr<std::shared_ptr<GpuProgram>> loadVulkan(std::shared_ptr<VulkanShared> shared,
                                                 GpuCode code);

/// As openVulkan(), with options, and a device that nobody else gets.
StatusOr<std::shared_ptr<GpuDevice>> openVulkanApart(int ordinal, const std::string &library,
                                                     const VulkanOptions &options);

} // namespace plim::devices::internal
