#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHUNKSUMS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Sums of a chunk from the neutral element on, and adds what that gives to the destination that `op` had.
void sumFromNeutral(RewriterBase &rewriter, linalg::LinalgOp op) {
  const Location loc = op.getLoc();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
    BlockArgument accumulator = op.getMatchingBlockArgument(&init);
    Value before = init.get();
    OpResult sum = op.getTiedOpResult(&init);
    rewriter.setInsertionPoint(op);
    Value memory = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, before), getElementTypeOrSelf(before));
    Value neutral = arith::ConstantOp::create(rewriter, loc, neutralElement(combiner));
    Value start = linalg::FillOp::create(rewriter, loc, neutral, memory).getResult(0);
    rewriter.modifyOpInPlace(op, [&] { init.set(start); });

    rewriter.setInsertionPointAfter(op);
    const unsigned rank = unsigned(cast<RankedTensorType>(before.getType()).getRank());
    auto added = linalg::GenericOp::create(
        rewriter, loc, before.getType(), ValueRange(sum), ValueRange(before),
        SmallVector<AffineMap>(2, rewriter.getMultiDimIdentityMap(rank)),
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &body, Location, ValueRange arguments) {
          IRMapping values;
          for (Value operand : combiner->getOperands())
            values.map(operand, arguments[operand == accumulator ? 1 : 0]);
          linalg::YieldOp::create(body, loc, body.clone(*combiner, values)->getResults());
        });
    rewriter.replaceAllUsesExcept(sum, added->getResult(0), added);
  }
}

/// Are all destinations filled with zeros, or ones of products, so that what is added to them is the sum?
bool startsFromNeutral(linalg::LinalgOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    auto fill = init.get().getDefiningOp<linalg::FillOp>();
    APFloat value(0.0);
    if (!fill || !matchPattern(fill.getDpsInputs()[0], m_ConstantFloat(&value)))
      return false;
    Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
    return isa<arith::MulFOp>(combiner) ? value.isExactlyValue(1.0) : value.isZero();
  });
}

struct ChunkSums : plim::ir::impl::PlimChunkSumsBase<ChunkSums> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && sumsColumns(op) &&
          !llvm::is_contained(op.getStaticLoopRanges(), 0) &&
          (isLong(op) || !startsFromNeutral(op)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      ++chunked;
      if (!isLong(op)) {
        sumFromNeutral(rewriter, op);
        continue;
      }
      SmallVector<int64_t> sizes(op.getNumLoops(), 0);
      sizes[lastReduction(op)] = chunkOfColumn;
      scf::SCFTilingOptions options;
      options.setTileSizes(getAsIndexOpFoldResult(&getContext(), sizes));
      rewriter.setInsertionPoint(op);
      FailureOr<scf::SCFTilingResult> tiled =
          scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
      if (failed(tiled))
        continue;
      rewriter.replaceOp(op, tiled->replacements);
      sumFromNeutral(rewriter, cast<linalg::LinalgOp>(tiled->tiledOps.front()));
    }
  }

  static unsigned lastReduction(linalg::LinalgOp op) {
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    return reduced.back();
  }

  static bool isLong(linalg::LinalgOp op) {
    const int64_t rows = op.getStaticLoopRanges()[lastReduction(op)];
    return ShapedType::isDynamic(rows) || rows > chunkOfColumn;
  }
};

} // namespace
