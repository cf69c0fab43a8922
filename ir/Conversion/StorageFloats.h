// Conversions of storage floats, f8E4M3FN and f8E5M2, as arithmetic on the bits: no machine that code is
// made for has instructions for them, and LLVM has no such types.
#pragma once

#include "mlir/IR/Operation.h"

namespace plim::ir {

/// Replaces each arith.extf from and each arith.truncf to a storage float in `root`, on scalars and vectors.
/// Rounds once, to nearest even, from whatever type; what is too large becomes infinity (f8E5M2) or NaN
/// (f8E4M3FN, which has no infinity). NaN keeps its sign. Any thread. The number of conversions.
unsigned expandStorageFloats(mlir::Operation *root);

} // namespace plim::ir
