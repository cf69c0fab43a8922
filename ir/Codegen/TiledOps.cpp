#include "ir/Codegen/TiledOps.h"
#include "ir/Transforms/Cleanup.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// A slice that is put in the place of all of a tensor is what the tensor then is. Upstream folds this where the shape is static;
/// otherwise the slice that was taken is folded and this is not, which leaves bufferization with a copy.
struct InsertionOfWhole : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSourceType() != op.getType() || !op.hasUnitStride() || !op.hasZeroOffset())
      return failure();
    for (auto [dimension, size] : llvm::enumerate(op.getMixedSizes()))
      if (op.getType().isDynamicDim(dimension)) {
        FailureOr<bool> isWhole = ValueBoundsConstraintSet::areEqual(
            ValueBoundsConstraintSet::Variable(op.getDest(), int64_t(dimension)),
            ValueBoundsConstraintSet::Variable(size));
        if (failed(isWhole) || !*isWhole)
          return failure();
      }
    rewriter.replaceOp(op, op.getSource());
    return success();
  }
};

} // namespace

LogicalResult plim::ir::simplifyTiles(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  affine::AffineMinOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  context->getOrLoadDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  // Casts to sizes that are known go into all ops with destinations.
  context->getOrLoadDialect<tensor::TensorDialect>()->getCanonicalizationPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  patterns.add<InsertionOfWhole>(context);
  return applySoundPatterns(function, std::move(patterns));
}

void plim::ir::fuseFill(RewriterBase &rewriter, linalg::LinalgOp tiled,
                        MutableArrayRef<LoopLikeOpInterface> loops) {
  auto slice = tiled.getDpsInits()[0].getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return;
  Value source = slice.getSource();
  OpOperand *init = nullptr; // of the outermost loop
  while (auto argument = dyn_cast<BlockArgument>(source)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || !llvm::is_contained(loops, cast<LoopLikeOpInterface>(loop.getOperation())))
      return;
    init = loop.getTiedLoopInit(argument);
    source = init->get();
  }
  auto fill = source.getDefiningOp<linalg::FillOp>();
  if (!fill || !init || llvm::count_if(source.getUsers(), [](Operation *user) {
                          return !isa<tensor::DimOp>(user);
                        }) != 1)
    return;
  // Every tile is written, so that what was there before does not matter.
  if (scf::tileAndFuseProducerOfSlice(rewriter, slice, loops))
    rewriter.modifyOpInPlace(init->getOwner(), [&] { init->set(fill.getOutputs()[0]); });
}

linalg::LinalgOp plim::ir::takeMarked(func::FuncOp function, StringRef attribute) {
  linalg::LinalgOp found;
  function.walk([&](linalg::LinalgOp op) {
    if (!op->removeAttr(attribute))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}
