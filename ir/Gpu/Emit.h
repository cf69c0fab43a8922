// From kernels to the code of a device.
#pragma once

#include "ir/Gpu/Kernels.h"
#include "targets/TargetDescription.h"

#include <string>

namespace plim::ir {

/// Turn the kernels of `module`, which is consumed, into code for `device`. `code` comes with its
/// arguments, numbers and temporaries; its modules and the features that a device must have are
/// filled in here. Fail with a diagnostic for what the device does not do. `wideIndex`: an index
/// has 64 bits, not 32; in PTX it always has. `strict`: as KernelOptions::strict.
mlir::LogicalResult emitSpirv(mlir::ModuleOp module, const Kernels &kernels,
                              const targets::DeviceDescription &device, bool wideIndex,
                              devices::GpuCode &code);
mlir::LogicalResult emitPtx(mlir::ModuleOp module, const Kernels &kernels,
                            const targets::DeviceDescription &device, bool strict,
                            devices::GpuCode &code);

} // namespace plim::ir
