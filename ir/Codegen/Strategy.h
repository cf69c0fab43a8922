// Strategy: what the plim-choose-* passes decide (ir/Plim/PlimStrategy.td), and what they share.
#pragma once

#include "ir/Analysis/Products.h"
#include "ir/Codegen/Host.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// Columns below which a reduction is not computed in register tiles. Half-empty vectors are faster than plain loops.
inline constexpr int64_t leastColumns = 2;

/// The same of a product: columns that lie apart would have to be copied, and vectors along the sums are faster as long as they
/// are few.
int64_t leastColumnsOf(mlir::linalg::LinalgOp op, const Product &product);

/// Rows of a tile with two vectors of columns, and the most: with the columns, and one element of the rows at a time, they fill the
/// registers.
std::pair<int64_t, int64_t> tileRowsOf(const Host &host);

/// Are the elements of all operands such as vectors have, of 8 bits or more?
bool hasVectorElements(mlir::linalg::LinalgOp op);

/// Adds a decision to those that the dispatch function lists (strategyAttr).
void recordStrategy(mlir::func::FuncOp function, mlir::Attribute decision);

} // namespace plim::ir
