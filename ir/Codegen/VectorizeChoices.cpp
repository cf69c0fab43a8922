#include "ir/Codegen/Passes.h"
#include "ir/Codegen/RowVectors.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <array>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVECTORIZECHOICES
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// How a new element and the one chosen so far may be to each other. Integers are never unordered.
enum Order : unsigned { Less, Equal, Greater, NewIsNan, OldIsNan, BothAreNan, orderCount };

/// A condition on a new element and the old one that looks at nothing but their order.
class Comparison {
public:
  /// Nothing if it looks at anything else, or if it is none by which elements can be chosen in any
  /// order, and the first or the last of equal ones taken then.
  static std::optional<Comparison> of(Value condition, Value element, BlockArgument old) {
    Comparison comparison{condition, element, old};
    for (unsigned order = 0; order < orderCount; ++order) {
      std::optional<bool> holds = comparison.evaluate(condition, Order(order));
      if (!holds)
        return std::nullopt;
      comparison.table[order] = *holds;
    }
    const auto &holds = comparison.table;
    // NaN is the best, the worst, or never chosen and never left; all of them are alike.
    const bool orders = holds[Less] != holds[Greater] && !(holds[NewIsNan] && holds[OldIsNan]);
    const bool isAlike =
        holds[BothAreNan] == (holds[NewIsNan] || holds[OldIsNan] ? holds[Equal] : false);
    return orders && isAlike ? std::optional(comparison) : std::nullopt;
  }

  /// Does the last of equal ones win?
  bool takesLast() const { return table[Equal]; }

  /// Is what is chosen what `extreme` leaves, but for signs of zeros, as long as nothing is NaN?
  bool fits(Operation *extreme) const {
    const bool ofLargest = isa<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(extreme),
               ofSmallest = isa<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(extreme);
    return (ofLargest ? table[Greater] : ofSmallest && table[Less]) &&
           (!hasUnsigned || isa<arith::MaxUIOp, arith::MinUIOp>(extreme)) &&
           (!hasSigned || isa<arith::MaxSIOp, arith::MinSIOp>(extreme));
  }

  /// Is `mine` to be taken instead of `other`? Scalars, or vectors of equal size.
  Value build(OpBuilder &b, Value mine, Value other) const {
    IRMapping values;
    values.map(element, mine);
    values.map(old, other);
    auto vector = dyn_cast<VectorType>(mine.getType());
    for (Operation *op : used) {
      if (vector && op->hasTrait<OpTrait::ConstantLike>()) {
        Attribute value;
        matchPattern(op, m_Constant(&value));
        values.map(op->getResult(0),
                   arith::ConstantOp::create(
                       b, op->getLoc(),
                       DenseElementsAttr::get(vector.clone(op->getResult(0).getType()), value))
                       .getResult());
        continue;
      }
      Operation *copy = b.clone(*op, values);
      if (vector)
        copy->getResult(0).setType(vector.clone(op->getResult(0).getType()));
    }
    return values.lookup(condition);
  }

private:
  Comparison(Value condition, Value element, BlockArgument old)
      : condition(condition), element(element), old(old) {}

  std::optional<bool> evaluate(Value value, Order order) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != old.getOwner())
      return std::nullopt;
    std::optional<bool> result = evaluateOp(op, order);
    used.insert(op); // behind what it needs
    return result;
  }

  std::optional<bool> evaluateOp(Operation *op, Order order) {
    if (APInt constant; matchPattern(op, m_ConstantInt(&constant)) && constant.getBitWidth() == 1)
      return constant.isOne();
    if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
      const std::optional<Relation> relation =
          relationOf(compare.getLhs(), compare.getRhs(), order);
      return relation ? std::optional(holds(compare.getPredicate(), *relation)) : std::nullopt;
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      const std::optional<Relation> relation =
          relationOf(compare.getLhs(), compare.getRhs(), order);
      return relation ? holds(compare.getPredicate(), *relation) : std::nullopt;
    }
    if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) ||
        !op->getResult(0).getType().isInteger(1))
      return std::nullopt;
    std::optional<bool> left = evaluate(op->getOperand(0), order),
                        right = evaluate(op->getOperand(1), order);
    if (!left || !right)
      return std::nullopt;
    return isa<arith::AndIOp>(op)  ? *left && *right
           : isa<arith::OrIOp>(op) ? *left || *right
                                   : *left != *right;
  }

  enum class Relation { Less, Equal, Greater, Unordered };

  std::optional<Relation> relationOf(Value left, Value right, Order order) const {
    if ((left != element && left != old) || (right != element && right != old))
      return std::nullopt;
    if (left == right) {
      const bool isNan = order == BothAreNan || order == (left == element ? NewIsNan : OldIsNan);
      return isNan ? Relation::Unordered : Relation::Equal;
    }
    if (order >= NewIsNan)
      return Relation::Unordered;
    if (order == Equal)
      return Relation::Equal;
    return (order == Less) == (left == element) ? Relation::Less : Relation::Greater;
  }

  static bool holds(arith::CmpFPredicate predicate, Relation relation) {
    // The numbers of the predicates are sets: 1 equal, 2 greater, 4 less, 8 unordered.
    constexpr unsigned bits[] = {4, 1, 2, 8};
    using P = arith::CmpFPredicate;
    unsigned set = 0;
    switch (predicate) {
    case P::AlwaysFalse:
      set = 0;
      break;
    case P::OEQ:
      set = 1;
      break;
    case P::OGT:
      set = 2;
      break;
    case P::OGE:
      set = 3;
      break;
    case P::OLT:
      set = 4;
      break;
    case P::OLE:
      set = 5;
      break;
    case P::ONE:
      set = 6;
      break;
    case P::ORD:
      set = 7;
      break;
    case P::UEQ:
      set = 9;
      break;
    case P::UGT:
      set = 10;
      break;
    case P::UGE:
      set = 11;
      break;
    case P::ULT:
      set = 12;
      break;
    case P::ULE:
      set = 13;
      break;
    case P::UNE:
      set = 14;
      break;
    case P::UNO:
      set = 8;
      break;
    case P::AlwaysTrue:
      set = 15;
      break;
    }
    return (set & bits[unsigned(relation)]) != 0;
  }

  /// Nothing where integers are compared both with and without signs.
  std::optional<bool> holds(arith::CmpIPredicate predicate, Relation relation) {
    using P = arith::CmpIPredicate;
    const bool isUnsigned = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, predicate),
               isSigned = llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate);
    hasUnsigned |= isUnsigned;
    hasSigned |= isSigned;
    if (hasUnsigned && hasSigned)
      return std::nullopt;
    // NaN is none of theirs: as if equal, which is alike.
    const bool less = relation == Relation::Less, greater = relation == Relation::Greater;
    switch (predicate) {
    case P::eq:
      return !less && !greater;
    case P::ne:
      return less || greater;
    case P::slt:
    case P::ult:
      return less;
    case P::sle:
    case P::ule:
      return !greater;
    case P::sgt:
    case P::ugt:
      return greater;
    case P::sge:
    case P::uge:
      return !less;
    }
    return std::nullopt;
  }

  Value condition, element;
  BlockArgument old;
  std::array<bool, orderCount> table{};
  bool hasSigned = false, hasUnsigned = false;
  llvm::SetVector<Operation *> used;
};

/// A reduction along rows that chooses one element, and takes something that belongs to it: the
/// place of the largest, for example. The compared value may be chosen by the same condition, or be
/// an extreme of all elements.
class RowChoice {
public:
  static std::optional<RowChoice> of(linalg::GenericOp generic, const Host &host) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    std::optional<RowVectors> vectors = RowVectors::ofReduction(op, host);
    if (!vectors || op.getNumReductionLoops() != 1)
      return std::nullopt;
    RowChoice result(*vectors);
    Value condition;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op.getMatchingIndexingMap(&init).isFunctionOfDim(vectors->loop))
        return std::nullopt;
      const BlockArgument old = op.getMatchingBlockArgument(&init);
      Operation *last = op.getMatchingYieldValue(&init)->get().getDefiningOp();
      if (auto choice = dyn_cast_or_null<arith::SelectOp>(last)) {
        if (choice.getFalseValue() != old || (condition && choice.getCondition() != condition))
          return std::nullopt;
        condition = choice.getCondition();
        result.candidates.push_back(choice.getTrueValue());
      } else if (last && last->getNumOperands() == 2 && !result.extreme &&
                 llvm::is_contained(last->getOperands(), old)) {
        result.extreme = last;
        result.key = result.candidates.size();
        result.candidates.push_back(last->getOperand(last->getOperand(0) == old ? 1 : 0));
      } else {
        return std::nullopt;
      }
      if (dependsOnResults(op, result.candidates.back()))
        return std::nullopt;
    }
    if (!condition)
      return std::nullopt;
    for (auto [number, candidate] : llvm::enumerate(result.candidates)) {
      if (result.extreme && number != result.key)
        continue;
      result.comparison = Comparison::of(
          condition, candidate, op.getMatchingBlockArgument(op.getDpsInitOperand(int64_t(number))));
      if (!result.comparison)
        continue;
      result.key = number;
      return (!result.extreme || result.comparison->fits(result.extreme)) && result.fitVectors(host)
                 ? std::optional(result)
                 : std::nullopt;
    }
    return std::nullopt;
  }

  /// Replaces the op.
  void vectorize(IRRewriter &rewriter) {
    rows.replaceByRows(rewriter, [&](OpBuilder &b, ValueRange outer, ValueRange results) {
      return row(b, outer, results);
    });
  }

private:
  explicit RowChoice(const RowVectors &rows) : rows(rows), op(rows.op) {
    const int64_t length = op.getStaticLoopRanges()[rows.loop];
    placeType = IntegerType::get(op.getContext(),
                                 ShapedType::isDynamic(length) || length > INT32_MAX ? 64 : 32);
  }

  /// Is the value computed of an accumulator?
  static bool dependsOnResults(linalg::LinalgOp op, Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == op.getBlock() &&
             int64_t(argument.getArgNumber()) >= op.getNumDpsInputs();
    Operation *definer = value.getDefiningOp();
    return definer->getBlock() == op.getBlock() &&
           llvm::any_of(definer->getOperands(),
                        [&](Value operand) { return dependsOnResults(op, operand); });
  }

  /// What is compared, and what it is computed from.
  void collect(Value value) {
    Operation *definer = value.getDefiningOp();
    if (!definer || definer->getBlock() != op.getBlock() || compared.contains(definer))
      return;
    for (Value operand : definer->getOperands())
      collect(operand);
    compared.insert(definer);
  }

  /// Vectors hold what is compared, and places: the rest of an element is looked up when it has
  /// been chosen.
  bool fitVectors(const Host &host) {
    collect(candidates[key]);
    unsigned bits = placeType.getWidth();
    auto add = [&](Value value) {
      const Type type = value.getType();
      bits = std::max(bits, type.isIndex() ? 64U : type.getIntOrFloatBitWidth());
    };
    add(candidates[key]);
    for (Operation *each : compared) {
      add(each->getResult(0));
      llvm::for_each(each->getOperands(), add);
    }
    const int64_t vectors = rows.width / rows.lanes;
    rows.lanes = host.vectorBits / int64_t(bits);
    rows.width = rows.lanes * vectors;
    return rows.lanes >= 2;
  }

  Value constantPlace(OpBuilder &b, int64_t value, int64_t size) {
    return arith::ConstantOp::create(b, op.getLoc(),
                                     DenseElementsAttr::get(VectorType::get(size, placeType),
                                                            b.getIntegerAttr(placeType, value)));
  }

  /// The results after one row: what was chosen before it, or one of its elements.
  scf::ValueVector row(OpBuilder &b, ValueRange outer, ValueRange results) {
    const Location at = op.getLoc();
    SmallVector<Value> before;
    SmallVector<SmallVector<Value>> places;
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      places.push_back(rows.positionInRow(b, init, outer));
      before.push_back(tensor::ExtractOp::create(b, at, results[i], places.back()));
    }
    // All lanes start from what was chosen before, which is at no place of the row.
    Value start = rows.widen(b, before[key], rows.width);
    SmallVector<Value> chosen = {start, constantPlace(b, -1, rows.width)};
    if (extreme)
      chosen.push_back(start);
    rows.buildAlong(
        b, outer, rows.number(b, 0), chosen,
        [&](OpBuilder &body, ValueRange indices, int64_t size, Value mask, ValueRange carried) {
          return iteration(body, indices, size, mask, carried);
        },
        [&](OpBuilder &builder, SmallVector<Value> &carried, int64_t from, int64_t to) {
          halve(builder, carried, from, to);
        });
    SmallVector<Value> after;
    if (extreme && isa<FloatType>(chosen[2].getType())) {
      // What was chosen before the first NaN stays.
      Value isNan = arith::CmpFOp::create(b, at, arith::CmpFPredicate::UNO, chosen[2], chosen[2]);
      auto either = scf::IfOp::create(
          b, at, isNan,
          [&](OpBuilder &yes, Location) {
            scf::YieldOp::create(yes, at, oneByOne(yes, outer, before));
          },
          [&](OpBuilder &no, Location) {
            scf::YieldOp::create(no, at, lookUp(no, outer, chosen, before));
          });
      after.assign(either.result_begin(), either.result_end());
    } else {
      after = lookUp(b, outer, chosen, before);
    }
    scf::ValueVector next;
    for (auto [result, value, place] : llvm::zip(results, after, places))
      next.push_back(tensor::InsertOp::create(b, at, value, result, place));
    return next;
  }

  /// What belongs to the chosen place, or what there was before the row.
  SmallVector<Value> lookUp(OpBuilder &b, ValueRange outer, ValueRange chosen, ValueRange before) {
    const Location at = op.getLoc();
    Value none = arith::ConstantOp::create(b, at, b.getIntegerAttr(placeType, -1));
    Value isInRow = arith::CmpIOp::create(b, at, arith::CmpIPredicate::sgt, chosen[1], none);
    auto either = scf::IfOp::create(
        b, at, isInRow,
        [&](OpBuilder &yes, Location) {
          SmallVector<Value> indices(outer);
          indices.push_back(
              arith::IndexCastOp::create(yes, at, yes.getIndexType(), chosen[1]).getResult());
          IRMapping values = rows.buildBody(
              yes, indices, /*size=*/0, /*mask=*/nullptr, before, [&](Operation *each) {
                return llvm::any_of(each->getResults(),
                                    [&](Value value) { return dependsOnResults(op, value); });
              });
          SmallVector<Value> yielded;
          for (auto [i, candidate] : llvm::enumerate(candidates))
            yielded.push_back(i == key ? chosen.front() : values.lookupOrDefault(candidate));
          scf::YieldOp::create(yes, at, yielded);
        },
        [&](OpBuilder &no, Location) { scf::YieldOp::create(no, at, before); });
    SmallVector<Value> after(either.result_begin(), either.result_end());
    if (extreme)
      after[key] = chosen[2];
    return after;
  }

  /// In the order of the source.
  SmallVector<Value> oneByOne(OpBuilder &b, ValueRange outer, ValueRange before) {
    const Location at = op.getLoc();
    auto loopOp = scf::ForOp::create(
        b, at, rows.number(b, 0), rows.end, rows.number(b, 1), before,
        [&](OpBuilder &body, Location, Value index, ValueRange carried) {
          SmallVector<Value> indices(outer);
          indices.push_back(index);
          IRMapping values = rows.buildBody(body, indices, /*size=*/0, /*mask=*/nullptr, carried,
                                            [](Operation *) { return false; });
          scf::YieldOp::create(
              body, at,
              llvm::map_to_vector(op.getBlock()->getTerminator()->getOperands(),
                                  [&](Value value) { return values.lookupOrDefault(value); }));
        });
    return SmallVector<Value>(loopOp.result_begin(), loopOp.result_end());
  }

  SmallVector<Value> iteration(OpBuilder &b, ValueRange indices, int64_t size, Value mask,
                               ValueRange carried) {
    const Location at = op.getLoc();
    const SmallVector<Value> old(candidates.size(), carried[0]);
    IRMapping values = rows.buildBody(b, indices, size, mask, old,
                                      [&](Operation *each) { return !compared.contains(each); });
    Value element = rows.widen(b, values.lookupOrDefault(candidates[key]), size);
    Value place = arith::IndexCastOp::create(b, at, placeType, indices.back());
    if (size > 0) {
      SmallVector<Attribute> steps;
      for (int64_t i = 0; i < size; ++i)
        steps.push_back(b.getIntegerAttr(placeType, i));
      Value step = arith::ConstantOp::create(
          b, at, DenseElementsAttr::get(VectorType::get(size, placeType), steps));
      place = arith::AddIOp::create(b, at, rows.widen(b, place, size), step);
    }
    Value isBetter = comparison->build(b, element, carried[0]);
    if (mask)
      isBetter = arith::AndIOp::create(b, at, isBetter, mask);
    SmallVector<Value> next = {arith::SelectOp::create(b, at, isBetter, element, carried[0]),
                               arith::SelectOp::create(b, at, isBetter, place, carried[1])};
    if (extreme) {
      Value ofBoth = extremeOf(b, element, carried[2]);
      next.push_back(mask ? arith::SelectOp::create(b, at, mask, ofBoth, carried[2]).getResult()
                          : ofBoth);
    }
    return next;
  }

  /// Chooses between halves until vectors have `to` elements, one being a scalar: of equal ones the
  /// first, or the last.
  void halve(OpBuilder &b, SmallVector<Value> &carried, int64_t from, int64_t to) {
    const Location at = op.getLoc();
    for (int64_t size = from; size > to; size /= 2) {
      auto half = [&](size_t i, int64_t offset) -> Value {
        return vector::ExtractStridedSliceOp::create(b, at, carried[i], offset, size / 2,
                                                     int64_t(1));
      };
      Value a = half(0, 0), other = half(0, size / 2), placeOfA = half(1, 0),
            placeOfOther = half(1, size / 2);
      Value isBetter = comparison->build(b, other, a), isWorse = comparison->build(b, a, other);
      Value isPreferred = arith::CmpIOp::create(
          b, at, comparison->takesLast() ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
          placeOfOther, placeOfA);
      // Both hold of equal ones if the last of them wins, neither if the first does.
      Value areAlike = arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, isBetter, isWorse);
      Value takes = arith::SelectOp::create(b, at, areAlike, isPreferred, isBetter);
      carried[0] = arith::SelectOp::create(b, at, takes, other, a);
      carried[1] = arith::SelectOp::create(b, at, takes, placeOfOther, placeOfA);
      if (extreme)
        carried[2] = extremeOf(b, half(2, 0), half(2, size / 2));
    }
    if (to == 1)
      for (Value &value : carried)
        value = vector::ExtractOp::create(b, at, value, int64_t(0));
  }

  Value extremeOf(OpBuilder &b, Value left, Value right) {
    Operation *copy = b.clone(*extreme);
    copy->setOperands({left, right});
    copy->getResult(0).setType(left.getType());
    return copy->getResult(0);
  }

  RowVectors rows;
  linalg::LinalgOp op;
  std::optional<Comparison> comparison;
  SmallVector<Value> candidates; // what each result becomes where the new element is chosen
  size_t key = 0;                // the result that is compared
  Operation *extreme = nullptr;  // what makes it of all elements, if it is not chosen
  IntegerType placeType;
  llvm::SetVector<Operation *> compared;
};

struct VectorizeChoices : plim::ir::impl::PlimVectorizeChoicesBase<VectorizeChoices> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    const Host host = hostOf(function);
    if (host.vectorBits == 0)
      return;
    SmallVector<RowChoice, 1> choices;
    function.walk([&](linalg::GenericOp op) {
      if (std::optional<RowChoice> choice = RowChoice::of(op, host))
        choices.push_back(*choice);
    });
    IRRewriter rewriter(&getContext());
    for (RowChoice &choice : choices) {
      choice.vectorize(rewriter);
      ++vectorized;
    }
  }
};

} // namespace
