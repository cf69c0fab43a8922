// Comparisons and truth values. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Operator.h"

namespace plim::importers {

namespace {

using Binary = Scalar (Builder::*)(const Scalar &, const Scalar &);

/// Before opset 7 the second operand said by attributes which dimensions of the first it has.
Value second(Operator &op) {
  const Value &a = op.input(0), &b = op.input(1);
  if (op.opset >= 7 || !op.hasAttribute("axis"))
    return b;
  Scalars dims = b.dims;
  for (int64_t i = op.axis(0, a.rank()) + b.rank(); i < a.rank(); ++i)
    dims.push_back(op.emit.index(1));
  return op.emit.reshape(b, dims);
}

template <Compare How> void comparison(Operator &op) {
  const Value &a = op.input(0), b = second(op);
  op.set(0, op.emit.elementwiseOrNow(ElementType::I1, {a, b}, [&](const Scalars &in) {
    return op.emit.compare(How, in[0], in[1]);
  }));
}

template <Binary Apply> void bitwise(Operator &op) {
  const Value &a = op.input(0), b = second(op);
  op.set(0, op.emit.elementwiseOrNow(
                a.type, {a, b}, [&](const Scalars &in) { return (op.emit.*Apply)(in[0], in[1]); }));
}

void negation(Operator &op) {
  const Value &x = op.input(0);
  op.set(0, op.emit.elementwiseOrNow(x.type, {x},
                                     [&](const Scalars &in) { return op.emit.negation(in[0]); }));
}

void where(Operator &op) {
  const Value &x = op.input(1);
  op.set(0, op.emit.elementwiseOrNow(x.type, {op.input(0), x, op.input(2)}, [&](const Scalars &in) {
    return op.emit.select(in[0], in[1], in[2]);
  }));
}

void isNaN(Operator &op) {
  op.set(0, op.emit.elementwise(ElementType::I1, {op.input(0)}, [&](const Scalars &in) {
    return op.emit.compare(Compare::NotEqual, in[0], in[0]);
  }));
}

void isInf(Operator &op) {
  const bool negative = op.integer("detect_negative", 1) != 0;
  const bool positive = op.integer("detect_positive", 1) != 0;
  op.set(0, op.emit.elementwise(ElementType::I1, {op.input(0)}, [&](const Scalars &in) {
    Emitter &e = op.emit;
    Scalar out = e.truth(false);
    if (negative)
      out = e.either(out, e.compare(Compare::Equal, in[0], e.lowest(in[0].type)));
    if (positive)
      out = e.either(out, e.compare(Compare::Equal, in[0], e.highest(in[0].type)));
    return out;
  }));
}

} // namespace

const OperatorTable &logic() {
  static const OperatorTable table{{"And", bitwise<&Builder::both>},
                                   {"Or", bitwise<&Builder::either>},
                                   {"Xor", bitwise<&Builder::exclusive>},
                                   {"BitwiseAnd", bitwise<&Builder::both>},
                                   {"BitwiseOr", bitwise<&Builder::either>},
                                   {"BitwiseXor", bitwise<&Builder::exclusive>},
                                   {"BitwiseNot", negation},
                                   {"Not", negation},
                                   {"Equal", comparison<Compare::Equal>},
                                   {"Less", comparison<Compare::Less>},
                                   {"LessOrEqual", comparison<Compare::LessEqual>},
                                   {"Greater", comparison<Compare::Greater>},
                                   {"GreaterOrEqual", comparison<Compare::GreaterEqual>},
                                   {"Where", where},
                                   {"IsNaN", isNaN},
                                   {"IsInf", isInf}};
  return table;
}

} // namespace plim::importers
