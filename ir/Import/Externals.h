// Externals: functions of the host application that a module declares and calls become `plim.external` and `plim.call`.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace plim::ir {

/// Replaces every declaration of `module` and the calls of it, and adds to `count` how many there were. Fails, at the place, where a
/// declaration is none that the host can be called by, or is used otherwise.
mlir::LogicalResult bindExternals(mlir::ModuleOp module, mlir::SymbolTable &symbols,
                                  unsigned &count);

} // namespace plim::ir
