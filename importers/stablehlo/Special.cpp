#include "importers/stablehlo/Special.h"

#include "importers/emit/Error.h"
#include "importers/stablehlo/Scalars.h"

#include <array>
#include <cmath>

namespace plim::importers::stablehlo {

namespace {

/// Lanczos' sum for z - 1 with g = 7, and what it is divided by: https://en.wikipedia.org/wiki/Lanczos_approximation
constexpr double lanczosBase = 7;
constexpr double lanczos[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                              771.32342877765313,   -176.61502916214059,   12.507343278686905,
                              -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};

/// The polynomial with these coefficients, the constant one first.
Scalar polynomial(Emitter &e, const Scalar &x, std::span<const double> coefficients) {
  Scalar out = e.number(x.type, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    out = e.add(e.mul(out, x), e.number(x.type, coefficients[i]));
  return out;
}

} // namespace

/// A first value by a rational function of logarithms, then two steps of Newton's method with erf.
Scalar erfInverse(Emitter &e, const Scalar &x) {
  const ElementType type = x.type;
  auto number = [&](double value) { return e.number(type, value); };
  const Scalar one = number(1);
  const Scalar left = e.math("log", {e.mul(e.sub(one, x), e.add(one, x))});
  const double a = 0.147;
  const Scalar first = e.add(number(2 / (M_PI * a)), e.mul(left, number(0.5)));
  const Scalar inner = e.sub(e.mul(first, first), e.mul(left, number(1 / a)));
  const Scalar size = e.math("sqrt", {e.sub(e.math("sqrt", {inner}), first)});
  Scalar y = e.select(e.compare(Compare::Less, x, number(0)), e.neg(size), size);
  for (int i = 0; i < 2; ++i) {
    const Scalar error = e.sub(e.math("erf", {y}), x);
    const Scalar slope = e.mul(number(2 / std::sqrt(M_PI)), e.math("exp", {e.neg(e.mul(y, y))}));
    const Scalar step = e.div(error, slope);
    // Halley's correction, which the second derivative gives for free.
    y = e.sub(y, e.div(step, e.add(one, e.mul(y, step))));
  }
  const Scalar isEnd = e.compare(Compare::Equal, e.abs(x), one);
  return e.select(isEnd, e.mul(x, e.highest(type)), y);
}

Scalar logGamma(Emitter &e, const Scalar &x) {
  const ElementType type = x.type;
  auto number = [&](double value) { return e.number(type, value); };
  const Scalar half = number(0.5), one = number(1);
  const Scalar reflects = e.compare(Compare::Less, x, half);
  const Scalar z = e.select(reflects, e.neg(x), e.sub(x, one));
  Scalar sum = number(lanczos[0]);
  for (int i = 1; i < 9; ++i)
    sum = e.add(sum, e.div(number(lanczos[i]), e.add(z, number(i))));
  const Scalar t = e.add(z, number(lanczosBase + 0.5));
  const Scalar logT = e.add(number(std::log(lanczosBase + 0.5)),
                            e.math("log1p", {e.div(z, number(lanczosBase + 0.5))}));
  const Scalar positive = e.add(
      e.add(number(0.5 * std::log(2 * M_PI)), e.mul(e.sub(e.add(z, half), e.div(t, logT)), logT)),
      e.math("log", {sum}));
  // Of the sine's argument only the fraction matters.
  const Scalar size = e.abs(x), fraction = e.sub(size, e.math("floor", {size}));
  const Scalar nearer =
      e.select(e.compare(Compare::Greater, fraction, half), e.sub(one, fraction), fraction);
  const Scalar sine = e.math("log", {e.math("sin", {e.mul(number(M_PI), nearer)})});
  const Scalar reflected = e.sub(e.sub(number(std::log(M_PI)), sine), positive);
  const Scalar out = e.select(reflects, reflected, positive);
  return e.select(e.compare(Compare::Equal, size, e.highest(type)), e.highest(type), out);
}

Scalar digamma(Emitter &e, const Scalar &x) {
  const ElementType type = x.type;
  auto number = [&](double value) { return e.number(type, value); };
  const Scalar half = number(0.5), one = number(1);
  const Scalar reflects = e.compare(Compare::Less, x, half);
  const Scalar z = e.select(reflects, e.neg(x), e.sub(x, one));
  Scalar sum = number(lanczos[0]), slope = number(0);
  for (int i = 1; i < 9; ++i) {
    const Scalar below = e.add(z, number(i)), part = e.div(number(lanczos[i]), below);
    sum = e.add(sum, part);
    slope = e.sub(slope, e.div(part, below));
  }
  const Scalar t = e.add(z, number(lanczosBase + 0.5));
  const Scalar logT = e.add(number(std::log(lanczosBase + 0.5)),
                            e.math("log1p", {e.div(z, number(lanczosBase + 0.5))}));
  const Scalar positive = e.sub(e.add(logT, e.div(slope, sum)), e.div(number(lanczosBase), t));
  const Scalar turned = e.mul(number(M_PI), e.add(x, e.abs(e.math("floor", {e.add(x, half)}))));
  const Scalar reflected =
      e.sub(positive, e.div(e.mul(number(M_PI), e.math("cos", {turned})), e.math("sin", {turned})));
  const Scalar out = e.select(reflects, reflected, positive);
  const Scalar isPole = e.both(e.compare(Compare::LessEqual, x, number(0)),
                               e.compare(Compare::Equal, x, e.math("floor", {x})));
  return e.select(isPole, number(std::nan("")), out);
}

/// By Euler's and Maclaurin's formula: https://dlmf.nist.gov/25.11.E28
Scalar zeta(Emitter &e, const Scalar &x, const Scalar &q) {
  // B(2j) / (2j)! of https://dlmf.nist.gov/24.2.T3
  static constexpr double bernoulli[] = {1.0 / 12,
                                         -1.0 / 720,
                                         1.0 / 30240,
                                         -1.0 / 1209600,
                                         1.0 / 47900160,
                                         -691.0 / 1307674368000,
                                         1.0 / 74724249600,
                                         -3617.0 / 10670622842880000,
                                         43867.0 / 5109094217170944000};
  auto number = [&](double value) { return e.number(x.type, value); };
  const Scalar one = number(1), minusX = e.neg(x);
  Scalar sum = e.math("powf", {q, minusX}), a = q;
  for (int i = 1; i < 10; ++i) {
    a = e.add(a, one);
    sum = e.add(sum, e.math("powf", {a, minusX}));
  }
  a = e.add(a, one);
  const Scalar last = e.math("powf", {a, minusX}), square = e.mul(a, a);
  Scalar rest = number(0); // the corrections, the last first
  for (int j = 8; j >= 0; --j) {
    const Scalar rising = j == 0 ? x : e.mul(e.add(x, number(2 * j - 1)), e.add(x, number(2 * j)));
    rest = e.mul(e.add(number(bernoulli[j]), rest), e.div(rising, j == 0 ? a : square));
  }
  const Scalar factor = e.add(e.add(e.div(a, e.sub(x, one)), number(0.5)), rest);
  // Where the power is nothing, what it is multiplied with may be infinite.
  const Scalar isNothing = e.compare(Compare::Equal, last, number(0));
  const Scalar found = e.add(sum, e.select(isNothing, number(0), e.mul(last, factor)));
  auto isWhole = [&](const Scalar &value) {
    return e.compare(Compare::Equal, value, e.math("floor", {value}));
  };
  const Scalar nan = number(std::nan("")), infinite = e.highest(x.type);
  // Below 0 there are poles at whole numbers, and powers of what is negative. Far below, ten terms do not reach where the formula holds.
  const Scalar isLow = e.compare(Compare::LessEqual, q, number(0));
  const Scalar isKnown = e.both(isWhole(x), e.compare(Compare::Less, number(-6), q));
  const Scalar ofLow = e.select(isWhole(q), infinite, e.select(isKnown, found, nan));
  const Scalar out = e.select(isLow, ofLow, found);
  const Scalar isPole = e.compare(Compare::Equal, x, one);
  return e.select(e.compare(Compare::Less, x, one), nan, e.select(isPole, infinite, out));
}

Scalar polygamma(Emitter &e, const Scalar &n, const Scalar &x) {
  auto number = [&](double value) { return e.number(x.type, value); };
  const Scalar zero = number(0), one = number(1), half = e.mul(n, number(0.5));
  const Scalar isOdd = e.compare(Compare::NotEqual, half, e.math("floor", {half}));
  const Scalar size = e.mul(e.math("exp", {logGamma(e, e.add(n, one))}), zeta(e, e.add(n, one), x));
  const Scalar derivative = e.select(isOdd, size, e.neg(size));
  const Scalar out = e.select(e.compare(Compare::Equal, n, zero), digamma(e, x), derivative);
  const Scalar isOrder = e.both(e.compare(Compare::GreaterEqual, n, zero),
                                e.compare(Compare::Equal, n, e.math("floor", {n})));
  return e.select(isOrder, out, number(std::nan("")));
}

/// By its power series (https://dlmf.nist.gov/10.25.E2), none of whose terms are negative, and by the asymptotic one behind 30
/// (https://dlmf.nist.gov/10.40.E1).
Scalar besselI1e(Emitter &e, const Scalar &x) {
  auto number = [&](double value) { return e.number(x.type, value); };
  std::array<double, 56> near{1};
  for (size_t k = 1; k < near.size(); ++k)
    near[k] = near[k - 1] / (static_cast<double>(k) * static_cast<double>(k + 1));
  std::array<double, 22> far{1};
  for (size_t k = 1; k < far.size(); ++k) {
    const auto order = static_cast<double>(k), odd = 2 * order - 1;
    far[k] = -far[k - 1] * (4 - odd * odd) / (8 * order);
  }
  const Scalar size = e.abs(x), limit = number(30);
  const Scalar low = e.min(size, limit), high = e.max(size, limit), half = e.mul(low, number(0.5));
  const Scalar series =
      e.mul(e.mul(half, e.math("exp", {e.neg(low)})), polynomial(e, e.mul(half, half), near));
  const Scalar asymptotic = e.mul(polynomial(e, e.div(number(1), high), far),
                                  e.math("rsqrt", {e.mul(number(2 * M_PI), high)}));
  const Scalar found = e.select(e.compare(Compare::Less, size, limit), series, asymptotic);
  return e.math("copysign", {found, x});
}

Scalar nextAfter(Emitter &e, const Scalar &x, const Scalar &y) {
  if (!isFloat(x.type))
    invalid("its operands must be of floats");
  const ElementType type = bitsType(x.type);
  const Scalar zero = e.number(x.type, 0), one = e.integer(type, 1);
  const Scalar bits = e.bitcast(x, type);
  const Scalar isUp = e.compare(Compare::Less, x, y);
  const Scalar isPositive = e.compare(Compare::Greater, x, zero);
  // Away from zero is the next greater pattern of bits.
  const Scalar leaves = e.exclusive(e.exclusive(isUp, isPositive), e.truth(true));
  const Scalar moved = e.bitcast(e.select(leaves, e.add(bits, one), e.sub(bits, one)), x.type);
  const Scalar least = e.math("copysign", {e.bitcast(one, x.type), y});
  const Scalar away = e.select(e.compare(Compare::Equal, x, zero), least, moved);
  const Scalar out = e.select(e.compare(Compare::Equal, x, y), y, away);
  const Scalar areNumbers =
      e.both(e.compare(Compare::Equal, x, x), e.compare(Compare::Equal, y, y));
  return e.select(areNumbers, out, e.number(x.type, std::nan("")));
}

} // namespace plim::importers::stablehlo
