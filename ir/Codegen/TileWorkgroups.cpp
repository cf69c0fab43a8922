#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TiledOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMTILEWORKGROUPS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct TileWorkgroups : plim::ir::impl::PlimTileWorkgroupsBase<TileWorkgroups> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto workgroups = dyn_cast_or_null<WorkgroupsAttr>(function->removeAttr(workgroupsAttr));
    if (scf::ParallelOp loop = workgroups ? outerLoop(function) : scf::ParallelOp())
      return tile(loop, workgroups.getTiles());
    linalg::LinalgOp root = workgroups ? writtenBy(function) : linalg::LinalgOp();
    if (!root || llvm::all_of(workgroups.getTiles(), [](int64_t tile) { return tile == 0; }))
      return;
    // Upstream divides by the extents when it tiles, those of fused producers included, and takes loops to run forwards.
    WalkResult cannotBeTiled = function.walk([](linalg::LinalgOp op) {
      return llvm::is_contained(op.getStaticLoopRanges(), 0) ||
                     llvm::any_of(op.getIndexingMapsArray(), runsBackwards)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (cannotBeTiled.wasInterrupted())
      return;
    if (succeeded(tile(function, root, workgroups.getTiles())))
      ++tiled;
    else
      ++missed;
  }

  /// Iterations are counted from 0, so that nothing depends on how far apart they are.
  void tile(scf::ParallelOp loop, ArrayRef<int64_t> tiles) {
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(loop);
    const Location at = loop.getLoc();
    const Value zero = arith::ConstantIndexOp::create(rewriter, at, 0),
                one = arith::ConstantIndexOp::create(rewriter, at, 1);
    SmallVector<Value> counts;
    for (auto [from, to, by] :
         llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
      // The distance may have no sign to spare.
      Value distance = rewriter.createOrFold<arith::SubIOp>(at, to, from),
            count = rewriter.createOrFold<arith::CeilDivUIOp>(at, distance, by),
            any = rewriter.createOrFold<arith::CmpIOp>(at, arith::CmpIPredicate::slt, from, to);
      counts.push_back(rewriter.createOrFold<arith::SelectOp>(at, any, count, zero));
    }
    SmallVector<OpFoldResult> begins(counts.size(), rewriter.getIndexAttr(0)), steps;
    for (auto [tile, count] : llvm::zip(tiles, counts))
      steps.push_back(tile == 0
                          ? OpFoldResult(rewriter.createOrFold<arith::MaxSIOp>(at, count, one))
                          : rewriter.getIndexAttr(tile));
    auto forall = scf::ForallOp::create(rewriter, at, begins, getAsOpFoldResult(counts), steps,
                                        ValueRange(), std::nullopt);
    rewriter.setInsertionPointToStart(forall.getBody());
    SmallVector<Value> lasts;
    for (auto [begin, step, count] : llvm::zip(forall.getInductionVars(), steps, counts)) {
      Value size = getValueOrCreateConstantIndexOp(rewriter, at, step);
      Value end = arith::AddIOp::create(rewriter, at, begin, size);
      lasts.push_back(arith::MinSIOp::create(rewriter, at, end, count));
    }
    scf::buildLoopNest(
        rewriter, at, forall.getInductionVars(), lasts, SmallVector<Value>(counts.size(), one),
        [&](OpBuilder &b, Location, ValueRange positions) {
          IRMapping mapping;
          for (auto [variable, position, from, by] : llvm::zip(
                   loop.getInductionVars(), positions, loop.getLowerBound(), loop.getStep())) {
            Value distance = b.createOrFold<arith::MulIOp>(at, position, by);
            mapping.map(variable, b.createOrFold<arith::AddIOp>(at, from, distance));
          }
          for (Operation &op : loop.getBody()->without_terminator())
            b.clone(op, mapping);
        });
    rewriter.eraseOp(loop);
    ++tiled;
  }

  LogicalResult tile(func::FuncOp function, linalg::LinalgOp root, ArrayRef<int64_t> tiles) {
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(root);
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    options.tilingOptions.setTileSizes(getAsIndexOpFoldResult(&getContext(), tiles));
    FailureOr<scf::SCFTileAndFuseResult> result = scf::tileConsumerAndFuseProducersUsingSCF(
        rewriter, cast<TilingInterface>(root.getOperation()), options);
    if (failed(result))
      return failure();
    for (OpResult old : root->getOpResults())
      rewriter.replaceAllUsesWith(old, result->replacements[old]);
    // A slice of an empty tensor is an empty tensor of the tile's size.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    linalg::FillOp::getCanonicalizationPatterns(patterns, &getContext());
    return applySoundPatterns(function, std::move(patterns));
  }
};

} // namespace
