#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMWIDENACCUMULATORS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct WidenAccumulators : plim::ir::impl::PlimWidenAccumulatorsBase<WidenAccumulators> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(plim::ir::dispatchFunctionAttr))
      return;
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0 && op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    const linalg::LinalgOp root = plim::ir::writtenBy(getOperation());
    for (linalg::LinalgOp op : ops) {
      const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      const bool isRoot = op == root;
      unsigned count = 0;
      if (plim::ir::widenAccumulators(op, count) && isRoot)
        renumberLoops(written);
      widened += count;
    }
  }

  /// What rounds is the root now, and its loops are the dimensions of the result.
  void renumberLoops(AffineMap written) {
    func::FuncOp function = getOperation();
    auto loops = function->getAttrOfType<DenseI64ArrayAttr>(plim::ir::parallelLoopsAttr);
    if (!loops)
      return;
    SmallVector<int64_t> dimensions;
    for (int64_t loop : loops.asArrayRef())
      if (std::optional<unsigned> dimension =
              written.getResultPosition(getAffineDimExpr(unsigned(loop), &getContext())))
        dimensions.push_back(*dimension);
    llvm::sort(dimensions);
    function->setAttr(plim::ir::parallelLoopsAttr,
                      DenseI64ArrayAttr::get(&getContext(), dimensions));
  }
};

} // namespace
