// Activation functions, element by element. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Activation.h"
#include "importers/onnx/Operator.h"

namespace plim::importers {

namespace {

using Function = Scalar (*)(Operator &, const Scalar &);

template <Function Apply> void each(Operator &op) {
  const Value &x = op.input(0);
  op.set(0, op.emit.elementwise(x.type, {x}, [&](const Scalars &in) { return Apply(op, in[0]); }));
}

Scalar number(Operator &op, const Scalar &like, double value) {
  return op.emit.number(like.type, value);
}

Scalar attribute(Operator &op, const Scalar &like, const char *name, double otherwise) {
  return number(op, like, op.real(name, otherwise));
}

Scalar isNegative(Operator &op, const Scalar &x) {
  return op.emit.compare(Compare::Less, x, number(op, x, 0));
}

Scalar relu(Operator &op, const Scalar &x) { return op.emit.max(x, number(op, x, 0)); }

Scalar leakyRelu(Operator &op, const Scalar &x) {
  return op.emit.select(isNegative(op, x), op.emit.mul(x, attribute(op, x, "alpha", 0.01)), x);
}

/// alpha (e^x - 1) below zero.
Scalar bent(Operator &op, const Scalar &x, const Scalar &alpha) {
  return op.emit.select(isNegative(op, x), op.emit.mul(alpha, op.emit.math("expm1", {x})), x);
}

Scalar elu(Operator &op, const Scalar &x) { return bent(op, x, attribute(op, x, "alpha", 1)); }

Scalar selu(Operator &op, const Scalar &x) {
  const Scalar alpha = attribute(op, x, "alpha", op.opset < 6 ? 1.6732 : 1.67326319217681884765625);
  const Scalar gamma = attribute(op, x, "gamma", op.opset < 6 ? 1.0507 : 1.05070102214813232421875);
  return op.emit.mul(gamma, bent(op, x, alpha));
}

Scalar celu(Operator &op, const Scalar &x) {
  Emitter &e = op.emit;
  const Scalar alpha = attribute(op, x, "alpha", 1), zero = number(op, x, 0);
  const Scalar below = e.mul(alpha, e.math("expm1", {e.div(x, alpha)}));
  return e.add(e.max(zero, x), e.min(zero, below));
}

Scalar sigmoid(Operator &op, const Scalar &x) { return sigmoid(op.emit, x); }

Scalar clampedLine(Operator &op, const Scalar &x, const Scalar &alpha, const Scalar &beta) {
  Emitter &e = op.emit;
  return e.max(number(op, x, 0), e.min(number(op, x, 1), e.add(e.mul(alpha, x), beta)));
}

Scalar hardSigmoid(Operator &op, const Scalar &x) {
  return clampedLine(op, x, attribute(op, x, "alpha", 0.2), attribute(op, x, "beta", 0.5));
}

Scalar hardSwish(Operator &op, const Scalar &x) {
  return op.emit.mul(x, clampedLine(op, x, number(op, x, 1.0 / 6), number(op, x, 0.5)));
}

/// log(1 + e^x), which does not overflow.
Scalar softplus(Operator &op, const Scalar &x) {
  Emitter &e = op.emit;
  const Scalar small = e.math("log1p", {e.math("exp", {e.neg(e.abs(x))})});
  return e.add(e.max(x, number(op, x, 0)), small);
}

Scalar softsign(Operator &op, const Scalar &x) {
  return op.emit.div(x, op.emit.add(number(op, x, 1), op.emit.abs(x)));
}

Scalar thresholdedRelu(Operator &op, const Scalar &x) {
  return op.emit.select(op.emit.compare(Compare::Greater, x, attribute(op, x, "alpha", 1)), x,
                        number(op, x, 0));
}

Scalar shrink(Operator &op, const Scalar &x) {
  Emitter &e = op.emit;
  const double lambda = op.real("lambd", 0.5), bias = op.real("bias", 0);
  const Scalar wide = isFloat(x.type) ? x : e.convert(x, ElementType::F32);
  const Scalar above = e.sub(wide, number(op, wide, bias)),
               below = e.add(wide, number(op, wide, bias));
  const Scalar rest = e.select(e.compare(Compare::Greater, wide, number(op, wide, lambda)), above,
                               number(op, wide, 0));
  return e.convert(e.select(e.compare(Compare::Less, wide, number(op, wide, -lambda)), below, rest),
                   x.type);
}

Scalar mish(Operator &op, const Scalar &x) {
  return op.emit.mul(x, op.emit.math("tanh", {softplus(op, x)}));
}

Scalar gelu(Operator &op, const Scalar &x) {
  return gelu(op.emit, x, op.choice("approximate", {"none", "tanh"}) == "tanh");
}

Scalar swish(Operator &op, const Scalar &x) { return swish(op.emit, x, op.real("alpha", 1)); }

void pRelu(Operator &op) {
  const Value &x = op.input(0);
  Value slope = op.input(1);
  // Before opset 7 the slope was one for each channel.
  if (op.opset < 7 && slope.rank() == 1 && x.rank() > 2 && !slope.dims[0].is(1)) {
    Scalars dims(static_cast<size_t>(x.rank() - 1), op.emit.index(1));
    dims[0] = slope.dims[0];
    slope = op.emit.reshape(slope, dims);
  }
  op.set(0, op.emit.elementwise(x.type, {x, slope}, [&](const Scalars &in) {
    return op.emit.select(op.emit.compare(Compare::Less, in[0], number(op, in[0], 0)),
                          op.emit.mul(in[0], in[1]), in[0]);
  }));
}

} // namespace

const OperatorTable &activations() {
  static const OperatorTable table{{"Relu", each<relu>},
                                   {"LeakyRelu", each<leakyRelu>},
                                   {"PRelu", pRelu},
                                   {"Elu", each<elu>},
                                   {"Selu", each<selu>},
                                   {"Celu", each<celu>},
                                   {"Sigmoid", each<sigmoid>},
                                   {"HardSigmoid", each<hardSigmoid>},
                                   {"HardSwish", each<hardSwish>},
                                   {"Softplus", each<softplus>},
                                   {"Softsign", each<softsign>},
                                   {"ThresholdedRelu", each<thresholdedRelu>},
                                   {"Shrink", each<shrink>},
                                   {"Mish", each<mish>},
                                   {"Gelu", each<gelu>},
                                   {"Swish", each<swish>}};
  return table;
}

} // namespace plim::importers
