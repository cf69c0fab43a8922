#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {

bool isEmpty(Type type) { return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0); }

/// Puts a tensor of `extents` in the place of `op`, which has no elements.
LogicalResult makeEmpty(PatternRewriter &rewriter, Operation *op, ArrayRef<OpFoldResult> extents) {
  Type type = op->getResult(0).getType();
  Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), extents,
                                        cast<RankedTensorType>(type).getElementType());
  if (empty.getType() != type)
    empty = tensor::CastOp::create(rewriter, op->getLoc(), type, empty);
  rewriter.replaceOp(op, empty);
  return success();
}

/// Does a slice without elements begin behind the last one of `whole`, as far as is known?
template <typename OpT> bool isEmptyAtEnd(OpT op, RankedTensorType whole) {
  ArrayRef<int64_t> sizes = op.getStaticSizes();
  if (llvm::is_contained(sizes, ShapedType::kDynamic) || !llvm::is_contained(sizes, 0))
    return false;
  return llvm::any_of(llvm::zip(op.getStaticOffsets(), whole.getShape()), [](auto pair) {
    auto [offset, extent] = pair;
    return ShapedType::isStatic(offset) && ShapedType::isStatic(extent) && offset >= extent;
  });
}

/// Upstream refuses it once all of it is known. What is cut in other places keeps the checks of where it comes from.
struct EmptySlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmptyAtEnd(op, op.getSourceType()))
      return failure();
    return makeEmpty(rewriter, op, getAsIndexOpFoldResult(getContext(), op.getType().getShape()));
  }
};

struct EmptyInsertion : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmptyAtEnd(op, op.getDestType()) || !op.getSourceType().hasStaticShape())
      return failure();
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

/// Joined, an extent of zero makes one that is zero, which a type that was written before it was known does not say;
/// upstream's types of buffers have to agree about it.
struct EmptyCollapse : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getSrcType()) || isEmpty(op.getResultType()))
      return failure();
    SmallVector<OpFoldResult> extents;
    for (const ReassociationIndices &group : op.getReassociationIndices()) {
      bool hasZero = llvm::any_of(
          group, [&](int64_t i) { return op.getSrcType().getDimSize(unsigned(i)) == 0; });
      OpFoldResult extent = rewriter.getIndexAttr(hasZero ? 0 : 1);
      for (int64_t i : hasZero ? ArrayRef<int64_t>() : ArrayRef<int64_t>(group)) {
        OpFoldResult factor = tensor::getMixedSize(rewriter, op.getLoc(), op.getSrc(), i);
        if (isOneInteger(extent)) {
          extent = factor;
          continue;
        }
        Value product = rewriter.createOrFold<arith::MulIOp>(
            op.getLoc(), getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), extent),
            getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), factor));
        extent = getAsOpFoldResult(product);
      }
      extents.push_back(extent);
    }
    return makeEmpty(rewriter, op, extents);
  }
};

} // namespace

void plim::ir::PlimDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<EmptySlice, EmptyInsertion, EmptyCollapse>(getContext());
}
