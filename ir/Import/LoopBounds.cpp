#include "ir/Import/LoopBounds.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace plim::ir;

using P = arith::CmpIPredicate;

namespace {

/// Beyond it a sum of two could wrap.
constexpr double maxMagnitude = 0x1p61;
/// No extent of anything that has elements is larger (Supported.cpp limits bytes).
constexpr double maxExtent = 0x1p47;

/// No part of the expression has a larger absolute value while the op iterates.
double magnitudeOf(AffineExpr expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::abs(double(constant.getValue()));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return maxExtent;
  double left = magnitudeOf(binary.getLHS()), right = magnitudeOf(binary.getRHS());
  return binary.getKind() == AffineExprKind::Add   ? left + right
         : binary.getKind() == AffineExprKind::Mul ? left * right
                                                   : std::max(left, right);
}

} // namespace

void LoopBounds::require(AffineExpr expression, OpOperand &operand, unsigned dimension) {
  Value extent = requirements.extent(operand.get(), dimension);
  Interval interval = intervalOf(expression);
  Value zero = requirements.number(0);
  Value inside = requirements.both(requirements.compare(P::sge, interval.min, zero),
                                   requirements.compare(P::slt, interval.max, extent));
  // Bounds that may have wrapped say nothing.
  bool mayWrap = magnitudeOf(expression) > maxMagnitude;
  if (mayWrap)
    inside = arith::ConstantOp::create(requirements.builder, op.getLoc(),
                                       requirements.builder.getBoolAttr(false));
  // No iteration, no access.
  inside = requirements.either(inside, isEmpty());
  if ((mayWrap || !interval.isExact) && !matchPattern(inside, m_One()))
    inside = tryAll(expression, inside, extent);
  requirements.require(inside,
                       "indices from {0} to {1} leave dimension " + llvm::Twine(dimension) +
                           " of " + operandText(operand) + ", which has {2}",
                       {interval.min, interval.max, extent});
}

Value LoopBounds::sizeOf(unsigned loop) {
  return requirements.extent(op->getOperand(loops[loop]->operand), loops[loop]->dimension);
}

Value LoopBounds::isEmpty() {
  if (empty)
    return empty;
  empty = arith::ConstantOp::create(requirements.builder, op.getLoc(),
                                    requirements.builder.getBoolAttr(false));
  Value zero = requirements.number(0);
  for (unsigned loop = 0; loop < loops.size(); ++loop)
    empty = requirements.either(empty, requirements.compare(P::eq, sizeOf(loop), zero));
  return empty;
}

LoopBounds::Interval LoopBounds::intervalOf(AffineExpr expression) {
  if (auto loop = dyn_cast<AffineDimExpr>(expression)) {
    Value last = requirements.subtract(sizeOf(loop.getPosition()), requirements.number(1));
    return {requirements.number(0), last, true};
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    Value value = requirements.number(constant.getValue());
    return {value, value, true};
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Interval left = intervalOf(binary.getLHS());
  if (binary.getKind() == AffineExprKind::Add) {
    Interval right = intervalOf(binary.getRHS());
    bool isExact = left.isExact && right.isExact;
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      isExact &= !binary.getLHS().isFunctionOfDim(loop) || !binary.getRHS().isFunctionOfDim(loop);
    return {requirements.add(left.min, right.min), requirements.add(left.max, right.max), isExact};
  }
  int64_t factor = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  Value by = requirements.number(factor);
  switch (binary.getKind()) {
  case AffineExprKind::Mul: {
    Value low = requirements.multiply(left.min, by), high = requirements.multiply(left.max, by);
    return factor < 0 ? Interval{high, low, left.isExact} : Interval{low, high, left.isExact};
  }
  case AffineExprKind::Mod:
    return {requirements.number(0), requirements.number(factor - 1), false};
  default: {
    // Both divisions are monotone.
    auto divided = [&](Value value) {
      AffineExpr symbol = getAffineSymbolExpr(0, op.getContext());
      AffineExpr quotient = binary.getKind() == AffineExprKind::FloorDiv ? symbol.floorDiv(factor)
                                                                         : symbol.ceilDiv(factor);
      return affine::expandAffineExpr(requirements.builder, op.getLoc(), quotient, {}, value);
    };
    return {divided(left.min), divided(left.max), left.isExact};
  }
  }
}

/// Where the interval may be wider than what is reached: every index, once before the op runs.
Value LoopBounds::tryAll(AffineExpr expression, Value known, Value extent) {
  OpBuilder &builder = requirements.builder;
  Location loc = op.getLoc();
  Value zero = requirements.number(0), one = requirements.number(1);
  SmallVector<Value> begins, ends, steps;
  SmallVector<unsigned> used;
  for (unsigned loop = 0; loop < loops.size(); ++loop) {
    if (!expression.isFunctionOfDim(loop))
      continue;
    used.push_back(loop);
    begins.push_back(zero);
    ends.push_back(sizeOf(loop));
    steps.push_back(one);
  }
  auto unlessKnown =
      scf::IfOp::create(builder, loc, builder.getI1Type(), known, /*withElseRegion=*/true);
  OpBuilder then = unlessKnown.getThenBodyBuilder();
  scf::YieldOp::create(then, loc, known);
  OpBuilder body = unlessKnown.getElseBodyBuilder();
  Value yes = arith::ConstantOp::create(body, loc, body.getBoolAttr(true));
  scf::LoopNest nest = scf::buildLoopNest(
      body, loc, begins, ends, steps, yes,
      [&](OpBuilder &inner, Location, ValueRange positions, ValueRange so) {
        SmallVector<Value> dimensions(loops.size(), zero);
        for (auto [loop, position] : llvm::zip(used, positions))
          dimensions[loop] = position;
        Value index = affine::expandAffineExpr(inner, loc, expression, dimensions, {});
        Value isInside = arith::CmpIOp::create(inner, loc, P::ult, index, extent);
        return scf::ValueVector{arith::AndIOp::create(inner, loc, so[0], isInside).getResult()};
      });
  scf::YieldOp::create(body, loc, nest.results);
  return unlessKnown.getResult(0);
}
