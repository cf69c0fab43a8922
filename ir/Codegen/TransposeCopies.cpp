#include "ir/Analysis/Products.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMTRANSPOSECOPIES
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Rows of a tile, at least.
constexpr int64_t leastTileRows = 4;
/// What an element costs that no tile has, where one in a tile of n rows costs 1 / n.
constexpr double costOutsideTiles = 1.0;

/// Iterations of either loop that an operand read across is copied for, in the order in which it is used: what the nearest cache keeps.
constexpr int64_t blockOfCopies = 64;

/// On copies that are still to be tiled, and on tiles.
constexpr llvm::StringLiteral pendingAttr = "plim.pending", partAttr = "plim.part";

/// The transpose of as many vectors as each has elements, by exchanging ever smaller blocks of a pair of them (J. O. Eklundh, A
/// fast computer method for matrix transposing, 1972).
void transpose(OpBuilder &builder, Location loc, MutableArrayRef<Value> rows) {
  const int64_t count = int64_t(rows.size());
  for (int64_t half = count / 2; half > 0; half /= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < count; ++lane) {
      const bool isRight = (lane & half) != 0;
      upper.push_back(isRight ? count + lane - half : lane);
      lower.push_back(isRight ? count + lane : lane + half);
    }
    for (int64_t row = 0; row < count; ++row) {
      if ((row & half) != 0)
        continue;
      Value first = rows[row], second = rows[row + half];
      rows[row] = vector::ShuffleOp::create(builder, loc, first, second, upper);
      rows[row + half] = vector::ShuffleOp::create(builder, loc, first, second, lower);
    }
  }
}

struct TransposeCopies : plim::ir::impl::PlimTransposeCopiesBase<TransposeCopies> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    IRRewriter rewriter(&getContext());
    function.walk([&](linalg::TransposeOp op) {
      rewriter.setInsertionPoint(op);
      if (op.hasPureTensorSemantics())
        (void)linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op.getOperation()));
    });
    host = hostOf(function);
    // Results in the order of the loops.
    SmallVector<linalg::GenericOp> elementwise;
    function.walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 &&
          op.getNumReductionLoops() == 0 && op.getIndexingMapsArray().back().isPermutation())
        elementwise.push_back(op);
    });
    for (linalg::GenericOp op : elementwise) {
      const SmallVector<unsigned> order =
          llvm::map_to_vector(op.getIndexingMapsArray().back().getResults(), [](AffineExpr index) {
            return cast<AffineDimExpr>(index).getPosition();
          });
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> ordered =
          llvm::is_sorted(order) ? op : linalg::interchangeGenericOp(rewriter, op, order);
      if (succeeded(ordered) && !isCopy(*ordered))
        copyWhatIsReadAcross(rewriter, *ordered);
    }
    function.walk([&](linalg::GenericOp op) {
      if (isTransposing(op))
        op->setAttr(pendingAttr, UnitAttr::get(&getContext()));
    });
    while (linalg::LinalgOp op = takeMarked(function, pendingAttr)) {
      if (succeeded(tile(op)))
        ++transposed;
      else
        ++missed;
    }
  }

  /// Rows, and columns, of the tiles of a copy: such that little is left outside of them, and its rows take half the registers. 0 where
  /// tiles do not pay.
  int64_t tileRows(linalg::LinalgOp op) const {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const int64_t most =
        std::min(host.vectorRegisters / 2, host.lanes(op.getDpsInits()[0].getType()));
    double least = costOutsideTiles;
    int64_t best = 0;
    for (int64_t rows = leastTileRows; rows <= most; rows *= 2) {
      double share = 1; // of the elements
      for (int64_t size : {sizes[*loopReadAcross(op, 0)], sizes.back()})
        if (!ShapedType::isDynamic(size))
          share *= double(size / rows * rows) / double(size);
      const double cost = share / double(rows) + (1 - share) * costOutsideTiles;
      if (cost < least) {
        least = cost;
        best = rows;
      }
    }
    return best;
  }

  /// Goes in blocks along both loops, for which the inputs read across are copied.
  void copyWhatIsReadAcross(IRRewriter &rewriter, linalg::GenericOp op) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const unsigned written = op.getNumLoops() - 1;
    auto isLong = [&](unsigned loop) {
      return ShapedType::isDynamic(sizes[loop]) || sizes[loop] >= leastTileRows;
    };
    std::optional<unsigned> read;
    SmallVector<unsigned> inputs;
    for (unsigned number = 0; number < unsigned(op.getNumDpsInputs()); ++number)
      if (std::optional<unsigned> across = loopReadAcross(op, number);
          across && isLong(*across) && isLong(written) && (!read || read == across)) {
        read = across;
        inputs.push_back(number);
      }
    if (!read || llvm::is_contained(sizes, 0) ||
        !llvm::all_of(op.getIndexingMapsArray(), hasTileableIndices))
      return;
    SmallVector<int64_t> steps(op.getNumLoops(), 1);
    steps[*read] = steps[written] = blockOfCopies;
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(&getContext(), steps));
    rewriter.setInsertionPoint(op);
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return;
    rewriter.replaceOp(op, tiled->replacements);
    auto block = cast<linalg::LinalgOp>(tiled->tiledOps.front());
    for (unsigned number : inputs) {
      rewriter.setInsertionPoint(block);
      Copy copy = copyOf(rewriter, block, number, {*read, written}, {blockOfCopies, blockOfCopies},
                         /*width=*/0);
      block = withCopy(rewriter, block, number, copy, {});
    }
    ++blocked;
  }

  /// Are the elements of the only input written as they are, or widened?
  static bool isCopy(linalg::GenericOp op) {
    Block &body = *op.getBlock();
    Value yielded = body.getTerminator()->getOperand(0);
    return op.getNumDpsInputs() == 1 &&
           (yielded == body.getArgument(0) ||
            (llvm::range_size(body.without_terminator()) == 1 &&
             isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(body.front()) &&
             body.front().getOperand(0) == body.getArgument(0) &&
             yielded == body.front().getResult(0)));
  }

  bool isTransposing(linalg::GenericOp op) const {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
        op.getNumReductionLoops() != 0)
      return false;
    auto linalgOp = cast<linalg::LinalgOp>(op.getOperation());
    Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
    return isCopy(op) && op.getIndexingMapsArray().back().isIdentity() &&
           loopReadAcross(linalgOp, 0) && element.isIntOrFloat() &&
           llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()) &&
           !llvm::is_contained(op.getStaticLoopRanges(), 0) && tileRows(linalgOp) != 0;
  }

  LogicalResult tile(linalg::LinalgOp op) {
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(op);
    SmallVector<int64_t> sizes(op.getNumLoops(), 1);
    sizes[*loopReadAcross(op, 0)] = sizes.back() = tileRows(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(&getContext(), sizes));
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return failure();
    rewriter.replaceOp(op, tiled->replacements);
    tiled->tiledOps.front()->setAttr(partAttr, rewriter.getUnitAttr());
    for (LoopLikeOpInterface loop : llvm::reverse(tiled->loops)) {
      scf::ForOp rest;
      (void)scf::peelForLoopAndSimplifyBounds(rewriter, cast<scf::ForOp>(loop.getOperation()),
                                              rest);
    }
    func::FuncOp function = getOperation();
    if (failed(simplifyTiles(function)))
      return failure();
    while (linalg::LinalgOp part = takeMarked(function, partAttr))
      if (auto generic = dyn_cast<linalg::GenericOp>(part.getOperation());
          generic && llvm::equal(generic.getStaticLoopRanges(), sizes))
        vectorize(rewriter, generic);
    return success();
  }

  /// Reads a tile's rows along the one loop and writes them along the other.
  static void vectorize(IRRewriter &rewriter, linalg::GenericOp op) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    const AffineMap map = op.getIndexingMapsArray().front();
    Value source = op.getDpsInputs()[0], target = op.getDpsInits()[0];
    auto sourceType = cast<RankedTensorType>(source.getType()),
         targetType = cast<RankedTensorType>(target.getType());
    const unsigned written = op.getNumLoops() - 1, read = *loopReadAcross(op, 0);
    const int64_t count = targetType.getShape().back();
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    auto along = [&](int64_t rank) {
      return AffineMap::getMinorIdentityMap(unsigned(rank), 1, rewriter.getContext());
    };
    const bool inBounds[] = {true};
    SmallVector<Value> rows;
    const unsigned rowDimension = *map.getResultPosition(rewriter.getAffineDimExpr(written));
    Value padding = ub::PoisonOp::create(rewriter, loc, sourceType.getElementType());
    for (int64_t row = 0; row < count; ++row) {
      SmallVector<Value> indices(sourceType.getRank(), index(0));
      indices[rowDimension] = index(row);
      Value vector = vector::TransferReadOp::create(
          rewriter, loc, VectorType::get(count, sourceType.getElementType()), source, indices,
          padding, along(sourceType.getRank()), inBounds);
      if (Operation &extension = op.getBlock()->front(); extension.getNumResults() == 1)
        vector =
            rewriter
                .create(loc, extension.getName().getIdentifier(), vector,
                        VectorType::get(count, targetType.getElementType()), extension.getAttrs())
                ->getResult(0);
      rows.push_back(vector);
    }
    transpose(rewriter, loc, rows);
    Value result = target;
    for (auto [row, vector] : llvm::enumerate(rows)) {
      SmallVector<Value> indices(targetType.getRank(), index(0));
      indices[read] = index(int64_t(row));
      result = vector::TransferWriteOp::create(rewriter, loc, vector, result, indices,
                                               along(targetType.getRank()), inBounds)
                   .getResult();
    }
    rewriter.replaceOp(op, result);
  }

  Host host;
};

} // namespace
