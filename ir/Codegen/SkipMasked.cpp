#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/ColumnParts.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/VisibleColumns.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSKIPMASKED
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// What is known of an element in a column that is masked.
enum class Element {
  Any,
  Yes, // of i1
  No,  // of i1
  Zero,
  Low, // a number that no score comes near: neighbours of it are 64 apart, which the exponential makes 0
  Lowest,   // one that is low when it is scaled, too
  Infinite, // -inf
};

/// The least magnitudes of low numbers, and the least factor that leaves the lowest of them low.
constexpr double lowNumber = 0x1p29, lowestNumber = 0x1p60, leastFactor = 0x1p-20;

bool isLow(Element element) {
  return element == Element::Low || element == Element::Lowest || element == Element::Infinite;
}

Element elementOf(const APFloat &number) {
  if (number.isZero())
    return Element::Zero;
  if (!number.isNegative() || number.isNaN())
    return Element::Any;
  if (number.isInfinity())
    return Element::Infinite;
  if (number.convertToDouble() <= -lowestNumber)
    return Element::Lowest;
  return number.isLargest() || number.convertToDouble() <= -lowNumber ? Element::Low : Element::Any;
}

/// A dimension of a tensor, masked columns of which have one kind of element.
struct Fact {
  unsigned dimension;
  Element element;
};

/// Which comparisons are known to be what.
using Known = SmallVector<std::pair<Operation *, bool>, 2>;

/// Elements of an op's body in the masked columns, given those of its operands.
class Elements {
public:
  Elements(linalg::GenericOp op, const Known &known, ArrayRef<Element> operands) : known(known) {
    for (auto [argument, element] : llvm::zip(op.getBody()->getArguments(), operands))
      elements[argument] = element;
    for (Operation &each : op.getBody()->without_terminator())
      if (each.getNumResults() == 1)
        elements[each.getResult(0)] = of(each);
  }

  Element operator[](Value value) const {
    if (auto found = elements.find(value); found != elements.end())
      return found->second;
    APFloat number(0.0);
    if (matchPattern(value, m_ConstantFloat(&number)))
      return elementOf(number);
    APInt integer;
    if (value.getType().isInteger(1) && matchPattern(value, m_ConstantInt(&integer)))
      return integer.isZero() ? Element::No : Element::Yes;
    return Element::Any;
  }

private:
  Element of(Operation &op) const {
    for (auto [comparison, value] : known)
      if (comparison == &op)
        return value ? Element::Yes : Element::No;
    auto operand = [&](unsigned number) { return (*this)[op.getOperand(number)]; };
    const Element first = op.getNumOperands() > 0 ? operand(0) : Element::Any,
                  second = op.getNumOperands() > 1 ? operand(1) : Element::Any;
    auto either = [&](Element element) { return first == element || second == element; };
    if (isa<arith::SelectOp>(op)) {
      if (first == Element::Yes)
        return second;
      if (first == Element::No)
        return operand(2);
      return second == operand(2) ? second : Element::Any;
    }
    if (isa<arith::OrIOp>(op))
      return either(Element::Yes) ? Element::Yes : first == second ? first : Element::Any;
    if (isa<arith::AndIOp>(op))
      return either(Element::No) ? Element::No : first == second ? first : Element::Any;
    if (isa<arith::XOrIOp>(op)) {
      if (!isTruth(first) || !isTruth(second))
        return Element::Any;
      return first == second ? Element::No : Element::Yes;
    }
    if (isa<arith::AddFOp, arith::SubFOp>(op)) {
      if (isLow(first))
        return first;
      return isa<arith::AddFOp>(op) && isLow(second) ? second : Element::Any;
    }
    if (isa<arith::MulFOp>(op)) {
      if (either(Element::Zero))
        return either(Element::Infinite) ? Element::Any : Element::Zero;
      return isLow(first) ? scaled(first, op.getOperand(1), false)
                          : scaled(second, op.getOperand(0), false);
    }
    if (isa<arith::DivFOp>(op))
      return first == Element::Zero ? first : scaled(first, op.getOperand(1), true);
    if (isa<math::ExpOp, math::Exp2Op>(op))
      return isLow(first) ? Element::Zero : Element::Any;
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      return first;
    if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
      return isLow(first) ? first : isLow(second) ? second : Element::Any;
    return Element::Any;
  }

  static bool isTruth(Element element) { return element == Element::Yes || element == Element::No; }

  /// A low number times a constant, or divided by it.
  static Element scaled(Element element, Value by, bool isDivisor) {
    APFloat number(0.0);
    if (!isLow(element) || !matchPattern(by, m_ConstantFloat(&number)) || number.isNegative() ||
        number.isZero() || !number.isFinite())
      return Element::Any;
    const double factor = isDivisor ? 1 / number.convertToDouble() : number.convertToDouble();
    if (element == Element::Infinite || factor >= 1)
      return element;
    return element == Element::Lowest && factor >= leastFactor ? Element::Low : Element::Any;
  }

  const Known &known;
  DenseMap<Value, Element> elements;
};

/// What the ops of a block compute of masked columns, followed from an op that masks some to those that see nothing of them.
class MaskedColumns {
public:
  MaskedColumns(linalg::GenericOp masking, unsigned loop) : masking(masking), loop(loop) {}

  /// Do masked columns come to nothing, where the comparison is what it is there? If there are low numbers in them, only beside
  /// scores.
  bool comeToNothing(const MaskBound &bound) {
    const Known known{{bound.comparison, bound.masks}};
    loops[masking] = loop;
    for (Operation *op = masking; op; op = op->getNextNode()) {
      if (op != masking &&
          llvm::none_of(op->getOperands(), [&](Value value) { return facts.contains(value); }))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic || !mayBeCut(generic) || !follow(generic, known))
        return false;
    }
    // Nothing but the ops in this block sees them.
    return llvm::all_of(facts, [&](auto &fact) {
      return llvm::all_of(fact.first.getUsers(),
                          [&](Operation *user) { return loops.contains(user); });
    });
  }

  /// A low number is as good as nothing beside scores. Where there are some, is there nothing else, such as a mask from memory,
  /// that may make all that a row sees as low?
  bool areBesideScores(const MaskBounds &bounds) {
    Known visible;
    for (const std::optional<MaskBound> &each : {bounds.first, bounds.last})
      if (each)
        visible.push_back({each->comparison, !each->masks});
    return llvm::all_of(loops, [&](auto &each) {
      return llvm::none_of(each.first->getResults(),
                           [&](Value result) {
                             auto fact = facts.find(result);
                             return fact != facts.end() &&
                                    (fact->second.element == Element::Low ||
                                     fact->second.element == Element::Lowest);
                           }) ||
             hasOnlyScores(cast<linalg::GenericOp>(each.first), visible);
    });
  }

  /// The ops, and which of their loops has the columns.
  ColumnLoops loops;

private:
  bool hasOnlyScores(linalg::GenericOp op, const Known &visible) {
    // Numbers from elsewhere may scale scores, but not be added to them or compared with them.
    auto isScore = [&](Value value) {
      auto producer = value.getDefiningOp<linalg::LinalgOp>();
      return facts.contains(value) || (producer && productOf(producer));
    };
    for (Operation &each : op.getBody()->without_terminator())
      for (Value operand : each.getOperands()) {
        if (!isa<FloatType>(operand.getType()) || isa<arith::MulFOp, arith::DivFOp>(each))
          continue;
        Operation *def = operand.getDefiningOp();
        auto argument = dyn_cast<BlockArgument>(operand);
        const bool isOfBody = def && def->getBlock() == op.getBody();
        if (argument && argument.getOwner() == op.getBody()
                ? argument.getArgNumber() < op.getNumDpsInputs() &&
                      !isScore(op->getOperand(argument.getArgNumber()))
            : isOfBody ? isa<tensor::ExtractOp>(def) || def->getNumRegions() > 0
                       : !matchPattern(operand, m_Constant()))
          return false;
      }
    const SmallVector<Element> unknown(op->getNumOperands(), Element::Any);
    const Elements elements(op, visible, unknown);
    for (auto select : op.getBody()->getOps<arith::SelectOp>()) {
      const Element condition = elements[select.getCondition()];
      if (condition != Element::Yes && condition != Element::No)
        return false;
    }
    return llvm::none_of(op.getBody()->without_terminator(), [&](Operation &each) {
      return each.getNumResults() == 1 && isLow(elements[each.getResult(0)]);
    });
  }

  bool follow(linalg::GenericOp op, const Known &known) {
    std::optional<unsigned> columns;
    if (auto found = loops.find(op); found != loops.end())
      columns = found->second;
    SmallVector<Element> elements;
    for (OpOperand &operand : op->getOpOperands()) {
      auto fact = facts.find(operand.get());
      elements.push_back(fact == facts.end() ? Element::Any : fact->second.element);
      if (fact == facts.end())
        continue;
      const unsigned its = loopOf(op.getMatchingIndexingMap(&operand), fact->second.dimension);
      if (columns && *columns != its)
        return false;
      columns = its;
    }
    loops[op] = *columns;
    const Elements masked(op, known, elements);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      OpResult result = op.getTiedOpResult(&init);
      Value value = op.getMatchingYieldValue(&init)->get();
      std::optional<unsigned> dimension = dimensionOf(op.getMatchingIndexingMap(&init), *columns);
      if (!dimension) {
        if (!isIndifferent(value, op.getMatchingBlockArgument(&init), masked))
          return false;
        continue;
      }
      const Element element = masked[value];
      if (element == Element::Any)
        return false;
      facts[result] = Fact{*dimension, element};
    }
    return true;
  }

  /// Is an accumulator what it was after an element of a masked column?
  static bool isIndifferent(Value value, BlockArgument accumulator, const Elements &masked) {
    const std::optional<Combination> its = combinationOf(value, accumulator);
    if (!its)
      return false;
    const Element element = masked[its->element];
    return isa<arith::MaximumFOp, arith::MaxNumFOp>(its->combiner) ? isLow(element)
           : isa<arith::AddFOp>(its->combiner)                     ? element == Element::Zero
                                                                   : false;
  }

  linalg::GenericOp masking;
  unsigned loop;
  DenseMap<Value, Fact> facts;
};

/// Adds what computes columns for these ops alone; all in the order of their block.
void addProducers(ColumnLoops &loops) {
  SmallVector<Operation *> open(llvm::make_first_range(loops));
  while (!open.empty()) {
    auto op = cast<linalg::LinalgOp>(open.pop_back_val());
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<unsigned> dimension =
          dimensionOf(op.getMatchingIndexingMap(&operand), loops[op]);
      auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
      if (!dimension || !producer || producer->getBlock() != op->getBlock() ||
          loops.contains(producer) || producer->getNumResults() != 1 || !mayBeCut(producer) ||
          !llvm::all_of(producer->getUsers(),
                        [&](Operation *user) { return loops.contains(user); }))
        continue;
      loops[producer] =
          loopOf(producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)), *dimension);
      open.push_back(producer);
    }
  }
  auto sorted = loops.takeVector();
  llvm::sort(sorted, [](auto &a, auto &b) { return a.first->isBeforeInBlock(b.first); });
  for (auto [op, loop] : sorted)
    loops[op] = loop;
}

/// Makes ops go over some columns alone.
void cut(IRRewriter &rewriter, const ColumnLoops &loops, const Columns &columns) {
  ColumnParts parts(rewriter, columns);
  for (auto [op, loop] : loops) {
    rewriter.setInsertionPoint(op);
    auto whole = cast<linalg::LinalgOp>(op);
    linalg::LinalgOp part = parts.add(whole, loop);
    for (auto [init, result, now] :
         llvm::zip(whole.getDpsInitsMutable(), op->getResults(), part->getResults()))
      if (!dimensionOf(whole.getMatchingIndexingMap(&init), loop))
        rewriter.replaceAllUsesWith(result, now);
  }
  for (auto [op, loop] : llvm::reverse(loops))
    rewriter.eraseOp(op);
}

struct SkipMasked : plim::ir::impl::PlimSkipMaskedBase<SkipMasked> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<Block *> blocks;
    function.walk([&](linalg::GenericOp op) {
      if (productOf(op) && !llvm::is_contained(blocks, op->getBlock()))
        blocks.push_back(op->getBlock());
    });
    for (Block *block : blocks)
      if (skipIn(*block))
        ++skipped;
  }

  bool skipIn(Block &block) {
    for (auto op : block.getOps<linalg::GenericOp>()) {
      if (!mayBeCut(op))
        continue;
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (skip(op, loop))
          return true;
    }
    return false;
  }

  bool skip(linalg::GenericOp op, unsigned loop) {
    MaskBounds bounds;
    SmallVector<MaskedColumns, 2> parts;
    for (const MaskBound &bound : maskBounds(op, loop)) {
      std::optional<MaskBound> &kind = bound.isLast ? bounds.last : bounds.first;
      MaskedColumns masked(op, loop);
      if (kind || !masked.comeToNothing(bound))
        continue;
      kind = bound;
      parts.push_back(std::move(masked));
    }
    if (parts.empty() ||
        !llvm::all_of(parts, [&](MaskedColumns &part) { return part.areBesideScores(bounds); }))
      return false;
    ColumnLoops loops = parts.front().loops;
    addProducers(loops);
    IRRewriter rewriter(loops.front().first);
    std::optional<Columns> columns = visibleColumns(rewriter, op, loop, bounds);
    if (!columns)
      return false;
    cut(rewriter, loops, *columns);
    return true;
  }
};

} // namespace
