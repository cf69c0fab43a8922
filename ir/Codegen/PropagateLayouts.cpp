#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/FixedValues.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPROPAGATELAYOUTS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// The fewest channels that are summed over in one go: a line of them.
constexpr int64_t leastChannels = 16;
/// The fewest filters that are worth to be columns: those of a vector.
constexpr int64_t leastColumns = 16;
/// The fewest multiplications for each element that has to be transposed, where a network begins or ends.
constexpr int64_t productsWorthATransposition = 128;
/// How much more a multiplication takes where pixels are the columns, and so few that there are no vectors of them; where they may be.
constexpr int64_t fewPixels = 4, timeOfFewPixels = 16, timeOfUnknownPixels = 4;
/// Assumed of extents that are not known at load.
constexpr int64_t unknownExtent = 64;

/// By dimension in memory, the dimension of the tensor that the source has.
using Layout = SmallVector<int64_t>;

int64_t elementsOf(Type type) {
  int64_t elements = 1;
  for (int64_t extent : cast<RankedTensorType>(type).getShape())
    elements = checkedMul(elements, ShapedType::isDynamic(extent) ? unknownExtent : extent)
                   .value_or(INT64_MAX);
  return elements;
}

/// The dimension of `map` that is `loop` and nothing else.
std::optional<unsigned> dimensionOf(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

AffineMap permuted(AffineMap map, ArrayRef<int64_t> layout) {
  SmallVector<AffineExpr> results = llvm::map_to_vector(
      layout, [&](int64_t dimension) { return map.getResult(unsigned(dimension)); });
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}

/// Memory that nothing has been written to, or that one value fills.
bool isFresh(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getDpsInits()[0];
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

struct PropagateLayouts : plim::ir::impl::PlimPropagateLayoutsBase<PropagateLayouts> {
  using PlimPropagateLayoutsBase::PlimPropagateLayoutsBase;

  void runOnOperation() override {
    FixedValues fixed(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr))
        runOn(function, fixed);
  }

  void runOn(func::FuncOp function, FixedValues &fixed) {
    bool changes = false;
    SmallVector<Block *> blocks;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    for (Block *block : blocks)
      changes |= Network(*block, fixed, *this).rewrite();
    IRRewriter rewriter(&getContext());
    if (changes)
      (void)runRegionDCE(rewriter, function->getRegions());
  }

  /// The ops of a block whose results get another layout.
  class Network {
  public:
    Network(Block &block, FixedValues &fixed, PropagateLayouts &pass)
        : block(block), fixed(fixed), pass(pass) {}

    /// Returns whether there were any.
    bool rewrite() {
      for (Operation &op : block)
        choose(&op);
      if (chosen.empty())
        return false;
      dropWhatDoesNotPay();
      SmallVector<Operation *> ops =
          llvm::map_to_vector(chosen, [](auto &each) { return each.first; });
      for (Operation *op : ops)
        replace(op);
      for (Operation *op : ops)
        restore(op);
      return !chosen.empty();
    }

  private:
    const Layout *layoutOf(Value value) const {
      auto found = value.getDefiningOp() ? chosen.find(value.getDefiningOp()) : chosen.end();
      return found == chosen.end() ? nullptr : &found->second;
    }

    void choose(Operation *op) {
      if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
          op->hasAttr(deviceAttr) || fixed.isFixed(op))
        return;
      std::optional<Layout> layout;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && generic.hasPureTensorSemantics() && isFresh(generic.getDpsInits()[0]) &&
          generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isProjectedPermutation()) {
        layout = layoutOfProduct(generic);
        if (!layout)
          layout = layoutOfFollower(generic);
      } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
        layout = layoutOfInsertion(insert);
      }
      if (!layout)
        return;
      chosen[op] = *layout;
      component.insert(op);
      for (Value operand : op->getOperands())
        if (layoutOf(operand))
          component.unionSets(op, operand.getDefiningOp());
    }

    /// A product whose filter is a constant gets its filters as columns.
    std::optional<Layout> layoutOfProduct(linalg::GenericOp op) {
      std::optional<Product> product = productOf(op);
      if (!product || !llvm::all_of(op->getOperandTypes(), [](Type type) {
            return getElementTypeOrSelf(type).isIntOrFloat();
          }))
        return std::nullopt;
      OpOperand &filter = op->getOpOperand(product->rows);
      const AffineMap map = op.getMatchingIndexingMap(&filter),
                      result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      if (!map.isProjectedPermutation() || !fixed.isFixed(filter.get()))
        return std::nullopt;
      const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
      unsigned best = 0;
      int64_t most = leastColumns - 1;
      for (unsigned loop : product->rowLoops)
        if (sizes[loop] > most) {
          best = loop;
          most = sizes[loop];
        }
      if (most < leastColumns)
        return std::nullopt;
      const unsigned channels = *dimensionOf(result, best);
      Layout layout;
      for (unsigned dimension = 0; dimension < result.getNumResults(); ++dimension)
        if (dimension != channels)
          layout.push_back(dimension);
      layout.push_back(channels);
      return layout;
    }

    /// An op that goes along its result as it goes along an operand with a layout, and along all others that are as large.
    std::optional<Layout> layoutOfFollower(linalg::GenericOp op) {
      const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      if (!result.isProjectedPermutation() || op.hasIndexSemantics())
        return std::nullopt;
      const Layout *layout = nullptr;
      for (OpOperand *operand : op.getDpsInputOperands()) {
        const Layout *of = layoutOf(operand->get());
        const AffineMap map = op.getMatchingIndexingMap(operand);
        if (!of && (map.getNumResults() < 2 || fixed.isFixed(operand->get()) ||
                    operand->get().getDefiningOp<tensor::EmptyOp>()))
          continue;
        if (!of || (layout && *of != *layout) || !isAlong(map, result))
          return std::nullopt;
        layout = of;
      }
      return layout ? std::optional(*layout) : std::nullopt;
    }

    /// Does each dimension of an operand belong to that of the result?
    static bool isAlong(AffineMap map, AffineMap result) {
      return map.getNumResults() == result.getNumResults() &&
             llvm::all_of(llvm::zip_equal(map.getResults(), result.getResults()), [](auto pair) {
               return std::get<0>(pair).isFunctionOfDim(
                   cast<AffineDimExpr>(std::get<1>(pair)).getPosition());
             });
    }

    /// Borders and concatenations.
    std::optional<Layout> layoutOfInsertion(tensor::InsertSliceOp op) {
      const Layout *source = layoutOf(op.getSource()), *dest = layoutOf(op.getDest());
      if (!source || op.getSourceType().getRank() != op.getDestType().getRank() ||
          !(dest ? *dest == *source : isFresh(op.getDest())))
        return std::nullopt;
      return *source;
    }

    /// Can the user read the value in its layout without being slower for it?
    bool reads(OpOperand &use) {
      if (chosen.contains(use.getOwner()))
        return true;
      auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
      return op && op->getBlock() == &block && op.getNumReductionLoops() > 0 &&
             op.isDpsInput(&use) && op.hasPureTensorSemantics() && !op->hasAttr(deviceAttr);
    }

    void dropWhatDoesNotPay() {
      llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> balance; // of a component
      for (auto &[op, layout] : chosen) {
        auto &[products, transposed] = balance[component.getLeaderValue(op)];
        auto generic = dyn_cast<linalg::GenericOp>(op);
        if (std::optional<Product> product = generic ? productOf(generic) : std::nullopt) {
          const SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
          const int64_t pixels = sizes[product->column];
          int64_t count = ShapedType::isDynamic(pixels) ? timeOfUnknownPixels
                          : pixels < fewPixels          ? timeOfFewPixels
                                                        : 1;
          for (int64_t size : sizes)
            count = checkedMul(count, ShapedType::isDynamic(size) ? unknownExtent : size)
                        .value_or(INT64_MAX);
          products += std::min(count, INT64_MAX - products);
        }
        if (!llvm::all_of(op->getUses(), [&](OpOperand &use) { return reads(use); }))
          transposed += std::min(elementsOf(op->getResult(0).getType()), INT64_MAX - transposed);
      }
      chosen.remove_if([&](auto &each) {
        auto [products, transposed] = balance[component.getLeaderValue(each.first)];
        const bool pays = products / productsWorthATransposition >= transposed;
        pass.missed += !pays;
        return !pays;
      });
    }

    /// Memory with the extents of `like`, in the layout, filled if that is.
    static Value fresh(IRRewriter &rewriter, Value like, ArrayRef<int64_t> layout) {
      Location loc = like.getLoc();
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, like);
      applyPermutationToVector(sizes, layout);
      Value empty =
          tensor::EmptyOp::create(rewriter, loc, sizes, getElementTypeOrSelf(like.getType()));
      auto fill = like.getDefiningOp<linalg::FillOp>();
      return fill ? linalg::FillOp::create(rewriter, loc, fill.getInputs(), empty).getResult(0)
                  : empty;
    }

    static Value transposed(IRRewriter &rewriter, Value value, ArrayRef<int64_t> permutation) {
      Location loc = value.getLoc();
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, value);
      applyPermutationToVector(sizes, permutation);
      Value empty =
          tensor::EmptyOp::create(rewriter, loc, sizes, getElementTypeOrSelf(value.getType()));
      return linalg::TransposeOp::create(rewriter, loc, value, empty, permutation)->getResult(0);
    }

    /// Sums over the channels of one place of a window before the next one: they lie side by side, and places of the same channel
    /// often fall on the same set of the nearest cache.
    static linalg::GenericOp channelsInnermost(IRRewriter &rewriter, linalg::GenericOp op,
                                               const Product &product) {
      const AffineMap image = op.getMatchingIndexingMap(&op->getOpOperand(product.rows));
      auto channel = dyn_cast<AffineDimExpr>(image.getResults().back());
      if (!channel || !llvm::is_contained(product.depthLoops, channel.getPosition()) ||
          op.getStaticLoopRanges()[channel.getPosition()] < leastChannels)
        return op;
      SmallVector<unsigned> order;
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (loop != channel.getPosition())
          order.push_back(loop);
      order.push_back(channel.getPosition());
      FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, op, order);
      return succeeded(ordered) ? *ordered : op;
    }

    void replace(Operation *op) {
      const Layout &layout = chosen[op];
      IRRewriter rewriter(op);
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
        auto permute = [&](SmallVector<OpFoldResult> values) {
          applyPermutationToVector(values, layout);
          return values;
        };
        Value dest = layoutOf(insert.getDest()) ? replacements.lookup(insert.getDest())
                                                : fresh(rewriter, insert.getDest(), layout);
        replacements[op->getResult(0)] = tensor::InsertSliceOp::create(
            rewriter, op->getLoc(), replacements.lookup(insert.getSource()), dest,
            permute(insert.getMixedOffsets()), permute(insert.getMixedSizes()),
            permute(insert.getMixedStrides()));
        ++pass.followed;
        return;
      }
      auto generic = cast<linalg::GenericOp>(op);
      const AffineMap result =
          permuted(generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)), layout);
      const unsigned column = cast<AffineDimExpr>(result.getResults().back()).getPosition();
      SmallVector<Value> inputs;
      SmallVector<AffineMap> maps;
      for (OpOperand *operand : generic.getDpsInputOperands()) {
        Value value = operand->get();
        AffineMap map = generic.getMatchingIndexingMap(operand);
        if (const Layout *of = layoutOf(value)) {
          map = permuted(map, *of);
          value = replacements.lookup(value);
        } else if (std::optional<unsigned> dimension = dimensionOf(map, column);
                   dimension && *dimension + 1 != map.getNumResults() && fixed.isFixed(value)) {
          Layout last;
          for (unsigned i = 0; i < map.getNumResults(); ++i)
            if (i != *dimension)
              last.push_back(i);
          last.push_back(*dimension);
          map = permuted(map, last);
          value = transposed(rewriter, value, last);
        }
        inputs.push_back(value);
        maps.push_back(map);
      }
      maps.push_back(result);
      Value init = fresh(rewriter, generic.getDpsInits()[0], layout);
      auto changed = linalg::GenericOp::create(rewriter, op->getLoc(), init.getType(), inputs, init,
                                               maps, generic.getIteratorTypesArray());
      rewriter.inlineRegionBefore(generic.getRegion(), changed.getRegion(),
                                  changed.getRegion().begin());
      if (std::optional<Product> product = productOf(changed)) {
        ++pass.turned;
        if (!pass.strict && mayReorderReduction(changed))
          changed = channelsInnermost(rewriter, changed, *product);
      } else {
        ++pass.followed;
        // Loops in the order of the result, sums innermost.
        SmallVector<unsigned> order;
        for (AffineExpr index : result.getResults())
          order.push_back(cast<AffineDimExpr>(index).getPosition());
        for (unsigned loop = 0; loop < changed.getNumLoops(); ++loop)
          if (!llvm::is_contained(order, loop))
            order.push_back(loop);
        if (FailureOr<linalg::GenericOp> ordered =
                linalg::interchangeGenericOp(rewriter, changed, order);
            succeeded(ordered))
          changed = *ordered;
      }
      replacements[op->getResult(0)] = changed->getResult(0);
    }

    /// Gives what reads the result of `op`, and was not replaced, the new one.
    void restore(Operation *op) {
      Value old = op->getResult(0), now = replacements.lookup(old), back;
      const Layout layout = chosen[op];
      IRRewriter rewriter(op->getContext());
      for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
        if (chosen.contains(use.getOwner()))
          continue;
        if (reads(use)) {
          auto reader = cast<linalg::GenericOp>(use.getOwner());
          SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
          maps[use.getOperandNumber()] = permuted(maps[use.getOperandNumber()], layout);
          reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
          use.set(now);
          continue;
        }
        if (!back) {
          rewriter.setInsertionPointAfter(now.getDefiningOp());
          back = transposed(rewriter, now, invertPermutationVector(layout));
        }
        use.set(back);
      }
    }

    Block &block;
    FixedValues &fixed;
    PropagateLayouts &pass;
    llvm::MapVector<Operation *, Layout> chosen;
    llvm::EquivalenceClasses<Operation *> component;
    llvm::DenseMap<Value, Value> replacements;
  };
};

} // namespace
