// Globals: variables, constants and parameters of ml_program become globals of memref, or constants in place.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace plim::ir {

/// Replaces every global of `module` and its loads and stores, and adds to `count` how many there were. Fails, at the place, for
/// types, values and uses that are not supported.
mlir::LogicalResult convertGlobals(mlir::ModuleOp module, mlir::SymbolTable &symbols,
                                   const mlir::SymbolUserMap &users, unsigned &count);

} // namespace plim::ir
