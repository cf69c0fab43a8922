#include "importers/emit/SmallFloats.h"

#include "importers/emit/HalfFloat.h"

namespace plim::importers {

namespace {

using enum ElementType;

constexpr int64_t fraction = 23, bias = 127; // of f32
constexpr int64_t infinite = 0x7F800000, nan = 0x7FC00000;

/// A sign, an exponent, and a fraction of so many bits. All of them that are bytes in a module have subnormal numbers, and no
/// infinity.
struct Format {
  int64_t bits, fraction, bias;
  bool hasNan; // in the place of -0
};

Format formatOf(ElementType type) {
  if (type == F4E2M1)
    return {4, 1, 1, false};
  return type == F8E4M3FNUZ ? Format{8, 3, 8, true} : Format{8, 2, 16, true};
}

Scalar word(Builder &e, int64_t bits) { return e.integer(U32, bits); }

Scalar bitsOfPower(Builder &e, int64_t exponent) { return word(e, (bias + exponent) << fraction); }

/// To a power of two: the exponent of f32, and one more if what the fraction says is rounded up.
Scalar toPower(Builder &e, const Scalar &bits, const Rounding &rounding) {
  const Scalar exponent = e.both(e.shiftRight(bits, fraction), word(e, 255));
  const Scalar rest = e.both(bits, word(e, (1 << fraction) - 1));
  Scalar power = exponent;
  if (rounding.way != Rounding::Way::Down) {
    const bool isUp = rounding.way == Rounding::Way::Up;
    const int64_t half =
        1 << (fraction - 1); // as a subnormal number 2^-127, the least of the powers
    const Scalar isSubnormal = e.compare(Compare::Equal, exponent, word(e, 0));
    const Scalar least =
        e.select(isSubnormal, word(e, isUp ? half + 1 : half + half / 2), word(e, isUp ? 1 : half));
    const Scalar isMore = e.compare(Compare::GreaterEqual, rest, least);
    power = e.add(power, e.convert(isMore, U32));
  }
  if (!rounding.saturates) // infinity has no fraction, and stays 255
    return e.min(power, word(e, 255));
  const Scalar size = e.both(bits, word(e, INT32_MAX));
  const Scalar isNan = e.compare(Compare::Greater, size, word(e, infinite));
  return e.select(isNan, word(e, 255), e.min(power, word(e, 254)));
}

/// To the nearest, ties to even: of a normal number the bits behind the fraction are rounded off as an integer; a subnormal
/// one is added to a number whose last bit is as much as the last bit of the result.
Scalar toNearest(Builder &e, const Scalar &bits, const Format &to, const Rounding &rounding) {
  const int64_t less = fraction - to.fraction;
  const Scalar size = e.both(bits, word(e, INT32_MAX));
  const Scalar isOdd = e.both(e.shiftRight(size, less), word(e, 1));
  const Scalar rounded = e.add(e.add(size, isOdd), word(e, (1 << (less - 1)) - 1));
  const Scalar normal =
      e.sub(e.shiftRight(rounded, less), word(e, (bias - to.bias) << to.fraction));
  const Scalar large = bitsOfPower(e, less + 1 - to.bias);
  const Scalar sum = e.add(e.bitcast(size, F32), e.bitcast(large, F32));
  const Scalar subnormal = e.sub(e.bitcast(sum, U32), large);
  const Scalar isNormal = e.compare(Compare::GreaterEqual, size, bitsOfPower(e, 1 - to.bias));
  Scalar out = e.select(isNormal, normal, subnormal);
  const Scalar most = word(e, (1 << (to.bits - 1)) - 1), minusZero = word(e, 1 << (to.bits - 1));
  const Scalar isMore = e.compare(Compare::Greater, out, most);
  const Scalar sign = e.both(e.shiftRight(bits, 32 - to.bits), minusZero);
  if (!to.hasNan)
    return e.either(e.select(isMore, most, out), sign);
  const Scalar isNan =
      rounding.saturates ? e.compare(Compare::Greater, size, word(e, infinite)) : isMore;
  const Scalar signedOut = e.either(e.select(isMore, most, out), sign);
  const Scalar isZero = e.compare(Compare::Equal, out, word(e, 0));
  return e.select(isNan, minusZero, e.select(isZero, out, signedOut));
}

double mostOf(ElementType type) { return type == F8E4M3FN ? 448 : 57344; }

} // namespace

double fromFloat8(ElementType type, uint8_t bits) {
  if (type == F8E5M2) // the upper half of an f16
    return fromHalf(static_cast<uint16_t>(bits << 8));
  if ((bits & 127) == 127)
    return std::numeric_limits<double>::quiet_NaN();
  const int exponent = bits >> 3 & 15, rest = bits & 7;
  const double size = exponent == 0 ? std::ldexp(rest, -9) : std::ldexp(8 + rest, exponent - 10);
  return bits >> 7 ? -size : size;
}

Scalar toSmallFloat(Builder &e, const Scalar &a, ElementType type, const Rounding &rounding) {
  if (isFloat(type)) {
    Scalar x = isFloat(a.type) && bitsOf(a.type) > 8 ? a : e.convert(a, F32);
    if (rounding.saturates) // min and max keep what is no number
      x = e.max(e.number(x.type, -mostOf(type)), e.min(e.number(x.type, mostOf(type)), x));
    return e.convert(x, type);
  }
  const Scalar bits = e.bitcast(e.convert(a, F32), U32);
  const Scalar out =
      type == F8E8M0 ? toPower(e, bits, rounding) : toNearest(e, bits, formatOf(type), rounding);
  return e.bitcast(e.convert(out, U8), type);
}

Scalar fromSmallFloat(Builder &e, const Scalar &a) {
  if (isFloat(a.type))
    return e.convert(a, F32);
  const Scalar bits = e.convert(e.bitcast(a, U8), U32);
  if (a.type == F8E8M0) {
    const Scalar least = word(e, 1 << (fraction - 1)); // 2^-127, which is subnormal
    const Scalar power =
        e.select(e.compare(Compare::Equal, bits, word(e, 0)), least, e.shiftLeft(bits, fraction));
    const Scalar isNan = e.compare(Compare::Equal, bits, word(e, 255));
    return e.bitcast(e.select(isNan, word(e, nan), power), F32);
  }
  const Format from = formatOf(a.type);
  const Scalar minusZero = word(e, 1 << (from.bits - 1));
  const Scalar size = e.both(bits, word(e, (1 << (from.bits - 1)) - 1));
  const Scalar moved = e.shiftLeft(size, fraction - from.fraction);
  const Scalar normal = e.add(moved, word(e, (bias - from.bias) << fraction));
  const Scalar subnormal =
      e.mul(e.convert(size, F32), e.bitcast(bitsOfPower(e, 1 - from.bias - from.fraction), F32));
  const Scalar isNormal = e.compare(Compare::GreaterEqual, size, word(e, 1 << from.fraction));
  const Scalar value = e.select(isNormal, normal, e.bitcast(subnormal, U32));
  const Scalar sign = e.shiftLeft(e.both(bits, minusZero), 32 - from.bits);
  Scalar out = e.either(value, sign);
  if (from.hasNan)
    out = e.select(e.compare(Compare::Equal, bits, minusZero), word(e, nan), out);
  return e.bitcast(out, F32);
}

} // namespace plim::importers
