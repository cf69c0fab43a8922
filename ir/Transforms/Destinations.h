// What an op does to its destination.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// Does the result depend on what the destination held: because the body uses it, or because the op
/// does not write every element? Only a permutation of all loops is sure to write them all: a loop
/// that the map leaves out may have no iterations.
inline bool readsDestination(mlir::linalg::LinalgOp op, mlir::OpOperand &init) {
  return op.payloadUsesValueFromOperand(&init) || !op.getMatchingIndexingMap(&init).isPermutation();
}

} // namespace plim::ir
