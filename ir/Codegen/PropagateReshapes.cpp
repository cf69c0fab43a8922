#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPROPAGATERESHAPES
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

bool mayChange(linalg::LinalgOp op) {
  return op && op.hasPureTensorSemantics() && !op->hasAttr(deviceAttr) &&
         llvm::none_of(op.getDpsInits(), constrainedAllocation);
}

bool isProduct(Operation *op) {
  auto product = dyn_cast_or_null<linalg::LinalgOp>(op);
  return mayChange(product) && productOf(product);
}

/// Would a product with the shape on the other side of a reshape, whose loops would be split, stand beside an op that it could be
/// fused with?
bool bringsTogether(OpOperand *operand) {
  if (auto reshape = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return isProduct(operand->get().getDefiningOp()) &&
           llvm::any_of(reshape->getUsers(), llvm::IsaPred<linalg::LinalgOp>);
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return reshape && isProduct(operand->getOwner()) &&
         reshape.getSrc().getDefiningOp<linalg::LinalgOp>();
}

/// Does the reshape add nothing but dimensions of one element?
bool addsUnitDimensions(tensor::ExpandShapeOp reshape) {
  const ArrayRef<int64_t> shape = reshape.getResultType().getShape();
  return llvm::all_of(reshape.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dimension) { return shape[size_t(dimension)] != 1; }) <
           2;
  });
}

/// Does an elementwise op read the operand with dimensions of one element, which a reduction kept, and could do without?
bool keepsDimensions(OpOperand *operand) {
  auto op = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto reshape = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
  return op && reshape && mayChange(op) && op.getNumReductionLoops() == 0 && mayCollapseLoops(op) &&
         addsUnitDimensions(reshape) && reshape.getSrc().getDefiningOp<linalg::LinalgOp>() &&
         // Those of a product stay as they are.
         llvm::none_of(op.getDpsInputs(),
                       [](Value input) { return isProduct(input.getDefiningOp()); });
}

struct PropagateReshapes : plim::ir::impl::PlimPropagateReshapesBase<PropagateReshapes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    dropConstantIndices(function);
    splitProducts(function);
    RewritePatternSet patterns(&getContext());
    populateFoldReshapes(patterns);
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, [&](OpOperand *operand) {
      const bool moves = keepsDimensions(operand);
      ++(moves ? moved : missed);
      return moves;
    });
    if (failed(applySoundPatterns(function, std::move(patterns))))
      signalPassFailure();
  }

  /// Each of those that there are at most once on either side: what splits one would be reshapes of others, and so on without end.
  void splitProducts(func::FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      auto reshape = dyn_cast<tensor::ExpandShapeOp>(op);
      if (isProduct(op) || (reshape && isProduct(reshape.getSrc().getDefiningOp())))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [&](OpOperand *operand) {
      const bool moves = bringsTogether(operand);
      ++(moves ? moved : missed);
      return moves;
    });
    (void)applySoundPatterns(ops, std::move(patterns), GreedyRewriteStrictness::ExistingOps);
  }

  /// Dimensions of one element that are read or written at a constant, such as those that a reduction keeps, go.
  void dropConstantIndices(func::FuncOp function) {
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (mayChange(op) && llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
            return constantDimensions(op, operand).any();
          }))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      dropConstantIndices(rewriter, op);
      ++reduced;
    }
  }

  /// The dimensions of an operand that have one element, which all iterations of the op use.
  static llvm::SmallBitVector constantDimensions(linalg::GenericOp op, OpOperand &operand) {
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    llvm::SmallBitVector dimensions(map.getNumResults());
    for (auto [dimension, index] : llvm::enumerate(map.getResults()))
      if (isa<AffineConstantExpr>(index) &&
          cast<RankedTensorType>(operand.get().getType()).getDimSize(unsigned(dimension)) == 1)
        dimensions.set(unsigned(dimension));
    return dimensions;
  }

  static void dropConstantIndices(IRRewriter &rewriter, linalg::GenericOp op) {
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    SmallVector<SmallVector<ReassociationIndices>> groups;
    for (OpOperand &operand : op->getOpOperands()) {
      const llvm::SmallBitVector dropped = constantDimensions(op, operand);
      AffineMap map = op.getMatchingIndexingMap(&operand);
      groups.emplace_back();
      if (dropped.none()) {
        operands.push_back(operand.get());
        maps.push_back(map);
        continue;
      }
      // Each that goes is joined with the one that stays in front of it, or with the first that does.
      ReassociationIndices leading;
      for (unsigned dimension = 0; dimension < dropped.size(); ++dimension) {
        if (!dropped.test(dimension)) {
          groups.back().push_back(std::exchange(leading, {}));
          groups.back().back().push_back(dimension);
        } else {
          (groups.back().empty() ? leading : groups.back().back()).push_back(dimension);
        }
      }
      operands.push_back(
          tensor::CollapseShapeOp::create(rewriter, op.getLoc(), operand.get(), groups.back()));
      maps.push_back(map.dropResults(dropped));
    }
    const unsigned inputs = op.getNumDpsInputs();
    auto outs = ArrayRef(operands).drop_front(inputs);
    auto reduced = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(outs)), ArrayRef(operands).take_front(inputs),
        outs, maps, op.getIteratorTypesArray(), nullptr, linalg::getPrunedAttributeList(op));
    rewriter.inlineRegionBefore(op.getRegion(), reduced.getRegion(), reduced.getRegion().begin());
    SmallVector<Value> results;
    for (auto [result, old, group] : llvm::zip_equal(reduced.getResults(), op.getResults(),
                                                     ArrayRef(groups).drop_front(inputs))) {
      if (result.getType() == old.getType()) {
        results.push_back(result);
        continue;
      }
      Value init = op.getDpsInits()[results.size()];
      results.push_back(
          tensor::ExpandShapeOp::create(rewriter, op.getLoc(), old.getType(), result, group,
                                        tensor::getMixedSizes(rewriter, op.getLoc(), init)));
    }
    rewriter.replaceOp(op, results);
  }
};

} // namespace
