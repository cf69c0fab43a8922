// Vector operations in the words that upstream's lowerings get right.
#pragma once

#include "mlir/IR/Operation.h"

namespace plim::ir {

/// Says operations of the vector dialect in `root` in other words where upstream's lowerings are wrong or have none:
///
/// - what `vector.mask` masks: transfers and gathers take the mask themselves, beside their own; reductions take what their combiner
///   ignores for the lanes left out. It stays around outer products and contractions that add;
/// - `vector.multi_reduction` over no dimension, which would lose its accumulator;
/// - `vector.contract` that combines by anything but addition becomes products and a reduction of them;
/// - loads and stores of several rows become transfers;
/// - elementwise operations that are converted with one dimension only (`math.absi`, `arith.mulsi_extended`, ...) get one;
/// - `arith.addui_extended` becomes a sum and a comparison;
/// - transfers with a mask whose map is not a minor identity: their vector gets the dimensions of the memory.
///
/// Any thread that owns `root`. The number of ops that were replaced.
unsigned normalizeVectors(mlir::Operation *root);

} // namespace plim::ir
