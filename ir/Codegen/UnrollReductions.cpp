#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMUNROLLREDUCTIONS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Terms up to which vectors of results are faster than vectors along the terms, if those are less
/// than a line of the caches; and operations that may be written out.
constexpr int64_t mostTerms = 8, mostOperations = 64;
/// The same of sums that are rounded: of more, the order does not depend on whether their number is
/// known (numerics.md).
constexpr int64_t mostRoundedTerms = 3;

/// Are there results whose terms may be taken in another order, and are rounded otherwise then?
bool roundsByOrder(linalg::LinalgOp op) {
  return mayReorderReduction(op) &&
         llvm::any_of(op.getBlock()->getTerminator()->getOperands(), [](Value yielded) {
           return !getElementTypeOrSelf(yielded).isIntOrIndex() &&
                  !isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                                   arith::MinNumFOp>(yielded.getDefiningOp());
         });
}

/// The loop of a reduction of few terms, which lie side by side in its inputs; nothing for what is
/// better left as it is.
std::optional<unsigned> shortLoop(linalg::LinalgOp op, bool strict) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 ||
      op.getNumParallelLoops() == 0 || op.hasIndexSemantics() || op->hasAttr(deviceAttr) ||
      llvm::any_of(op.getDpsInits(), constrainedAllocation) || productOf(op))
    return std::nullopt;
  unsigned loop = 0;
  while (op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction)
    ++loop;
  const int64_t terms = op.getStaticLoopRanges()[loop],
                bytes = elementBytes(getElementTypeOrSelf(op.getDpsInits()[0]));
  if (ShapedType::isDynamic(terms) || terms < 2 || terms > mostTerms ||
      (terms > mostRoundedTerms && !strict && roundsByOrder(op)) ||
      terms * bytes >= cacheLineBytes ||
      terms * int64_t(op.getBlock()->getOperations().size()) > mostOperations)
    return std::nullopt;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (hasElementOfEach(op, init))
      return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation() ||
        (map.isFunctionOfDim(loop) && !isContiguousAlong(map, loop)))
      return std::nullopt;
  }
  return loop;
}

/// Does the op read the elements of another reduction that nothing else reads? The other one is
/// then computed in the loop of this one, so that the loop must stay.
bool readsReduction(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    auto producer = input.hasOneUse() ? input.getDefiningOp<linalg::LinalgOp>() : nullptr;
    return producer && (producer.getNumReductionLoops() > 0 || readsReduction(producer));
  });
}

/// The constant that all elements of a destination are, or null.
arith::ConstantOp filledWith(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill ? fill.getDpsInputs()[0].getDefiningOp<arith::ConstantOp>() : nullptr;
}

/// The map without a loop, at an iteration of it.
AffineMap mapAt(AffineMap map, unsigned loop, int64_t iteration) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < map.getNumDims(); ++i)
    loops.push_back(i == loop ? getAffineConstantExpr(iteration, context)
                              : getAffineDimExpr(i - (i > loop), context));
  return map.replaceDimsAndSymbols(loops, {}, map.getNumDims() - 1, 0);
}

/// The maximum or minimum of 16 bits that a result is, of its accumulator, which nothing else looks at, and of one more number; null
/// for other results. It is exact in f32, of which all machines have one, and LLVM's loops vectors.
Operation *narrowExtremum(linalg::LinalgOp op, OpOperand &init) {
  Operation *extremum = op.getMatchingYieldValue(&init)->get().getDefiningOp();
  const Value accumulator = op.getMatchingBlockArgument(&init);
  if (!isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
          extremum) ||
      !isa<Float16Type, BFloat16Type>(extremum->getResult(0).getType()) ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != extremum || !extremum->hasOneUse())
    return nullptr;
  return extremum;
}

void unroll(linalg::LinalgOp op, unsigned loop, IRRewriter &rewriter) {
  const int64_t terms = op.getStaticLoopRanges()[loop];
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  // Of the new op, by the input: one for each term, or one for all.
  SmallVector<SmallVector<size_t>> argumentsOf;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    SmallVector<size_t> &arguments = argumentsOf.emplace_back();
    for (int64_t term = 0; term < (map.isFunctionOfDim(loop) ? terms : 1); ++term) {
      const AffineMap mapOfTerm = mapAt(map, loop, term);
      size_t number = 0; // of the one that reads it already
      while (number < inputs.size() &&
             (inputs[number] != input->get() || maps[number] != mapOfTerm))
        ++number;
      if (number == inputs.size()) {
        inputs.push_back(input->get());
        maps.push_back(mapOfTerm);
      }
      arguments.push_back(number);
    }
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    inits.push_back(filledWith(init.get())
                        ? init.get().getDefiningOp<linalg::FillOp>().getDpsInits()[0]
                        : init.get());
    maps.push_back(mapAt(op.getMatchingIndexingMap(&init), loop, 0));
  }
  const SmallVector<utils::IteratorType> loops(op.getNumLoops() - 1, utils::IteratorType::parallel);
  rewriter.setInsertionPoint(op);
  auto body = [&](OpBuilder &builder, Location, ValueRange arguments) {
    auto widen = [&](Value number) -> Value {
      return arith::ExtFOp::create(builder, op.getLoc(), builder.getF32Type(), number);
    };
    SmallVector<Value> accumulators;
    llvm::SmallMapVector<Operation *, size_t, 4> extrema; // and which accumulators they are of
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      arith::ConstantOp constant = filledWith(init.get());
      accumulators.push_back(constant ? builder.clone(*constant)->getResult(0)
                                      : arguments[inputs.size() + i]);
      if (Operation *extremum = narrowExtremum(op, init)) {
        extrema.try_emplace(extremum, i);
        accumulators.back() = widen(accumulators.back());
      }
    }
    for (int64_t term = 0; term < terms; ++term) {
      IRMapping mapping;
      for (auto [argument, ofTerms] : llvm::zip_equal(op.getRegionInputArgs(), argumentsOf))
        mapping.map(argument, arguments[ofTerms[ofTerms.size() == 1 ? 0 : size_t(term)]]);
      mapping.map(op.getRegionOutputArgs(), accumulators);
      for (Operation &nested : op.getBlock()->without_terminator()) {
        auto extremum = extrema.find(&nested);
        if (extremum == extrema.end()) {
          builder.clone(nested, mapping);
          continue;
        }
        const Value accumulator = op.getRegionOutputArgs()[extremum->second];
        SmallVector<Value> operands = llvm::map_to_vector(nested.getOperands(), [&](Value each) {
          return each == accumulator ? accumulators[extremum->second]
                                     : widen(mapping.lookupOrDefault(each));
        });
        mapping.map(nested.getResult(0),
                    mlir::clone(builder, &nested, builder.getF32Type(), operands)->getResult(0));
      }
      for (auto [accumulator, yielded] :
           llvm::zip_equal(accumulators, op.getBlock()->getTerminator()->getOperands()))
        accumulator = mapping.lookupOrDefault(yielded);
    }
    for (auto [extremum, i] : extrema)
      accumulators[i] = arith::TruncFOp::create(builder, op.getLoc(),
                                                extremum->getResult(0).getType(), accumulators[i]);
    linalg::YieldOp::create(builder, op.getLoc(), accumulators);
  };
  auto unrolled = linalg::GenericOp::create(rewriter, op.getLoc(), op->getResultTypes(), inputs,
                                            inits, maps, loops, body);
  rewriter.replaceOp(op, unrolled);
}

struct UnrollReductions : plim::ir::impl::PlimUnrollReductionsBase<UnrollReductions> {
  using PlimUnrollReductionsBase::PlimUnrollReductionsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> reductions;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (shortLoop(op, strict) && !readsReduction(op))
        reductions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : reductions) {
      // Producers would be cut off.
      op = fuseProducers(rewriter, op, [&](linalg::GenericOp fused) {
        return shortLoop(fused, strict).has_value();
      });
      if (!op)
        continue;
      unroll(op, *shortLoop(op, strict), rewriter);
      ++unrolled;
    }
  }
};

} // namespace
