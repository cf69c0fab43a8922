// VulkanProgram: code of a dispatch on a device of Vulkan, a pipeline for each kernel.
//
// A frame is what one launch at a time needs: descriptors, commands, and the blocks that hold what
// the device does not have already. Threads: any; programs run several launches at once.
#pragma once

#include "devices/GpuDevice.h"
#include "devices/internal/AddressRanges.h"
#include "devices/internal/IdleMemory.h"
#include "devices/internal/VulkanDriver.h"

#include <memory>
#include <vector>

namespace plim::devices::internal {

/// What the programs of a device share.
struct VulkanShared {
  std::unique_ptr<VulkanDriver> driver;
  /// What GpuDevice::allocate() gave.
  AddressRanges<const VulkanBuffer *> allocations;
  IdleMemory<VulkanBuffer> idle;

  bool isLost() const { return driver->isLost(); }
};

/// Code for Vulkan on this device; the errors are those of GpuDevice::load(). `code` is one that
/// verify() takes.
StatusOr<std::shared_ptr<GpuProgram>> loadVulkan(std::shared_ptr<VulkanShared> shared,
                                                 GpuCode code);

/// As openVulkan(), with options, and a device that nobody else gets.
StatusOr<std::shared_ptr<GpuDevice>> openVulkanApart(int ordinal, const std::string &library,
                                                     const VulkanOptions &options);

} // namespace plim::devices::internal
