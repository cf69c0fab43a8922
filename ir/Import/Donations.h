// Donations: arguments whose memory a result takes (`plim.donate`).
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace plim::ir {

/// Can each donated argument have its result? What only the call knows of their extents it checks. `users` are those of the module.
mlir::LogicalResult checkDonations(mlir::func::FuncOp function, const mlir::SymbolUserMap &users);

} // namespace plim::ir
