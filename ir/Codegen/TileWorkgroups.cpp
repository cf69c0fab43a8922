#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"
#include "ir/Transforms/Cleanup.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
using plim::checkedMul;

namespace {

/// Work of one workgroup, in scalar operations: some hundred microseconds, so that a task costs little
/// against it and a large problem still has many.
constexpr int64_t workgroupCost = int64_t(1) << 21;
/// What touching the memory of one point costs, in the same unit.
constexpr int64_t pointCost = 64;
/// The same for an element that a reduction reads once.
constexpr int64_t reducedElementCost = 8;
/// Assumed trip count of a loop that is not known at load.
constexpr int64_t unknownTripCount = 256;
/// Columns of a tile with a contraction: its panel of the right-hand side stays in the second-level
/// cache.
constexpr int64_t contractionColumns = 128;

int64_t tripCount(int64_t size) { return ShapedType::isDynamic(size) ? unknownTripCount : size; }

/// a * b, or the most work that makes a difference.
int64_t cappedProduct(int64_t a, int64_t b) { return checkedMul(a, b).value_or(INT64_MAX); }

/// Rows of a workgroup with a contraction: near `planned`, and such that register tiles leave no
/// remainder, if there is such a number.
int64_t rowTile(int64_t size, int64_t planned) {
  constexpr int64_t registerRows = 12; // divisible by the rows of every vector width
  int64_t rounded = std::max(registerRows, planned / registerRows * registerRows);
  if (ShapedType::isDynamic(size) || size % rounded == 0)
    return rounded;
  for (int64_t unit : {registerRows, int64_t(8), int64_t(4)})
    for (int64_t tile = planned + planned / 2; tile >= std::max(unit, planned / 2); --tile)
      if (size % tile == 0 && tile % unit == 0)
        return tile;
  return rounded;
}

/// Scalar operations per point of the parallel loops.
int64_t workPerPoint(linalg::LinalgOp op) {
  int64_t work = std::max<int64_t>(1, llvm::range_size(op.getBlock()->without_terminator()));
  // A reduction of one operand pays for memory with each element, a contraction reuses what it read.
  if (op.getNumReductionLoops() > 0 && op.getNumDpsInputs() == 1)
    work += reducedElementCost;
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
      work = std::min(work + workPerPoint(op), workgroupCost);
      contracts |= op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1;
    });

    SmallVector<int64_t> sizes = root.getStaticLoopRanges();
    int64_t points = std::max<int64_t>(1, workgroupCost / (pointCost + work));
    SmallVector<int64_t> tiles(sizes.size(), 0);
    int64_t tilePoints = 1, untiledPoints = 1;
    for (auto [loop, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(loops.asArrayRef(), int64_t(loop)) &&
          root.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
        untiledPoints = cappedProduct(untiledPoints, std::max<int64_t>(1, tripCount(size)));
    int64_t left = std::max<int64_t>(1, points / untiledPoints);
    bool split = false, innermost = true;
    for (int64_t loop : llvm::reverse(loops.asArrayRef())) {
      int64_t size = sizes[loop];
      int64_t tile = left;
      if (contracts)
        tile = innermost ? std::min(tile, contractionColumns) : rowTile(size, tile);
      innermost = false;
      // A few iterations more than planned are better than a second, nearly empty workgroup.
      if (!ShapedType::isDynamic(size) && size <= tile + tile / 2)
        tile = size;
      else
        tiles[loop] = tile, split = true;
      tilePoints = cappedProduct(tilePoints, std::max<int64_t>(1, tile));
      left = std::max<int64_t>(1, left / std::max<int64_t>(1, tile));
    }
    OpBuilder builder(function);
    function->setAttr(costAttr, builder.getI64IntegerAttr(cappedProduct(
                                    cappedProduct(pointCost + work, tilePoints), untiledPoints)));
    // Upstream divides by the extents when it tiles, those of fused producers included.
    WalkResult hasEmpty = function.walk([](linalg::LinalgOp op) {
      return llvm::is_contained(op.getStaticLoopRanges(), 0) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
    });
    if (!split || hasEmpty.wasInterrupted())
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
    return applySoundPatterns(function, std::move(patterns));
  }
};

} // namespace
