#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMALTERNATEUPDATES
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// The most ops of a loop's body that is written twice.
constexpr int64_t mostOps = 128;
/// The fewest iterations that are worth a second place.
constexpr int64_t leastIterations = 4;

bool isSamePart(tensor::ExtractSliceOp read, tensor::InsertSliceOp written) {
  return read.getMixedOffsets() == written.getMixedOffsets() &&
         read.getMixedSizes() == written.getMixedSizes() &&
         read.getMixedStrides() == written.getMixedStrides();
}

/// Does what is inserted depend on elements of `carried` that are not in the place of it, by ops that may be computed together with the
/// insertion? Insertions into what the loop carries are made before.
bool readsOthers(tensor::InsertSliceOp update, Value carried) {
  llvm::SetVector<Value> open;
  open.insert(update.getSource());
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i] == carried)
      return true;
    Operation *op = open[i].getDefiningOp();
    if (!op || op->getBlock() != update->getBlock())
      continue;
    if (auto part = dyn_cast<tensor::ExtractSliceOp>(op)) {
      if (part.getSource() != carried || !isSamePart(part, update))
        open.insert(part.getSource());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      if (insert.getDest().getDefiningOp<linalg::FillOp>() ||
          insert.getDest().getDefiningOp<tensor::EmptyOp>())
        open.insert(insert.getSource());
    } else if (isa<linalg::LinalgOp, tensor::PadOp, tensor::ConcatOp, tensor::CastOp,
                   tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
      open.insert_range(op->getOperands());
    }
  }
  return false;
}

/// The insertion that updates what the loop carries as its argument, the first one where several follow each other; null if something
/// else does, if other parts may be written in each iteration, or if old elements are not read but in their place.
tensor::InsertSliceOp updateOf(scf::ForOp loop, BlockArgument carried) {
  Value value = loop.getTiedLoopYieldedValue(carried)->get();
  tensor::InsertSliceOp first;
  bool reads = false;
  while (value != carried) {
    first = value.getDefiningOp<tensor::InsertSliceOp>();
    if (!first || first->getBlock() != loop.getBody() ||
        !llvm::all_of(first->getOperands().drop_front(2),
                      [&](Value each) { return loop.isDefinedOutsideOfLoop(each); }))
      return {};
    reads = reads || readsOthers(first, carried);
    value = first.getDest();
  }
  return reads ? first : tensor::InsertSliceOp();
}

struct AlternateUpdates : plim::ir::impl::PlimAlternateUpdatesBase<AlternateUpdates> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      alternate(loop);
  }

  void alternate(scf::ForOp loop) {
    // Of arguments, by number.
    SmallVector<std::pair<unsigned, Operation *>> updates;
    for (BlockArgument carried : loop.getRegionIterArgs())
      if (tensor::InsertSliceOp update = updateOf(loop, carried))
        updates.push_back({carried.getArgNumber() - loop.getNumInductionVars(), update});
    int64_t ops = 0;
    loop.getBody()->walk([&](Operation *) { ++ops; });
    const std::optional<APInt> iterations = loop.getStaticTripCount();
    if (updates.empty() || ops > mostOps || (iterations && iterations->slt(leastIterations)) ||
        !loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp() ||
        !loop->getDiscardableAttrs().empty())
      return;

    OpBuilder builder(loop);
    const Location at = loop.getLoc();
    Value from = loop.getLowerBound(), step = loop.getStep();
    Value zero = arith::ConstantIndexOp::create(builder, at, 0),
          two = arith::ConstantIndexOp::create(builder, at, 2);
    auto fold = [&]<typename Op>(Value left, Value right) {
      return builder.createOrFold<Op>(at, left, right);
    };
    Value distance = fold.operator()<arith::MaxSIOp>(
              fold.operator()<arith::SubIOp>(loop.getUpperBound(), from), zero),
          count = fold.operator()<arith::CeilDivSIOp>(distance, step),
          pairs = fold.operator()<arith::DivUIOp>(count, two),
          both = fold.operator()<arith::MulIOp>(step, two),
          middle =
              fold.operator()<arith::AddIOp>(from, fold.operator()<arith::MulIOp>(pairs, both));

    SmallVector<Value> inits(loop.getInitArgs());
    for (auto [number, update] : updates)
      inits.push_back(loop.getInitArgs()[number]);
    auto inPairs = scf::ForOp::create(builder, at, from, middle, both, inits);
    builder.setInsertionPointToStart(inPairs.getBody());
    const size_t carried = loop.getInitArgs().size();
    SmallVector<Value> olds(inPairs.getRegionIterArgs().take_front(carried)),
        spares(inPairs.getRegionIterArgs().drop_front(carried)), updated;
    Value next = arith::AddIOp::create(builder, at, inPairs.getInductionVar(), step);
    SmallVector<Value> first =
        copyBody(builder, loop, inPairs.getInductionVar(), olds, updates, spares);
    for (auto [number, update] : updates)
      updated.push_back(olds[number]);
    SmallVector<Value> second = copyBody(builder, loop, next, first, updates, updated);
    for (auto [number, update] : updates)
      second.push_back(first[number]);
    scf::YieldOp::create(builder, at, second);

    // What is left is at most one iteration.
    loop.getLowerBoundMutable().assign(middle);
    loop.getInitArgsMutable().assign(inPairs.getResults().take_front(carried));
    ++alternated;
  }

  /// One iteration, which updates `places`. Returns what it yields.
  static SmallVector<Value> copyBody(OpBuilder &builder, scf::ForOp loop, Value variable,
                                     ArrayRef<Value> olds,
                                     ArrayRef<std::pair<unsigned, Operation *>> updates,
                                     ArrayRef<Value> places) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), variable);
    mapping.map(loop.getRegionIterArgs(), olds);
    for (Operation &op : loop.getBody()->without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      for (auto [update, place] : llvm::zip(updates, places))
        if (update.second == &op)
          cast<tensor::InsertSliceOp>(copy).getDestMutable().assign(place);
    }
    return llvm::map_to_vector(loop.getYieldedValues(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }
};

} // namespace
