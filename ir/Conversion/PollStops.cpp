#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPOLLSTOPS
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Operations that a piece of code takes: at least, and at most without a look.
struct Work {
  int64_t least = 0;
  int64_t most = 0;

  Work operator+(const Work &other) const {
    return {llvm::SaturatingAdd<uint64_t>(least, other.least) > limit ? limit : least + other.least,
            llvm::SaturatingAdd<uint64_t>(most, other.most) > limit ? limit : most + other.most};
  }
  static constexpr int64_t limit = int64_t(1) << 60;
};

int64_t times(int64_t a, int64_t b) {
  uint64_t product = llvm::SaturatingMultiply<uint64_t>(a, b);
  return product > uint64_t(Work::limit) ? Work::limit : int64_t(product);
}

/// With no more than this a look would be felt.
constexpr int64_t shortWork = 1 << 10;
/// A loop whose inner loops may be as short as they like looks every so many iterations, unless these may
/// take so long together that a stop would be felt.
constexpr int64_t outerIterations = 64;
constexpr int64_t longWork = int64_t(1) << 24;
/// What is taken for the length of a row, and how short its iterations have to be then.
constexpr int64_t alongExtent = int64_t(1) << 20, shortBody = 64;

struct PollStops : plim::ir::impl::PlimPollStopsBase<PollStops> {
  using PlimPollStopsBase::PlimPollStopsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function->hasAttr(workgroupCountAttr) || function.isExternal())
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ParallelOp> parallels;
    function.walk([&](scf::ParallelOp op) { parallels.push_back(op); });
    for (scf::ParallelOp op : parallels) {
      rewriter.setInsertionPoint(op);
      if (op.getNumReductions() == 0)
        (void)scf::parallelForToNestedFors(rewriter, op);
    }
    for (Block &block : function.getBody())
      (void)workOf(block);
  }

  /// Adds looks to the loops in a block.
  Work workOf(Block &block) {
    Work sum;
    for (Operation &op : llvm::make_early_inc_range(block))
      sum = sum + workOf(&op);
    return sum;
  }

  Work workOf(Operation *op) {
    // What is called looks by itself, but not before it has worked for a while.
    if (isa<func::CallOp, CallOp, DispatchOp, ScheduleOp>(op))
      return {shortWork, longWork};
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visit(loop);
    if (isa<scf::WhileOp, scf::ParallelOp>(op)) {
      Work body;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          body = body + workOf(block);
      Region &region = isa<scf::WhileOp>(op) ? cast<scf::WhileOp>(op).getAfter() : op->getRegion(0);
      poll(region.front());
      return {1, body.most};
    }
    if (op->getNumRegions() > 0) { // a choice
      Work result = {Work::limit, 0};
      for (Region &region : op->getRegions()) {
        Work each = {0, 0};
        for (Block &block : region)
          each = each + workOf(block);
        result = {std::min(result.least, each.least), std::max(result.most, each.most)};
      }
      return result + Work{1, 1};
    }
    if (op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>())
      return {};
    if (isa<memref::CopyOp>(op))
      return {1, 1 << 16};
    int64_t each = 1;
    if (isa<math::MathDialect>(op->getDialect()))
      each = 16;
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type))
        each = times(each, std::max<int64_t>(vector.getNumElements() / 8, 1));
    return {each, each};
  }

  /// The loop over the workgroups of a dispatch function.
  bool isOverWorkgroups(scf::ForOp loop) {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return false;
    auto range = function.getArguments().take_back(2);
    return loop.getLowerBound() == range[0] && loop.getUpperBound() == range[1];
  }

  /// Inside of the loop over workgroups, along an extent of a buffer?
  bool isAlongExtent(scf::ForOp loop) {
    auto outer = loop->getParentOfType<scf::ForOp>();
    while (outer && !isOverWorkgroups(outer))
      outer = outer->getParentOfType<scf::ForOp>();
    Value end = loop.getUpperBound();
    return outer &&
           (end.getDefiningOp<memref::DimOp>() || llvm::any_of(end.getUsers(), [](Operation *user) {
              return isa<memref::ReinterpretCastOp, memref::SubViewOp, AllocOp>(user);
            }));
  }

  Work visit(scf::ForOp loop) {
    Work body = workOf(*loop.getBody()) + Work{1, 1};
    if (isOverWorkgroups(loop))
      return body;
    auto [fewest, most] = tripsOf(loop);
    if (isAlongExtent(loop))
      most = std::min(most, alongExtent);
    unsigned width = widthOf(loop);
    // Such a step may leave the type and come back for ever; chunks are counted.
    if (width >= 4 && width <= 16 && most == int64_t(1) << width &&
        getConstantIntValue(loop.getStep()) != 1) {
      chunk(loop, width - 2);
      return {0, times(body.most, most)};
    }
    Work all = {times(body.least, fewest), times(body.most, most)};
    if (all.most <= 4 * work || (isAlongExtent(loop) && all.most <= alongExtent * shortBody))
      return all;
    if (body.least >= shortWork || body.most >= longWork) {
      poll(*loop.getBody());
      return {all.least, body.most};
    }
    // Of inner loops it is only known how long they may be.
    int64_t iterations =
        std::min(std::max(work / body.most, outerIterations), longWork / body.most);
    if (iterations <= 1) {
      poll(*loop.getBody());
      return {all.least, body.most};
    }
    unsigned shift = llvm::Log2_64(uint64_t(iterations));
    chunk(loop, shift);
    return {all.least, times(body.most, int64_t(1) << shift)};
  }

  void poll(Block &block) {
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    PollOp::create(builder, block.getParentOp()->getLoc());
    ++polls;
  }

  /// What a value is at most, if that can be seen.
  static std::optional<int64_t> boundOf(Value value) {
    if (auto constant = getConstantIntValue(value))
      return constant;
    Operation *op = value.getDefiningOp();
    if (!op || !isa<arith::MinSIOp, arith::MinUIOp>(op))
      return std::nullopt;
    std::optional<int64_t> result;
    for (Value operand : op->getOperands())
      if (std::optional<int64_t> bound = boundOf(operand); bound && (!result || *bound < *result))
        result = bound;
    return result;
  }

  static unsigned widthOf(scf::ForOp loop) {
    Type type = loop.getInductionVar().getType();
    return type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  }

  /// How many iterations a loop has, at least and at most.
  static std::pair<int64_t, int64_t> tripsOf(scf::ForOp loop) {
    Value begin = loop.getLowerBound(), end = loop.getUpperBound();
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(end);
    std::optional<int64_t> range;
    int64_t difference = 0;
    if (std::optional<int64_t> bound = boundOf(end); first && bound)
      range = std::clamp<int64_t>(
          llvm::SubOverflow(*bound, *first, difference) ? Work::limit : difference, 0, Work::limit);
    else if (auto sum = end.getDefiningOp<arith::AddIOp>())
      for (auto [a, b] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}})
        if (std::optional<int64_t> bound = boundOf(b); a == begin && bound)
          range = std::max<int64_t>(0, *bound);
    unsigned width = widthOf(loop);
    int64_t most = width < 60 ? int64_t(1) << width : Work::limit;
    if (range && !loop.getUnsignedCmp())
      most = std::min(most, llvm::divideCeilSigned(*range, std::max<int64_t>(step.value_or(1), 1)));
    if (auto bound = loop->getAttrOfType<IntegerAttr>(mostIterationsAttr))
      most = std::min(most, bound.getInt());
    bool isKnown = first && last && step && !loop.getUnsignedCmp();
    return {isKnown ? most : 0, most};
  }

  /// Makes a loop over chunks of 2^shift iterations out of it. Nothing that is computed on the way leaves the
  /// type of the induction variable where the loop itself does not.
  void chunk(scf::ForOp loop, unsigned shift) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type type = loop.getInductionVar().getType();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
    };
    using P = arith::CmpIPredicate;
    Value begin = loop.getLowerBound(), end = loop.getUpperBound(), step = loop.getStep();
    Value zero = number(0), one = number(1), amount = number(shift);
    // The number of the last iteration; an empty loop is one of one empty chunk.
    Value isEmpty =
        b.createOrFold<arith::CmpIOp>(loop.getUnsignedCmp() ? P::uge : P::sge, begin, end);
    Value index = b.createOrFold<arith::SubIOp>(b.createOrFold<arith::SubIOp>(end, begin), one);
    APInt constant;
    bool isOne = matchPattern(step, m_ConstantInt(&constant)) && constant.isOne();
    if (!isOne)
      index = b.createOrFold<arith::DivUIOp>(index, step);
    index = b.createOrFold<arith::SelectOp>(isEmpty, zero, index);
    Value lastChunk = b.createOrFold<arith::ShRUIOp>(index, amount);
    Value chunks = b.createOrFold<arith::AddIOp>(lastChunk, one);
    Value length = b.createOrFold<arith::ShLIOp>(step, amount);
    // The last one may be shorter.
    Value rest = b.createOrFold<arith::AndIOp>(index, number((int64_t(1) << shift) - 1));
    rest = b.createOrFold<arith::SelectOp>(isEmpty, zero, b.createOrFold<arith::AddIOp>(rest, one));

    auto outer = scf::ForOp::create(b, loop.getLoc(), zero, chunks, one, loop.getInitArgs());
    Block *body = outer.getBody();
    if (outer.getNumResults() == 0)
      body->getTerminator()->erase();
    b.setInsertionPointToEnd(body);
    PollOp::create(b);
    Value first = b.createOrFold<arith::AddIOp>(
        begin, b.createOrFold<arith::MulIOp>(outer.getInductionVar(), length));
    Value isLast = arith::CmpIOp::create(b, P::eq, outer.getInductionVar(), lastChunk);
    loop->replaceAllUsesWith(outer);
    loop->moveBefore(body, body->end());
    loop.getInitArgsMutable().assign(outer.getRegionIterArgs());
    b.setInsertionPoint(loop);
    if (isOne) {
      Value next = b.createOrFold<arith::AddIOp>(first, length);
      loop.setLowerBound(first);
      loop.setUpperBound(b.createOrFold<arith::SelectOp>(isLast, end, next));
    } else {
      // Counted: the step after the last iteration may leave the type, and then it would not be the last.
      loop.setLowerBound(zero);
      loop.setUpperBound(
          b.createOrFold<arith::SelectOp>(isLast, rest, number(int64_t(1) << shift)));
      loop.setStep(one);
      loop.setUnsignedCmp(false);
      b.setInsertionPointToStart(loop.getBody());
      Value offset = arith::MulIOp::create(b, loop.getInductionVar(), step);
      Value variable = arith::AddIOp::create(b, first, offset);
      loop.getInductionVar().replaceAllUsesExcept(variable, offset.getDefiningOp());
    }
    b.setInsertionPointToEnd(body);
    scf::YieldOp::create(b, loop.getResults());
    ++chunked;
  }
};

} // namespace
