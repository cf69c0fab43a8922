// What an op does to its destination. Pure functions of the IR.
#pragma once

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace plim::ir {

/// Does the result depend on what the destination held: because the body uses it, or because the op
/// does not write every element? Only a permutation of all loops is sure to write them all: a loop
/// that the map leaves out may have no iterations.
inline bool readsDestination(mlir::linalg::LinalgOp op, mlir::OpOperand &init) {
  return op.payloadUsesValueFromOperand(&init) || !op.getMatchingIndexingMap(&init).isPermutation();
}

/// The allocation with its author's constraints that a destination is, filled or not; or null.
inline AllocOp constrainedAllocation(mlir::Value init) {
  while (auto fill = init.getDefiningOp<mlir::linalg::FillOp>())
    init = fill.getDpsInits()[0];
  return init.getDefiningOp<AllocOp>();
}

/// Do the elements of the slice lie next to each other in memory, as long as `whole` is dense?
inline bool isDenseSlice(mlir::OffsetSizeAndStrideOpInterface slice, mlir::RankedTensorType whole) {
  bool isWhole = true; // every dimension behind
  for (int64_t i = whole.getRank(); i-- > 0;) {
    int64_t size = slice.getStaticSizes()[i];
    if (slice.getStaticStrides()[i] != 1 || (!isWhole && size != 1))
      return false;
    isWhole &= !mlir::ShapedType::isDynamic(size) && size == whole.getDimSize(i);
  }
  return true;
}

/// Has the author said where a result of the op is to live? Then it must exist as a buffer.
inline bool hasPinnedResult(mlir::linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInits(), [](mlir::Value init) {
    AllocOp alloc = constrainedAllocation(init);
    return alloc && alloc.isPinned();
  });
}

} // namespace plim::ir
