#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMORDERLOOPS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct OrderLoops : plim::ir::impl::PlimOrderLoopsBase<OrderLoops> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    IRRewriter rewriter(&getContext());
    function.walk([&](linalg::GenericOp op) {
      const SmallVector<unsigned> order = orderOf(op);
      if (order.size() != op.getNumLoops() || llvm::is_sorted(order))
        return;
      rewriter.setInsertionPoint(op);
      if (succeeded(linalg::interchangeGenericOp(rewriter, op, order)))
        ++ordered;
    });
  }

  /// The loops of the result's dimensions, then those of the reduction; not all of them where there is no such order.
  static SmallVector<unsigned> orderOf(linalg::GenericOp generic) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
      return {};
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!result.isProjectedPermutation() || result.getNumResults() != op.getNumParallelLoops())
      return {};
    SmallVector<unsigned> order;
    for (AffineExpr index : result.getResults())
      order.push_back(cast<AffineDimExpr>(index).getPosition());
    // Dimensions of a projected permutation may be those of reductions.
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind != utils::IteratorType::parallel)
        order.push_back(loop);
    return order;
  }
};

} // namespace
