#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Transforms/Cleanup.h"
#include "ir/Transforms/Products.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

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
