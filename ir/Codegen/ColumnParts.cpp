#include "ir/Codegen/ColumnParts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;

unsigned plim::ir::loopOf(AffineMap map, unsigned dimension) {
  return cast<AffineDimExpr>(map.getResult(dimension)).getPosition();
}

std::optional<unsigned> plim::ir::dimensionOf(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

bool plim::ir::mayBeCut(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumRegions() == 1 &&
         !llvm::is_contained(op.getStaticLoopRanges(), 0) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); });
}

linalg::LinalgOp ColumnParts::add(linalg::LinalgOp op, unsigned loop,
                                  const DenseMap<unsigned, Value> &inits) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    const std::optional<unsigned> dimension =
        dimensionOf(op.getMatchingIndexingMap(&operand), loop);
    if (Value init = inits.lookup(operand.getOperandNumber())) {
      operands.push_back(init);
      continue;
    }
    auto part = parts.find(operand.get());
    operands.push_back(part != parts.end() ? part->second
                       : dimension         ? slice(operand.get(), *dimension)
                                           : operand.get());
  }
  SmallVector<Type> types;
  for (OpOperand &init : op.getDpsInitsMutable())
    types.push_back(operands[init.getOperandNumber()].getType());
  Operation *copy = clone(rewriter, op, types, operands);
  copy->walk([&](linalg::IndexOp index) {
    if (index.getDim() != loop || isConstantIntValue(columns.begin, 0))
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointAfter(index);
    Value moved = affine::AffineApplyOp::create(
        rewriter, index.getLoc(),
        AffineMap::get(1, 1, rewriter.getAffineDimExpr(0) + rewriter.getAffineSymbolExpr(0)),
        ValueRange{index, columns.begin});
    rewriter.replaceAllUsesExcept(index, moved, moved.getDefiningOp());
  });
  for (auto [init, result, part] :
       llvm::zip(op.getDpsInitsMutable(), op->getResults(), copy->getResults()))
    if (dimensionOf(op.getMatchingIndexingMap(&init), loop))
      parts[result] = part;
  return cast<linalg::LinalgOp>(copy);
}

/// The columns of a tensor; as many of one that has no elements yet.
Value ColumnParts::slice(Value tensor, unsigned dimension) {
  const Location at = tensor.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, at, tensor),
                            offsets(sizes.size(), rewriter.getIndexAttr(0)),
                            steps(sizes.size(), rewriter.getIndexAttr(1));
  sizes[dimension] = getAsOpFoldResult(columns.count);
  if (!tensor.getDefiningOp<tensor::EmptyOp>())
    offsets[dimension] = getAsOpFoldResult(columns.begin);
  return tensor::ExtractSliceOp::create(rewriter, at, tensor, offsets, sizes, steps);
}
