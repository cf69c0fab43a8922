// The coefficients are minimax polynomials by Remez exchange: the error weighed so that it is
// relative to the result, each coefficient rounded to f32, lowest first, and the rest fitted again.
// The order of operations is part of the accuracy; only multiply and add may contract.

#include "ir/Codegen/MathPolynomials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <array>
#include <cmath>

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

  /// Rounded as they are written.
  Value plus(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value minus(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value times(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value negative(Value x) { return arith::NegFOp::create(b, x); }

  Value magnitude(Value x) { return math::AbsFOp::create(b, x); }
  Value withSignOf(Value x, Value sign) { return math::CopySignOp::create(b, x, sign); }
  /// One instruction each on most machines; NaN stays NaN.
  Value atMost(Value x, float limit) { return bounded(arith::CmpFPredicate::OLT, x, limit); }
  Value atLeast(Value x, float limit) { return bounded(arith::CmpFPredicate::OGT, x, limit); }

  /// False for NaN.
  Value isLess(Value x, Value y) { return compare(arith::CmpFPredicate::OLT, x, y); }
  Value is(Value x, Value y) { return compare(arith::CmpFPredicate::OEQ, x, y); }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }

  /// Lowest coefficient first, of which there are two at least. By Estrin's scheme, as halves that do not wait for each other: a
  /// processor looks at a few hundred instructions at a time, and a sum that waits for the one before it leaves its units idle.
  /// The lowest is added last, so that what the others are off by is small beside it.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    return polynomial(x,
                      llvm::map_to_vector(coefficients, [&](float each) { return number(each); }));
  }
  Value polynomial(Value x, SmallVector<Value> coefficients) {
    SmallVector<Value> terms(llvm::drop_begin(coefficients));
    for (Value power; terms.size() > 1;) {
      power = power ? mul(power, power) : x;
      SmallVector<Value> pairs;
      for (size_t i = 0; i + 1 < terms.size(); i += 2)
        pairs.push_back(mulAdd(terms[i + 1], power, terms[i]));
      if (terms.size() % 2 == 1)
        pairs.push_back(terms.back());
      terms = std::move(pairs);
    }
    return mulAdd(terms.front(), x, coefficients.front());
  }

  /// x = 2^n (1 + f) with f in [sqrt(1/2) - 1, sqrt(2) - 1], for x above zero and finite; of others, f
  /// is some number in there.
  struct Scaled {
    Value n, f;
  };
  Scaled scaled(Value x) {
    Value isDenormal = isLess(x, number(0x1p-126F));
    Value bits = bitsOf(choose(isDenormal, mul(x, number(0x1p23F)), x));
    Value n = exponentOf(bits);
    Value whole = toFloat(n);
    return {choose(isDenormal, sub(whole, number(23)), whole),
            sub(fromBits(minusExponent(bits, n)), number(1))};
  }
  /// Of the bits of a number, as an integer: n as above.
  Value exponentOf(Value bits) {
    Value aboveHalf = arith::SubIOp::create(b, bits, integer(0x3F3504F3)); // sqrt(1/2)
    return arith::ShRSIOp::create(b, aboveHalf, integer(23));
  }
  /// The bits of 2^-n times the number.
  Value minusExponent(Value bits, Value n) {
    return arith::SubIOp::create(b, bits, arith::ShLIOp::create(b, n, integer(23)));
  }
  Value atMostInteger(Value n, int32_t limit) {
    return arith::MinSIOp::create(b, n, integer(limit));
  }
  Value toFloat(Value integers) { return arith::SIToFPOp::create(b, type, integers); }
  Value bitsOf(Value x) { return arith::BitcastOp::create(b, bitsType, x); }
  Value fromBits(Value bits) { return arith::BitcastOp::create(b, type, bits); }

  /// Minus infinity for a zero, otherwise NaN.
  Value minusInfinityOrNan(Value x) {
    Value bits = bitsOf(x);
    Value low = arith::OrIOp::create(b, bits, arith::ShRUIOp::create(b, bits, integer(8)));
    return fromBits(arith::OrIOp::create(b, low, integer(static_cast<int32_t>(0xFF800000))));
  }

  /// Is it a whole number? An instruction rounds wherever there is one for fma.
  Value isWhole(Value x) { return is(math::TruncOp::create(b, x), x); }

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
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value bounded(arith::CmpFPredicate isBeyond, Value x, float limit) {
    Value bound = number(limit);
    return choose(compare(isBeyond, bound, x), bound, x);
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

/// A logarithm of 2^n (1 + f) is n times that of 2, in two parts, the first so short that n times it is
/// exact, and f times that of e, in two parts as well, and f^2 times a polynomial, whose error relative
/// to the result is 2^-27.7.
struct Base {
  float ofTwo, ofTwoRest, ofE, ofERest;
  std::array<float, 9> coefficients;
};
constexpr Base baseE = {0x1.62e4p-1F,
                        0x1.7f7d1cp-20F,
                        1,
                        0,
                        {-0x1.fffff8p-2F, 0x1.55555p-2F, -0x1.000438p-2F, 0x1.99a428p-3F,
                         -0x1.542422p-3F, 0x1.226b34p-3F, -0x1.0f4cb4p-3F, 0x1.087d76p-3F,
                         -0x1.38506ep-4F}};
constexpr Base base2 = {1,
                        0,
                        0x1.715476p+0F,
                        0x1.4ae0cp-26F,
                        {-0x1.715470p-1F, 0x1.ec7094p-2F, -0x1.715afep-2F, 0x1.277f44p-2F,
                         -0x1.eaa24ap-3F, 0x1.a2c9dcp-3F, -0x1.87f7eap-3F, 0x1.7f2818p-3F,
                         -0x1.c39baep-4F}};
constexpr Base base10 = {0x1.344p-2F,
                         0x1.3509f8p-18F,
                         0x1.bcb7b2p-2F,
                         -0x1.5b235ep-27F,
                         {-0x1.bcb7aap-3F, 0x1.287a7p-3F, -0x1.bcbf52p-4F, 0x1.63d06ap-4F,
                          -0x1.276a56p-4F, 0x1.f84b96p-5F, -0x1.d79116p-5F, 0x1.cd0b5p-5F,
                          -0x1.108ee6p-5F}};

Value logarithm(Emitter &e, const Base &base, Value n, Value f) {
  Value rest = e.mul(e.polynomial(f, base.coefficients), f);
  if (base.ofERest != 0)
    rest = e.add(rest, e.number(base.ofERest));
  rest = e.mul(f, rest);
  if (base.ofTwoRest != 0)
    rest = e.mulAdd(n, e.number(base.ofTwoRest), rest);
  Value first = base.ofE == 1 ? e.add(f, rest) : e.mulAdd(f, e.number(base.ofE), rest);
  return base.ofTwo == 1 ? e.add(n, first) : e.mulAdd(n, e.number(base.ofTwo), first);
}

/// With the results for what is not above zero and finite: minus infinity for zeros, whose bits are none but the sign, and NaN for
/// numbers below it and NaN, of which a bit of the mantissa or of the exponent, moved there, makes one of the bits of infinity.
Value withEdges(Emitter &e, Value x, Value result) {
  Value infinity = e.number(INFINITY);
  result = e.choose(e.isLess(x, infinity), result, x);
  return e.choose(e.isLess(e.number(0), x), result, e.minusInfinityOrNan(x));
}

template <const Base &base> Value log(Emitter &e, Value x) {
  auto [n, f] = e.scaled(x);
  return withEdges(e, x, logarithm(e, base, n, f));
}

/// Of 1 + x as the sum of two, whose second part joins f: for small x, f is x.
Value log1p(Emitter &e, Value x) {
  Value one = e.number(1), sum = e.plus(one, x);
  Value low =
      e.choose(e.isLess(one, x), e.minus(one, e.minus(sum, x)), e.minus(x, e.minus(sum, one)));
  Value bits = e.bitsOf(sum), n = e.exponentOf(bits);
  // Beyond 2^126, where the second part is nothing.
  Value scale = e.minusExponent(e.integer(0x3F800000), e.atMostInteger(n, 126));
  Value f = e.add(e.sub(e.fromBits(e.minusExponent(bits, n)), one), e.mul(low, e.fromBits(scale)));
  Value result = withEdges(e, sum, logarithm(e, baseE, e.toFloat(n), f));
  return e.withSignOf(result, x); // of a zero
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

/// A number as the sum of two, the second at most half a unit of the first: about 48 bits.
struct Pair {
  Value high, low;
};

/// log2(1 + f) = s (c0 + s^2 (c1 + s^2 P(s^2))) with s = f / (2 + f), relative error 2^-37.5. What is behind c1 is too small for a
/// pair to matter.
Pair logarithmOf(Emitter &e, Value f) {
  constexpr float c0 = 0x1.715476p+1F, c0Low = 0x1.4ae0cp-25F, c1 = 0x1.ec709ep-1F,
                  c1Low = -0x1.751124p-26F;
  Value two = e.number(2), sum = e.plus(two, f), sumLow = e.minus(f, e.minus(sum, two));
  Value inverse = e.div(e.number(1), sum), s = e.times(f, inverse);
  Value rest = e.fma(e.negative(s), sumLow, e.fma(e.negative(s), sum, f));
  Value sLow = e.times(rest, inverse);
  Value square = e.times(s, s);
  Value squareLow = e.fma(e.plus(s, s), sLow, e.fma(s, s, e.negative(square)));
  Value p = e.fma(e.fma(e.number(0x1.5c737cp-2F), square, e.number(0x1.a595aep-2F)), square,
                  e.number(0x1.277768p-1F));
  Value v = e.fma(square, p, e.number(c1));
  Value vLow = e.plus(e.fma(square, p, e.minus(e.number(c1), v)), e.number(c1Low));
  Value w = e.times(square, v);
  Value wLow = e.fma(square, vLow, e.fma(squareLow, v, e.fma(square, v, e.negative(w))));
  Value factor = e.plus(e.number(c0), w);
  Value factorLow = e.plus(e.plus(e.minus(e.number(c0), factor), w), e.plus(wLow, e.number(c0Low)));
  Value high = e.times(s, factor);
  return {high, e.fma(sLow, factor, e.fma(s, factorLow, e.fma(s, factor, e.negative(high))))};
}

/// |x|^y = 2^(y log2 |x|), the logarithm and its product as pairs: a power of 100 needs seven bits more than
/// an f32 has. Nothing but what says so may be fused. Signs and edges are those of C.
struct ExpandAnyPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Emitter e(rewriter, op);
    const Value x = op.getLhs(), y = op.getRhs(), a = e.magnitude(x), zero = e.number(0),
                infinity = e.number(INFINITY);
    auto [n, f] = e.scaled(a);
    n = e.choose(e.isLess(a, infinity), n, a);
    n = e.choose(e.is(a, zero), e.number(-INFINITY), n);
    auto [first, firstLow] = logarithmOf(e, f);
    Value logarithm = e.plus(n, first);
    Value logarithmLow = e.plus(e.plus(e.minus(n, logarithm), first), firstLow);
    Value exponent = e.times(logarithm, y);
    Value low = e.fma(logarithmLow, y, e.fma(logarithm, y, e.negative(exponent)));
    // Beyond, where it may be NaN, the power is zero or infinite.
    low = e.choose(e.isLess(e.magnitude(exponent), e.number(256)), low, zero);
    // Where either is zero, whatever the other one is, infinite or NaN, the power is 1.
    exponent = e.choose(e.is(a, e.number(1)), zero, e.atLeast(e.atMost(exponent, 129), -254));
    exponent = e.choose(e.is(y, zero), zero, exponent);
    Emitter::Integer whole = e.round(exponent, 1, 2 * Emitter::exponentBias);
    Value fraction = e.plus(e.minus(exponent, whole.number), low);
    Value result = power(e, {whole, e.times(fraction, e.number(0x1.62e43p-1F))});
    // Of a negative number: the sign, if the exponent is odd, and NaN, if it is not whole.
    Value half = e.times(y, e.number(0.5F));
    Value ofWhole = e.choose(e.isWhole(half), result, e.withSignOf(result, x));
    Value ofOther = e.choose(e.isLess(e.number(-INFINITY), x), e.number(NAN), result);
    ofOther = e.choose(e.isLess(x, zero), ofOther, result);
    rewriter.replaceOp(op, e.choose(e.isWhole(y), ofWhole, ofOther));
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
  patterns.add<Expand<math::ExpM1Op, expm1>, Expand<math::TanhOp, tanh>, Expand<math::ErfOp, erf>>(
      patterns.getContext());
  // Before what makes a logarithm of the base.
  patterns.add<ExpandPower>(patterns.getContext(), /*benefit=*/2);
}

void plim::ir::populateExponentialPatterns(RewritePatternSet &patterns) {
  patterns.add<Expand<math::ExpOp, exp>, Expand<math::Exp2Op, exp2>>(patterns.getContext());
}

void plim::ir::populateLogarithmPatterns(RewritePatternSet &patterns) {
  patterns.add<Expand<math::LogOp, log<baseE>>, Expand<math::Log2Op, log<base2>>,
               Expand<math::Log10Op, log<base10>>>(patterns.getContext());
}

void plim::ir::populateLog1pPattern(RewritePatternSet &patterns) {
  patterns.add<Expand<math::Log1pOp, log1p>>(patterns.getContext());
}

void plim::ir::populatePowerPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandAnyPower>(patterns.getContext());
}
