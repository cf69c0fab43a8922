// Which reductions may fold their elements in another order than the source's.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// What becomes of the results of an op when its reduction loops run in another order.
enum class Reordering {
  Forbidden, // they may become others: the order is part of what the op computes
  Rounding,  // floats may be rounded otherwise; integers and extremes are the same
  Exact,     // every bit stays
};

/// Looks at the combiner of each result: one operation that is known to be associative and commutative,
/// of the accumulator, which nothing else reads, and of an element. Anything else, such as a decay
/// (acc * 0.5 + x), a first maximum (two accumulators that know of each other) or x - acc, depends on the
/// order.
Reordering reorderingOf(mlir::linalg::LinalgOp op);

} // namespace plim::ir
