#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMTILEWORKGROUPS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Work of one workgroup, in scalar operations: some 20 to 100 microseconds, so that a task costs
/// little against it and a large problem still has many.
constexpr int64_t workgroupCost = int64_t(1) << 22;
/// What touching the memory of one point costs, in the same unit.
constexpr int64_t pointCost = 64;
/// Assumed trip count of a loop that is not known at load.
constexpr int64_t unknownTripCount = 256;
/// Columns of a tile with a contraction: its panel of the right-hand side stays in the second-level
/// cache.
constexpr int64_t contractionColumns = 128;

int64_t tripCount(int64_t size) { return ShapedType::isDynamic(size) ? unknownTripCount : size; }

/// Scalar operations per point of the parallel loops.
int64_t workPerPoint(linalg::LinalgOp op) {
  int64_t work = std::max<int64_t>(1, llvm::range_size(op.getBlock()->without_terminator()));
  for (auto [size, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      work = std::min<int64_t>(work * std::max<int64_t>(1, tripCount(size)), workgroupCost);
  return work;
}

struct TileWorkgroups : plim::ir::impl::PlimTileWorkgroupsBase<TileWorkgroups> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    auto loops = function->getAttrOfType<DenseI64ArrayAttr>(parallelLoopsAttr);
    auto root = rootOf(function);
    if (!loops || !root)
      return;
    int64_t work = 0;
    bool contracts = false;
    function.walk([&](linalg::LinalgOp op) {
      work += workPerPoint(op);
      contracts |= op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1;
    });

    SmallVector<int64_t> sizes = root.getStaticLoopRanges();
    int64_t points = std::max<int64_t>(1, workgroupCost / (pointCost + work));
    SmallVector<int64_t> tiles(sizes.size(), 0);
    int64_t tilePoints = 1, untiledPoints = 1;
    for (auto [loop, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(loops.asArrayRef(), int64_t(loop)) &&
          root.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
        untiledPoints *= std::max<int64_t>(1, tripCount(size));
    int64_t left = std::max<int64_t>(1, points / untiledPoints);
    bool split = false, innermost = true;
    for (int64_t loop : llvm::reverse(loops.asArrayRef())) {
      int64_t size = sizes[loop];
      int64_t tile = left;
      if (contracts && innermost)
        tile = std::min(tile, contractionColumns);
      innermost = false;
      // A few iterations more than planned are better than a second, nearly empty workgroup.
      if (!ShapedType::isDynamic(size) && size <= tile + tile / 2)
        tile = size;
      else
        tiles[loop] = tile, split = true;
      tilePoints *= std::max<int64_t>(1, tile);
      left = std::max<int64_t>(1, left / std::max<int64_t>(1, tile));
    }
    OpBuilder builder(function);
    function->setAttr(costAttr,
                      builder.getI64IntegerAttr((pointCost + work) * tilePoints * untiledPoints));
    if (!split)
      return;
    if (succeeded(tile(function, root, tiles)))
      ++tiled;
    else
      ++missed;
  }

  /// The op that computes what the function writes.
  static linalg::LinalgOp rootOf(func::FuncOp function) {
    linalg::LinalgOp root;
    function.walk([&](bufferization::MaterializeInDestinationOp write) {
      root = write.getSource().getDefiningOp<linalg::LinalgOp>();
    });
    return root;
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
    return applyPatternsGreedily(function, std::move(patterns));
  }
};

} // namespace
