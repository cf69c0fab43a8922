// Supported: what a module may hold, and what may cross the boundary of a public function. The rest is refused here, at its place, so that
// no later stage has to ask.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// May the caller pass the arguments of `function` and get its results? A declaration may have the context as its first argument.
mlir::LogicalResult checkBoundary(mlir::func::FuncOp function);

/// Are all its operations, types and sizes supported, and the boundaries of its public functions? Calls of the host application
/// are bound (Externals.h).
mlir::LogicalResult checkSupported(mlir::ModuleOp module);

} // namespace plim::ir
