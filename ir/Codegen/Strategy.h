// Strategy: what the plim-choose-* passes decide (ir/Plim/PlimStrategy.td), and what they share.
#pragma once

#include "ir/Codegen/Host.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// Columns below which a reduction is left to plain loops, to which half-empty vectors lose.
inline constexpr int64_t leastColumns = 4;

/// Rows of a tile with two vectors of columns, and the most: with the columns, and one element of the rows at a time, they fill the
/// registers.
std::pair<int64_t, int64_t> tileRowsOf(const Host &host);

/// Are the elements of all operands such as vectors have, of 8 bits or more?
bool hasVectorElements(mlir::linalg::LinalgOp op);

/// Adds a decision to those that the dispatch function lists (strategyAttr).
void recordStrategy(mlir::func::FuncOp function, mlir::Attribute decision);

} // namespace plim::ir
