#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/LoopWork.h"
#include "ir/Analysis/MaskBounds.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSPLITREDUCTIONS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// Work of a chunk, in scalar operations.
constexpr int64_t chunkCost = workgroupCost;
/// What reading an element that is used once costs, in the same unit.
constexpr int64_t elementCost = 8;
/// The fewest elements of a chunk that are folded into one, so that partial results are little against them, and of a
/// product's.
constexpr int64_t leastChunk = 256, leastDepth = 1024;
/// Workgroups that are enough without a split.
constexpr int64_t enoughWorkgroups = 8;
/// Columns side by side that a workgroup should have, and rows of a product.
constexpr int64_t columnsTogether = 64, rowsTogether = 64;

/// a * b, or the most work that makes a difference.
int64_t cappedProduct(int64_t a, int64_t b) { return checkedMul(a, b).value_or(INT64_MAX); }

/// How a reduction is split: `loops` are as one, whose iterations every operand has side by side, `chunk` of them at a time.
struct Split {
  SmallVector<unsigned> loops;
  int64_t iterations = 0; // may be dynamic
  int64_t chunk = 0;
  bool isFixed = false; // are chunks those of all such sums, whoever shares them?

  bool hasRest() const { return ShapedType::isDynamic(iterations) || iterations % chunk != 0; }
};

bool isReduction(utils::IteratorType kind) { return kind == utils::IteratorType::reduction; }

/// The operation that folds an element into a result.
Operation *combinerOf(linalg::LinalgOp op, unsigned result) {
  return op.getBlock()->getTerminator()->getOperand(result).getDefiningOp();
}

/// The most columns side by side that some input has: 1 where rows are reduced.
int64_t columnsOf(linalg::LinalgOp op) {
  int64_t columns = 1;
  const SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    // What is the same for all terms, a mean of each row beside the row, is of no column.
    auto isTerm = [&](unsigned loop) { return map.isFunctionOfDim(loop); };
    if (llvm::none_of(reduced, isTerm))
      continue;
    const unsigned loop = map.getDimPosition(map.getNumResults() - 1);
    if (!isReduction(kinds[loop]))
      columns = std::max(columns, std::min(sizes[loop], columnsTogether));
  }
  return columns;
}

/// Work of one iteration of all loops, in scalar operations, how many workgroups the parallel loops give that use what they
/// load, and the fewest elements that are worth a partial result.
struct Costs {
  int64_t iteration = 0, workgroups = 0, leastChunk = 0;
  bool areColumnsNarrow = false; // would a workgroup have few of those that lie side by side?
};

std::optional<Costs> costsOf(linalg::LinalgOp op) {
  SmallVector<unsigned> parallel, reduced;
  op.getParallelDims(parallel);
  op.getReductionDims(reduced);
  std::optional<int64_t> points = iterations(op, parallel);
  if (!points)
    return std::nullopt;
  Costs costs;
  costs.iteration = std::max<int64_t>(1, llvm::range_size(op.getBlock()->without_terminator()));
  if (std::optional<Product> product = productOf(op)) {
    const int64_t rows = *iterations(op, product->rowLoops),
                  columns = *iterations(op, product->columnLoops);
    costs.iteration += elementCost / rows;
    costs.workgroups = cappedProduct(*iterations(op, product->batchLoops),
                                     llvm::divideCeil(rows, rowsTogether) *
                                         llvm::divideCeil(columns, columnsTogether));
    costs.leastChunk = leastDepth;
    return costs;
  }
  costs.iteration += elementCost;
  const int64_t columns = columnsOf(op);
  costs.workgroups = std::max<int64_t>(1, *points / columns);
  costs.leastChunk = leastChunk;
  costs.areColumnsNarrow = columns > 1 && cappedProduct(iterations(op, reduced).value_or(0),
                                                        columns * costs.iteration) >= 4 * chunkCost;
  return costs;
}

/// The divisor of `iterations` that is nearest to `wanted`, half of it to twice it; 0 if there is none.
int64_t divisorNear(int64_t iterations, int64_t wanted) {
  for (int64_t distance = 0; distance <= wanted; ++distance)
    for (int64_t chunk : {wanted - distance, wanted + distance})
      if (2 * chunk >= wanted && iterations % chunk == 0)
        return chunk;
  return 0;
}

/// Reduction loops that follow each other and whose iterations lie side by side in all operands.
SmallVector<SmallVector<unsigned>> adjacentReductions(linalg::LinalgOp op) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (unsigned loop : reduced) {
    if (!groups.empty()) {
      ReassociationIndices joined(groups.back().begin(), groups.back().end());
      joined.push_back(loop);
      if (linalg::areDimSequencesPreserved(maps, {joined})) {
        groups.back().push_back(loop);
        continue;
      }
    }
    groups.push_back({loop});
  }
  return groups;
}

/// Do the loops go along what lies side by side in an input?
bool areAlongRows(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() > 0 && map.getResults().back().isFunctionOfDim(loops.back());
  });
}

/// Is what `loop` has a part of, in all operands, without gaps in memory?
bool hasDenseParts(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    std::optional<unsigned> position =
        map.getResultPosition(getAffineDimExpr(loops.front(), op.getContext()));
    if (!position)
      continue;
    ArrayRef<int64_t> shape = op.getShape(input);
    if (llvm::any_of(shape.take_front(*position), [](int64_t size) { return size != 1; }) ||
        ShapedType::isDynamicShape(shape.drop_front(*position + loops.size())))
      return false;
  }
  return true;
}

/// Is a result used, at once or through what is elementwise, for all elements of a row, as in a softmax? plim-form-dispatches keeps
/// rows in the caches then.
bool belongsToRows(linalg::LinalgOp op) {
  llvm::SetVector<Operation *> reached;
  reached.insert(op);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i]->getUsers()) {
      auto consumer = dyn_cast<linalg::LinalgOp>(user);
      if (!consumer || !consumer.hasPureTensorSemantics())
        continue;
      if (consumer.getNumParallelLoops() > op.getNumParallelLoops())
        return true;
      if (consumer.getNumReductionLoops() == 0)
        reached.insert(consumer);
    }
  return false;
}

/// How to split the op, if that is worthwhile and nothing has to be copied for it.
std::optional<Split> splitOf(linalg::LinalgOp op) {
  if (op.hasIndexSemantics() || llvm::is_contained(op.getStaticLoopRanges(), 0) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }) ||
      !llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
        return op.getMatchingIndexingMap(&init).getNumResults() == op.getNumParallelLoops();
      }))
    return std::nullopt;
  std::optional<Costs> costs = costsOf(op);
  if (!costs || (costs->workgroups >= enoughWorkgroups && !costs->areColumnsNarrow))
    return std::nullopt;
  SmallVector<unsigned> others;
  op.getParallelDims(others);
  if (*iterations(op, others) > 1 && columnsOf(op) == 1 && !productOf(op) && belongsToRows(op))
    return std::nullopt;
  // Most of the depth may be masked: plim-skip-masked knows how much when it is computed.
  if (std::optional<Product> product = productOf(op);
      product && isMaskedByPlace(op->getOperand(product->rows)))
    return std::nullopt;
  int64_t points = cappedProduct(costs->iteration, *iterations(op, others));

  std::optional<Split> best;
  int64_t most = 1;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  const SmallVector<SmallVector<unsigned>> groups = adjacentReductions(op);
  const bool ofColumns = sumsColumns(op);
  const bool ofRows = columnsOf(op) == 1 && dependsOnOrder(op) && !isMatrixProduct(op);
  const int64_t fixed = ofColumns ? chunkOfColumn : chunkOfRow;
  auto hasFixedChunks = [&](ArrayRef<unsigned> loops) {
    return iterations(op, loops).value_or(INT64_MAX) > fixed &&
           (ofColumns ? loops.back() == reduced.back() : ofRows && areAlongRows(op, loops));
  };
  const bool isFixed = llvm::any_of(groups, hasFixedChunks);
  for (ArrayRef<unsigned> loops : groups) {
    if (isFixed && !hasFixedChunks(loops))
      continue;
    // Constants stay as they are: panels, and what stands in the code.
    if (llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
          Operation *source = input->get().getDefiningOp();
          return source && (isa<UnpackPanelsOp>(source) || matchPattern(source, m_Constant())) &&
                 op.getMatchingIndexingMap(input).isFunctionOfDim(loops.front());
        }))
      continue;
    SmallVector<unsigned> inside = reduced;
    llvm::erase_if(inside, [&](unsigned loop) { return llvm::is_contained(loops, loop); });
    std::optional<int64_t> insides = iterations(op, inside), count = iterations(op, loops);
    if (!insides)
      continue;
    const int64_t each = cappedProduct(points, *insides);
    const int64_t wanted =
        std::max(llvm::bit_floor(uint64_t(std::max<int64_t>(1, chunkCost / each))),
                 llvm::bit_ceil(uint64_t(llvm::divideCeil(costs->leastChunk, *insides))));
    Split split;
    split.loops.assign(loops.begin(), loops.end());
    split.iterations = count.value_or(ShapedType::kDynamic);
    split.isFixed = isFixed;
    split.chunk = isFixed ? fixed : wanted;
    if (count) {
      // Twice what there was, and twice what is worth a task.
      if (cappedProduct(each, *count) / 2 < cappedProduct(costs->workgroups, chunkCost) &&
          !costs->areColumnsNarrow)
        continue;
      if (int64_t divisor = isFixed ? 0 : divisorNear(*count, wanted))
        split.chunk = divisor;
    }
    // Parts of others are read where they are.
    if (split.hasRest() && productOf(op) && !hasDenseParts(op, loops))
      continue;
    const int64_t chunks = count ? *count / split.chunk : INT64_MAX;
    if (std::min(chunks, 4 * enoughWorkgroups) > most) {
      most = std::min(chunks, 4 * enoughWorkgroups);
      best = split;
    }
  }
  return best;
}

struct SplitReductions : plim::ir::impl::PlimSplitReductionsBase<SplitReductions> {
  using PlimSplitReductionsBase::PlimSplitReductionsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (mayChange(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      if (!splitOf(op))
        continue;
      rewriter.setInsertionPoint(op);
      if (unsigned count = 0; linalg::LinalgOp wide = widenAccumulators(op, count))
        op = wide;
      const bool isProduct = productOf(op).has_value();
      // Producers that plim-form-dispatches would compute along with it: reshapes would cut them off. Those of products stay.
      linalg::GenericOp generic = fuseProducers(rewriter, op, [&](linalg::GenericOp fused) {
        return !isProduct && splitOf(fused).has_value();
      });
      if (!generic)
        continue;
      // Widened elements cost more, for which there may be no chunk.
      if (std::optional<Split> how = splitOf(generic)) {
        split(rewriter, generic, *how);
        ++this->splitOps;
      }
    }
  }

  bool mayChange(linalg::LinalgOp op) const {
    if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() || op->hasAttr(deviceAttr) ||
        llvm::any_of(op.getDpsInits(), constrainedAllocation) || !mayReorderReduction(op))
      return false;
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      if (hasElementOfEach(op, *op.getDpsInitOperand(i)))
        return false;
      Operation *combiner = combinerOf(op, i);
      if (!neutralElement(combiner) ||
          (strict && !isa<IntegerType>(combiner->getResult(0).getType())))
        return false;
    }
    return true;
  }

  static void split(IRRewriter &rewriter, linalg::GenericOp op, const Split &split) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    // The iterations as one dimension of each operand that has them.
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<std::optional<unsigned>> positions;
    Value some;
    unsigned position = 0;
    for (auto [input, map] : llvm::zip(inputs, op.getIndexingMapsArray())) {
      positions.push_back(map.getResultPosition(rewriter.getAffineDimExpr(split.loops.front())));
      if (!positions.back())
        continue;
      if (split.loops.size() > 1)
        input = collapse(rewriter, loc, input, *positions.back(), split.loops.size());
      some = input;
      position = *positions.back();
    }
    // Of an extent whose bounds are known, these have some too.
    OpFoldResult iterations = tensor::getMixedSize(rewriter, loc, some, position);
    auto compute = [&](AffineExpr expression) {
      return affine::makeComposedFoldedAffineApply(rewriter, loc, expression, {iterations});
    };
    const AffineExpr size = rewriter.getAffineSymbolExpr(0), count = size.floorDiv(split.chunk);
    const OpFoldResult chunks = compute(count), whole = compute(count * split.chunk),
                       left = compute(size % split.chunk);

    SmallVector<Value> parts, rests;
    for (auto [input, position] : llvm::zip(inputs, positions)) {
      Value part = input, rest = input;
      if (position && split.hasRest()) {
        part = slice(rewriter, loc, input, *position, rewriter.getIndexAttr(0), whole);
        rest = slice(rewriter, loc, input, *position, whole, left);
      }
      if (position)
        part = expand(rewriter, loc, part, *position, chunks, split.chunk);
      parts.push_back(part);
      rests.push_back(rest);
    }
    auto neutralOf = [&](unsigned i, ArrayRef<OpFoldResult> sizes) {
      Value neutral = arith::ConstantOp::create(rewriter, loc, neutralElement(combinerOf(op, i)));
      Value memory = tensor::EmptyOp::create(rewriter, loc, sizes,
                                             getElementTypeOrSelf(op.getDpsInits()[i].getType()));
      return linalg::FillOp::create(rewriter, loc, neutral, memory).getResult(0);
    };
    SmallVector<Value> partial, last;
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, init);
      if (split.hasRest())
        last.push_back(neutralOf(unsigned(i), sizes));
      sizes.insert(sizes.begin(), chunks);
      partial.push_back(neutralOf(unsigned(i), sizes));
    }
    auto folded = fold(rewriter, op, split, parts, partial, /*byChunk=*/true);
    auto combined =
        combine(rewriter, op, folded->getResults(), op.getDpsInits(), /*ofChunks=*/true);
    for (Operation *half : {folded.getOperation(), combined.getOperation()})
      half->setAttr(splitAttr, rewriter.getUnitAttr());
    if (split.isFixed)
      combined->setAttr(inOrderAttr, rewriter.getUnitAttr());
    if (split.hasRest()) {
      auto rest = fold(rewriter, op, split, rests, last, /*byChunk=*/false);
      combined =
          combine(rewriter, op, rest->getResults(), combined->getResults(), /*ofChunks=*/false);
    }
    rewriter.replaceOp(op, combined);
  }

  /// The op on inputs whose split loops are one, or one of chunks, the outermost, and one of a chunk's iterations.
  static linalg::GenericOp fold(OpBuilder &builder, linalg::GenericOp op, const Split &split,
                                ValueRange inputs, ValueRange inits, bool byChunk) {
    SmallVector<AffineExpr> loops(op.getNumLoops());
    SmallVector<utils::IteratorType> kinds;
    if (byChunk)
      kinds.push_back(utils::IteratorType::parallel);
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (llvm::is_contained(ArrayRef(split.loops).drop_front(), loop))
        continue;
      loops[loop] = builder.getAffineDimExpr(unsigned(kinds.size()));
      kinds.push_back(kind);
    }
    SmallVector<AffineMap> maps;
    for (auto [operand, map] : llvm::enumerate(op.getIndexingMapsArray())) {
      SmallVector<AffineExpr> indices;
      const bool isInit = operand >= inputs.size();
      if (byChunk && isInit)
        indices.push_back(builder.getAffineDimExpr(0));
      for (AffineExpr index : map.getResults()) {
        const unsigned loop = cast<AffineDimExpr>(index).getPosition();
        if (byChunk && loop == split.loops.front())
          indices.push_back(builder.getAffineDimExpr(0));
        if (loops[loop])
          indices.push_back(loops[loop]);
      }
      maps.push_back(AffineMap::get(unsigned(kinds.size()), 0, indices, builder.getContext()));
    }
    auto folded = linalg::GenericOp::create(builder, op.getLoc(), TypeRange(inits), inputs, inits,
                                            maps, kinds);
    IRMapping mapping;
    op.getRegion().cloneInto(&folded.getRegion(), mapping);
    return folded;
  }

  /// Folds partial results, one for each chunk or just one, into what there is.
  static linalg::GenericOp combine(OpBuilder &builder, linalg::GenericOp op, ValueRange partial,
                                   ValueRange inits, bool ofChunks) {
    SmallVector<AffineExpr> loops(op.getNumLoops());
    SmallVector<utils::IteratorType> kinds;
    if (ofChunks)
      kinds.push_back(utils::IteratorType::reduction);
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (!isReduction(kind)) {
        loops[loop] = builder.getAffineDimExpr(unsigned(kinds.size()));
        kinds.push_back(kind);
      }
    SmallVector<AffineMap> maps, results;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      SmallVector<AffineExpr> indices;
      for (AffineExpr index : op.getMatchingIndexingMap(&init).getResults())
        indices.push_back(loops[cast<AffineDimExpr>(index).getPosition()]);
      results.push_back(AffineMap::get(unsigned(kinds.size()), 0, indices, builder.getContext()));
      if (ofChunks)
        indices.insert(indices.begin(), builder.getAffineDimExpr(0));
      maps.push_back(AffineMap::get(unsigned(kinds.size()), 0, indices, builder.getContext()));
    }
    llvm::append_range(maps, results);
    return linalg::GenericOp::create(
        builder, op.getLoc(), TypeRange(inits), partial, inits, maps, kinds,
        [&](OpBuilder &body, Location loc, ValueRange arguments) {
          SmallVector<Value> folded;
          for (auto [i, accumulator] : llvm::enumerate(op.getRegionOutputArgs())) {
            Operation *combiner = combinerOf(op, i);
            IRMapping mapping;
            for (Value operand : combiner->getOperands())
              mapping.map(operand, arguments[operand == accumulator ? partial.size() + i : i]);
            folded.push_back(body.clone(*combiner, mapping)->getResult(0));
          }
          linalg::YieldOp::create(body, loc, folded);
        });
  }

  /// Makes one dimension of `count`, from `position` on.
  static Value collapse(OpBuilder &builder, Location loc, Value tensor, unsigned position,
                        size_t count) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d < cast<RankedTensorType>(tensor.getType()).getRank(); ++d) {
      if (d <= position || d >= int64_t(position + count))
        groups.emplace_back();
      groups.back().push_back(d);
    }
    return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  }

  static Value slice(OpBuilder &builder, Location loc, Value tensor, unsigned position,
                     OpFoldResult offset, OpFoldResult size) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
        steps(sizes.size(), builder.getIndexAttr(1));
    offsets[position] = offset;
    sizes[position] = size;
    return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, steps);
  }

  /// Makes two dimensions of one: `chunks` and `chunk`.
  static Value expand(OpBuilder &builder, Location loc, Value tensor, unsigned position,
                      OpFoldResult chunks, int64_t chunk) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
    SmallVector<ReassociationIndices> groups;
    int64_t next = 0;
    for (unsigned d = 0; d < type.getRank(); ++d) {
      groups.push_back({next++});
      if (d == position)
        groups.back().push_back(next++);
    }
    sizes[position] = chunks;
    sizes.insert(sizes.begin() + position + 1, builder.getIndexAttr(chunk));
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor, groups, sizes);
  }
};

} // namespace
