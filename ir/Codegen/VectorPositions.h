// Dynamic positions in outer dimensions of vectors.
#pragma once

#include "mlir/IR/Operation.h"

namespace plim::ir {

/// Rewrites each vector.extract and vector.insert in `root` with a dynamic position in a dimension that is not the vector's
/// last: each row is taken or kept by a comparison with the position. Upstream's conversion to LLVM has code for none of
/// them. Nor is an insertion into what a transfer reads left, which upstream's unrolling of transfers (convert-vector-to-scf)
/// takes for one of what is read. Positions are within the vector. Fails if patterns do not end.
llvm::LogicalResult expandVectorPositions(mlir::Operation *root);

} // namespace plim::ir
