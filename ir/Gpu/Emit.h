// From kernels to the code of a device.
#pragma once

#include "ir/Gpu/Kernels.h"
#include "targets/TargetDescription.h"

#include <string>

namespace plim::ir {

/// Consumes `module`, in which the kernels are. What they are for is filled in but for the modules, which they are put
/// into, and what a device must have. Fail with a diagnostic for what the device does not do.
/// `wideIndex`: an index has 64 bits, not 32; in PTX it always has.
mlir::LogicalResult emitSpirv(mlir::ModuleOp module, const Kernels &kernels,
                              const targets::DeviceDescription &device, bool wideIndex,
                              devices::GpuCode &code);
mlir::LogicalResult emitPtx(mlir::ModuleOp module, const Kernels &kernels,
                            const targets::DeviceDescription &device, bool strict,
                            devices::GpuCode &code);

} // namespace plim::ir
