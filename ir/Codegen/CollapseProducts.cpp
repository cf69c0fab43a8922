#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCOLLAPSEPRODUCTS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Is there one column, which hides others? Rows that lie side by side in their operand and in the
/// result are columns without it, and so are the lines of an image that is one pixel wide.
bool hidesColumns(linalg::LinalgOp op, const Product &product) {
  const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getStaticLoopRanges()[product.column] != 1 || result.getNumResults() < 2)
    return false;
  const unsigned loop =
      cast<AffineDimExpr>(result.getResult(result.getNumResults() - 2)).getPosition();
  OpOperand &rows = op->getOpOperand(product.rows), &panel = op->getOpOperand(product.panel);
  if (llvm::is_contained(product.rowLoops, loop))
    return isContiguousAlong(op.getMatchingIndexingMap(&rows), loop);
  const AffineMap map = op.getMatchingIndexingMap(&panel);
  return llvm::is_contained(product.columnLoops, loop) && map.getNumResults() > 1 &&
         cast<RankedTensorType>(panel.get().getType()).getShape().back() == 1 &&
         map.getResult(map.getNumResults() - 2).isFunctionOfDim(loop);
}

/// Do the dimension of an operand and the loop that would be its index have the same extent?
/// Another operand has that of the loop.
bool hasExtentOf(linalg::LinalgOp op, OpOperand &operand, unsigned dimension, unsigned loop) {
  for (OpOperand &other : op->getOpOperands()) {
    const std::optional<unsigned> position = op.getMatchingIndexingMap(&other).getResultPosition(
        getAffineDimExpr(loop, op.getContext()));
    if (!position)
      continue;
    FailureOr<bool> isEqual = ValueBoundsConstraintSet::areEqual(
        {operand.get(), int64_t(dimension)}, {other.get(), int64_t(*position)});
    if (succeeded(isEqual) && *isEqual)
      return true;
  }
  return false;
}

/// Takes out of `unit` what says how much of an operand is read: without those loops it would be
/// indexed by another loop alone, but it has, or may have, more elements than that has iterations.
/// A window may leave some behind it.
void keepLoopsOfParts(linalg::LinalgOp op, SmallVector<unsigned> &unit) {
  const AffineExpr zero = getAffineConstantExpr(0, op.getContext());
  for (bool changes = true; changes;) {
    changes = false;
    for (OpOperand &operand : op->getOpOperands())
      for (auto [dimension, index] :
           llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        AffineExpr rest = index;
        for (unsigned loop : unit)
          rest = rest.replace(getAffineDimExpr(loop, op.getContext()), zero);
        auto left = dyn_cast<AffineDimExpr>(rest);
        if (!left || isa<AffineDimExpr>(index) ||
            hasExtentOf(op, operand, unsigned(dimension), left.getPosition()))
          continue;
        const size_t before = unit.size();
        llvm::erase_if(unit, [index](unsigned loop) { return index.isFunctionOfDim(loop); });
        changes |= unit.size() != before;
      }
  }
}

/// Loops of one iteration that are dropped: those of the reduction, except one if all of them are
/// such loops, and the loop of a column that hides others.
SmallVector<unsigned> unitLoops(linalg::LinalgOp op, const Product &product) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> unit = product.depthLoops;
  llvm::erase_if(unit, [&](unsigned loop) { return sizes[loop] != 1; });
  if (unit.size() == product.depthLoops.size())
    unit.erase(unit.begin());
  if (hidesColumns(op, product))
    unit.push_back(product.column);
  keepLoopsOfParts(op, unit);
  return unit;
}

/// Groups of loops that all operands have side by side, in the same order. Those of a reduction whose order matters follow each other
/// in the op, too.
SmallVector<ReassociationIndices> adjacentLoops(linalg::LinalgOp op, const Product &product,
                                                bool mayReorder) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  const SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  auto follows = [&](int64_t before, unsigned loop) {
    const auto *at = llvm::find(reduced, loop);
    return mayReorder || (at != reduced.begin() && int64_t(*std::prev(at)) == before);
  };
  SmallVector<ReassociationIndices> groups;
  // The result has all parallel loops that more than one operand has, the panel all of the
  // reduction's that do.
  for (auto [map, kind] : {std::pair(maps.back(), utils::IteratorType::parallel),
                           std::pair(maps[product.panel], utils::IteratorType::reduction)}) {
    ReassociationIndices group;
    auto close = [&] {
      if (group.size() > 1)
        groups.push_back(group);
      group.clear();
    };
    for (AffineExpr index : map.getResults()) {
      const unsigned loop = cast<AffineDimExpr>(index).getPosition();
      if (kinds[loop] != kind || llvm::is_contained(product.batchLoops, loop)) {
        close();
        continue;
      }
      group.push_back(loop);
      if (group.size() > 1 &&
          (!linalg::areDimSequencesPreserved(maps, {group}) ||
           (kind == utils::IteratorType::reduction && !follows(group.end()[-2], loop)))) {
        group.pop_back();
        close();
        group.push_back(loop);
      }
    }
    close();
  }
  return groups;
}

/// Lets operands of which only each so-many-th element is read be slices of those: as a pointwise
/// convolution with strides reads its image, and all columns read the same elements. Its loops may
/// lie side by side then.
void readSlices(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const AffineMap result = maps.back();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const Location loc = op.getLoc();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    SmallVector<AffineExpr> indices;
    SmallVector<OpFoldResult> extents, steps;
    bool isApart = false;
    for (auto [position, index] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(index);
      int64_t step = 1;
      if (auto product = dyn_cast<AffineBinaryOpExpr>(index);
          product && product.getKind() == AffineExprKind::Mul) {
        auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
        dim = dyn_cast<AffineDimExpr>(product.getLHS());
        step = factor ? factor.getValue() : 0;
      }
      if (!dim || step < 1)
        break;
      isApart |= step > 1;
      indices.push_back(dim);
      steps.push_back(rewriter.getIndexAttr(step));
      const unsigned loop = dim.getPosition();
      const std::optional<unsigned> there = result.getResultPosition(dim);
      if (step == 1)
        extents.push_back(tensor::getMixedSize(rewriter, loc, operand->get(), int64_t(position)));
      else if (!ShapedType::isDynamic(sizes[loop]))
        extents.push_back(rewriter.getIndexAttr(sizes[loop]));
      else if (there)
        extents.push_back(
            tensor::getMixedSize(rewriter, loc, op.getDpsInits()[0], int64_t(*there)));
      else
        break;
    }
    if (!isApart || extents.size() != map.getNumResults())
      continue;
    const SmallVector<OpFoldResult> offsets(extents.size(), rewriter.getIndexAttr(0));
    const Value slice =
        tensor::ExtractSliceOp::create(rewriter, loc, operand->get(), offsets, extents, steps);
    map = AffineMap::get(map.getNumDims(), 0, indices, op.getContext());
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(operand->getOperandNumber(), slice);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

/// May a reader of a product be collapsed as the product was? Not if it would be cut off from
/// another op that it could be fused with.
bool readerFollows(OpOperand *operand) {
  auto reader = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto expanded = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
  if (!reader || !expanded || !expanded.getSrc().getDefiningOp<linalg::LinalgOp>() ||
      reader->hasAttr(deviceAttr) || llvm::any_of(reader.getDpsInits(), constrainedAllocation) ||
      !mayCollapseLoops(reader))
    return false;
  return llvm::none_of(reader.getDpsInputOperands(), [&](OpOperand *other) {
    auto producer = other->get().getDefiningOp<linalg::LinalgOp>();
    return producer && !isa<linalg::FillOp>(producer) && other->get().hasOneUse() &&
           reader.getMatchingIndexingMap(other).getNumResults() > 1;
  });
}

struct CollapseProducts : plim::ir::impl::PlimCollapseProductsBase<CollapseProducts> {
  using PlimCollapseProductsBase::PlimCollapseProductsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<linalg::LinalgOp> products;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && !op->hasAttr(deviceAttr) &&
          llvm::none_of(op.getDpsInits(), constrainedAllocation) && mayCollapseLoops(op) &&
          productOf(op))
        products.push_back(op);
    });
    bool changes = false;
    for (linalg::LinalgOp op : products)
      changes |= collapse(op);
    if (!changes)
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, readerFollows);
    populateFoldReshapes(patterns);
    if (failed(applySoundPatterns(function, std::move(patterns))))
      signalPassFailure();
  }

  bool mayReorder(linalg::LinalgOp op) const { return !strict && mayReorderReduction(op); }

  bool collapse(linalg::LinalgOp op) {
    std::optional<Product> product = productOf(op);
    const SmallVector<unsigned> unit = unitLoops(op, *product);
    if (unit.empty() && adjacentLoops(op, *product, mayReorder(op)).empty())
      return false;
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPoint(op);
    if (!isa<linalg::GenericOp>(op)) {
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic))
        return false;
      op = cast<linalg::LinalgOp>(generic->getOperation());
    }
    if (!unit.empty()) {
      linalg::ControlDropUnitDims control;
      control.controlFn = [&](Operation *) { return SmallVector<unsigned>(unit); };
      FailureOr<linalg::DropUnitDimsResult> dropped =
          linalg::dropUnitDims(rewriter, cast<linalg::GenericOp>(op.getOperation()), control);
      if (failed(dropped))
        return false;
      rewriter.replaceOp(op, dropped->replacements);
      op = cast<linalg::LinalgOp>(dropped->resultOp.getOperation());
      rewriter.setInsertionPoint(op);
      readSlices(rewriter, cast<linalg::GenericOp>(op.getOperation()));
      product = productOf(op);
    }
    const SmallVector<ReassociationIndices> groups =
        product ? adjacentLoops(op, *product, mayReorder(op)) : SmallVector<ReassociationIndices>();
    if (!groups.empty()) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::CollapseResult> result =
          linalg::collapseOpIterationDims(op, groups, rewriter);
      if (succeeded(result))
        rewriter.replaceOp(op, result->results);
    }
    ++collapsed;
    return true;
  }
};

} // namespace
