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

struct FuseElementwise : plim::ir::impl::PlimFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    forgetDestinations();
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
    if (failed(plim::ir::applySoundPatterns(roots, std::move(patterns))))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
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

  static size_t bodySize(linalg::LinalgOp op) { return op.getBlock()->getOperations().size(); }

  static bool fusionPays(OpOperand &operand) {
    auto consumer = dyn_cast<linalg::LinalgOp>(operand.getOwner());
    auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
    if (!consumer || !producer || plim::ir::hasPinnedResult(producer) ||
        producer->hasAttr(plim::ir::deviceAttr) || consumer.getNumReductionLoops() > 0 ||
        !consumer.getMatchingIndexingMap(&operand).isPermutation())
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
    return producer->hasOneUse() || llvm::count_if(producer->getUses(), [](OpOperand &use) {
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
