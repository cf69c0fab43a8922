#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/FixedValues.h"
#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFUSEOPERANDS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Rows of a product that reads a panel where it is about as fast as one that reads a copy in
/// another order, without making that.
constexpr int64_t mostRows = 16;

/// Is it the same number for all elements that `op` makes?
bool isOne(linalg::GenericOp op, Value value) {
  if (value.getParentBlock() != op.getBody())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() < op.getNumDpsInputs() &&
           op.getMatchingIndexingMap(op.getDpsInputOperand(argument.getArgNumber()))
                   .getNumResults() == 0;
  Operation *defining = value.getDefiningOp();
  return isa<arith::ConstantOp>(defining) ||
         (isa<arith::ExtSIOp, arith::ExtUIOp>(defining) && isOne(op, defining->getOperand(0)));
}

/// Does it only make its elements wider, less one number?
bool widens(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0 || op->getNumResults() != 1)
    return false;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    if (!isOne(op, difference.getRhs()))
      return false;
    value = difference.getLhs();
  }
  Operation *extension = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(extension) ||
      extension->getBlock() != op.getBody())
    return false;
  auto element = dyn_cast<BlockArgument>(extension->getOperand(0));
  return element && element.getOwner() == op.getBody() &&
         element.getArgNumber() < op.getNumDpsInputs();
}

/// Does it only give the dimensions another order?
bool transposes(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
         op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) == op.getBody()->getArgument(0) &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isPermutation();
}

struct FuseOperands : plim::ir::impl::PlimFuseOperandsBase<FuseOperands> {
  void runOnOperation() override {
    widenBehindReshapes();
    FixedValues fixed(getOperation());
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op->hasAttr(deviceAttr) && op.hasPureTensorSemantics() && productOf(op) &&
          llvm::none_of(op.getDpsInits(), constrainedAllocation))
        products.push_back(op);
    });
    for (linalg::GenericOp op : products)
      while (linalg::GenericOp next = withSourceOf(rewriter, op, fixed))
        op = next;
  }

  /// Where a reshape into groups stands between what widens and a product, it comes first.
  void widenBehindReshapes() {
    SmallVector<Operation *> reshapes;
    getOperation().walk([&](tensor::ExpandShapeOp op) { reshapes.push_back(op); });
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      auto reshape = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner());
      auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
      return reshape && producer && !producer->hasAttr(deviceAttr) && !hasPinnedResult(producer) &&
             producer->hasOneUse() && widens(producer) &&
             llvm::all_of(reshape->getUsers(), [](Operation *user) {
               auto product = dyn_cast<linalg::GenericOp>(user);
               return product && productOf(product);
             });
    });
    (void)applySoundPatterns(reshapes, std::move(patterns), GreedyRewriteStrictness::ExistingOps);
  }

  /// Is each element of the panel read for a few rows only, so that another order of it is worth no
  /// copy? What is fixed is copied once.
  static bool isReadOnce(linalg::GenericOp op, OpOperand &input, FixedValues &fixed) {
    std::optional<Product> product = productOf(op);
    return product && product->panel == input.getOperandNumber() &&
           iterations(op, product->rowLoops).value_or(INT64_MAX) <= mostRows &&
           !fixed.isFixed(input.get());
  }

  /// Upstream leaves what it fused as a result, unused, where the other operands of both ops do not
  /// say the extents of all loops: those of a filter say how large a window is.
  linalg::GenericOp withoutUnusedResults(linalg::GenericOp op) {
    Value result = op->getResults().back();
    if (op->getNumResults() == 1 || result.use_empty())
      return op;
    OpOperand &use = *result.use_begin();
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applySoundPatterns(ArrayRef<Operation *>(op.getOperation()), std::move(patterns),
                                  GreedyRewriteStrictness::ExistingOps)))
      return {};
    return use.get().getDefiningOp<linalg::GenericOp>();
  }

  /// A product that reads the source of one of its operands instead of the operand; null if the
  /// operand was computed.
  linalg::GenericOp withSourceOf(IRRewriter &rewriter, linalg::GenericOp op, FixedValues &fixed) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto producer = input->get().getDefiningOp<linalg::GenericOp>();
      if (!producer || producer->hasAttr(deviceAttr) || hasPinnedResult(producer) ||
          !(widens(producer) || (transposes(producer) && isReadOnce(op, *input, fixed))) ||
          !linalg::areElementwiseOpsFusable(input))
        continue;
      rewriter.setInsertionPoint(op);
      // Upstream makes what others read a second result of the product.
      if (!producer->hasOneUse()) {
        producer = cast<linalg::GenericOp>(rewriter.clone(*producer));
        input->set(producer->getResult(0));
      }
      FailureOr<linalg::ElementwiseOpFusionResult> result =
          linalg::fuseElementwiseOps(rewriter, input);
      if (failed(result))
        return {};
      rewriter.replaceOp(op, result->replacements.lookup(op->getResult(0)));
      rewriter.eraseOp(producer);
      ++this->fused;
      return withoutUnusedResults(cast<linalg::GenericOp>(result->fusedOp));
    }
    return {};
  }
};

} // namespace
