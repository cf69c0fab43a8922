// Products of small integers, taken two iterations of the reduction at a time (plim.dot_pairs).
#pragma once

#include "ir/Transforms/Products.h"

namespace plim::ir {

/// Are the terms of the sum products of integers of which two fit into 32 bits?
bool isOfPairs(mlir::linalg::LinalgOp op, const Product &product);

/// Takes the reduction two iterations at a time, by a loop more; what is left of an odd number is an op of its own, behind.
/// Returns the op with the pairs.
mlir::linalg::LinalgOp pairUp(mlir::linalg::LinalgOp op, const Product &product);

} // namespace plim::ir
