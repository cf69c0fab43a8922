#include "importers/stablehlo/Inverses.h"

#include "importers/emit/Error.h"

#include <cmath>

namespace plim::importers::stablehlo {

namespace {

constexpr ElementType wide = ElementType::F64;
constexpr double large = 0x1p500; // whose square is finite

Scalar number(Emitter &e, double value) { return e.number(wide, value); }

Scalar signedAs(Emitter &e, const Scalar &size, const Scalar &sign) {
  return e.math("copysign", {size, sign});
}

Scalar arcTangent(Emitter &e, const Scalar &y, const Scalar &x) { return e.math("atan2", {y, x}); }

/// The real and the imaginary part in 64 bits, which leave no error of the formulas in results of 32.
struct Parts {
  Scalar real, imaginary;
};

Parts partsOf(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    invalid("its operand must be of floats or complex numbers");
  return {e.convert(e.realPart(z), wide), e.convert(e.imaginaryPart(z), wide)};
}

Scalar joined(Emitter &e, const Scalar &real, const Scalar &imaginary, ElementType type) {
  return e.convert(e.complexOf(real, imaginary), type);
}

/// The logarithm of the length of what is large in both directions, or in one.
Scalar logOfLength(Emitter &e, const Scalar &x, const Scalar &y) {
  const Scalar most = e.max(x, y), least = e.min(x, y), none = number(e, 0);
  // Of two that are infinite the ratio does not count.
  const Scalar isInfinite = e.compare(Compare::Equal, most, e.highest(wide));
  const Scalar ratio = e.select(isInfinite, none, e.div(least, most));
  return e.add(e.math("log", {most}),
               e.mul(number(e, 0.5), e.math("log1p", {e.mul(ratio, ratio)})));
}

/// Of x and y that are not negative: the real part of sqrt(1 - z^2), and the imaginary part of asin z. After T. E. Hull, T. F.
/// Fairgrieve and P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using exception handling", 1997:
/// with r and s the distances from -1 and 1, and a = (r + s) / 2, they are sqrt((a + x) (a - x)) and acosh a, of which
/// a - x and a - 1 are written without a difference of what is nearly equal.
Parts kernel(Emitter &e, const Scalar &x, const Scalar &y) {
  const Scalar one = number(e, 1), half = number(e, 0.5), none = number(e, 0);
  const Scalar more = e.add(x, one), less = e.sub(one, x), square = e.mul(y, y);
  const Scalar r = e.abs(e.complexOf(more, y)), s = e.abs(e.complexOf(less, y));
  const Scalar a = e.mul(half, e.add(r, s));
  const Scalar isInside = e.compare(Compare::LessEqual, x, one);
  // y^2 over what it is small beside; none where both are 0.
  auto part = [&](const Scalar &sum) {
    return e.select(e.compare(Compare::Equal, sum, none), none, e.div(square, sum));
  };
  const Scalar far = part(e.add(r, more)), near = e.add(s, less), sum = e.add(a, x);
  const Scalar inside = e.math("sqrt", {e.mul(e.mul(half, sum), e.add(far, near))});
  // Without the square of y, which may be too small.
  const Scalar ratios = e.add(e.div(sum, e.add(r, more)), e.div(sum, e.sub(s, less)));
  const Scalar outside = e.mul(y, e.math("sqrt", {e.mul(half, ratios)}));
  const Scalar root = e.select(isInside, inside, outside);
  const Scalar beyond = // a - 1
      e.mul(half, e.add(far, e.select(isInside, part(near), e.sub(s, less))));
  const Scalar height =
      e.math("log1p", {e.add(beyond, e.math("sqrt", {e.mul(beyond, e.add(a, one))}))});
  // sqrt(1 - z^2) is y - ix there, and acosh a is log 2a.
  const Scalar isLarge = e.compare(Compare::Greater, e.max(x, y), number(e, large));
  const Scalar largeHeight = e.add(number(e, M_LN2), logOfLength(e, x, y));
  return {e.select(isLarge, y, root), e.select(isLarge, largeHeight, height)};
}

/// Of x + iy with x that is not negative: artanh, but for the sign of its real part. After W. Kahan, "Branch cuts for complex elementary
/// functions", 1987.
Parts artanh(Emitter &e, const Scalar &x, const Scalar &y) {
  const Scalar one = number(e, 1), less = e.sub(one, x), square = e.mul(y, y);
  const Scalar length = e.add(e.mul(less, less), square);
  const Scalar real =
      e.mul(number(e, 0.25), e.math("log1p", {e.div(e.mul(number(e, 4), x), length)}));
  const Scalar across = e.sub(e.mul(less, e.add(one, x)), square);
  const Scalar imaginary = e.mul(number(e, 0.5), arcTangent(e, e.mul(number(e, 2), y), across));
  // 1 / z, whose real part is x / |z|^2, and a quarter of a turn.
  const Scalar size = e.abs(y), most = e.max(x, size), least = e.min(x, size);
  const Scalar isLarge = e.compare(Compare::Greater, most, number(e, large));
  const Scalar isInfinite = e.compare(Compare::Equal, most, e.highest(wide));
  const Scalar ratio = e.div(least, most);
  const Scalar small = e.div(e.div(e.div(x, most), e.add(one, e.mul(ratio, ratio))), most);
  const Scalar largeReal = e.select(isInfinite, number(e, 0), small);
  return {e.select(isLarge, largeReal, real),
          e.select(isLarge, signedAs(e, number(e, M_PI_2), y), imaginary)};
}

} // namespace

Scalar arcKernel(Emitter &e, const Scalar &z) {
  const auto [x, y] = partsOf(e, z);
  const Parts w = kernel(e, e.abs(x), e.abs(y));
  return joined(e, w.real, w.imaginary, z.type);
}

Scalar arcSine(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    return e.math("asin", {z});
  const auto [x, y] = partsOf(e, z);
  const Parts w = kernel(e, e.abs(x), e.abs(y));
  return joined(e, arcTangent(e, x, w.real), signedAs(e, w.imaginary, y), z.type);
}

Scalar arcCosine(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    return e.math("acos", {z});
  const auto [x, y] = partsOf(e, z);
  const Parts w = kernel(e, e.abs(x), e.abs(y));
  return joined(e, arcTangent(e, w.real, x), signedAs(e, w.imaginary, e.neg(y)), z.type);
}

/// -i asin(iz)
Scalar arcHyperbolicSine(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    return e.math("asinh", {z});
  const auto [x, y] = partsOf(e, z);
  const Parts w = kernel(e, e.abs(y), e.abs(x));
  return joined(e, signedAs(e, w.imaginary, x), arcTangent(e, y, w.real), z.type);
}

/// i acos z, or -i acos z, so that the real part is not negative.
Scalar arcHyperbolicCosine(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    return e.math("acosh", {z});
  const auto [x, y] = partsOf(e, z);
  const Parts w = kernel(e, e.abs(x), e.abs(y));
  return joined(e, w.imaginary, signedAs(e, arcTangent(e, w.real, x), y), z.type);
}

Scalar arcHyperbolicTangent(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    return e.math("atanh", {z});
  const auto [x, y] = partsOf(e, z);
  const Parts w = artanh(e, e.abs(x), y);
  return joined(e, signedAs(e, w.real, x), w.imaginary, z.type);
}

/// -i artanh(iz)
Scalar inverseTangent(Emitter &e, const Scalar &z) {
  if (!isComplex(z.type))
    return e.math("atan", {z});
  const auto [x, y] = partsOf(e, z);
  const Parts w = artanh(e, e.abs(y), x);
  return joined(e, w.imaginary, signedAs(e, w.real, y), z.type);
}

} // namespace plim::importers::stablehlo
