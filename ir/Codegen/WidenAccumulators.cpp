#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
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
    unsigned count = 0;
    for (linalg::LinalgOp op : ops)
      plim::ir::widenAccumulators(op, count);
    widened += count;
  }
};

} // namespace
