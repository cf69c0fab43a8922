// Which reductions may fold their elements in another order than the source's.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// May the reduction loops of the op run in another order, floats being rounded otherwise then? Looks at
/// the combiner of each result: one operation that is known to be associative and commutative, of the
/// accumulator, which nothing else reads, and of an element. Anything else, such as a decay
/// (acc * 0.5 + x), a first maximum (two accumulators that know of each other) or x - acc, depends on the
/// order.
bool mayReorderReduction(mlir::linalg::LinalgOp op);

} // namespace plim::ir
