#include "ir/Codegen/SmallIntegers.h"
#include "ir/Codegen/OperandCopies.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;

bool plim::ir::isOfPairs(linalg::LinalgOp op, const Product &product) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (product.depthLoops.size() != 1 || sizes[product.depthLoops.front()] == 1 ||
      !getElementTypeOrSelf(op.getDpsInits()[0].getType()).isInteger(32) ||
      !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }) ||
      !llvm::all_of(maps, [&](AffineMap map) {
        return map == maps.back() || map.isFunctionOfDim(product.depthLoops.front());
      }))
    return false;
  // 16 bits without a sign do not fit.
  return isSumOfWidenedProducts(op) && llvm::all_of(ArrayRef<unsigned>{0, 1}, [&](unsigned number) {
           Operation *extension = extensionOf(op, number);
           Type from = extension->getOperand(0).getType();
           return from.isInteger(8) || (from.isInteger(16) && isa<arith::ExtSIOp>(extension));
         });
}

linalg::LinalgOp plim::ir::pairUp(linalg::LinalgOp op, const Product &product) {
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  const unsigned depth = product.depthLoops.front(), half = op.getNumLoops();
  const OpFoldResult size = op.createLoopRanges(rewriter, loc)[depth].size;
  const AffineExpr whole = rewriter.getAffineSymbolExpr(0);
  auto apply = [&](AffineExpr expression) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expression, size);
  };
  const OpFoldResult pairs = apply(whole.floorDiv(2)), even = apply(whole.floorDiv(2) * 2),
                     rest = apply(whole % 2);
  auto part = [&](unsigned number, OpFoldResult first, OpFoldResult count) -> Value {
    Value operand = op->getOperand(number);
    const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, operand),
                              offsets(sizes.size(), rewriter.getIndexAttr(0)),
                              ones(sizes.size(), rewriter.getIndexAttr(1));
    const unsigned dimension = *map.getResultPosition(rewriter.getAffineDimExpr(depth));
    offsets[dimension] = first;
    sizes[dimension] = count;
    return tensor::ExtractSliceOp::create(rewriter, loc, operand, offsets, sizes, ones);
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned number : {0U, 1U}) {
    Value operand = part(number, rewriter.getIndexAttr(0), even);
    const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    SmallVector<ReassociationIndices> groups;
    SmallVector<AffineExpr> indices;
    SmallVector<OpFoldResult> sizes, all = tensor::getMixedSizes(rewriter, loc, operand);
    for (auto [dimension, index] : llvm::enumerate(map.getResults())) {
      groups.push_back({int64_t(indices.size())});
      indices.push_back(index);
      sizes.push_back(all[dimension]);
      if (index != rewriter.getAffineDimExpr(depth))
        continue;
      sizes.back() = pairs;
      groups.back().push_back(int64_t(indices.size()));
      indices.push_back(rewriter.getAffineDimExpr(half));
      sizes.push_back(rewriter.getIndexAttr(2));
    }
    auto [shape, dynamic] = decomposeMixedValues(sizes);
    inputs.push_back(tensor::ExpandShapeOp::create(
        rewriter, loc, RankedTensorType::get(shape, getElementTypeOrSelf(operand.getType())),
        operand, groups, sizes));
    maps.push_back(AffineMap::get(half + 1, 0, indices, rewriter.getContext()));
  }
  maps.push_back(AffineMap::get(half + 1, 0, op.getIndexingMapsArray().back().getResults(),
                                rewriter.getContext()));
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(rewriter, loc, op->getResultTypes(), inputs,
                                           op.getDpsInits(), maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  Value result = generic.getResult(0);
  if (getConstantIntValue(rest) != 0) {
    const Value operands[] = {part(0, even, rest), part(1, even, rest), result};
    Operation *last = rewriter.clone(*op);
    last->setOperands(operands);
    result = last->getResult(0);
  }
  rewriter.replaceOp(op, result);
  return cast<linalg::LinalgOp>(generic.getOperation());
}
