#include "ir/Analysis/Destinations.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFUSEELEMENTWISE
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// The most that one op reads: each is a stream of memory with a register for its address.
constexpr size_t mostOperands = 32;
/// The most ops of a body: what is longer costs more to compile, and gains nothing from being one.
constexpr size_t mostOps = 256;
/// How many producers behind each other may be fused away and not yet erased: the driver erases them soon.
constexpr size_t mostFusedAway = 8;
/// How often ops are fused: places that depend on each other become known one after the other.
constexpr int mostRounds = 4;

/// The most operations on an element that is computed from places, and from rows and columns, where it is used.
constexpr size_t mostOpsOfPlaces = 12;

/// Is it elementwise, of fewer elements than it has, and of little more than loads and stores of the result would cost? Like a mask
/// of rows and columns that see each other, or a table of sums.
bool isOfPlaces(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || !generic.hasPureTensorSemantics() || generic.getNumLoops() == 0 ||
      generic.getNumReductionLoops() > 0 || generic->getNumResults() != 1 ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isPermutation() ||
      generic.getBody()->getOperations().size() > mostOpsOfPlaces)
    return false;
  return llvm::all_of(generic.getDpsInputOperands(),
                      [&](OpOperand *input) {
                        return generic.getMatchingIndexingMap(input).getNumResults() <
                               generic.getNumLoops();
                      }) &&
         llvm::all_of(generic.getBody()->without_terminator(), [](Operation &each) {
           return isa<linalg::IndexOp, arith::ConstantOp, arith::IndexCastOp, arith::AddIOp,
                      arith::SubIOp, arith::MulIOp, arith::CmpIOp, arith::AndIOp, arith::OrIOp,
                      arith::XOrIOp, arith::SelectOp, arith::ExtSIOp, arith::ExtUIOp,
                      arith::TruncIOp, arith::CmpFOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
                      arith::NegFOp, arith::ExtFOp, arith::UIToFPOp, arith::SIToFPOp>(each);
         });
}

struct FuseElementwise : plim::ir::impl::PlimFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    forgetDestinations();
    // What is of places alone may be known when its parts have become one.
    for (int round = 0; round < mostRounds; ++round) {
      if (failed(fuse()))
        return signalPassFailure();
      if (!repeatPlaces())
        break;
    }
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }

  LogicalResult fuse() {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      bool pays = fusionPays(*operand);
      ++(pays ? fused : missed);
      return pays;
    });
    // The patterns drop what the author says of an allocation or of the op: they must not see it.
    SmallVector<Operation *> roots;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (llvm::none_of(op.getDpsInits(), plim::ir::constrainedAllocation) &&
          !op->hasAttr(plim::ir::deviceAttr))
        roots.push_back(op);
    });
    return plim::ir::applySoundPatterns(roots, std::move(patterns));
  }

  /// What a destination held and nobody reads need not have been computed.
  void forgetDestinations() {
    getOperation().walk([](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics() || isa<linalg::FillOp>(op))
        return;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        Value old = init.get();
        if (plim::ir::readsDestination(op, init) || plim::ir::constrainedAllocation(old) ||
            old.getDefiningOp<tensor::EmptyOp>())
          continue;
        OpBuilder builder(op);
        init.set(tensor::EmptyOp::create(builder, op.getLoc(),
                                         tensor::getMixedSizes(builder, op.getLoc(), old),
                                         cast<RankedTensorType>(old.getType()).getElementType()));
      }
    });
  }

  /// A copy for each elementwise op that uses what is computed from places. Is there any such use?
  bool repeatPlaces() {
    bool any = false;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!isOfPlaces(op) || plim::ir::hasPinnedResult(op) || op->hasAttr(plim::ir::deviceAttr))
        return;
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
        if (auto consumer = dyn_cast<linalg::LinalgOp>(use.getOwner());
            consumer && consumer.isDpsInput(&use) && fusionPays(use, /*isRepeated=*/true) &&
            linalg::areElementwiseOpsFusable(&use)) {
          OpBuilder builder(op);
          if (!op->hasOneUse())
            use.set(builder.clone(*op)->getResult(0));
          any = true;
        }
    });
    return any;
  }

  static size_t bodySize(linalg::LinalgOp op) { return op.getBlock()->getOperations().size(); }

  static bool fusionPays(OpOperand &operand, bool isRepeated = false) {
    auto consumer = dyn_cast<linalg::LinalgOp>(operand.getOwner());
    auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
    if (!consumer || !producer || plim::ir::hasPinnedResult(producer) ||
        producer->hasAttr(plim::ir::deviceAttr) || consumer.getNumReductionLoops() > 0)
      return false;
    const AffineMap read = consumer.getMatchingIndexingMap(&operand);
    if (!read.isPermutation() && !(read.isProjectedPermutation() && isOfPlaces(producer)))
      return false;
    for (OpOperand &init : producer.getDpsInitsMutable())
      if (producer.payloadUsesValueFromOperand(&init))
        return false;
    // What a loop needs in each turn is computed once in front of it.
    for (Operation *around = consumer->getParentOp(); around != producer->getParentOp();
         around = around->getParentOp())
      if (isa<LoopLikeOpInterface>(around))
        return false;
    llvm::SmallPtrSet<Value, 8> operands(llvm::from_range, consumer.getDpsInputs());
    operands.erase(operand.get());
    operands.insert_range(producer.getDpsInputs());
    if (operands.size() > mostOperands || bodySize(consumer) + bodySize(producer) > mostOps)
      return false;
    return isRepeated || producer->hasOneUse() ||
           llvm::count_if(producer->getUses(), [](OpOperand &use) {
             return !isFusedAway(use.getOwner(), mostFusedAway);
           }) == 1;
  }

  /// Is it a producer that was fused away, used by no others but such, at most `depth` behind each other?
  static bool isFusedAway(Operation *op, size_t depth) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return depth > 0 && linalgOp && linalgOp.hasPureTensorSemantics() &&
           llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return isFusedAway(user, depth - 1); });
  }
};

} // namespace
