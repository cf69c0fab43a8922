// Constraints: where an allocation or a constant may be, as its author says: scope, candidate pools, accessors, limits.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plim::ir {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// A power of two up to 2^30.
bool isAlignment(int64_t bytes);

/// The constraints of an allocation; each attribute may be null.
mlir::LogicalResult verifyConstraints(llvm::StringRef scope, mlir::Attribute pools,
                                      mlir::Attribute accessors, mlir::Attribute maxBytes,
                                      mlir::Attribute limits, EmitError emitError);

/// A dictionary of limits of the stack, called `what` in errors; some belong on a module alone.
mlir::LogicalResult verifyLimits(mlir::Attribute limits, llvm::StringRef what, bool onModule,
                                 EmitError emitError);

/// The scope of a global of memref or ml_program: a constant may live in a pool, and is copied there when the module is loaded.
mlir::LogicalResult verifyConstantScope(mlir::Operation *op, mlir::Attribute scope);

} // namespace plim::ir
