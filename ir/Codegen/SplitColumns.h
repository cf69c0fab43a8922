// SplitColumns: the columns of an image with a border, which windows that move by two read every other one of, lie in memory as the even ones
// and behind them the odd ones. The border is a copy anyway, and each vector of a window is then one load, where it was two and a shuffle.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace plim::ir {

/// Splits those that nothing but vectors of slices with one step reads, 2 to mostStep (`RowVectors.h`). How many that are.
int64_t splitColumns(mlir::IRRewriter &rewriter, mlir::func::FuncOp function);

} // namespace plim::ir
