// What exporters leave of the dialect chlo, which has functions that StableHLO has not, and broadcasts as NumPy does.
#include "importers/emit/Sorting.h"
#include "importers/stablehlo/Elementwise.h"

#include <algorithm>
#include <cmath>

namespace plim::importers::stablehlo {

namespace {

template <OfOne Function> void question(Operator &op) {
  const Value &x = op.input(0);
  op.give(elementwise(op.emit, ElementType::I1, {x},
                      [&](const Scalars &in) { return Function(op.emit, in[0]); }));
}

const char *const acosName = "acos", *const acoshName = "acosh", *const asinName = "asin",
                  *const asinhName = "asinh", *const atanName = "atan", *const atanhName = "atanh",
                  *const coshName = "cosh", *const erfName = "erf", *const erfcName = "erfc",
                  *const sinhName = "sinh", *const tanName = "tan";

Scalar squared(Emitter &e, const Scalar &x) { return e.mul(x, x); }
Scalar same(Emitter &, const Scalar &x) { return x; }

Scalar isInfinite(Emitter &e, const Scalar &x) {
  return e.compare(Compare::Equal, e.abs(x), e.highest(x.type));
}
Scalar isPositiveInfinity(Emitter &e, const Scalar &x) {
  return e.compare(Compare::Equal, x, e.highest(x.type));
}
Scalar isNegativeInfinity(Emitter &e, const Scalar &x) {
  return e.compare(Compare::Equal, x, e.lowest(x.type));
}

/// Computed with at least 32 bits.
template <OfOne Function> Scalar wide(Emitter &e, const Scalar &x) {
  if (!isFloat(x.type))
    invalid("its operand must be of floats");
  const ElementType type = bitsOf(x.type) < 32 ? ElementType::F32 : x.type;
  return e.convert(Function(e, e.convert(x, type)), x.type);
}

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

/// Lanczos' sum for z - 1 with g = 7, and what it is divided by: https://en.wikipedia.org/wiki/Lanczos_approximation
constexpr double lanczosBase = 7;
constexpr double lanczos[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                              771.32342877765313,   -176.61502916214059,   12.507343278686905,
                              -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};

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

void constantLike(Operator &op) {
  const Value &x = op.input(0);
  op.give(op.emit.splat(x.dims, op.emit.number(x.type, op.real("value"))));
}

/// The k greatest of the last dimension, the greatest first, and where they were. Of a call with open shapes a second operand
/// says how many.
void topK(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (x.rank() < 1)
    invalid("its operand must not be a scalar");
  int64_t k = 0;
  Scalar count;
  bool largest = true;
  if (const auto found = op.operation.attributes.find("mhlo.attributes");
      found != op.operation.attributes.end()) {
    const Numbers given = numbersOf(found->second, "k"),
                  direction = numbersOf(found->second, "largest");
    k = given[0];
    count = e.index(k);
    largest = direction.empty() || direction[0] != 0;
  } else if (op.inputs.size() > 1) {
    count = e.firstIndex(op.input(1));
    k = count.known.value_or(0);
  } else {
    k = op.integer("k");
    count = e.index(k);
  }
  const int64_t axis = x.rank() - 1;
  const Scalar n = x.dims.back();
  if (k < 0 || (n.known && k > *n.known))
    invalid("k is " + std::to_string(k));
  if (!count.known)
    e.require(e.both(e.compare(Compare::GreaterEqual, count, e.index(0)),
                     e.compare(Compare::LessEqual, count, n)),
              "k is not between 0 and the extent that it is taken of");
  const Before before = [&](const Scalars &a, const Scalars &b) {
    return compared(e, largest ? "GT" : "LT", "TOTALORDER", a[0], b[0]);
  };
  const Values first = firstSorted(e, x, axis, count, before);
  op.give(first[0]);
  op.give(e.convert(first[1], op.resultType(1).element));
}

// --- Broadcasting -----------------------------------------------------------------------------------

/// An operand of a smaller rank has its dimensions where broadcast_dimensions says, or at the end.
Value aligned(Operator &op, const Value &value, size_t rank) {
  Emitter &e = op.emit;
  if (value.dims.size() == rank)
    return value;
  const Numbers given = op.integers("broadcast_dimensions", Numbers());
  Scalars dims(rank, e.index(1));
  for (size_t i = 0; i < value.dims.size(); ++i) {
    const bool hasGiven = given.size() == value.dims.size() && !given.empty();
    const int64_t axis = hasGiven ? given[i] : static_cast<int64_t>(rank - value.dims.size() + i);
    if (axis < 0 || axis >= static_cast<int64_t>(rank) ||
        (i > 0 && hasGiven && given[i] <= given[i - 1]))
      invalid("broadcast_dimensions does not fit its operands");
    dims[static_cast<size_t>(axis)] = value.dims[i];
  }
  return value.rank() == 0 ? e.splat(dims, e.only(value)) : e.reshape(value, dims);
}

Value broadcastWith(Operator &op, ElementType type, const Values &operands,
                    const Emitter::Element &element) {
  size_t rank = 0;
  for (const Value &operand : operands)
    rank = std::max(rank, operand.dims.size());
  Values all;
  for (const Value &operand : operands)
    all.push_back(aligned(op, operand, rank));
  return op.emit.elementwise(type, all, element);
}

template <OfTwo Function> void broadcast(Operator &op) {
  const Value &x = op.input(0), &y = op.input(1);
  checkSameType(x, y);
  op.give(broadcastWith(op, x.type, {x, y},
                        [&](const Scalars &in) { return Function(op.emit, in[0], in[1]); }));
}

void broadcastCompare(Operator &op) {
  const Value &x = op.input(0), &y = op.input(1);
  checkSameType(x, y);
  const std::string direction = op.word("comparison_direction", ""),
                    type = op.word("compare_type", "");
  op.give(broadcastWith(op, ElementType::I1, {x, y}, [&](const Scalars &in) {
    return compared(op.emit, direction, type, in[0], in[1]);
  }));
}

void broadcastSelect(Operator &op) {
  const Value &condition = op.input(0), &x = op.input(1), &y = op.input(2);
  if (condition.type != ElementType::I1)
    invalid("its first operand must be of truth values");
  checkSameType(x, y);
  op.give(broadcastWith(op, x.type, {condition, x, y},
                        [&](const Scalars &in) { return op.emit.select(in[0], in[1], in[2]); }));
}

} // namespace

const OperationTable &chlo() {
  static const OperationTable table{
      {"chlo.acos", {unary<mathOf<acosName>>, 1, 1}},
      {"chlo.acosh", {unary<mathOf<acoshName>>, 1, 1}},
      {"chlo.asin", {unary<mathOf<asinName>>, 1, 1}},
      {"chlo.asinh", {unary<mathOf<asinhName>>, 1, 1}},
      {"chlo.atan", {unary<mathOf<atanName>>, 1, 1}},
      {"chlo.atanh", {unary<mathOf<atanhName>>, 1, 1}},
      {"chlo.broadcast_add", {broadcast<plus>, 2, 2}},
      {"chlo.broadcast_and", {broadcast<conjunction>, 2, 2}},
      {"chlo.broadcast_atan2", {broadcast<arcTangent>, 2, 2}},
      {"chlo.broadcast_compare", {broadcastCompare, 2, 2}},
      {"chlo.broadcast_divide", {broadcast<divide>, 2, 2}},
      {"chlo.broadcast_maximum", {broadcast<greater>, 2, 2}},
      {"chlo.broadcast_minimum", {broadcast<lesser>, 2, 2}},
      {"chlo.broadcast_multiply", {broadcast<times>, 2, 2}},
      {"chlo.broadcast_or", {broadcast<disjunction>, 2, 2}},
      {"chlo.broadcast_power", {broadcast<power>, 2, 2}},
      {"chlo.broadcast_remainder", {broadcast<remainder>, 2, 2}},
      {"chlo.broadcast_select", {broadcastSelect, 3, 3}},
      {"chlo.broadcast_subtract", {broadcast<minus>, 2, 2}},
      {"chlo.broadcast_xor", {broadcast<exclusion>, 2, 2}},
      {"chlo.conj", {unary<same>, 1, 1}},
      {"chlo.constant_like", {constantLike, 1, 1}},
      {"chlo.cosh", {unary<mathOf<coshName>>, 1, 1}},
      {"chlo.digamma", {unary<wide<digamma>>, 1, 1}},
      {"chlo.erf", {unary<mathOf<erfName>>, 1, 1}},
      {"chlo.erf_inv", {unary<wide<erfInverse>>, 1, 1}},
      {"chlo.erfc", {unary<mathOf<erfcName>>, 1, 1}},
      {"chlo.is_inf", {question<isInfinite>, 1, 1}},
      {"chlo.is_neg_inf", {question<isNegativeInfinity>, 1, 1}},
      {"chlo.is_pos_inf", {question<isPositiveInfinity>, 1, 1}},
      {"chlo.lgamma", {unary<wide<logGamma>>, 1, 1}},
      {"chlo.sinh", {unary<mathOf<sinhName>>, 1, 1}},
      {"chlo.square", {unary<squared>, 1, 1}},
      {"chlo.tan", {unary<mathOf<tanName>>, 1, 1}},
      {"chlo.top_k", {topK, 1, 1}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
