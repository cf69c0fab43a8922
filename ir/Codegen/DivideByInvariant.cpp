#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDIVIDEBYINVARIANT
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// Below this a loop is not worth the reciprocal.
constexpr int64_t minTrips = 16;

/// Whether the value is the same in all iterations of the innermost loop. Of what is computed in the
/// body only a few steps are followed: a chain that long costs more than the division.
bool isInvariant(linalg::GenericOp op, Value value, int depth = 4) {
  if (value.getParentBlock() != op.getBlock())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    return op.isDpsInput(operand) &&
           !op.getMatchingIndexingMap(operand).isFunctionOfDim(op.getNumLoops() - 1);
  }
  Operation *definition = value.getDefiningOp();
  return depth > 0 && isPure(definition) && definition->getNumRegions() == 0 &&
         !isa<linalg::IndexOp>(definition) &&
         llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return isInvariant(op, operand, depth - 1); });
}

bool isPowerOfTwo(Value value) {
  APFloat constant(0.0F);
  return matchPattern(value, m_ConstantFloat(&constant)) && constant.getExactInverse(nullptr);
}

struct DivideByInvariant : plim::ir::impl::PlimDivideByInvariantBase<DivideByInvariant> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(plim::ir::dispatchFunctionAttr) ||
        !plim::ir::hostOf(getOperation()).multipliesAndAdds)
      return;
    getOperation().walk([&](linalg::GenericOp op) {
      int64_t trips = op.getNumLoops() > 0 ? op.getStaticLoopRanges().back() : 0;
      if (ShapedType::isStatic(trips) && trips < minTrips)
        return;
      for (arith::DivFOp division :
           llvm::make_early_inc_range(op.getBlock()->getOps<arith::DivFOp>()))
        if ((division.getType().isF32() || division.getType().isF64()) &&
            isInvariant(op, division.getRhs()) && !isInvariant(op, division.getLhs()) &&
            !isPowerOfTwo(division.getRhs()))
          expand(division);
    });
  }

  /// x / d with r = 1 / d, which LLVM takes out of the loop: q = x r is off by less than two units,
  /// x - q d is exact with a fused multiply-add, and adding its share to q rounds as the division does
  /// (P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, 1990).
  void expand(arith::DivFOp division) {
    ImplicitLocOpBuilder b(division.getLoc(), division);
    auto type = cast<FloatType>(division.getType());
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
    };
    // A divisor whose reciprocal is infinite, and x with it, is scaled; where that makes x infinite
    // the quotient is, too.
    bool isDouble = type.isF64();
    Value one = number(1);
    Value isTiny = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                         math::AbsFOp::create(b, division.getRhs()),
                                         number(isDouble ? 0x1p-900 : 0x1p-100));
    Value scale = arith::SelectOp::create(b, isTiny, number(isDouble ? 0x1p128 : 0x1p64), one);
    Value divisor = arith::MulFOp::create(b, division.getRhs(), scale);
    Value reciprocal = arith::DivFOp::create(b, one, divisor);

    Value x = arith::MulFOp::create(b, division.getLhs(), scale);
    Value quotient = arith::MulFOp::create(b, x, reciprocal);
    Value rest = math::FmaOp::create(b, arith::NegFOp::create(b, quotient), divisor, x);
    Value rounded = math::FmaOp::create(b, rest, reciprocal, quotient);
    // Zeros keep their sign, infinities and NaN stay. In integers, since LLVM makes a slow test of the
    // class of a number from comparisons of floats; 0 - 1 is the largest.
    Type bitsType = b.getIntegerType(type.getWidth());
    auto bits = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(bitsType, value));
    };
    APInt infinity = APFloat::getInf(type.getFloatSemantics()).bitcastToAPInt();
    Value magnitude = arith::AndIOp::create(b, arith::BitcastOp::create(b, bitsType, quotient),
                                            bits(APInt::getSignedMaxValue(type.getWidth())));
    Value less = arith::SubIOp::create(b, magnitude, bits(APInt(type.getWidth(), 1)));
    Value isPlain = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, less, bits(infinity - 1));
    Value result = arith::SelectOp::create(b, isPlain, rounded, quotient);
    division.replaceAllUsesWith(result);
    division.erase();
    ++expanded;
  }
};

} // namespace
