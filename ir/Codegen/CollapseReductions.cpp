#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

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

/// Could it be computed along with something else, which has the loops apart? For one result nobody looks at rows.
bool hasCompany(linalg::LinalgOp op) {
  return op.getNumParallelLoops() > 0 &&
         llvm::any_of(op.getDpsInputOperands(), [](OpOperand *input) {
           auto isRead = [](Operation *user) { return !isa<tensor::DimOp>(user); };
           return isa<RankedTensorType>(input->get().getType()) &&
                  (llvm::count_if(input->get().getUsers(), isRead) > 1 ||
                   input->get().getDefiningOp<linalg::LinalgOp>());
         });
}

bool isCollapsible(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() > 1 && !op.hasIndexSemantics() &&
         !op->hasAttr(deviceAttr) && llvm::none_of(op.getDpsInits(), constrainedAllocation) &&
         mayCollapseLoops(op) && !productOf(op) && !adjacentLoops(op).empty();
}

/// Vectors lie along windows that are as wide.
constexpr int64_t wideWindow = 32;

/// The loops `o` and `w` of windows that follow each other without a gap: `index` is o * S + w, of which w has S iterations.
std::optional<std::pair<unsigned, unsigned>> windowsOf(AffineExpr index, int64_t extent,
                                                       ArrayRef<int64_t> sizes) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(index);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto begin = dyn_cast<AffineBinaryOpExpr>(sum.getLHS());
  auto within = dyn_cast<AffineDimExpr>(sum.getRHS());
  if (!begin || !within) {
    begin = dyn_cast<AffineBinaryOpExpr>(sum.getRHS());
    within = dyn_cast<AffineDimExpr>(sum.getLHS());
  }
  if (!begin || !within || begin.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto window = dyn_cast<AffineDimExpr>(begin.getLHS());
  auto step = dyn_cast<AffineConstantExpr>(begin.getRHS());
  if (!window || !step)
    return std::nullopt;
  const int64_t count = sizes[window.getPosition()], size = sizes[within.getPosition()];
  if (ShapedType::isDynamic(count) || ShapedType::isDynamic(size) || step.getValue() != size ||
      extent != count * size)
    return std::nullopt;
  return std::pair(window.getPosition(), within.getPosition());
}

/// Gives the input whose windows follow each other a dimension for the windows, and one for what is in each. What said
/// how large they are, and nothing else, goes.
bool splitWindows(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(deviceAttr))
    return false;
  SmallVector<OpOperand *> read;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.payloadUsesValueFromOperand(input))
      read.push_back(input);
  if (read.size() != 1 || op.getNumDpsInits() != 1 || op.hasIndexSemantics())
    return false;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const AffineMap map = op.getMatchingIndexingMap(read[0]);
  auto type = dyn_cast<RankedTensorType>(read[0]->get().getType());
  if (!type || map.getNumResults() == 0)
    return false;
  const auto last = windowsOf(map.getResults().back(), type.getShape().back(), sizes);
  if (!last || sizes[last->second] < wideWindow)
    return false;
  SmallVector<ReassociationIndices> parts;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices;
  for (auto [index, extent] : llvm::zip(map.getResults(), type.getShape())) {
    ReassociationIndices &part = parts.emplace_back();
    auto add = [&](AffineExpr each, int64_t size) {
      part.push_back(int64_t(shape.size()));
      shape.push_back(size);
      indices.push_back(each);
    };
    if (const auto windows = windowsOf(index, extent, sizes)) {
      add(getAffineDimExpr(windows->first, op.getContext()), sizes[windows->first]);
      add(getAffineDimExpr(windows->second, op.getContext()), sizes[windows->second]);
    } else {
      add(index, extent);
    }
  }
  const AffineMap split = AffineMap::get(map.getNumDims(), 0, indices, op.getContext());
  OpOperand &init = op.getDpsInitsMutable()[0];
  // All loops have to be told by what is left.
  if (!inversePermutation(
          AffineMap::get(map.getNumDims(), 0,
                         llvm::to_vector(llvm::concat<const AffineExpr>(
                             split.getResults(), op.getMatchingIndexingMap(&init).getResults())),
                         op.getContext())))
    return false;
  rewriter.setInsertionPoint(op);
  Value rows = tensor::ExpandShapeOp::create(rewriter, op.getLoc(),
                                             RankedTensorType::get(shape, type.getElementType()),
                                             read[0]->get(), parts);
  const unsigned number = read[0]->getOperandNumber();
  auto reduction = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), rows, init.get(),
      {split, op.getMatchingIndexingMap(&init)}, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBody()->getArgument(number), arguments[0]);
        mapping.map(op.getBody()->getArguments().back(), arguments[1]);
        for (Operation &each : *op.getBody())
          b.clone(each, mapping);
      });
  rewriter.replaceOp(op, reduction);
  return true;
}

/// As many columns as vectors along the reduction are faster for, though the elements are put in another
/// order first, and the fewest terms that are worth it.
constexpr int64_t fewColumns = 4, manyTerms = 64;

/// Puts what few columns choose from in an order in which vectors lie along the terms.
bool transposeChoices(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(deviceAttr) || !op.hasIndexSemantics() ||
      op.getNumResults() < 2 || op.getNumReductionLoops() != 1)
    return false;
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  const unsigned reduction = reductions.front();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<OpOperand *> across;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    if (!isa<RankedTensorType>(input->get().getType()) || !map.isProjectedPermutation() ||
        !map.isFunctionOfDim(reduction))
      return false;
    const unsigned column = map.getDimPosition(map.getNumResults() - 1);
    if (column == reduction)
      continue;
    if (ShapedType::isDynamic(sizes[column]) || sizes[column] > fewColumns)
      return false;
    across.push_back(input);
  }
  if (across.empty() || (!ShapedType::isDynamic(sizes[reduction]) && sizes[reduction] < manyTerms))
    return false;
  const Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  rewriter.startOpModification(op);
  for (OpOperand *input : across) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    SmallVector<int64_t> order;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (map.getDimPosition(i) != reduction)
        order.push_back(i);
    order.push_back(*map.getResultPosition(getAffineDimExpr(reduction, op.getContext())));
    SmallVector<OpFoldResult> extents = tensor::getMixedSizes(rewriter, loc, input->get());
    Value empty = tensor::EmptyOp::create(rewriter, loc, applyPermutation(extents, order),
                                          getElementTypeOrSelf(input->get()));
    input->set(
        linalg::TransposeOp::create(rewriter, loc, input->get(), empty, order)->getResult(0));
    maps[input->getOperandNumber()] =
        AffineMap::get(map.getNumDims(), 0,
                       applyPermutation(llvm::to_vector(map.getResults()), order), op.getContext());
  }
  op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  rewriter.finalizeOpModification(op);
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != reduction)
      loops.push_back(loop);
  loops.push_back(reduction);
  return succeeded(linalg::interchangeGenericOp(rewriter, op, loops));
}

struct CollapseReductions : plim::ir::impl::PlimCollapseReductionsBase<CollapseReductions> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics) {
      transposed += transposeChoices(rewriter, op);
      split += splitWindows(rewriter, op);
    }
    SmallVector<linalg::LinalgOp> reductions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isCollapsible(op))
        reductions.push_back(op);
    });
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
