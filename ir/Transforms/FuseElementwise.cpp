#include "ir/Transforms/Destinations.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFUSEELEMENTWISE
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct FuseElementwise : plim::ir::impl::PlimFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      bool pays = fusionPays(*operand);
      ++(pays ? fused : missed);
      return pays;
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  static bool fusionPays(OpOperand &operand) {
    auto consumer = dyn_cast<linalg::LinalgOp>(operand.getOwner());
    auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
    if (!consumer || !producer || plim::ir::hasPinnedResult(producer) ||
        consumer.getNumReductionLoops() > 0 ||
        !consumer.getMatchingIndexingMap(&operand).isPermutation())
      return false;
    for (OpOperand &init : producer.getDpsInitsMutable())
      if (producer.payloadUsesValueFromOperand(&init))
        return false;
    return producer->hasOneUse();
  }
};

} // namespace
