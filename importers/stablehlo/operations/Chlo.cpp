// What exporters leave of the dialect chlo, which has functions that StableHLO has not, and broadcasts as NumPy does.
#include "importers/emit/Sorting.h"
#include "importers/stablehlo/Elementwise.h"
#include "importers/stablehlo/Inverses.h"
#include "importers/stablehlo/Special.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

template <OfOne Function> void question(Operator &op) {
  const Value &x = op.input(0);
  op.give(elementwise(op.emit, ElementType::I1, {x},
                      [&](const Scalars &in) { return Function(op.emit, in[0]); }));
}

const char *const erfName = "erf", *const erfcName = "erfc", *const tanName = "tan";

Scalar squared(Emitter &e, const Scalar &x) { return e.mul(x, x); }

/// The hyperbolic functions by those of the parts.
Scalar hyperbolicCosine(Emitter &e, const Scalar &x) {
  if (!isComplex(x.type))
    return e.math("cosh", {x});
  const Scalar real = e.realPart(x), imaginary = e.imaginaryPart(x);
  return e.complexOf(e.mul(e.math("cosh", {real}), e.math("cos", {imaginary})),
                     e.mul(e.math("sinh", {real}), e.math("sin", {imaginary})));
}

Scalar hyperbolicSine(Emitter &e, const Scalar &x) {
  if (!isComplex(x.type))
    return e.math("sinh", {x});
  const Scalar real = e.realPart(x), imaginary = e.imaginaryPart(x);
  return e.complexOf(e.mul(e.math("sinh", {real}), e.math("cos", {imaginary})),
                     e.mul(e.math("cosh", {real}), e.math("sin", {imaginary})));
}

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

/// Computed with 64 bits.
template <OfOne Function> Scalar wider(Emitter &e, const Scalar &x) {
  if (!isFloat(x.type))
    invalid("its operand must be of floats");
  return e.convert(Function(e, e.convert(x, ElementType::F64)), x.type);
}

template <OfTwo Function> Scalar wider(Emitter &e, const Scalar &x, const Scalar &y) {
  if (!isFloat(x.type))
    invalid("its operands must be of floats");
  return e.convert(Function(e, e.convert(x, ElementType::F64), e.convert(y, ElementType::F64)),
                   x.type);
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
  const Values first =
      firstSorted(e, x, axis, count, totalOrder(e, largest ? Compare::Greater : Compare::Less));
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

void broadcastComplex(Operator &op) {
  const Value &x = op.input(0), &y = op.input(1);
  checkSameType(x, y);
  op.give(broadcastWith(op, op.resultType(0).element, {x, y},
                        [&](const Scalars &in) { return op.emit.complexOf(in[0], in[1]); }));
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
      {"chlo._asin_acos_kernel", {unary<arcKernel>, 1, 1}},
      {"chlo.acos", {unary<arcCosine>, 1, 1}},
      {"chlo.acosh", {unary<arcHyperbolicCosine>, 1, 1}},
      {"chlo.asin", {unary<arcSine>, 1, 1}},
      {"chlo.asinh", {unary<arcHyperbolicSine>, 1, 1}},
      {"chlo.atan", {unary<inverseTangent>, 1, 1}},
      {"chlo.atanh", {unary<arcHyperbolicTangent>, 1, 1}},
      {"chlo.bessel_i1e", {unary<wider<besselI1e>>, 1, 1}},
      {"chlo.broadcast_add", {broadcast<plus>, 2, 2}},
      {"chlo.broadcast_and", {broadcast<conjunction>, 2, 2}},
      {"chlo.broadcast_atan2", {broadcast<arcTangent>, 2, 2}},
      {"chlo.broadcast_compare", {broadcastCompare, 2, 2}},
      {"chlo.broadcast_complex", {broadcastComplex, 2, 2}},
      {"chlo.broadcast_divide", {broadcast<divide>, 2, 2}},
      {"chlo.broadcast_maximum", {broadcast<greater>, 2, 2}},
      {"chlo.broadcast_minimum", {broadcast<lesser>, 2, 2}},
      {"chlo.broadcast_multiply", {broadcast<times>, 2, 2}},
      {"chlo.broadcast_next_after", {broadcast<nextAfter>, 2, 2}},
      {"chlo.broadcast_or", {broadcast<disjunction>, 2, 2}},
      {"chlo.broadcast_polygamma", {broadcast<wider<polygamma>>, 2, 2}},
      {"chlo.broadcast_power", {broadcast<power>, 2, 2}},
      {"chlo.broadcast_remainder", {broadcast<remainder>, 2, 2}},
      {"chlo.broadcast_select", {broadcastSelect, 3, 3}},
      {"chlo.broadcast_shift_left", {broadcast<shiftLeft>, 2, 2}},
      {"chlo.broadcast_shift_right_arithmetic", {broadcast<shiftRightArithmetic>, 2, 2}},
      {"chlo.broadcast_shift_right_logical", {broadcast<shiftRightLogical>, 2, 2}},
      {"chlo.broadcast_subtract", {broadcast<minus>, 2, 2}},
      {"chlo.broadcast_xor", {broadcast<exclusion>, 2, 2}},
      {"chlo.broadcast_zeta", {broadcast<wider<zeta>>, 2, 2}},
      {"chlo.conj", {unary<conjugate>, 1, 1}},
      {"chlo.constant_like", {constantLike, 1, 1}},
      {"chlo.cosh", {unary<hyperbolicCosine>, 1, 1}},
      {"chlo.digamma", {unary<wide<digamma>>, 1, 1}},
      {"chlo.erf", {unary<mathOf<erfName>>, 1, 1}},
      {"chlo.erf_inv", {unary<wide<erfInverse>>, 1, 1}},
      {"chlo.erfc", {unary<mathOf<erfcName>>, 1, 1}},
      {"chlo.is_inf", {question<isInfinite>, 1, 1}},
      {"chlo.is_neg_inf", {question<isNegativeInfinity>, 1, 1}},
      {"chlo.is_pos_inf", {question<isPositiveInfinity>, 1, 1}},
      {"chlo.lgamma", {unary<wide<logGamma>>, 1, 1}},
      {"chlo.mulhi", {binary<upperHalf>, 2, 2}},
      {"chlo.next_after", {binary<nextAfter>, 2, 2}},
      {"chlo.polygamma", {binary<wider<polygamma>>, 2, 2}},
      {"chlo.sinh", {unary<hyperbolicSine>, 1, 1}},
      {"chlo.square", {unary<squared>, 1, 1}},
      {"chlo.tan", {unary<mathOf<tanName>>, 1, 1}},
      {"chlo.top_k", {topK, 1, 1}},
      {"chlo.zeta", {binary<wider<zeta>>, 2, 2}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
