#include "ir/Import/Generalize.h"

#include "ir/Cleanup/Cleanup.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// Softmax and its like, into generic ops.
struct DecomposeAggregate : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
    return success();
  }
};

struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp splat, PatternRewriter &rewriter) const override {
    Value empty =
        tensor::EmptyOp::create(rewriter, splat.getLoc(), splat.getType().getShape(),
                                splat.getType().getElementType(), splat.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(splat, splat.getInput(), empty);
    return success();
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnpack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

template <typename OpT> struct ToDestinationStyle : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    return linalg::rewriteInDestinationPassingStyle(rewriter, op);
  }
};

/// Upstream takes a constant that surrounds a tensor for one of arith, and there are none of complex numbers.
struct PadWithComplexConstant : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op, PatternRewriter &rewriter) const override {
    auto yield = cast<tensor::YieldOp>(op.getBody()->getTerminator());
    auto constant = yield.getValue().getDefiningOp<complex::ConstantOp>();
    ReifiedRankedShapedTypeDims shapes;
    if (!constant || failed(reifyResultShapes(rewriter, op, shapes)))
      return failure();
    const Location loc = op.getLoc();
    Value around = rewriter.clone(*constant)->getResult(0);
    Value empty = tensor::EmptyOp::create(rewriter, loc, shapes[0], around.getType());
    Value filled = linalg::FillOp::create(rewriter, loc, around, empty).getResult(0);
    const SmallVector<OpFoldResult> steps(shapes[0].size(), rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, op.getSource(), filled, op.getMixedLowPad(),
        tensor::getMixedSizes(rewriter, loc, op.getSource()), steps);
    return success();
  }
};

struct GeneralizeNamed : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    // A fill stays a fill: it is what fuses into every dispatch.
    if (isa<linalg::FillOp, linalg::GenericOp>(op) || !op.hasPureTensorSemantics())
      return failure();
    DictionaryAttr annotations = op->getDiscardableAttrDictionary();
    StringAttr name = op->getName().getIdentifier();
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(generic)) {
      (*generic)->setDiscardableAttrs(annotations);
      (*generic)->setAttr(sourceOpAttr, name);
      // Upstream's bodies have no place, and lose that of the op where it becomes one with others.
      for (Operation &each : *(*generic).getBody())
        if (isa<UnknownLoc>(each.getLoc()))
          each.setLoc((*generic).getLoc());
    }
    return generic;
  }
};

} // namespace

LogicalResult generalize(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<DecomposeAggregate, LowerPack, LowerUnpack, SplatToFill,
               ToDestinationStyle<tensor::GenerateOp>, ToDestinationStyle<tensor::PadOp>,
               GeneralizeNamed>(module.getContext());
  patterns.add<PadWithComplexConstant>(module.getContext(), /*benefit=*/2);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  return applySoundPatterns(module, std::move(patterns));
}

} // namespace plim::ir
