#include "ir/Import/Passes.h"
#include "ir/Import/Requirements.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHECKARITHMETIC
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using plim::ir::isInLateBody;
using plim::ir::locationText;

namespace {

using P = arith::CmpIPredicate;

bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

bool isDivision(Operation *op) {
  return isSignedDivision(op) || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IndexType::kInternalStorageBitWidth : element.getIntOrFloatBitWidth();
}

Value number(ImplicitLocOpBuilder &b, Type type, const APInt &value) {
  TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vectorType = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vectorType, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

Value compare(ImplicitLocOpBuilder &b, P predicate, Value value, const APInt &other) {
  return arith::CmpIOp::create(b, predicate, value, number(b, value.getType(), other));
}

/// Do all lanes hold?
Value all(ImplicitLocOpBuilder &b, Value condition) {
  auto type = dyn_cast<VectorType>(condition.getType());
  if (!type)
    return condition;
  auto flat = VectorType::get({type.getNumElements()}, b.getI1Type());
  return vector::ReductionOp::create(b, vector::CombiningKind::AND,
                                     vector::ShapeCastOp::create(b, flat, condition));
}

struct CheckArithmetic : plim::ir::impl::PlimCheckArithmeticBase<CheckArithmetic> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *&op : ops)
      op = useArith(op);
    for (Operation *op : ops) {
      if (!op)
        continue;
      if (isDivision(op))
        checkDivision(op);
      else if (auto power = dyn_cast<math::IPowIOp>(op))
        checkPower(power);
      else if (auto extract = dyn_cast<vector::ExtractOp>(op))
        checkPositions(op, extract.getSourceVectorType(), extract.getStaticPosition(),
                       extract.getDynamicPositionMutable());
      else if (auto insert = dyn_cast<vector::InsertOp>(op))
        checkPositions(op, insert.getDestVectorType(), insert.getStaticPosition(),
                       insert.getDynamicPositionMutable());
      else if (auto dim = dyn_cast<memref::DimOp>(op))
        checkDimension(dim);
      else if (auto dim = dyn_cast<tensor::DimOp>(op))
        checkDimension(dim);
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        checkStep(op, loop.getStepMutable());
      else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
        for (OpOperand &step : parallel.getStepMutable())
          checkStep(op, step);
      else if (auto forall = dyn_cast<scf::ForallOp>(op))
        checkSteps(forall);
      else if (isa<affine::AffineDialect>(op->getDialect()))
        checkAffine(op);
    }
  }

  /// The ops of the index dialect that may have no result have a twin in arith, and a value that is poison
  /// one that is not. Gives what stands for `op`, null for an op that needs nothing more.
  Operation *useArith(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto twin = [&]<typename OpT>(std::type_identity<OpT>) -> Operation * {
      auto result = OpT::create(b, op->getOperand(0), op->getOperand(1));
      op->replaceAllUsesWith(result);
      op->erase();
      ++replaced;
      return result;
    };
    using std::type_identity;
    return llvm::TypeSwitch<Operation *, Operation *>(op)
        .Case([&](index::DivSOp) { return twin(type_identity<arith::DivSIOp>()); })
        .Case([&](index::DivUOp) { return twin(type_identity<arith::DivUIOp>()); })
        .Case([&](index::CeilDivUOp) { return twin(type_identity<arith::CeilDivUIOp>()); })
        .Case([&](index::FloorDivSOp) { return twin(type_identity<arith::FloorDivSIOp>()); })
        .Case([&](index::RemSOp) { return twin(type_identity<arith::RemSIOp>()); })
        .Case([&](index::RemUOp) { return twin(type_identity<arith::RemUIOp>()); })
        .Case([&](index::ShlOp) { return twin(type_identity<arith::ShLIOp>()); })
        .Case([&](index::ShrSOp) { return twin(type_identity<arith::ShRSIOp>()); })
        .Case([&](index::ShrUOp) { return twin(type_identity<arith::ShRUIOp>()); })
        .Case([&](ub::PoisonOp poison) -> Operation * {
          Type type = poison.getType();
          if (!getElementTypeOrSelf(type).isIntOrIndexOrFloat() ||
              isa<ShapedType>(type) != isa<VectorType>(type))
            return nullptr;
          poison.replaceAllUsesWith(arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
          poison.erase();
          ++replaced;
          return nullptr;
        })
        .Default([](Operation *other) { return other; });
  }

  /// Zero is an error; the smallest number by -1 wraps, as products do. Neither traps.
  void checkDivision(Operation *op) {
    Value dividend = op->getOperand(0), divisor = op->getOperand(1);
    bool isSigned = isSignedDivision(op);
    APInt constant;
    bool isConstant = matchPattern(divisor, m_ConstantInt(&constant));
    if (isConstant && !constant.isZero() && !(isSigned && constant.isAllOnes()))
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Type type = divisor.getType();
    unsigned width = widthOf(type);
    Value safe = divisor;
    if (!isConstant || constant.isZero()) {
      Value ok = require(b, op, all(b, compare(b, P::ne, divisor, APInt::getZero(width))),
                         "integer division by zero");
      if (ok)
        safe = arith::SelectOp::create(b, ok, safe, number(b, type, APInt(width, 1)));
    }
    if (isSigned && width > 1) {
      Value wraps =
          arith::AndIOp::create(b, compare(b, P::eq, divisor, APInt::getAllOnes(width)),
                                compare(b, P::eq, dividend, APInt::getSignedMinValue(width)));
      // The same result, for a remainder as well.
      safe = arith::SelectOp::create(b, wraps, number(b, type, APInt(width, 1)), safe);
    }
    op->setOperand(1, safe);
  }

  /// A negative power of zero is a division by it, in a function that upstream makes of it. The op may be
  /// moved ahead of an assertion, so its base is made good wherever it stands.
  void checkPower(math::IPowIOp op) {
    APInt constant;
    Type type = op.getType();
    unsigned width = widthOf(type);
    if (matchPattern(op.getRhs(), m_ConstantInt(&constant)) && constant.isNonNegative())
      return;
    if (matchPattern(op.getLhs(), m_ConstantInt(&constant)) && !constant.isZero())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value good = arith::OrIOp::create(b, compare(b, P::ne, op.getLhs(), APInt::getZero(width)),
                                      compare(b, P::sge, op.getRhs(), APInt::getZero(width)));
    Value ok = require(b, op, all(b, good), "zero to a negative power");
    op.getLhsMutable().assign(
        arith::SelectOp::create(b, ok ? ok : good, op.getLhs(), number(b, type, APInt(width, 1))));
  }

  /// Positions of `op` in a vector that are no constants.
  void checkPositions(Operation *op, VectorType type, ArrayRef<int64_t> positions,
                      MutableOperandRange dynamic) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    unsigned next = 0;
    for (auto [dimension, position] : llvm::enumerate(positions)) {
      if (!ShapedType::isDynamic(position))
        continue;
      OpOperand &operand = dynamic[next++];
      std::string text;
      llvm::raw_string_ostream(text)
          << "position out of range in dimension " << dimension << " of " << type;
      checkBelow(b, op, operand, type.getDimSize(int64_t(dimension)), text);
    }
  }

  /// One of several extents, where which one is no constant: the code generator would need memory for them
  /// that it takes at run time.
  template <typename DimOpT> void checkDimension(DimOpT op) {
    auto type = cast<ShapedType>(op.getSource().getType());
    std::optional<int64_t> constant = getConstantIntValue(op.getIndex());
    if (!type.hasRank() || (constant && *constant >= 0 && *constant < type.getRank()))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    std::string text;
    llvm::raw_string_ostream(text) << "no such dimension of " << type;
    checkBelow(b, op, op.getIndexMutable(), type.getRank(), text);
    Value extent = arith::ConstantIndexOp::create(b, 0);
    for (int64_t i = type.getRank(); i-- > 0;) {
      Value position = arith::ConstantIndexOp::create(b, i);
      Value isIt = arith::CmpIOp::create(b, P::eq, op.getIndex(), position);
      Value each = b.createOrFold<DimOpT>(op.getSource(), position);
      extent = arith::SelectOp::create(b, isIt, each, extent);
    }
    op.replaceAllUsesWith(extent);
    op.erase();
  }

  /// `operand`, an index, must be below `bound`, and not negative.
  void checkBelow(ImplicitLocOpBuilder &b, Operation *op, OpOperand &operand, int64_t bound,
                  const Twine &message) {
    std::optional<int64_t> constant = getConstantIntValue(operand.get());
    if (constant && *constant >= 0 && *constant < bound)
      return;
    Value limit = arith::ConstantIndexOp::create(b, bound);
    // Unsigned: a negative one is large.
    Value inside = arith::CmpIOp::create(b, P::ult, operand.get(), limit);
    Value ok = require(b, op, inside, message);
    // The op may be moved ahead of an assertion.
    Value first = arith::ConstantIndexOp::create(b, 0);
    operand.set(arith::SelectOp::create(b, ok ? ok : inside, operand.get(), first));
  }

  /// With such a step the loop would not end.
  void checkStep(Operation *op, OpOperand &step) {
    APInt constant;
    if (matchPattern(step.get(), m_ConstantInt(&constant)) &&
        (isa<scf::ForallOp>(op) ? constant.isStrictlyPositive() : !constant.isZero()))
      return; // verifiers of other ops have looked at its sign
    ImplicitLocOpBuilder b(op->getLoc(), op);
    unsigned width = widthOf(step.get().getType());
    auto loop = dyn_cast<scf::ForOp>(op);
    bool isUnsigned = loop && loop.getUnsignedCmp();
    Value good = compare(b, isUnsigned ? P::ne : P::sgt, step.get(), APInt::getZero(width));
    Value ok =
        require(b, op, good,
                isUnsigned ? "the step of the loop is 0" : "the step of the loop is 0 or less");
    Value one = number(b, step.get().getType(), APInt(width, 1));
    step.set(arith::SelectOp::create(b, ok ? ok : good, step.get(), one));
  }

  /// Upstream has no opinion of those that are known.
  void checkSteps(scf::ForallOp loop) {
    for (OpOperand &step : loop.getDynamicStepMutable())
      checkStep(loop, step);
    SmallVector<int64_t> steps(loop.getStaticStep());
    auto isWrong = [](int64_t step) { return !ShapedType::isDynamic(step) && step <= 0; };
    if (llvm::none_of(steps, isWrong))
      return;
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    require(b, loop, number(b, b.getI1Type(), APInt(1, 0)), "the step of the loop is 0 or less");
    std::replace_if(steps.begin(), steps.end(), isWrong, 1);
    loop.setStaticStep(steps);
  }

  /// Divisors in its maps that are no constants: they must be positive.
  void checkAffine(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto check = [&](AffineExpr expression, unsigned dimensions, ValueRange operands) {
      expression.walk([&](AffineExpr part) {
        auto binary = dyn_cast<AffineBinaryOpExpr>(part);
        if (!binary || binary.getKind() == AffineExprKind::Add ||
            binary.getKind() == AffineExprKind::Mul || isa<AffineConstantExpr>(binary.getRHS()))
          return;
        Value divisor = affine::expandAffineExpr(b, op->getLoc(), binary.getRHS(),
                                                 operands.take_front(dimensions),
                                                 operands.drop_front(dimensions));
        Value zero = arith::ConstantIndexOp::create(b, 0);
        Value good = arith::CmpIOp::create(b, P::sgt, divisor, zero);
        assertThat(b, op, good, "a divisor of an affine map is 0 or less");
      });
    };
    auto checkMap = [&](AffineMap map, ValueRange operands) {
      for (AffineExpr expression : map.getResults())
        check(expression, map.getNumDims(), operands);
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
            [&](auto each) { checkMap(each.getAffineMap(), each->getOperands()); })
        .Case<affine::AffineReadOpInterface, affine::AffineWriteOpInterface>(
            [&](auto each) { checkMap(each.getAffineMap(), each.getMapOperands()); })
        .Case([&](affine::AffineForOp loop) {
          checkMap(loop.getLowerBoundMap(), loop.getLowerBoundOperands());
          checkMap(loop.getUpperBoundMap(), loop.getUpperBoundOperands());
        })
        .Case([&](affine::AffineIfOp branch) {
          IntegerSet set = branch.getIntegerSet();
          for (AffineExpr expression : set.getConstraints())
            check(expression, set.getNumDims(), branch.getOperands());
        });
  }

  /// Fails the call with `message` unless `condition` holds: at once, and null comes back; or, in a body, when
  /// the function ends. There the code goes on, and has to use the result instead of the condition: a check
  /// whose result nobody uses is dropped.
  Value require(ImplicitLocOpBuilder &b, Operation *op, Value condition, const Twine &message) {
    if (!isInLateBody(op)) {
      assertThat(b, op, condition, message);
      return {};
    }
    ++checks;
    return plim::ir::CheckOp::create(b, condition,
                                     b.getStringAttr(locationText(op->getLoc()) + message));
  }

  void assertThat(ImplicitLocOpBuilder &b, Operation *op, Value condition, const Twine &message) {
    auto assertion =
        cf::AssertOp::create(b, condition, b.getStringAttr(locationText(op->getLoc()) + message));
    if (getOperation()->hasAttr(plim::ir::kernelAttr))
      assertion->setAttr(plim::ir::impliedAttr, b.getUnitAttr());
    ++checks;
  }
};

} // namespace
