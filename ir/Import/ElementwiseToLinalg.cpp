#include "ir/Import/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMELEMENTWISETOLINALG
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct ElementwiseToLinalg : plim::ir::impl::PlimElementwiseToLinalgBase<ElementwiseToLinalg> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (isOfTensors(op))
        ++(isChoice(op) ? missed : converted);
    });
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) { return !isOfTensors(op) || isChoice(op); });
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    // A comparison of a tensor with itself folds to a constant whose extents nobody knows.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }

  static bool isOfTensors(Operation *op) {
    return OpTrait::hasElementwiseMappableTraits(op) &&
           llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  }

  /// Is one of two whole tensors chosen, which may have different extents?
  static bool isChoice(Operation *op) {
    auto select = dyn_cast<arith::SelectOp>(op);
    auto type = select ? dyn_cast<ShapedType>(select.getType()) : ShapedType();
    return type && !type.hasStaticShape() && !isa<ShapedType>(select.getCondition().getType());
  }
};

} // namespace
