#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"
#include "ir/Transforms/Cleanup.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMREGISTERTILE
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// On an op that a step of this pass must find again after simplification.
constexpr llvm::StringLiteral markerAttr = "plim.register_tile";

/// The loops of a reduction that are held in registers and how much of each.
struct RegisterTile {
  unsigned columnLoop = 0; // contiguous in the result and in an input
  int64_t columns = 1;
  int64_t lanes = 1;               // columns of one vector
  std::optional<unsigned> rowLoop; // reuses the loaded columns
  int64_t rows = 1;
};

/// The size to tile a loop of `size` iterations by: `preferred`, or for a known size one that leaves
/// no or little remainder.
int64_t tileFor(int64_t size, int64_t preferred) {
  // The remainder of many is little of the whole.
  if (ShapedType::isDynamic(size) || size >= 8 * preferred)
    return preferred;
  if (size <= preferred)
    return size;
  for (int64_t tile = preferred; tile * 3 >= preferred * 2; --tile)
    if (size % tile == 0)
      return tile;
  return preferred;
}

/// Columns of a tile: two vectors of `lanes`, one where there are not as many columns, or all where
/// they do not fill one.
int64_t columnsFor(int64_t size, int64_t lanes) {
  if (ShapedType::isDynamic(size) || size >= 2 * lanes)
    return 2 * lanes;
  return std::min(size, lanes);
}

/// True if the loop indexes the innermost dimension of the map, and nothing else in it does.
bool isContiguousAlong(AffineMap map, unsigned loop) {
  if (map.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || last.getPosition() != loop)
    return false;
  return llvm::none_of(map.getResults().drop_back(),
                       [&](AffineExpr e) { return e.isFunctionOfDim(loop); });
}

/// True if the map uses the loop, if at all, as a plain dimension or as a dimension plus terms of
/// loops that run with step one: what is left of it in the body is the dimension alone.
bool isUnitStrideAlong(AffineMap map, unsigned loop) {
  for (AffineExpr result : map.getResults()) {
    if (!result.isFunctionOfDim(loop) || isa<AffineDimExpr>(result))
      continue;
    bool unit = true;
    result.walk([&](AffineExpr part) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(part);
      if (binary && binary.getKind() != AffineExprKind::Add && binary.isFunctionOfDim(loop))
        unit = false;
    });
    if (!unit)
      return false;
  }
  return true;
}

struct RegisterTilePass : plim::ir::impl::PlimRegisterTileBase<RegisterTilePass> {
  using PlimRegisterTileBase::PlimRegisterTileBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::LinalgOp> reductions;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() > 0)
        reductions.push_back(op);
    });
    for (linalg::LinalgOp op : reductions) {
      std::optional<RegisterTile> shape = shapeFor(op);
      if (shape && succeeded(tile(op, *shape)))
        ++tiled;
      else
        ++missed;
    }
  }

  std::optional<RegisterTile> shapeFor(linalg::LinalgOp op) {
    if (op.getNumDpsInits() != 1 || op->getNumResults() != 1 || op.hasIndexSemantics())
      return std::nullopt;
    // Random access inside the body can't be vectorised as one block.
    WalkResult hasAccess = op->walk([](Operation *nested) {
      return isa<tensor::ExtractOp>(nested) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (hasAccess.wasInterrupted())
      return std::nullopt;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    AffineMap output = maps.back();
    if (!output.isProjectedPermutation() || output.getNumResults() == 0)
      return std::nullopt;
    RegisterTile shape;
    shape.columnLoop = cast<AffineDimExpr>(output.getResults().back()).getPosition();
    ArrayRef<AffineMap> inputs = ArrayRef(maps).drop_back();
    if (llvm::none_of(inputs,
                      [&](AffineMap m) { return isContiguousAlong(m, shape.columnLoop); }) ||
        !llvm::all_of(inputs, [&](AffineMap m) { return isUnitStrideAlong(m, shape.columnLoop); }))
      return std::nullopt;

    Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
      return std::nullopt;
    for (OpOperand *input : op.getDpsInputOperands())
      if (Type type = getElementTypeOrSelf(input->get().getType());
          !type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8)
        return std::nullopt;
    shape.lanes = std::max<int64_t>(1, vectorBits / element.getIntOrFloatBitWidth());
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    // No iterations, no tiles.
    if (llvm::is_contained(sizes, 0))
      return std::nullopt;
    shape.columns = columnsFor(sizes[shape.columnLoop], shape.lanes);
    // Half-empty vectors lose to the plain loop.
    if (shape.columns < 4)
      return std::nullopt;

    // Rows: a parallel loop that an input contiguous along the columns does not depend on.
    for (int64_t loop = int64_t(op.getNumLoops()) - 1; loop >= 0; --loop) {
      if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel ||
          unsigned(loop) == shape.columnLoop)
        continue;
      bool reuses = llvm::any_of(inputs, [&](AffineMap m) {
        return isContiguousAlong(m, shape.columnLoop) && !m.isFunctionOfDim(loop);
      });
      if (reuses && llvm::all_of(inputs, [&](AffineMap m) { return isUnitStrideAlong(m, loop); })) {
        shape.rowLoop = loop;
        int64_t rows = vectorBits >= 512 ? 12 : vectorBits >= 256 ? 6 : 4;
        shape.rows = tileFor(sizes[loop], rows);
        break;
      }
    }
    return shape;
  }

  /// Replaces `op` by loops over tiles of the sizes given; returns the op inside and the loops.
  FailureOr<scf::SCFTilingResult> tileLoops(IRRewriter &rewriter, linalg::LinalgOp op,
                                            ArrayRef<int64_t> sizes) {
    rewriter.setInsertionPoint(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(&getContext(), sizes));
    FailureOr<scf::SCFTilingResult> result =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, result->replacements);
    return result;
  }

  LogicalResult tile(linalg::LinalgOp op, const RegisterTile &shape) {
    IRRewriter rewriter(&getContext());
    // First the parallel loops, so that their remainders can be peeled while reductions are whole.
    SmallVector<int64_t> sizes(op.getNumLoops(), 0);
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel)
        sizes[loop] = 1;
    sizes[shape.columnLoop] = shape.columns;
    if (shape.rowLoop)
      sizes[*shape.rowLoop] = shape.rows;
    func::FuncOp function = op->getParentOfType<func::FuncOp>();
    FailureOr<SmallVector<linalg::LinalgOp>> parts = tileAndPeel(rewriter, function, op, sizes);
    if (failed(parts))
      return failure();
    bool any = false;
    for (linalg::LinalgOp part : *parts)
      any |= succeeded(vectorizePart(rewriter, function, part, shape));
    return success(any);
  }

  /// The ops in place of `op`: full tiles, and remainders of rows, columns, or both.
  FailureOr<SmallVector<linalg::LinalgOp>> tileAndPeel(IRRewriter &rewriter, func::FuncOp function,
                                                       linalg::LinalgOp op,
                                                       ArrayRef<int64_t> sizes) {
    FailureOr<scf::SCFTilingResult> outer = tileLoops(rewriter, op, sizes);
    if (failed(outer))
      return failure();
    outer->tiledOps.front()->setAttr(markerAttr, rewriter.getUnitAttr());
    // Peeling clones what is inside.
    for (LoopLikeOpInterface loop : llvm::reverse(outer->loops)) {
      scf::ForOp partial;
      (void)scf::peelForLoopAndSimplifyBounds(rewriter, cast<scf::ForOp>(loop.getOperation()),
                                              partial);
    }
    if (failed(simplify(function)))
      return failure();
    SmallVector<linalg::LinalgOp> parts;
    function.walk([&](linalg::LinalgOp part) {
      if (part->removeAttr(markerAttr))
        parts.push_back(part);
    });
    return parts;
  }

  /// A full tile at once; a remainder of rows one row at a time, since k innermost over a strided
  /// operand would gather; a remainder of columns of unknown size stays a loop, one of more than a
  /// vector is taken apart: LLVM's code for vectors such as 24 floats, where 16 are one, is several
  /// times slower.
  LogicalResult vectorizePart(IRRewriter &rewriter, func::FuncOp function, linalg::LinalgOp part,
                              const RegisterTile &shape) {
    SmallVector<int64_t> ranges = part.getStaticLoopRanges();
    if (ShapedType::isDynamic(ranges[shape.columnLoop]))
      return failure();
    if (ranges[shape.columnLoop] > shape.lanes && ranges[shape.columnLoop] % shape.lanes != 0) {
      SmallVector<int64_t> sizes(part.getNumLoops(), 0);
      sizes[shape.columnLoop] = shape.lanes;
      FailureOr<SmallVector<linalg::LinalgOp>> halves =
          tileAndPeel(rewriter, function, part, sizes);
      if (failed(halves))
        return failure();
      bool any = false;
      for (linalg::LinalgOp half : *halves)
        any |= succeeded(vectorizePart(rewriter, function, half, shape));
      return success(any);
    }
    if (shape.rowLoop && ShapedType::isDynamic(ranges[*shape.rowLoop])) {
      SmallVector<int64_t> sizes(part.getNumLoops(), 0);
      sizes[*shape.rowLoop] = 1;
      FailureOr<scf::SCFTilingResult> rows = tileLoops(rewriter, part, sizes);
      if (failed(rows))
        return failure();
      part = cast<linalg::LinalgOp>(rows->tiledOps.front());
    }
    return vectorizeTile(rewriter, function, part);
  }

  LogicalResult vectorizeTile(IRRewriter &rewriter, func::FuncOp function, linalg::LinalgOp main) {
    for (auto [size, kind] : llvm::zip(main.getStaticLoopRanges(), main.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel && ShapedType::isDynamic(size))
        return failure();
    SmallVector<int64_t> steps(main.getNumLoops(), 0);
    for (auto [loop, kind] : llvm::enumerate(main.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        steps[loop] = 1;
    FailureOr<scf::SCFTilingResult> reduction = tileLoops(rewriter, main, steps);
    if (failed(reduction))
      return failure();
    auto body = cast<linalg::LinalgOp>(reduction->tiledOps.front());
    body->setAttr(markerAttr, rewriter.getUnitAttr());

    // Without its unit loops the body is elementwise over (rows, columns).
    linalg::ControlDropUnitDims control;
    control.rankReductionStrategy =
        linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
    control.controlFn = [](Operation *candidate) -> SmallVector<unsigned> {
      if (!candidate->hasAttr(markerAttr))
        return {};
      auto op = cast<linalg::LinalgOp>(candidate);
      SmallVector<unsigned> dims;
      for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
        if (size == 1)
          dims.push_back(loop);
      return dims;
    };
    if (auto generic = dyn_cast<linalg::GenericOp>(body.getOperation())) {
      rewriter.setInsertionPoint(generic);
      FailureOr<linalg::DropUnitDimsResult> dropped =
          linalg::dropUnitDims(rewriter, generic, control);
      if (succeeded(dropped)) {
        body = cast<linalg::LinalgOp>(dropped->resultOp.getOperation());
        rewriter.replaceOp(generic, dropped->replacements);
      }
    }
    body->setAttr(markerAttr, rewriter.getUnitAttr());
    if (failed(simplify(function)))
      return failure();
    // The greedy driver may have replaced the op, and loops of one iteration are gone.
    linalg::LinalgOp target;
    function.walk([&](linalg::LinalgOp candidate) {
      if (candidate->hasAttr(markerAttr))
        target = candidate;
    });
    if (!target)
      return failure();
    target->removeAttr(markerAttr);
    rewriter.setInsertionPoint(target);
    FailureOr<linalg::VectorizationResult> vectorized = linalg::vectorize(rewriter, target);
    if (failed(vectorized))
      return failure();
    rewriter.replaceOp(target, vectorized->replacements);
    // Slices of slices hide that the accumulator is invariant.
    RewritePatternSet patterns(&getContext());
    vector::TransferReadOp::getCanonicalizationPatterns(patterns, &getContext());
    vector::TransferWriteOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
    if (failed(applySoundPatterns(function, std::move(patterns))))
      return failure();
    SmallVector<scf::ForOp> loops;
    function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      (void)hoistLoopInvariantSubsets(rewriter, cast<LoopLikeOpInterface>(loop.getOperation()));
    return success();
  }

  LogicalResult simplify(func::FuncOp function) {
    RewritePatternSet patterns(&getContext());
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, &getContext());
    affine::AffineMinOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CastOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    getContext().getOrLoadDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    return applySoundPatterns(function, std::move(patterns));
  }
};

} // namespace
