#include "ir/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDEFINEARITHMETIC
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct DefineArithmetic : plim::ir::impl::PlimDefineArithmeticBase<DefineArithmetic> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::FPToSIOp, arith::FPToUIOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        saturate(op);
      else if (!isShortEnough(op->getOperand(1)))
        limitShift(op);
    }
  }

  static unsigned widthOf(Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIndex() ? IndexType::kInternalStorageBitWidth
                             : element.getIntOrFloatBitWidth();
  }

  /// Is the amount of a shift known, and less than the width?
  static bool isShortEnough(Value amount) {
    Attribute value;
    if (!matchPattern(amount, m_Constant(&value)))
      return false;
    unsigned width = widthOf(amount.getType());
    if (auto one = dyn_cast<IntegerAttr>(value))
      return one.getValue().ult(width);
    auto many = dyn_cast<DenseIntElementsAttr>(value);
    return many && llvm::all_of(many.getValues<APInt>(),
                                [&](const APInt &each) { return each.ult(width); });
  }

  static Value number(ImplicitLocOpBuilder &b, Type type, uint64_t value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attribute = b.getIntegerAttr(element, APInt(widthOf(element), value));
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, attribute);
  }

  void limitShift(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Type type = op->getResult(0).getType();
    Value amount = op->getOperand(1);
    unsigned width = widthOf(type);
    ++shifts;
    if (isa<arith::ShRSIOp>(op)) {
      // The last shift leaves nothing but the sign, and so does any longer one.
      op->setOperand(1, arith::MinUIOp::create(b, amount, number(b, type, width - 1)));
      return;
    }
    b.setInsertionPointAfter(op);
    Value inside =
        width == 1
            ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq, amount, number(b, type, 0))
                  .getResult()
            : arith::CmpIOp::create(b, arith::CmpIPredicate::ult, amount, number(b, type, width))
                  .getResult();
    Value result = op->getResult(0);
    auto limited = arith::SelectOp::create(b, inside, result, number(b, type, 0));
    result.replaceAllUsesExcept(limited, limited);
  }

  /// A float between two constants, both of which let a NaN through.
  struct Clamp {
    Value value;
    std::optional<APFloat> least, most;
  };

  /// What a float is, if it is a maximum of a minimum or the other way round, and nothing between.
  static std::optional<Clamp> clampOf(Value value) {
    Clamp clamp{value, {}, {}};
    while (!clamp.least || !clamp.most) {
      Operation *op = clamp.value.getDefiningOp();
      if (!isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op))
        return std::nullopt;
      std::optional<APFloat> &bound = isa<arith::MaximumFOp>(op) ? clamp.least : clamp.most;
      APFloat constant(0.0F);
      const bool isLeft = matchPattern(op->getOperand(0), m_ConstantFloat(&constant));
      if (bound || (!isLeft && !matchPattern(op->getOperand(1), m_ConstantFloat(&constant))))
        return std::nullopt;
      bound = constant;
      clamp.value = op->getOperand(isLeft ? 1 : 0);
    }
    return *clamp.least <= *clamp.most ? std::optional(clamp) : std::nullopt;
  }

  /// LLVM's own saturating conversions are not vectorised well: eight times as slow with AVX2.
  void saturate(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value from = op->getOperand(0);
    bool isSigned = isa<arith::FPToSIOp>(op);
    Type type = op->getResult(0).getType();
    unsigned width = widthOf(type);
    APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width);
    APInt most = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
    const bool isNarrow = widthOf(from.getType()) < 32;
    const llvm::fltSemantics &semantics =
        isNarrow ? APFloat::IEEEsingle()
                 : cast<FloatType>(getElementTypeOrSelf(from.getType())).getFloatSemantics();
    APFloat lowest(semantics), highest(semantics);
    lowest.convertFromAPInt(least, isSigned, APFloat::rmTowardZero);
    bool isExact = highest.convertFromAPInt(most, isSigned, APFloat::rmTowardZero) == APFloat::opOK;
    // Bounds of the source that are no further apart take the place of the integer's. A NaN passes
    // them and becomes 0, which an integer without a sign has to have for its lower bound then.
    if (std::optional<Clamp> clamp = clampOf(from)) {
      bool isInexact = false;
      clamp->least->convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
      clamp->most->convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
      if (*clamp->least >= lowest && *clamp->most <= highest &&
          (isSigned || clamp->least->isZero())) {
        from = clamp->value;
        lowest = *clamp->least;
        highest = *clamp->most;
        isExact = true;
      }
    }
    // Exact, and narrower ones have no instructions of their own.
    if (isNarrow) {
      Type wide = b.getF32Type();
      if (auto vector = dyn_cast<VectorType>(from.getType()))
        wide = vector.clone(wide);
      from = arith::ExtFOp::create(b, wide, from);
    }
    Type source = from.getType();
    auto constant = [&](Type type, Attribute value) -> Value {
      if (auto vector = dyn_cast<VectorType>(type))
        return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, value));
      return arith::ConstantOp::create(b, cast<TypedAttr>(value));
    };
    auto real = [&](const APFloat &value) {
      return constant(source, FloatAttr::get(getElementTypeOrSelf(source), value));
    };
    auto integer = [&](const APInt &value) {
      return constant(type, IntegerAttr::get(getElementTypeOrSelf(type), value));
    };
    using P = arith::CmpFPredicate;
    auto choose = [&](P predicate, Value left, Value right, Value yes, Value no) -> Value {
      return arith::SelectOp::create(b, arith::CmpFOp::create(b, predicate, left, right), yes, no);
    };
    // NaN too becomes the least one, which is what the instruction for a maximum does.
    Value low = real(lowest), high = real(highest);
    Value inside = choose(P::OGT, from, low, from, low);
    if (isExact)
      inside = choose(P::OLT, inside, high, inside, high);
    op->setOperand(0, inside);
    b.setInsertionPointAfter(op);
    Value converted = op->getResult(0), result = converted;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : converted.getUses())
      uses.push_back(&use);
    // Beyond the largest float below the limit there is nothing but the limit and what is above.
    if (!isExact)
      result = choose(P::OGT, from, high, integer(most), result);
    if (isSigned)
      result = choose(P::UNO, from, from, integer(APInt::getZero(width)), result);
    for (OpOperand *use : uses)
      use->set(result);
    ++conversions;
  }
};

} // namespace
