// The coefficients are minimax polynomials by Remez exchange: the error weighed so that it is
// relative to the result, each coefficient rounded to f32, lowest first, and the rest fitted again.
// The order of operations is part of the accuracy; only multiply and add may contract.

#include "ir/Codegen/MathPolynomials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {

/// Arithmetic on values of one type, f32 or a vector of f32.
class Emitter {
public:
  Emitter(PatternRewriter &rewriter, Operation *op)
      : b(op->getLoc(), rewriter), type(op->getResult(0).getType()),
        bitsType(cloneWith(rewriter.getI32Type())) {}

  Value number(float value) { return splat(type, b.getF32FloatAttr(value)); }
  Value integer(int32_t value) { return splat(bitsType, b.getI32IntegerAttr(value)); }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y, contract); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y, contract); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y, contract); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  /// x * y + z. Not math.fma, which is a call where the hardware has none.
  Value mulAdd(Value x, Value y, Value z) { return add(mul(x, y), z); }

  Value magnitude(Value x) { return math::AbsFOp::create(b, x); }
  Value withSignOf(Value x, Value sign) { return math::CopySignOp::create(b, x, sign); }
  /// One instruction each on most machines; NaN stays NaN.
  Value atMost(Value x, float limit) { return bounded(arith::CmpFPredicate::OLT, x, limit); }
  Value atLeast(Value x, float limit) { return bounded(arith::CmpFPredicate::OGT, x, limit); }

  /// Lowest coefficient first, of which there are two at least. By Estrin's scheme, as halves that do not wait for each other: a
  /// processor looks at a few hundred instructions at a time, and a sum that waits for the one before it leaves its units idle.
  /// The lowest is added last, so that what the others are off by is small beside it.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    SmallVector<Value> terms;
    for (float coefficient : coefficients.drop_front())
      terms.push_back(number(coefficient));
    for (Value power; terms.size() > 1;) {
      power = power ? mul(power, power) : x;
      SmallVector<Value> pairs;
      for (size_t i = 0; i + 1 < terms.size(); i += 2)
        pairs.push_back(mulAdd(terms[i + 1], power, terms[i]));
      if (terms.size() % 2 == 1)
        pairs.push_back(terms.back());
      terms = std::move(pairs);
    }
    return mulAdd(terms.front(), x, number(coefficients.front()));
  }

  /// An integer n as a number; the lowest nine bits of `bits` are n plus a bias.
  struct Integer {
    Value number, bits;
  };
  /// x * scale, rounded. Adding 1.5 * 2^23 leaves no bits for a fraction; unlike a conversion to
  /// integers it is defined for NaN.
  Integer round(Value x, float scale, int32_t bias) {
    Value shift = number(0x1.8p23F + static_cast<float>(bias));
    Value shifted = mulAdd(x, number(scale), shift);
    return {sub(shifted, shift), arith::BitcastOp::create(b, bitsType, shifted)};
  }

  static constexpr int32_t exponentBias = 127;
  /// 2^n for n in [-126, 127] with that bias.
  Value powerOfTwo(Value bits) {
    Value exponent = arith::ShLIOp::create(b, bits, integer(23));
    return arith::BitcastOp::create(b, type, exponent);
  }
  /// 2^-n for n in [-127, 126] with that bias.
  Value inversePowerOfTwo(Value bits) {
    return powerOfTwo(arith::SubIOp::create(b, integer(2 * exponentBias), bits));
  }
  /// n with twice that bias as the sum of two halves with that bias each: 2^n alone may be too large
  /// or too small for an f32.
  std::pair<Value, Value> halves(Value bits) {
    Value half = arith::ShRUIOp::create(b, bits, integer(1));
    return {half, arith::SubIOp::create(b, bits, half)};
  }

  /// e^r - 1 for |r| <= ln(2) / 2: r + r^2 P(r), relative error 2^-26.1.
  Value expm1Reduced(Value r) {
    Value p = polynomial(
        r, {0x1.fffffep-2F, 0x1.5554aap-3F, 0x1.55579ap-5F, 0x1.122c38p-7F, 0x1.6ac05p-10F});
    return mulAdd(mul(r, r), p, r);
  }

  /// e^-y as scale + scale * rest, with |rest| < 0.42, for y in [0, 80] or NaN.
  struct Split {
    Value scale, rest;
  };
  /// ln(2) in one f32: what is lost grows with n, but the scale shrinks faster.
  Split expNegative(Value y) {
    auto [n, bits] = round(y, -0x1.715476p+0F, exponentBias);
    Value r = mulAdd(n, number(-0x1.62e43p-1F), arith::NegFOp::create(b, y));
    return {powerOfTwo(bits), expm1Reduced(r)};
  }
  /// 1 - e^-y: no digits cancel, since scale is 1 for small y.
  Value oneMinus(Split e) { return sub(sub(number(1), e.scale), mul(e.scale, e.rest)); }
  Value onePlus(Split e) { return add(add(number(1), e.scale), mul(e.scale, e.rest)); }

private:
  Type cloneWith(Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value splat(Type of, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(of))
      return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, Attribute(value)));
    return arith::ConstantOp::create(b, value);
  }
  Value bounded(arith::CmpFPredicate isBeyond, Value x, float limit) {
    Value bound = number(limit);
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, isBeyond, bound, x), bound, x);
  }

  static constexpr arith::FastMathFlags contract = arith::FastMathFlags::contract;
  ImplicitLocOpBuilder b;
  Type type, bitsType;
};

/// x = n ln(2) + r with |r| <= ln(2) / 2; n has twice the exponent's bias.
struct Reduced {
  Emitter::Integer n;
  Value r;
};
/// For x in [-176, 89] or NaN. ln(2) is in two parts, the first so short that n times it is exact.
Reduced reduce(Emitter &e, Value x) {
  Emitter::Integer n = e.round(x, 0x1.715476p+0F, 2 * Emitter::exponentBias);
  Value r = e.mulAdd(n.number, e.number(-0x1.62e4p-1F), x);
  return {n, e.mulAdd(n.number, e.number(-0x1.7f7d1cp-20F), r)};
}

/// 2^n e^r. The last product alone may overflow or become a denormal, so it is rounded once.
Value power(Emitter &e, const Reduced &exponent) {
  auto [first, second] = e.halves(exponent.n.bits);
  Value power = e.powerOfTwo(first);
  return e.mul(e.mulAdd(power, e.expm1Reduced(exponent.r), power), e.powerOfTwo(second));
}

/// It is zero below -104; at -176 both factors are zero, too: a product that is rounded to zero takes a processor a hundred times as
/// long, and what masks leave out of a softmax is minus infinity.
Value exp(Emitter &e, Value x) { return power(e, reduce(e, e.atLeast(e.atMost(x, 89), -176))); }

/// With the same bounds. x - n is exact.
Value exp2(Emitter &e, Value x) {
  x = e.atLeast(e.atMost(x, 128.5F), -254);
  Emitter::Integer n = e.round(x, 1, 2 * Emitter::exponentBias);
  return power(e, {n, e.mul(e.sub(x, n.number), e.number(0x1.62e43p-1F))});
}

/// 2^n (e^r - 1) + (2^n - 1), the second half of n taken out as a factor as above.
Value expm1(Emitter &e, Value x) {
  Value y = e.atLeast(e.atMost(x, 89), -18); // infinite or -1 beyond
  auto [n, r] = reduce(e, y);
  auto [first, second] = e.halves(n.bits);
  Value power = e.powerOfTwo(first);
  Value minusOne = e.sub(power, e.inversePowerOfTwo(second));
  Value result = e.mul(e.mulAdd(power, e.expm1Reduced(r), minusOne), e.powerOfTwo(second));
  return e.withSignOf(result, x); // of a zero
}

/// (1 - e^-2|x|) / (1 + e^-2|x|).
Value tanh(Emitter &e, Value x) {
  Value y = e.atMost(e.magnitude(x), 9.25F); // 1 beyond
  auto power = e.expNegative(e.add(y, y));
  return e.withSignOf(e.div(e.oneMinus(power), e.onePlus(power)), x);
}

/// 1 - e^-y with y = -ln(erfc |x|), which is x + x Q(x) with a smooth Q on [0, 4]; relative error of
/// the result 2^-27.8. What an error of y does is damped by e^-y, so large arguments need few digits.
Value erf(Emitter &e, Value x) {
  Value a = e.atMost(e.magnitude(x), 4); // 1 beyond
  Value q = e.polynomial(a, {0x1.06eba8p-3F, 0x1.45f3p-1F, 0x1.a4f8c4p-4F, -0x1.39b7cep-6F,
                             -0x1.636f3ep-13F, 0x1.b74232p-10F, -0x1.4e250ap-11F, 0x1.f27c18p-14F,
                             -0x1.3af0c2p-17F});
  return e.withSignOf(e.oneMinus(e.expNegative(e.mulAdd(q, a, a))), x);
}

template <typename OpT, Value (*Function)(Emitter &, Value)> struct Expand : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Emitter emitter(rewriter, op);
    rewriter.replaceOp(op, Function(emitter, op.getOperand()));
    return success();
  }
};

/// Powers with a small whole exponent as products, which a library's function is ten times as slow as, and a hundred times for what is below zero.
/// A square and a reciprocal are rounded once; a cube is right to 1.3 units in the last place, a fourth power to 1.9.
struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    APFloat exponent(0.0);
    if (getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() < 32 ||
        !matchPattern(op.getRhs(), m_ConstantFloat(&exponent)))
      return failure();
    const Location loc = op.getLoc();
    const Value x = op.getLhs();
    auto times = [&](Value a, Value b) -> Value {
      return arith::MulFOp::create(rewriter, loc, a, b, op.getFastmath());
    };
    if (exponent.isExactlyValue(1)) {
      rewriter.replaceOp(op, x);
    } else if (exponent.isExactlyValue(2)) {
      rewriter.replaceOp(op, times(x, x));
    } else if (exponent.isExactlyValue(3)) {
      rewriter.replaceOp(op, times(times(x, x), x));
    } else if (exponent.isExactlyValue(4)) {
      const Value square = times(x, x);
      rewriter.replaceOp(op, times(square, square));
    } else if (exponent.isExactlyValue(-1)) {
      const Value one = arith::ConstantOp::create(rewriter, loc, rewriter.getOneAttr(x.getType()));
      rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, x);
    } else {
      return failure();
    }
    return success();
  }
};

} // namespace

void plim::ir::populateMathPolynomialPatterns(RewritePatternSet &patterns) {
  patterns.add<Expand<math::ExpOp, exp>, Expand<math::Exp2Op, exp2>, Expand<math::ExpM1Op, expm1>,
               Expand<math::TanhOp, tanh>, Expand<math::ErfOp, erf>>(patterns.getContext());
  // Before what makes a logarithm of the base.
  patterns.add<ExpandPower>(patterns.getContext(), /*benefit=*/2);
}
