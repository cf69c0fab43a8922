// Operations on each element by itself. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Elementwise.h"

#include <charconv>

namespace plim::importers::stablehlo {

namespace {

const char *const cbrtName = "cbrt", *const ceilName = "ceil", *const cosName = "cos",
                  *const expName = "exp", *const expm1Name = "expm1", *const floorName = "floor",
                  *const logName = "log", *const log1pName = "log1p", *const roundName = "round",
                  *const roundEvenName = "roundeven", *const rsqrtName = "rsqrt",
                  *const sqrtName = "sqrt", *const tanName = "tan", *const tanhName = "tanh";

Scalar negated(Emitter &e, const Scalar &x) { return e.neg(x); }
Scalar inverted(Emitter &e, const Scalar &x) { return e.negation(x); }
Scalar logistic(Emitter &e, const Scalar &x) {
  const Scalar one = e.number(x.type, 1);
  return e.div(one, e.add(one, e.math("exp", {e.neg(x)})));
}

Scalar sine(Emitter &e, const Scalar &x) {
  if (!isComplex(x.type))
    return e.math("sin", {x});
  // The dialect's own loses the imaginary part of small numbers.
  const Scalar real = e.realPart(x), imaginary = e.imaginaryPart(x);
  return e.complexOf(e.mul(e.math("sin", {real}), e.math("cosh", {imaginary})),
                     e.mul(e.math("cos", {real}), e.math("sinh", {imaginary})));
}

Scalar sign(Emitter &e, const Scalar &x) {
  if (isComplex(x.type))
    return e.math("sign", {x});
  const Scalar zero = e.number(x.type, 0), one = e.number(x.type, 1);
  if (isUnsigned(x.type))
    return e.select(e.compare(Compare::Equal, x, zero), zero, one);
  const Scalar minusOne = e.number(x.type, -1);
  const Scalar least =
      e.select(e.compare(Compare::Less, x, zero), minusOne, x); // zero and NaN stay
  return e.select(e.compare(Compare::Greater, x, zero), one, least);
}

Scalar ofBits(Emitter &e, const Scalar &x, const char *function) {
  if (!isInteger(x.type))
    invalid("its operand must be of integers");
  return {x.type,
          e.define(std::string("math.") + function + " " + e.use(x) + " : " + mlirName(x.type)),
          {}};
}
Scalar leadingZeros(Emitter &e, const Scalar &x) { return ofBits(e, x, "ctlz"); }
Scalar onesOf(Emitter &e, const Scalar &x) { return ofBits(e, x, "ctpop"); }

void absolute(Operator &op) {
  const Value &x = op.input(0);
  op.give(elementwise(op.emit, partOf(x.type), {x},
                      [&](const Scalars &in) { return op.emit.abs(in[0]); }));
}

void compare(Operator &op) {
  const Value &x = op.input(0), &y = op.input(1);
  checkSameType(x, y);
  checkSameShape(x, y);
  const std::string direction = op.word("comparison_direction", "");
  const std::string type = op.word("compare_type", "");
  op.give(elementwise(op.emit, ElementType::I1, {x, y}, [&](const Scalars &in) {
    return compared(op.emit, direction, type, in[0], in[1]);
  }));
}

void select(Operator &op) {
  const Value &condition = op.input(0), &x = op.input(1), &y = op.input(2);
  if (condition.type != ElementType::I1)
    invalid("its first operand must be of truth values");
  checkSameType(x, y);
  checkSameShape(x, y);
  if (condition.rank() != 0)
    checkSameShape(condition, x);
  op.give(elementwise(op.emit, x.type, {condition, x, y},
                      [&](const Scalars &in) { return op.emit.select(in[0], in[1], in[2]); }));
}

void clamp(Operator &op) {
  const Value &least = op.input(0), &x = op.input(1), &most = op.input(2);
  checkSameType(least, x);
  checkSameType(x, most);
  for (const Value *bound : {&least, &most})
    if (bound->rank() != 0)
      checkSameShape(*bound, x);
  op.give(elementwise(op.emit, x.type, {least, x, most}, [&](const Scalars &in) {
    return op.emit.min(op.emit.max(in[1], in[0]), in[2]);
  }));
}

void convert(Operator &op) {
  const Value &x = op.input(0);
  const ElementType type = op.resultType(0).element;
  if (type == x.type)
    return op.give(x);
  if (x.elements && type == ElementType::I64)
    return op.give(op.emit.convert(x, type));
  op.give(elementwise(op.emit, type, {x},
                      [&](const Scalars &in) { return op.emit.convert(in[0], type); }));
}

void isFinite(Operator &op) {
  const Value &x = op.input(0);
  op.give(elementwise(op.emit, ElementType::I1, {x}, [&](const Scalars &in) {
    return op.emit.compare(Compare::Less, op.emit.abs(in[0]), op.emit.highest(x.type));
  }));
}

void real(Operator &op) {
  const Value &x = op.input(0);
  if (!isComplex(x.type))
    return op.give(x);
  op.give(elementwise(op.emit, partOf(x.type), {x},
                      [&](const Scalars &in) { return op.emit.realPart(in[0]); }));
}

void imag(Operator &op) {
  const Value &x = op.input(0);
  if (!isComplex(x.type))
    return op.give(op.emit.splat(x.dims, op.emit.number(x.type, 0)));
  op.give(elementwise(op.emit, partOf(x.type), {x},
                      [&](const Scalars &in) { return op.emit.imaginaryPart(in[0]); }));
}

void complexNumbers(Operator &op) {
  const Value &x = op.input(0), &y = op.input(1);
  checkSameType(x, y);
  checkSameShape(x, y);
  const ElementType wanted = op.resultType(0).element;
  if (!isComplex(wanted) || partOf(wanted) != x.type)
    invalid("its result is not made of its operands");
  op.give(elementwise(op.emit, wanted, {x, y},
                      [&](const Scalars &in) { return op.emit.complexOf(in[0], in[1]); }));
}

/// To another type with the same bits; one of another width takes or gives a last dimension.
void bitcastConvert(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const ElementType type = op.resultType(0).element;
  if (x.type == type)
    return op.give(x);
  if (x.type == ElementType::I1 || type == ElementType::I1)
    unsupported("the bits of truth values");
  if (isComplex(x.type) || isComplex(type))
    unsupported("the bits of complex numbers");
  const size_t from = bitsOf(x.type), to = bitsOf(type);
  if (from == to)
    return op.give(
        elementwise(e, type, {x}, [&](const Scalars &in) { return e.bitcast(in[0], type); }));
  Scalars dims = x.dims;
  const ElementType wide = bitsType(from > to ? x.type : type);
  const ElementType narrow = bitsType(from > to ? type : x.type);
  const auto parts = static_cast<int64_t>(std::max(from, to) / std::min(from, to));
  const auto width = static_cast<int64_t>(std::min(from, to));
  e.use(x);
  auto shift = [&](const char *operation, const Scalar &a, const Scalar &by) {
    return Scalar{wide,
                  e.define(std::string("arith.") + operation + " " + e.use(a) + ", " + e.use(by) +
                           " : " + mlirName(wide)),
                  {}};
  };
  if (from > to) {
    dims.push_back(e.index(parts));
    return op.give(e.generate(type, dims, [&](const Scalars &position) {
      const Scalars outer = position.without(1);
      const Scalar by = e.convert(e.mul(position.back(), e.index(width)), wide);
      return e.bitcast(e.convert(shift("shrui", e.bitcast(e.at(x, outer), wide), by), narrow),
                       type);
    }));
  }
  if (dims.empty() || !dims.back().is(parts))
    invalid("the last extent of its operand must be " + std::to_string(parts));
  dims.pop_back();
  op.give(e.generate(type, dims, [&](const Scalars &position) {
    Scalar all = e.integer(wide, 0);
    for (int64_t i = 0; i < parts; ++i) {
      Scalars at = position;
      at.push_back(e.index(i));
      const Scalar part = e.convert(e.bitcast(e.at(x, at), narrow), wide);
      all = e.either(all, i ? shift("shli", part, e.integer(wide, i * width)) : part);
    }
    return e.bitcast(all, type);
  }));
}

/// Rounded to fewer bits of fraction, and to the range of fewer bits of exponent.
Scalar reducedPrecision(Emitter &e, const Scalar &x, int64_t exponentBits, int64_t fractionBits) {
  const bool isDouble = x.type == ElementType::F64;
  const ElementType type = isDouble ? ElementType::U64 : ElementType::U32;
  const int64_t fraction = isDouble ? 52 : 23, exponent = isDouble ? 11 : 8;
  const int64_t bias = (int64_t(1) << (exponent - 1)) - 1;
  auto number = [&](int64_t value) { return e.integer(type, value); };
  Scalar bits = e.bitcast(x, type);
  if (fractionBits < fraction) {
    const int64_t last = int64_t(1) << (fraction - fractionBits);
    const Scalar isOdd = e.compare(Compare::NotEqual, e.both(bits, number(last)), number(0));
    const Scalar half = e.select(isOdd, number(last / 2), number(last / 2 - 1));
    bits = e.both(e.add(bits, half), number(~(last - 1)));
  }
  if (exponentBits < exponent) {
    const int64_t own = (int64_t(1) << (exponentBits - 1)) - 1;
    const int64_t mask = ((int64_t(1) << exponent) - 1) << fraction;
    const Scalar sign = e.both(bits, number(int64_t(uint64_t(1) << (isDouble ? 63 : 31))));
    const Scalar power = e.both(bits, number(mask));
    const Scalar tooLarge = e.compare(Compare::Greater, power, number((bias + own) << fraction));
    const Scalar tooSmall = e.compare(Compare::LessEqual, power, number((bias - own) << fraction));
    bits = e.select(tooLarge, e.either(sign, number(mask)), e.select(tooSmall, sign, bits));
  }
  const Scalar isNumber = e.compare(Compare::Equal, x, x);
  return e.select(isNumber, e.bitcast(bits, x.type), x);
}

void reducePrecision(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  int64_t exponentBits = op.integer("exponent_bits", 0),
          fractionBits = op.integer("mantissa_bits", 0);
  if (op.has("format")) { // "e5m10"
    const std::string format = op.word("format", "");
    const size_t m = format.find('m');
    const char *end = format.data() + format.size();
    if (!format.starts_with("e") || m == std::string::npos ||
        std::from_chars(format.data() + 1, end, exponentBits).ptr != format.data() + m ||
        std::from_chars(format.data() + m + 1, end, fractionBits).ptr != end)
      invalid("'" + format + "' is no format of floats");
  }
  if (!isFloat(x.type) || exponentBits < 1 || exponentBits > 32 || fractionBits < 0 ||
      fractionBits > 64)
    invalid("its operand must be of floats, with 1 or more bits of exponent");
  const ElementType wide = x.type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  op.give(elementwise(e, x.type, {x}, [&](const Scalars &in) {
    return e.convert(reducedPrecision(e, e.convert(in[0], wide), exponentBits, fractionBits),
                     x.type);
  }));
}

void map(Operator &op) {
  const Region &region = op.region(0);
  const ElementType type = op.resultType(0).element;
  for (const Value &input : op.inputs)
    checkSameShape(op.input(0), input);
  op.give(elementwise(op.emit, type, op.inputs, [&](const Scalars &in) {
    return callOnElements(op, region, in, {type})[0];
  }));
}

} // namespace

const OperationTable &elementwiseOperations() {
  static const OperationTable table{
      {"stablehlo.abs", {absolute, 1, 1}},
      {"stablehlo.add", {binary<plus>, 2, 2}},
      {"stablehlo.and", {binary<conjunction>, 2, 2}},
      {"stablehlo.atan2", {binary<arcTangent>, 2, 2}},
      {"stablehlo.bitcast_convert", {bitcastConvert, 1, 1}},
      {"stablehlo.cbrt", {unary<mathOf<cbrtName>>, 1, 1}},
      {"stablehlo.ceil", {unary<mathOf<ceilName>>, 1, 1}},
      {"stablehlo.clamp", {clamp, 3, 3}},
      {"stablehlo.compare", {compare, 2, 2}},
      {"stablehlo.complex", {complexNumbers, 2, 2}},
      {"stablehlo.convert", {convert, 1, 1}},
      {"stablehlo.cosine", {unary<mathOf<cosName>>, 1, 1}},
      {"stablehlo.count_leading_zeros", {unary<leadingZeros>, 1, 1}},
      {"stablehlo.divide", {binary<divide>, 2, 2}},
      {"stablehlo.exponential", {unary<mathOf<expName>>, 1, 1}},
      {"stablehlo.exponential_minus_one", {unary<mathOf<expm1Name>>, 1, 1}},
      {"stablehlo.floor", {unary<mathOf<floorName>>, 1, 1}},
      {"stablehlo.imag", {imag, 1, 1}},
      {"stablehlo.is_finite", {isFinite, 1, 1}},
      {"stablehlo.log", {unary<mathOf<logName>>, 1, 1}},
      {"stablehlo.log_plus_one", {unary<mathOf<log1pName>>, 1, 1}},
      {"stablehlo.logistic", {unary<logistic>, 1, 1}},
      {"stablehlo.map", {map, 1, any}},
      {"stablehlo.maximum", {binary<greater>, 2, 2}},
      {"stablehlo.minimum", {binary<lesser>, 2, 2}},
      {"stablehlo.multiply", {binary<times>, 2, 2}},
      {"stablehlo.negate", {unary<negated>, 1, 1}},
      {"stablehlo.not", {unary<inverted>, 1, 1}},
      {"stablehlo.or", {binary<disjunction>, 2, 2}},
      {"stablehlo.popcnt", {unary<onesOf>, 1, 1}},
      {"stablehlo.power", {binary<power>, 2, 2}},
      {"stablehlo.real", {real, 1, 1}},
      {"stablehlo.reduce_precision", {reducePrecision, 1, 1}},
      {"stablehlo.remainder", {binary<remainder>, 2, 2}},
      {"stablehlo.round_nearest_afz", {unary<mathOf<roundName>>, 1, 1}},
      {"stablehlo.round_nearest_even", {unary<mathOf<roundEvenName>>, 1, 1}},
      {"stablehlo.rsqrt", {unary<mathOf<rsqrtName>>, 1, 1}},
      {"stablehlo.select", {select, 3, 3}},
      {"stablehlo.shift_left", {binary<shiftLeft>, 2, 2}},
      {"stablehlo.shift_right_arithmetic", {binary<shiftRightArithmetic>, 2, 2}},
      {"stablehlo.shift_right_logical", {binary<shiftRightLogical>, 2, 2}},
      {"stablehlo.sign", {unary<sign>, 1, 1}},
      {"stablehlo.sine", {unary<sine>, 1, 1}},
      {"stablehlo.sqrt", {unary<mathOf<sqrtName>>, 1, 1}},
      {"stablehlo.subtract", {binary<minus>, 2, 2}},
      {"stablehlo.tan", {unary<mathOf<tanName>>, 1, 1}},
      {"stablehlo.tanh", {unary<mathOf<tanhName>>, 1, 1}},
      {"stablehlo.xor", {binary<exclusion>, 2, 2}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
