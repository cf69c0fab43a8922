#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "ir/Transforms/Cleanup.h"
#include "ir/Transforms/Products.h"
#include "support/CheckedMath.h"

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

// Simplification may replace an op that is still to come, so that ops are found again by attributes: reductions that are
// still to be tiled, parts of one that are to be vectorised, and the one that is.
constexpr llvm::StringLiteral pendingAttr = "plim.pending", partAttr = "plim.part",
                              markerAttr = "plim.register_tile";

/// The loops of a reduction that are held in registers and how much of each.
struct RegisterTile {
  unsigned columnLoop = 0; // contiguous in the result and in an input
  int64_t columns = 1;
  int64_t lanes = 1;               // columns of one vector
  std::optional<unsigned> rowLoop; // reuses the loaded columns
  int64_t rows = 1;
};

/// The size to tile a loop of `size` iterations by: `preferred`, or for a known size one that leaves no or little
/// remainder, or one of about the same size, of at most `most`.
int64_t tileFor(int64_t size, int64_t preferred, int64_t most) {
  if (ShapedType::isDynamic(size))
    return preferred;
  if (size <= most)
    return size;
  // The remainder of many is little of the whole.
  if (size >= 8 * preferred)
    return size % preferred != 0 && size % most == 0 ? most : preferred;
  for (int64_t tile = most; tile * 6 >= preferred * 5; --tile)
    if (size % tile == 0)
      return tile;
  return llvm::divideCeil(size, llvm::divideCeil(size, most));
}

/// Columns of a tile: two vectors of `lanes`, one where there are not as many columns, or all where
/// they do not fill one.
int64_t columnsFor(int64_t size, int64_t lanes) {
  if (ShapedType::isDynamic(size) || size >= 2 * lanes)
    return 2 * lanes;
  return std::min(size, lanes);
}

/// Rows of the tiles that take what is left of an unknown number of rows, before they are taken one at a time.
constexpr int64_t fewRows = 4;

/// Rows that may be read along in turns although their elements fall on the same set of the nearest cache, which holds eight
/// lines or more: two are left for the columns.
constexpr int64_t rowsOnOneSet = 6;
/// The same for rows of the result, which are accessed a tile at a time, if the sums of a tile have few terms.
constexpr int64_t resultRowsOnOneSet = 8, fewTerms = 32;
/// Bytes of a line: what is nearer falls on the same set as well.
constexpr int64_t lineBytes = 64;

/// Do elements of consecutive iterations of a loop fall on the same set of the cache?
bool fallsOnOneSet(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
  Value source = operand.get();
  for (Value whole = enclosing(source); whole; whole = enclosing(whole)) {
    if (cast<RankedTensorType>(whole.getType()).getRank() !=
        cast<RankedTensorType>(operand.get().getType()).getRank())
      return false;
    source = whole;
  }
  auto type = cast<RankedTensorType>(source.getType());
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dimension, index] : llvm::enumerate(map.getResults())) {
    if (!index.isFunctionOfDim(loop))
      continue;
    int64_t stride = factorOf(index, loop).value_or(1) * (type.getElementTypeBitWidth() / 8);
    for (int64_t extent : type.getShape().drop_front(dimension + 1)) {
      if (ShapedType::isDynamic(extent))
        return false;
      stride = plim::checkedMul(stride, extent).value_or(0);
    }
    const int64_t beyond = stride % cacheSetPeriod;
    return stride >= cacheSetPeriod - lineBytes &&
           std::min(beyond, cacheSetPeriod - beyond) < lineBytes;
  }
  return false;
}

struct RegisterTilePass : plim::ir::impl::PlimRegisterTileBase<RegisterTilePass> {
  using PlimRegisterTileBase::PlimRegisterTileBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() > 0)
        op->setAttr(pendingAttr, UnitAttr::get(&getContext()));
    });
    while (linalg::LinalgOp op = takeMarked(function, pendingAttr)) {
      op = withLoopsOfResult(op);
      std::optional<RegisterTile> shape = shapeFor(op);
      if (shape && succeeded(tile(op, *shape)))
        ++tiled;
      else
        ++missed;
    }
    if (failed(simplifyTiles(function)))
      return signalPassFailure();
    startFromFills(function);
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
        !llvm::all_of(inputs, hasTileableIndices))
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

    int64_t terms = 1;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        terms = plim::checkedMul(terms, mostIterations(op, 0, unsigned(loop)).value_or(INT64_MAX))
                    .value_or(INT64_MAX);
    // Rows: a parallel loop that an input contiguous along the columns does not depend on.
    for (int64_t loop = int64_t(op.getNumLoops()) - 1; loop >= 0; --loop) {
      if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel ||
          unsigned(loop) == shape.columnLoop)
        continue;
      bool reuses = llvm::any_of(inputs, [&](AffineMap m) {
        return isContiguousAlong(m, shape.columnLoop) && !m.isFunctionOfDim(loop);
      });
      if (reuses) {
        shape.rowLoop = loop;
        // With the columns, and one element of the rows at a time, they fill 32 registers, or 16.
        auto [rows, most] = vectorBits >= 512   ? std::pair<int64_t, int64_t>(12, 14)
                            : vectorBits >= 256 ? std::pair<int64_t, int64_t>(6, 6)
                                                : std::pair<int64_t, int64_t>(4, 4);
        // One vector for each row leaves registers for twice as many.
        if (shape.columns <= shape.lanes) {
          rows *= 2;
          most *= 2;
        }
        if (llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
              return !op.getMatchingIndexingMap(input).isFunctionOfDim(shape.columnLoop) &&
                     fallsOnOneSet(op, *input, unsigned(loop));
            }))
          rows = most = std::min(rows, rowsOnOneSet);
        else if (terms <= fewTerms && fallsOnOneSet(op, *op.getDpsInitOperand(0), unsigned(loop)))
          rows = most = std::min(rows, resultRowsOnOneSet);
        shape.rows = tileFor(sizes[loop], rows, most);
        break;
      }
    }
    // A single row takes registers for columns, and with them the latency of its sums.
    if (int64_t wide = 8 * shape.lanes; shape.rows == 1 && sizes[shape.columnLoop] >= wide)
      shape.columns = wide;
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

  /// The op with its parallel loops in the order of the result's dimensions, which is that of the vectors made of it.
  static linalg::LinalgOp withLoopsOfResult(linalg::LinalgOp op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || generic.getNumDpsInits() != 1)
      return op;
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!result.isProjectedPermutation() || result.getNumResults() != op.getNumParallelLoops())
      return op;
    SmallVector<unsigned> order;
    for (AffineExpr index : result.getResults())
      order.push_back(cast<AffineDimExpr>(index).getPosition());
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind != utils::IteratorType::parallel)
        order.push_back(loop);
    // Those of a projected permutation may be reductions.
    if (order.size() != op.getNumLoops() || llvm::is_sorted(order))
      return op;
    IRRewriter rewriter(op.getContext());
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, generic, order);
    return succeeded(ordered) ? cast<linalg::LinalgOp>(ordered->getOperation()) : op;
  }

  /// Accumulators that start from a tile that was just filled need no memory: the value is broadcast, and the tile is not
  /// filled if all of it is written in the end.
  static void startFromFills(func::FuncOp function) {
    auto fillOf = [](Value tensor) {
      while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
        tensor = slice.getSource();
      return tensor.getDefiningOp<linalg::FillOp>();
    };
    IRRewriter rewriter(function.getContext());
    function.walk([&](vector::TransferReadOp read) {
      linalg::FillOp fill = fillOf(read.getBase());
      if (!fill || read.getMask() || read.hasOutOfBoundsDim())
        return;
      rewriter.setInsertionPoint(read);
      rewriter.replaceOpWithNewOp<vector::BroadcastOp>(read, read.getVectorType(),
                                                       fill.getInputs()[0]);
    });
    function.walk([&](vector::TransferWriteOp write) {
      auto fill = write.getBase().getDefiningOp<linalg::FillOp>();
      auto type = dyn_cast<RankedTensorType>(write.getBase().getType());
      if (fill && type && type.hasStaticShape() && !write.getMask() && !write.hasOutOfBoundsDim() &&
          type.getNumElements() == write.getVectorType().getNumElements())
        write.getBaseMutable().assign(fill.getOutputs()[0]);
    });
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
    return vectorizeParts(rewriter, function, op, sizes, shape);
  }

  /// Tiles `op`; vectorises what then stands in its place: full tiles, and remainders of rows, columns, or both.
  LogicalResult vectorizeParts(IRRewriter &rewriter, func::FuncOp function, linalg::LinalgOp op,
                               ArrayRef<int64_t> sizes, const RegisterTile &shape) {
    FailureOr<scf::SCFTilingResult> outer = tileLoops(rewriter, op, sizes);
    if (failed(outer))
      return failure();
    fuseInitializer(rewriter, cast<linalg::LinalgOp>(outer->tiledOps.front()), outer->loops);
    outer->tiledOps.front()->setAttr(partAttr, rewriter.getUnitAttr());
    // Peeling clones what is inside.
    for (LoopLikeOpInterface loop : llvm::reverse(outer->loops)) {
      scf::ForOp partial;
      (void)scf::peelForLoopAndSimplifyBounds(rewriter, cast<scf::ForOp>(loop.getOperation()),
                                              partial);
    }
    if (failed(simplifyTiles(function)))
      return failure();
    bool any = false;
    while (linalg::LinalgOp part = takeMarked(function, partAttr))
      any |= succeeded(vectorizePart(rewriter, function, part, shape));
    return success(any);
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
      return vectorizeParts(rewriter, function, part, sizes, shape);
    }
    if (shape.rowLoop && ShapedType::isDynamic(ranges[*shape.rowLoop])) {
      SmallVector<int64_t> sizes(part.getNumLoops(), 0);
      if (shape.rows > fewRows) {
        sizes[*shape.rowLoop] = fewRows;
        RegisterTile fewer = shape;
        fewer.rows = fewRows;
        return vectorizeParts(rewriter, function, part, sizes, fewer);
      }
      sizes[*shape.rowLoop] = 1;
      FailureOr<scf::SCFTilingResult> rows = tileLoops(rewriter, part, sizes);
      if (failed(rows))
        return failure();
      part = cast<linalg::LinalgOp>(rows->tiledOps.front());
    }
    return vectorizeTile(rewriter, function, part);
  }

  /// Slices with strides in the place of operands that are read at a loop times a constant, which upstream's vectoriser
  /// does not know: what is left of a window where the loops of the reduction have one iteration.
  static void takeStrides(IRRewriter &rewriter, linalg::LinalgOp &op) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<Value> inputs = op.getDpsInputs();
    rewriter.setInsertionPoint(op);
    bool changes = false;
    for (auto [map, input] : llvm::zip(maps, inputs)) {
      auto type = dyn_cast<RankedTensorType>(input.getType());
      if (!type || map.isProjectedPermutation())
        continue;
      SmallVector<OpFoldResult> offsets, extents, strides;
      SmallVector<AffineExpr> results;
      SmallVector<int64_t>
          shape; // without dimensions of one place: upstream drops the wrong one of several
      const AffineExpr zero = rewriter.getAffineConstantExpr(0);
      for (AffineExpr index : map.getResults()) {
        std::optional<unsigned> loop;
        int64_t factor = 1;
        for (unsigned candidate = 0; candidate < map.getNumDims(); ++candidate)
          if (index.isFunctionOfDim(candidate)) {
            std::optional<int64_t> its = factorOf(index, candidate);
            if (loop || !its || *its <= 0 || ShapedType::isDynamic(sizes[candidate]))
              return;
            loop = candidate;
            factor = *its;
          }
        // What is added to the loop, if anything.
        auto first = dyn_cast<AffineConstantExpr>(
            index.replaceDims(SmallVector<AffineExpr>(map.getNumDims(), zero)));
        if (!first)
          return;
        if (loop) {
          results.push_back(rewriter.getAffineDimExpr(*loop));
          shape.push_back(sizes[*loop]);
        }
        offsets.push_back(rewriter.getIndexAttr(first.getValue()));
        extents.push_back(rewriter.getIndexAttr(loop ? sizes[*loop] : 1));
        strides.push_back(rewriter.getIndexAttr(factor));
      }
      map = AffineMap::get(map.getNumDims(), 0, results, rewriter.getContext());
      input = tensor::ExtractSliceOp::create(rewriter, op.getLoc(),
                                             RankedTensorType::get(shape, type.getElementType()),
                                             input, offsets, extents, strides);
      changes = true;
    }
    if (!changes)
      return;
    auto generic = linalg::GenericOp::create(rewriter, op.getLoc(), op->getResultTypes(), inputs,
                                             op.getDpsInits(), maps, op.getIteratorTypesArray());
    IRMapping mapping;
    op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
    rewriter.replaceOp(op, generic.getResults());
    op = cast<linalg::LinalgOp>(generic.getOperation());
  }

  LogicalResult vectorizeTile(IRRewriter &rewriter, func::FuncOp function, linalg::LinalgOp main) {
    for (auto [size, kind] : llvm::zip(main.getStaticLoopRanges(), main.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel && ShapedType::isDynamic(size))
        return failure();
    SmallVector<int64_t> steps(main.getNumLoops(), 0);
    for (auto [loop, kind] : llvm::enumerate(main.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        steps[loop] = 1;
    // Accumulators start from what was computed for the tile, without memory.
    if (auto first = main.getDpsInits()[0].getDefiningOp<linalg::GenericOp>()) {
      rewriter.setInsertionPoint(first);
      if (FailureOr<linalg::VectorizationResult> vectors = linalg::vectorize(rewriter, first);
          succeeded(vectors))
        rewriter.replaceOp(first, vectors->replacements);
    }
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
    takeStrides(rewriter, body);
    body->setAttr(markerAttr, rewriter.getUnitAttr());
    if (failed(simplifyTiles(function)))
      return failure();
    // The greedy driver may have replaced the op, and loops of one iteration are gone.
    linalg::LinalgOp target = takeMarked(function, markerAttr);
    if (!target)
      return failure();
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
};

} // namespace
