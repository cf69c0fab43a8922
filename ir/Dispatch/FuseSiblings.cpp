#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFUSESIBLINGS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Each result takes four vectors for its accumulators, of which there are 16 or 32.
constexpr int64_t mostResults = 3;

/// Does it reduce rows, what lies side by side, in an order that is not the author's?
bool reducesRows(linalg::LinalgOp op) {
  const SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (!op.hasPureTensorSemantics() || kinds.empty() ||
      kinds.back() != utils::IteratorType::reduction || op.hasIndexSemantics() || productOf(op) ||
      !mayReorderReduction(op))
    return false;
  const unsigned last = op.getNumLoops() - 1;
  return llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) {
                        const AffineMap map = op.getMatchingIndexingMap(input);
                        return !map.isFunctionOfDim(last) || isContiguousAlong(map, last);
                      }) &&
         llvm::none_of(op.getDpsInitsMutable(),
                       [&](OpOperand &init) { return hasElementOfEach(op, init); });
}

/// Has it functions? Where one of them is a call for each element, what is beside it is not taken in vectors either.
bool hasFunctions(linalg::LinalgOp op) {
  return llvm::any_of(*op.getBlock(),
                      [](Operation &each) { return isa<math::MathDialect>(each.getDialect()); });
}

/// Do both read every element of the same tensor, in the same loops?
bool readTheSame(linalg::LinalgOp a, linalg::LinalgOp b) {
  if (a.getIteratorTypesArray() != b.getIteratorTypesArray() ||
      a.getStaticLoopRanges() != b.getStaticLoopRanges() ||
      a->getNumResults() + b->getNumResults() > mostResults || hasFunctions(a) != hasFunctions(b))
    return false;
  OpOperand &first = *a.getDpsInitOperand(0);
  for (linalg::LinalgOp op : {a, b})
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getMatchingIndexingMap(&init) != a.getMatchingIndexingMap(&first) ||
          getElementTypeOrSelf(init.get()) != getElementTypeOrSelf(first.get()))
        return false;
  return llvm::any_of(a.getDpsInputOperands(), [&](OpOperand *input) {
    const AffineMap map = a.getMatchingIndexingMap(input);
    return map.isPermutation() && llvm::any_of(b.getDpsInputOperands(), [&](OpOperand *other) {
             return other->get() == input->get() && b.getMatchingIndexingMap(other) == map;
           });
  });
}

/// May the second be taken in front of what lies between them? Not if it needs what the first makes (the mean, for squares of
/// differences from it), or what has effects, which upstream would move; nor in front of what may end the call, a check of
/// extents, if it reads what the first does not.
bool maySwap(linalg::LinalgOp a, linalg::LinalgOp b) {
  Block *block = a->getBlock();
  llvm::SetVector<Operation *> moved;
  moved.insert(b);
  for (size_t next = 0; next < moved.size(); ++next) {
    Operation *op = moved[next];
    if (op == a || !isPure(op))
      return false;
    auto needs = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      definition = definition ? block->findAncestorOpInBlock(*definition) : nullptr;
      if (definition && definition != op && !definition->isBeforeInBlock(a))
        moved.insert(definition);
    };
    op->walk([&](Operation *nested) { llvm::for_each(nested->getOperands(), needs); });
  }
  auto isReadByFirst = [&](OpOperand *input) {
    return llvm::is_contained(a.getDpsInputs(), input->get());
  };
  return llvm::all_of(b.getDpsInputOperands(), isReadByFirst) ||
         llvm::all_of(llvm::make_range(std::next(a->getIterator()), b->getIterator()),
                      [](Operation &between) { return isPure(&between); });
}

/// Makes one op of both, in front of the first. What the second needs is there.
linalg::GenericOp merge(IRRewriter &rewriter, linalg::LinalgOp a, linalg::LinalgOp b) {
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps, initMaps;
  SmallVector<Type> results;
  IRMapping values;
  SmallVector<std::pair<BlockArgument, size_t>> arguments; // of the old bodies, by the input
  for (linalg::LinalgOp op : {a, b}) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      const AffineMap map = op.getMatchingIndexingMap(input);
      size_t position = 0;
      while (position < inputs.size() &&
             (inputs[position] != input->get() || maps[position] != map))
        ++position;
      if (position == inputs.size()) {
        inputs.push_back(input->get());
        maps.push_back(map);
      }
      arguments.emplace_back(op.getMatchingBlockArgument(input), position);
    }
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(init.get());
      initMaps.push_back(op.getMatchingIndexingMap(&init));
    }
    llvm::append_range(results, op->getResultTypes());
  }
  const size_t inputCount = inputs.size();
  llvm::append_range(maps, initMaps);
  rewriter.setInsertionPoint(a);
  return linalg::GenericOp::create(
      rewriter, b.getLoc(), results, inputs, inits, maps, a.getIteratorTypesArray(),
      [&](OpBuilder &body, Location at, ValueRange block) {
        for (auto [old, position] : arguments)
          values.map(old, block[position]);
        SmallVector<Value> yielded;
        size_t init = inputCount;
        for (linalg::LinalgOp op : {a, b}) {
          for (OpOperand &each : op.getDpsInitsMutable())
            values.map(op.getMatchingBlockArgument(&each), block[init++]);
          for (Operation &each : op.getBlock()->without_terminator())
            body.clone(each, values);
          for (Value value : op.getBlock()->getTerminator()->getOperands())
            yielded.push_back(values.lookupOrDefault(value));
        }
        linalg::YieldOp::create(body, at, yielded);
      });
}

struct FuseSiblings : plim::ir::impl::PlimFuseSiblingsBase<FuseSiblings> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      fuse(rewriter, *block);
  }

  void fuse(IRRewriter &rewriter, Block &block) {
    SmallVector<linalg::LinalgOp> reductions;
    for (auto op : block.getOps<linalg::LinalgOp>())
      if (reducesRows(op))
        reductions.push_back(op);
    for (size_t first = 0; first < reductions.size(); ++first)
      for (size_t second = first + 1; second < reductions.size();) {
        linalg::LinalgOp a = reductions[first], b = reductions[second];
        if (!readTheSame(a, b)) {
          ++second;
          continue;
        }
        if (!maySwap(a, b) || failed(moveOperationDependencies(rewriter, b, a))) {
          ++missed;
          ++second;
          continue;
        }
        linalg::GenericOp both = merge(rewriter, a, b);
        rewriter.replaceOp(a, both.getResults().take_front(a->getNumResults()));
        rewriter.replaceOp(b, both.getResults().take_back(b->getNumResults()));
        reductions[first] = cast<linalg::LinalgOp>(both.getOperation());
        reductions.erase(reductions.begin() + ptrdiff_t(second));
        ++fused;
      }
  }
};

} // namespace
