// GpuCompiler: code for Vulkan and CUDA devices from dispatches.
//
// What it gets is what the compiler of any device gets (docs/design/devices.md): a module of its own with a function
// over tensors. What it gives is a GpuCode that a driver runs. docs/design/gpu.md says how.
#pragma once

#include "ir/Dispatch/Passes.h"
#include "targets/TargetDescription.h"

namespace plim::ir {

/// Is it a device that compileForGpu() knows?
bool isGpu(const targets::DeviceDescription &device);

/// Code for `device`, which isGpu(). Refused, with the reason, is what kernels cannot do, or the device does not have; then
/// the host runs it. `strict`: every operation rounds as the source says, in its order. Any thread; uses a context of its
/// own.
DeviceAnswer compileForGpu(const DeviceSource &dispatch, const targets::DeviceDescription &device,
                           bool strict);

} // namespace plim::ir
