#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCOLLAPSEREDUCTIONS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Loops of the reduction that follow each other, and that all inputs have side by side in that order.
SmallVector<ReassociationIndices> adjacentLoops(linalg::LinalgOp op) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  SmallVector<ReassociationIndices> groups;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    if (!groups.empty() && groups.back().back() + 1 == int64_t(loop)) {
      groups.back().push_back(int64_t(loop));
      if (linalg::areDimSequencesPreserved(maps, {groups.back()}))
        continue;
      groups.back().pop_back();
    }
    groups.push_back({int64_t(loop)});
  }
  llvm::erase_if(groups, [](const ReassociationIndices &group) { return group.size() == 1; });
  return groups;
}

/// Could it be computed along with something else, which has the loops apart?
bool hasCompany(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [](OpOperand *input) {
    return isa<RankedTensorType>(input->get().getType()) &&
           (!input->get().hasOneUse() || input->get().getDefiningOp<linalg::LinalgOp>());
  });
}

bool isCollapsible(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() > 1 && !op.hasIndexSemantics() &&
         !op->hasAttr(deviceAttr) && llvm::none_of(op.getDpsInits(), constrainedAllocation) &&
         mayCollapseLoops(op) && !productOf(op) && !adjacentLoops(op).empty();
}

struct CollapseReductions : plim::ir::impl::PlimCollapseReductionsBase<CollapseReductions> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> reductions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isCollapsible(op))
        reductions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : reductions) {
      op = fuseProducers(rewriter, op, isCollapsible);
      if (!op || hasCompany(op))
        continue;
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::CollapseResult> result =
          linalg::collapseOpIterationDims(op, adjacentLoops(op), rewriter);
      if (failed(result))
        continue;
      rewriter.replaceOp(op, result->results);
      ++collapsed;
    }
  }
};

} // namespace
