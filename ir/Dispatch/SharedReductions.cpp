#include "ir/Dispatch/SharedReductions.h"

#include "ir/Analysis/LoopWork.h"
#include "ir/Analysis/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace plim::ir;

namespace {

constexpr int64_t mostParts = 64;

/// The operation that combines two values of a reduction, if it is a single one.
Operation *combinerOf(Region &reduction) {
  Block &block = reduction.front();
  if (!llvm::hasSingleElement(block.without_terminator()))
    return nullptr;
  Operation *op = &block.front();
  const bool takesBoth = op->getNumOperands() == 2 && op->getOperand(0) != op->getOperand(1) &&
                         llvm::all_of(op->getOperands(), [&](Value operand) {
                           return llvm::is_contained(block.getArguments(), operand);
                         });
  return takesBoth && block.getTerminator()->getOperand(0) == op->getResult(0) ? op : nullptr;
}

/// The loop of the nest that is cut: the longest one that is known, or the outermost.
unsigned longestOf(ArrayRef<int64_t> trips) {
  if (llvm::any_of(trips, ShapedType::isDynamic))
    return unsigned(llvm::find_if(trips, ShapedType::isDynamic) - trips.begin());
  return unsigned(llvm::max_element(trips) - trips.begin());
}

} // namespace

scf::ParallelOp plim::ir::shareReduction(RewriterBase &rewriter, scf::ParallelOp loop) {
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  SmallVector<Operation *> combiners;
  SmallVector<TypedAttr> neutrals;
  for (Region &reduction : reduce.getReductions()) {
    Operation *combiner = combinerOf(reduction);
    if (!combiner || !combiner->getResult(0).getType().isIntOrFloat())
      return {};
    TypedAttr neutral = neutralElement(combiner);
    if (!neutral)
      return {};
    combiners.push_back(combiner);
    neutrals.push_back(neutral);
  }

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  const Location at = loop.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, at, value);
  };
  auto make = [&]<typename Op>(Value left, Value right) {
    return rewriter.createOrFold<Op>(at, left, right);
  };
  Value zero = index(0), one = index(1);
  const unsigned cut = longestOf(tripCountsOf(loop));
  // Work of one iteration of the loop that is cut.
  Value work = index(operationsOf(loop) + pointCost), trips;
  for (auto [number, bounds] :
       llvm::enumerate(llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep()))) {
    auto [lower, upper, step] = bounds;
    Value distance =
        make.operator()<arith::MaxSIOp>(make.operator()<arith::SubIOp>(upper, lower), zero);
    Value its = make.operator()<arith::CeilDivSIOp>(distance, step);
    if (number == cut)
      trips = its;
    else // no more than makes a difference
      work = make.operator()<arith::MinSIOp>(
          make.operator()<arith::MulIOp>(
              work, make.operator()<arith::MinSIOp>(make.operator()<arith::MaxSIOp>(its, one),
                                                    index(workgroupCost))),
          index(workgroupCost));
  }
  Value length = make.operator()<arith::MaxSIOp>(
            make.operator()<arith::CeilDivSIOp>(index(workgroupCost), work),
            make.operator()<arith::CeilDivSIOp>(trips, index(mostParts))),
        parts = make.operator()<arith::CeilDivSIOp>(trips, length);

  SmallVector<Value> stores;
  for (Value init : loop.getInitVals())
    stores.push_back(
        memref::AllocOp::create(rewriter, at, MemRefType::get({mostParts}, init.getType())));
  auto outer = scf::ParallelOp::create(rewriter, at, zero, parts, one);
  outer->setAttr(tasksAttr, rewriter.getUnitAttr());
  rewriter.setInsertionPointToStart(outer.getBody());
  Value part = outer.getInductionVars().front(),
        first = arith::MulIOp::create(rewriter, at, part, length),
        count = arith::MinSIOp::create(rewriter, at, length,
                                       arith::SubIOp::create(rewriter, at, trips, first)),
        step = loop.getStep()[cut],
        begin = arith::AddIOp::create(rewriter, at, loop.getLowerBound()[cut],
                                      arith::MulIOp::create(rewriter, at, first, step)),
        end = arith::AddIOp::create(rewriter, at, begin,
                                    arith::MulIOp::create(rewriter, at, count, step));
  SmallVector<Value> starts;
  for (TypedAttr neutral : neutrals)
    starts.push_back(arith::ConstantOp::create(rewriter, at, neutral));
  auto inner = cast<scf::ParallelOp>(rewriter.clone(*loop));
  inner.getLowerBoundMutable()[cut].set(begin);
  inner.getUpperBoundMutable()[cut].set(end);
  inner.getInitValsMutable().assign(starts);
  for (auto [result, store] : llvm::zip_equal(inner.getResults(), stores))
    memref::StoreOp::create(rewriter, at, result, store, part);

  rewriter.setInsertionPoint(loop);
  auto together = scf::ForOp::create(
      rewriter, at, zero, parts, one, loop.getInitVals(),
      [&](OpBuilder &builder, Location, Value number, ValueRange carried) {
        SmallVector<Value> results;
        for (auto [combiner, store, value] : llvm::zip_equal(combiners, stores, carried)) {
          Value ofPart = memref::LoadOp::create(builder, at, store, number);
          Operation *op = builder.clone(*combiner);
          op->setOperands({value, ofPart});
          results.push_back(op->getResult(0));
        }
        scf::YieldOp::create(builder, at, results);
      });
  for (Value store : stores)
    memref::DeallocOp::create(rewriter, at, store);
  rewriter.replaceOp(loop, together.getResults());
  return inner;
}
