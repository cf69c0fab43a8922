#include "ir/Analysis/Borders.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/FilledVectors.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/RowVectors.h"
#include "ir/Codegen/SplitColumns.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TiledOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVECTORIZETILES
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// On one iteration of a tile's reduction.
constexpr llvm::StringLiteral termAttr = "plim.term";

/// Iterations of a loop along a window that become one block, and as many times the rows of the tile.
constexpr int64_t mostUnrolled = 16, mostUnrolledRows = 96;

struct VectorizeTiles : plim::ir::impl::PlimVectorizeTilesBase<VectorizeTiles> {
  using PlimVectorizeTilesBase::PlimVectorizeTilesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::LinalgOp> tiles;
    function.walk([&](linalg::LinalgOp op) {
      if (op->removeAttr(registersAttr))
        tiles.push_back(op);
    });
    if (tiles.empty())
      return;
    IRRewriter rewriter(&getContext());
    const Host host = hostOf(function);
    for (linalg::LinalgOp tile : tiles)
      if (failed(isolateTerm(rewriter, tile, host)))
        ++missed;
    if (failed(simplifyTiles(function)))
      return signalPassFailure();
    // Simplification may have replaced ops, and loops of one iteration are gone.
    while (linalg::LinalgOp term = takeMarked(function, termAttr)) {
      rewriter.setInsertionPoint(term);
      FailureOr<linalg::VectorizationResult> vectors = linalg::vectorize(rewriter, term);
      if (failed(vectors)) {
        ++missed;
        continue;
      }
      rewriter.replaceOp(term, vectors->replacements);
      ++vectorized;
    }
    // Slices of slices hide that an accumulator is invariant.
    RewritePatternSet patterns(&getContext());
    vector::TransferReadOp::getCanonicalizationPatterns(patterns, &getContext());
    vector::TransferWriteOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
    if (failed(applySoundPatterns(function, std::move(patterns))))
      return signalPassFailure();
    function.walk([&](scf::ForOp loop) {
      (void)hoistLoopInvariantSubsets(rewriter, cast<LoopLikeOpInterface>(loop.getOperation()));
    });
    if (failed(simplifyTiles(function)))
      return signalPassFailure();
    startFromFills(function);
    if (host.hasMasks && FilledVectors(host).fill(function))
      ++filled;
    split += splitColumns(rewriter, function);
    function.walk([&](vector::TransferReadOp read) { takeSteps(rewriter, read, host); });
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

  /// Reads what lies a few elements apart as vectors of what lies side by side.
  static void takeSteps(IRRewriter &rewriter, vector::TransferReadOp read, const Host &host) {
    auto slice = read.getBase().getDefiningOp<tensor::ExtractSliceOp>();
    const Value mask = read.getMask();
    // What is read, which may be the same for each row of the tile.
    const VectorType whole = read.getVectorType();
    const AffineMap map = read.getPermutationMap();
    unsigned repeated = 0;
    while (repeated < map.getNumResults() && isa<AffineConstantExpr>(map.getResult(repeated)))
      ++repeated;
    if (!slice || repeated == map.getNumResults() ||
        (mask && (whole.getRank() != 1 || !mask.getDefiningOp<vector::CreateMaskOp>())) ||
        read.hasOutOfBoundsDim() ||
        !map.getMinorSubMap(map.getNumResults() - repeated).isMinorIdentity())
      return;
    const int64_t step = stepOfRows(read).value_or(1);
    if (step <= 1 || step > mostStep)
      return;
    rewriter.setInsertionPoint(read);
    const Location at = read.getLoc();
    const VectorType type =
        VectorType::get(whole.getShape().drop_front(repeated), whole.getElementType());
    const ArrayRef<int64_t> rows = type.getShape().drop_back();
    const llvm::SmallBitVector dropped = slice.getDroppedDims();
    const int64_t rowDimensions = slice.getType().getRank() - type.getRank();
    Value all;
    if (!rows.empty())
      all = arith::ConstantOp::create(rewriter, at, rewriter.getZeroAttr(type));
    for (const SmallVector<int64_t> &row :
         rows.empty()
             ? SmallVector<SmallVector<int64_t>>{{}}
             : llvm::to_vector(StaticTileOffsetRange(rows, SmallVector<int64_t>(rows.size(), 1)))) {
      SmallVector<Value> place;
      int64_t kept = 0; // dimensions of the slice
      for (auto [dimension, offset, stride] :
           llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
        AffineExpr from, index, apart;
        bindSymbols(rewriter.getContext(), from, index, apart);
        OpFoldResult first = rewriter.getIndexAttr(0);
        int64_t more = 0;
        if (!dropped.test(dimension)) {
          first = getAsOpFoldResult(Value(read.getIndices()[unsigned(kept)]));
          if (kept >= rowDimensions && kept + 1 < slice.getType().getRank())
            more = row[size_t(kept - rowDimensions)];
          ++kept;
        }
        place.push_back(getValueOrCreateConstantIndexOp(
            rewriter, at,
            affine::makeComposedFoldedAffineApply(rewriter, at, from + (index + more) * apart,
                                                  {offset, first, stride})));
      }
      Value elements = readInSteps(rewriter, at, slice.getSource(), place, step,
                                   type.getShape().back(), host.lanes(slice.getType()), mask);
      all = rows.empty() ? elements
                         : vector::InsertOp::create(rewriter, at, elements, all, row).getResult();
    }
    if (repeated > 0)
      all = vector::BroadcastOp::create(rewriter, at, whole, all);
    rewriter.replaceOp(read, all);
  }

  /// Does a window over the image meet zeros for a quarter of its lines or more, whose products plim-skip-borders leaves out of loops?
  static bool hasWideBorder(OpOperand &image) {
    auto tile = cast<linalg::LinalgOp>(image.getOwner());
    Value whole = image.get();
    while (auto part = whole.getDefiningOp<tensor::ExtractSliceOp>())
      whole = part.getSource();
    const std::optional<Interior> interior = interiorOf(whole);
    if (!interior || llvm::none_of(*tile.getBlock(), llvm::IsaPred<arith::MulFOp, arith::MulIOp>))
      return false;
    for (auto [size, extent] :
         llvm::zip(interior->sizes, cast<RankedTensorType>(whole.getType()).getShape()))
      if (const std::optional<int64_t> inside = size ? getConstantIntValue(size) : std::nullopt;
          inside && ShapedType::isStatic(extent) && 4 * (extent - *inside) >= extent)
        return true;
    return false;
  }

  /// A short loop along a window that moves over the rows of the tile: neighbouring iterations read the same rows but for one, which
  /// one block of code loads once.
  std::optional<unsigned> loopOverSameRows(linalg::LinalgOp tile, const Host &host) const {
    const SmallVector<int64_t> sizes = tile.getStaticLoopRanges();
    const SmallVector<utils::IteratorType> kinds = tile.getIteratorTypesArray();
    const unsigned columnLoop =
        cast<AffineDimExpr>(tile.getIndexingMapsArray().back().getResults().back()).getPosition();
    for (OpOperand *input : tile.getDpsInputOperands()) {
      const AffineMap map = tile.getMatchingIndexingMap(input);
      if (!readsInSteps(map, columnLoop))
        continue;
      for (AffineExpr index : map.getResults().drop_back()) {
        std::optional<unsigned> row, window;
        for (unsigned loop = 0; loop < tile.getNumLoops(); ++loop)
          if (sizes[loop] > 1 && index.isFunctionOfDim(loop))
            (kinds[loop] == utils::IteratorType::parallel ? row : window) = loop;
        if (!row || !window || sizes[*window] > mostUnrolled ||
            sizes[*row] * sizes[*window] > mostUnrolledRows)
          continue;
        if (hasWideBorder(*input))
          continue;
        SmallVector<unsigned> reduced;
        tile.getReductionDims(reduced);
        if (reduced.back() != *window && (strict || !mayReorderReduction(tile)))
          continue;
        // Beside the accumulators, registers hold the rows of a place, of all places between two results.
        const int64_t results =
            sizes[*row] * llvm::divideCeil(sizes[columnLoop], host.lanes(input->get().getType()));
        if (results * (1 + factorOf(index, *row).value_or(1)) + 2 <= host.vectorRegisters)
          return window;
      }
    }
    return std::nullopt;
  }

  /// Makes loops of a tile's reduction, around one iteration that is elementwise over rows and columns, which is marked.
  LogicalResult isolateTerm(IRRewriter &rewriter, linalg::LinalgOp tile, const Host &host) const {
    const std::optional<unsigned> unrolled = loopOverSameRows(tile, host);
    SmallVector<int64_t> steps(tile.getNumLoops(), 0), order;
    for (auto [loop, size, kind] :
         llvm::enumerate(tile.getStaticLoopRanges(), tile.getIteratorTypesArray())) {
      if (kind == utils::IteratorType::reduction)
        steps[loop] = 1;
      else if (ShapedType::isDynamic(size))
        return failure();
    }
    // Accumulators start from what was computed for the tile, without memory.
    if (auto first = tile.getDpsInits()[0].getDefiningOp<linalg::GenericOp>()) {
      rewriter.setInsertionPoint(first);
      if (FailureOr<linalg::VectorizationResult> vectors = linalg::vectorize(rewriter, first);
          succeeded(vectors))
        rewriter.replaceOp(first, vectors->replacements);
    }
    rewriter.setInsertionPoint(tile);
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(rewriter.getContext(), steps));
    for (int64_t loop = 0; loop < int64_t(tile.getNumLoops()); ++loop)
      if (loop != unrolled)
        order.push_back(loop);
    if (unrolled)
      order.push_back(*unrolled);
    options.setInterchange(order);
    FailureOr<scf::SCFTilingResult> reduction =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(tile.getOperation()), options);
    if (failed(reduction))
      return failure();
    rewriter.replaceOp(tile, reduction->replacements);
    auto term = cast<linalg::LinalgOp>(reduction->tiledOps.front());

    linalg::ControlDropUnitDims control;
    control.rankReductionStrategy =
        linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
    control.controlFn = [&](Operation *candidate) -> SmallVector<unsigned> {
      SmallVector<unsigned> loops;
      if (candidate == term)
        for (auto [loop, size] : llvm::enumerate(term.getStaticLoopRanges()))
          if (size == 1)
            loops.push_back(loop);
      return loops;
    };
    if (auto generic = dyn_cast<linalg::GenericOp>(term.getOperation())) {
      rewriter.setInsertionPoint(generic);
      FailureOr<linalg::DropUnitDimsResult> dropped =
          linalg::dropUnitDims(rewriter, generic, control);
      if (succeeded(dropped)) {
        term = cast<linalg::LinalgOp>(dropped->resultOp.getOperation());
        rewriter.replaceOp(generic, dropped->replacements);
      }
    }
    takeStrides(rewriter, term);
    term->setAttr(termAttr, rewriter.getUnitAttr());
    return unrolled ? loopUnrollFull(cast<scf::ForOp>(*reduction->loops.back())) : success();
  }
};

} // namespace
