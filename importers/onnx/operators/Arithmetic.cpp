// Arithmetic, element by element. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/emit/SmallFloats.h"
#include "importers/onnx/Operator.h"

#include <algorithm>

namespace plim::importers {

namespace {

using Binary = Scalar (Builder::*)(const Scalar &, const Scalar &);

/// Before opset 7 the second operand said by attributes which dimensions of the first it has.
Value aligned(Operator &op, const Value &a, const Value &b) {
  if (op.opset >= 7 || op.integer("broadcast", 0) == 0 || !op.hasAttribute("axis"))
    return b;
  const int64_t axis = op.axis(0, a.rank());
  Scalars dims = b.dims;
  for (int64_t i = axis + b.rank(); i < a.rank(); ++i)
    dims.push_back(op.emit.index(1));
  return op.emit.reshape(b, dims);
}

template <Binary Apply> void binary(Operator &op) {
  const Value &a = op.input(0), b = aligned(op, a, op.input(1));
  op.set(0, op.emit.elementwiseOrNow(
                a.type, {a, b}, [&](const Scalars &in) { return (op.emit.*Apply)(in[0], in[1]); }));
}

/// Of any number of operands.
template <Binary Apply> void fold(Operator &op) {
  Value all = op.input(0);
  for (size_t i = 1; i < op.inputs.size(); ++i)
    all = op.emit.elementwiseOrNow(all.type, {all, op.input(i)}, [&](const Scalars &in) {
      return (op.emit.*Apply)(in[0], in[1]);
    });
  op.set(0, all);
}

void mean(Operator &op) {
  fold<&Builder::add>(op);
  const Value &sum = op.outputs[0];
  op.set(0, op.emit.elementwise(sum.type, {sum}, [&](const Scalars &in) {
    return op.emit.div(in[0], op.emit.number(in[0].type, static_cast<double>(op.inputs.size())));
  }));
}

template <typename Make> void unary(Operator &op, Make make) {
  const Value &x = op.input(0);
  op.set(0, op.emit.elementwise(x.type, {x}, [&](const Scalars &in) { return make(in[0]); }));
}

template <const char *const &Name> void math(Operator &op) {
  unary(op, [&](const Scalar &x) { return op.emit.math(Name, {x}); });
}

constexpr const char *acosName = "acos", *acoshName = "acosh", *asinName = "asin",
                     *asinhName = "asinh", *atanName = "atan", *atanhName = "atanh",
                     *ceilName = "ceil", *cosName = "cos", *coshName = "cosh", *erfName = "erf",
                     *expName = "exp", *floorName = "floor", *logName = "log",
                     *roundName = "roundeven", *sinName = "sin", *sinhName = "sinh",
                     *sqrtName = "sqrt", *tanName = "tan", *tanhName = "tanh";

void neg(Operator &op) {
  const Value &x = op.input(0);
  op.set(0, op.emit.elementwiseOrNow(x.type, {x},
                                     [&](const Scalars &in) { return op.emit.neg(in[0]); }));
}

void abs(Operator &op) {
  unary(op, [&](const Scalar &x) { return op.emit.abs(x); });
}

void reciprocal(Operator &op) {
  unary(op, [&](const Scalar &x) { return op.emit.div(op.emit.number(x.type, 1), x); });
}

void sign(Operator &op) {
  unary(op, [&](const Scalar &x) {
    Emitter &e = op.emit;
    const Scalar zero = e.number(x.type, 0), one = e.number(x.type, 1);
    const Scalar positive = e.compare(Compare::Greater, x, zero);
    if (isUnsigned(x.type))
      return e.select(positive, one, zero);
    const Scalar negative = e.compare(Compare::Less, x, zero);
    // What is neither is zero, or no number.
    const Scalar rest =
        isFloat(x.type) ? e.select(e.compare(Compare::Equal, x, zero), zero, x) : zero;
    return e.select(positive, one, e.select(negative, e.neg(one), rest));
  });
}

void mod(Operator &op) {
  const Value &a = op.input(0), &b = op.input(1);
  const bool likeC = op.integer("fmod", 0) != 0;
  if (!likeC && isFloat(a.type))
    invalid("of floats needs fmod = 1");
  op.set(0, op.emit.elementwiseOrNow(a.type, {a, b}, [&](const Scalars &in) {
    return likeC ? op.emit.rem(in[0], in[1]) : op.emit.mod(in[0], in[1]);
  }));
}

/// Integers to a power that is not negative, by squares.
Scalar integerPower(Emitter &e, const Scalar &base, const Scalar &exponent) {
  const ElementType type = base.type, count = exponent.type;
  const Scalar zero = e.integer(count, 0), one = e.integer(count, 1);
  return e.loopWhile(
      {e.integer(type, 1), base, exponent},
      [&](const Scalars &s) { return e.compare(Compare::Greater, s[2], zero); },
      [&](const Scalars &s) -> Scalars {
        const Scalar odd = e.compare(Compare::Equal, e.both(s[2], one), one);
        const Scalar product = e.select(odd, e.mul(s[0], s[1]), s[0]);
        const Scalar half = e.div(s[2], e.integer(count, 2));
        return {product, e.mul(s[1], s[1]), half};
      })[0];
}

void pow(Operator &op) {
  const Value &x = op.input(0), y = aligned(op, x, op.input(1));
  const auto exponent = op.emit.knownReals(y);
  op.set(0, op.emit.elementwise(x.type, {x, y}, [&](const Scalars &in) {
    Emitter &e = op.emit;
    if (exponent && exponent->size() == 1 && (*exponent)[0] == 2)
      return e.mul(in[0], in[0]);
    if (!isFloat(in[0].type) && !isFloat(in[1].type))
      return integerPower(e, in[0], in[1]);
    const ElementType wide = isFloat(in[0].type) ? in[0].type
                             : in[1].type == ElementType::F64 || bitsOf(in[0].type) == 64
                                 ? ElementType::F64
                                 : in[1].type;
    return e.convert(e.math("powf", {e.convert(in[0], wide), e.convert(in[1], wide)}), x.type);
  }));
}

void clip(Operator &op) {
  const Value &x = op.input(0);
  Emitter &e = op.emit;
  Values operands{x};
  std::optional<size_t> low, high;
  if (op.opset >= 11) {
    if (op.has(1)) {
      low = operands.size();
      operands.push_back(op.input(1));
    }
    if (op.has(2)) {
      high = operands.size();
      operands.push_back(op.input(2));
    }
  }
  op.set(0, e.elementwise(x.type, operands, [&](const Scalars &in) {
    Scalar out = in[0];
    if (low)
      out = e.max(out, in[*low]);
    else if (op.hasAttribute("min"))
      out = e.max(out, e.number(x.type, op.real("min", 0)));
    if (high)
      return e.min(out, in[*high]);
    return op.hasAttribute("max") ? e.min(out, e.number(x.type, op.real("max", 0))) : out;
  }));
}

void bitShift(Operator &op) {
  const Value &a = op.input(0), &b = op.input(1);
  const bool left = op.choice("direction", {"LEFT", "RIGHT"}) == "LEFT";
  op.set(0, op.emit.elementwise(a.type, {a, b}, [&](const Scalars &in) {
    Emitter &e = op.emit;
    const std::string type = mlirName(a.type);
    const Scalar bits = e.integer(a.type, static_cast<int64_t>(bitsOf(a.type)));
    const Scalar inRange = e.compare(Compare::Less, in[1], bits);
    const Scalar amount = e.select(inRange, in[1], e.integer(a.type, 0));
    const Scalar shifted{a.type,
                         e.define(std::string("arith.") + (left ? "shli " : "shrui ") +
                                  e.use(in[0]) + ", " + e.use(amount) + " : " + type),
                         {}};
    return e.select(inRange, shifted, e.integer(a.type, 0));
  }));
}

/// The attributes that say how floats of 8 bits are made.
Rounding roundingOf(const Operator &op) {
  const std::string way = op.choice("round_mode", {"up", "down", "nearest"});
  return {flag(op, "saturate", true), way == "up"     ? Rounding::Way::Up
                                      : way == "down" ? Rounding::Way::Down
                                                      : Rounding::Way::Nearest};
}

Value converted(Operator &op, const Value &x, ElementType type) {
  Emitter &e = op.emit;
  const Rounding rounding = roundingOf(op);
  if (!isSmallFloat(type) || x.type == type)
    return e.convert(x, type);
  return e.elementwise(type, {x},
                       [&](const Scalars &in) { return toSmallFloat(e, in[0], type, rounding); });
}

void cast(Operator &op) {
  int64_t to = op.integer("to", 0);
  if (op.opset < 6) {
    static constexpr const char *names[] = {"",        "FLOAT",  "UINT8",  "INT8",   "UINT16",
                                            "INT16",   "INT32",  "INT64",  "STRING", "BOOL",
                                            "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
    to = std::find(std::begin(names), std::end(names), op.text("to", "")) - std::begin(names);
  }
  const ElementType type = readElementType(static_cast<int32_t>(to), "its result");
  if (isComplex(type))
    unsupported("to " + onnxName(type));
  op.set(0, converted(op, op.input(0), type));
}

/// Types of the same width, a truth value has a byte.
Scalar sameBits(Emitter &e, const Scalar &a, ElementType to) {
  if (a.type == ElementType::I1)
    return e.bitcast(e.convert(a, ElementType::U8), to);
  if (to == ElementType::I1)
    return e.convert(e.bitcast(a, ElementType::U8), to);
  if (a.type == ElementType::C64) { // the real part in the low bits
    auto part = [&](const Scalar &x) {
      return e.convert(e.bitcast(x, ElementType::U32), ElementType::U64);
    };
    const Scalar high = e.shiftLeft(part(e.imaginaryPart(a)), 32);
    return e.bitcast(e.either(part(e.realPart(a)), high), to);
  }
  if (to == ElementType::C64) {
    const Scalar bits = e.bitcast(a, ElementType::U64);
    auto part = [&](const Scalar &x) {
      return e.bitcast(e.convert(x, ElementType::U32), ElementType::F32);
    };
    return e.complexOf(part(bits), part(e.shiftRight(bits, 32)));
  }
  if (bitsOf(to) < 8) { // in the low bits of a byte, whose others are the sign, or 0
    const Scalar byte = e.bitcast(a, ElementType::U8);
    return isSmallFloat(to) ? e.bitcast(e.convert(byte, ElementType::U4), to) : e.convert(byte, to);
  }
  return e.bitcast(a, to);
}

void bitCast(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const ElementType to = readElementType(static_cast<int32_t>(op.integer("to", 0)), "its result");
  if (bitsOf(x.type) != bitsOf(to))
    invalid("from " + onnxName(x.type) + " to " + onnxName(to) +
            ", which has another number of bits");
  op.set(0, x.type == to ? x : e.elementwise(to, {x}, [&](const Scalars &in) {
    return sameBits(e, in[0], to);
  }));
}

void castLike(Operator &op) { op.set(0, converted(op, op.input(0), op.input(1).type)); }

} // namespace

const OperatorTable &arithmetic() {
  static const OperatorTable table{{"Add", binary<&Builder::add>},
                                   {"Sub", binary<&Builder::sub>},
                                   {"Mul", binary<&Builder::mul>},
                                   {"Div", binary<&Builder::div>},
                                   {"Max", fold<&Builder::max>},
                                   {"Min", fold<&Builder::min>},
                                   {"Sum", fold<&Builder::add>},
                                   {"Mean", mean},
                                   {"Mod", mod},
                                   {"Pow", pow},
                                   {"Clip", clip},
                                   {"BitShift", bitShift},
                                   {"Cast", cast},
                                   {"CastLike", castLike},
                                   {"Neg", neg},
                                   {"Abs", abs},
                                   {"Sign", sign},
                                   {"Reciprocal", reciprocal},
                                   {"Acos", math<acosName>},
                                   {"Acosh", math<acoshName>},
                                   {"Asin", math<asinName>},
                                   {"Asinh", math<asinhName>},
                                   {"Atan", math<atanName>},
                                   {"Atanh", math<atanhName>},
                                   {"Ceil", math<ceilName>},
                                   {"Cos", math<cosName>},
                                   {"Cosh", math<coshName>},
                                   {"Erf", math<erfName>},
                                   {"Exp", math<expName>},
                                   {"Floor", math<floorName>},
                                   {"Log", math<logName>},
                                   {"Round", math<roundName>},
                                   {"Sin", math<sinName>},
                                   {"Sinh", math<sinhName>},
                                   {"Sqrt", math<sqrtName>},
                                   {"Tan", math<tanName>},
                                   {"Tanh", math<tanhName>}};
  return table;
}

const DescribedTable &newerArithmetic() {
  static const DescribedTable table{{"BitCast", {since<26, bitCast>, 1, 1, 1, "to!"}}};
  return table;
}

} // namespace plim::importers
