#include "ir/Analysis/Products.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFUSEINTILES
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Operations on an element that cost less than to store it and load it again.
constexpr int64_t cheapOperations = 3;

struct FuseInTiles : plim::ir::impl::PlimFuseInTilesBase<FuseInTiles> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    // In order: what one becomes part of may become part of another. A fused op takes the place of its consumer in the list.
    for (size_t i = 0; i < ops.size(); ++i)
      if (mayBeFused(ops[i]))
        fuse(rewriter, ops[i], MutableArrayRef(ops).drop_front(i + 1));
  }

  /// Is it elementwise, without a first value, and read in its block alone?
  static bool mayBeFused(linalg::GenericOp op) {
    return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
           op->getNumResults() == 1 && !op->use_empty() &&
           !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
           op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
           llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return user->getBlock() == op->getBlock(); });
  }

  void fuse(IRRewriter &rewriter, linalg::GenericOp producer,
            MutableArrayRef<linalg::GenericOp> behind) {
    // One for each user.
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : producer->getUses())
      if (llvm::none_of(uses,
                        [&](OpOperand *other) { return other->getOwner() == use.getOwner(); }))
        uses.push_back(&use);
    llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
      return a->getOwner()->isBeforeInBlock(b->getOwner());
    });
    if (uses.size() == 1 || isCheap(producer)) {
      for (OpOperand *use : uses)
        ++(replace(rewriter, producer, *use, /*keeps=*/false, behind) ? fused : missed);
    } else if (isRowReduction(uses.front()->getOwner())) {
      ++(replace(rewriter, producer, *uses.front(), /*keeps=*/true, behind) ? kept : missed);
    }
  }

  /// Is its result cheaper computed again than stored and loaded? It loads one element for it.
  static bool isCheap(linalg::GenericOp op) {
    int64_t operations = 0, elements = 0;
    for (OpOperand *input : op.getDpsInputOperands())
      elements += op.getMatchingIndexingMap(input).isPermutation() ? 1 : 0;
    for (Operation &each : op.getBody()->without_terminator()) {
      if (!isa<arith::ConstantOp, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
               arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
               arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::CmpFOp, arith::CmpIOp,
               arith::SelectOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(each))
        return false;
      operations += isa<arith::ConstantOp>(each) ? 0 : 1;
    }
    return elements <= 1 && operations <= cheapOperations;
  }

  /// Does it reduce along the innermost of its loops, over all of its operands' elements in their order?
  static bool isRowReduction(Operation *user) {
    auto op = dyn_cast<linalg::GenericOp>(user);
    return op && op.getNumReductionLoops() == 1 && op->getNumResults() == 1 &&
           op.getIteratorTypesArray().back() == utils::IteratorType::reduction &&
           llvm::all_of(op.getIndexingMapsArray(),
                        [](AffineMap map) { return map.isProjectedPermutation(); }) &&
           op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity();
  }

  /// Makes the producer part of the op of one use; with `keeps` its result is one of that op's, else a copy of it is fused.
  bool replace(IRRewriter &rewriter, linalg::GenericOp producer, OpOperand &use, bool keeps,
               MutableArrayRef<linalg::GenericOp> behind) {
    auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
    auto place = llvm::find(behind, consumer);
    if (!consumer || place == behind.end() || consumer.isDpsInit(&use) ||
        !consumer.getMatchingIndexingMap(&use).isPermutation() || productOf(consumer))
      return false;
    linalg::GenericOp mine = producer;
    rewriter.setInsertionPoint(producer);
    if (!keeps &&
        !llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; })) {
      mine = cast<linalg::GenericOp>(rewriter.clone(*producer));
      for (OpOperand &operand : consumer->getOpOperands())
        if (operand.get() == producer->getResult(0))
          operand.set(mine->getResult(0));
    }
    auto undo = [&] {
      if (mine != producer)
        rewriter.replaceOp(mine, producer->getResults());
      return false;
    };
    if (!linalg::areElementwiseOpsFusable(&use))
      return undo();
    rewriter.setInsertionPoint(consumer);
    FailureOr<linalg::ElementwiseOpFusionResult> result =
        linalg::fuseElementwiseOps(rewriter, &use);
    if (failed(result))
      return undo();
    auto fusedOp = cast<linalg::GenericOp>(result->fusedOp);
    // Other passes would take it for one that may be blocked.
    if (productOf(fusedOp)) {
      rewriter.eraseOp(fusedOp);
      return undo();
    }
    fusedOp->setDiscardableAttrs(consumer->getDiscardableAttrDictionary());
    *place = fusedOp;
    for (auto [old, value] : result->replacements)
      rewriter.replaceAllUsesExcept(old, value, fusedOp);
    rewriter.eraseOp(consumer);
    if (mine->use_empty())
      rewriter.eraseOp(mine);
    return true;
  }
};

} // namespace
