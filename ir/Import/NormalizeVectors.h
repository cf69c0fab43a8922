// Vector operations as upstream's lowerings get them right.
#pragma once

#include "mlir/IR/Operation.h"

namespace plim::ir {

/// Replaces operations of the vector dialect in `root` by equal ones where upstream's lowerings are
/// wrong or missing:
///
/// - what `vector.mask` masks: transfers and gathers take the mask, beside one that they have;
///   reductions take, for the lanes left out, a value that their combiner ignores. `vector.mask`
///   stays around outer products and contractions that add;
/// - `vector.multi_reduction` over no dimension, which would lose its accumulator;
/// - `vector.contract` that combines by anything but addition becomes products and a reduction of
///   them;
/// - loads and stores of several rows become transfers;
/// - elementwise operations that are converted with one dimension only (`math.absi`,
///   `arith.mulsi_extended`, ...) get one;
/// - `arith.addui_extended` becomes a sum and a comparison;
/// - transfers with a mask whose map is not a minor identity: their vector gets the dimensions of
///   the memory.
///
/// Returns the number of ops that were replaced. On a thread that owns `root`.
unsigned normalizeVectors(mlir::Operation *root);

} // namespace plim::ir
