#include "importers/onnx/Activation.h"

#include "importers/emit/Error.h"

#include <cmath>

namespace plim::importers {

Activation activationOf(const std::string &name) {
  if (name == "LeakyRelu")
    return {name, 0.01};
  if (name == "HardSigmoid")
    return {name, 0.2, 0.5};
  if (name == "ScaledTanh")
    return {name, 1, 1};
  if (name == "Selu")
    return {name, 1.67326319217681884765625, 0, 1.05070102214813232421875};
  return {name, 1};
}

Scalar sigmoid(Emitter &e, const Scalar &x) {
  const Scalar one = e.number(x.type, 1);
  return e.div(one, e.add(one, e.math("exp", {e.neg(x)})));
}

Scalar swish(Emitter &e, const Scalar &x, double alpha) {
  return e.mul(x, sigmoid(e, alpha == 1 ? x : e.mul(x, e.number(x.type, alpha))));
}

Scalar gelu(Emitter &e, const Scalar &x, bool isApproximate) {
  auto number = [&](double value) { return e.number(x.type, value); };
  Scalar turned;
  if (isApproximate) {
    const Scalar cube = e.mul(e.mul(x, x), x);
    const Scalar inner = e.add(x, e.mul(number(0.044715), cube));
    turned = e.math("tanh", {e.mul(number(std::sqrt(2 / M_PI)), inner)});
  } else {
    turned = e.math("erf", {e.mul(x, number(std::sqrt(0.5)))});
  }
  return e.mul(e.mul(number(0.5), x), e.add(number(1), turned));
}

Scalar applied(Emitter &e, const Activation &f, const Scalar &x) {
  const ElementType t = x.type;
  auto number = [&](double value) { return e.number(t, value); };
  auto below = [&](double bound) { return e.compare(Compare::Less, x, number(bound)); };
  if (f.name == "Sigmoid")
    return sigmoid(e, x);
  if (f.name == "Tanh")
    return e.math("tanh", {x});
  if (f.name == "Relu")
    return e.max(x, number(0));
  if (f.name == "Affine")
    return e.add(e.mul(number(f.alpha), x), number(f.beta));
  if (f.name == "LeakyRelu")
    return e.select(below(0), e.mul(number(f.alpha), x), x);
  if (f.name == "ThresholdedRelu")
    return e.select(e.compare(Compare::GreaterEqual, x, number(f.alpha)), x, number(0));
  if (f.name == "ScaledTanh")
    return e.mul(number(f.alpha), e.math("tanh", {e.mul(number(f.beta), x)}));
  if (f.name == "HardSigmoid")
    return e.min(number(1), e.max(number(0), e.add(e.mul(number(f.alpha), x), number(f.beta))));
  if (f.name == "Elu")
    return e.select(below(0), e.mul(number(f.alpha), e.math("expm1", {x})), x);
  if (f.name == "Selu")
    return e.mul(number(f.gamma),
                 e.select(below(0), e.mul(number(f.alpha), e.math("expm1", {x})), x));
  if (f.name == "Softsign")
    return e.div(x, e.add(number(1), e.abs(x)));
  if (f.name == "Softplus")
    return e.add(e.max(x, number(0)), e.math("log1p", {e.math("exp", {e.neg(e.abs(x))})}));
  if (f.name == "Clip") // from alpha to beta
    return e.min(number(f.beta), e.max(number(f.alpha), x));
  unsupported("activation '" + f.name + "'");
}

Value applied(Emitter &e, const Activation &f, const Value &x) {
  return e.elementwise(x.type, {x}, [&](const Scalars &in) { return applied(e, f, in[0]); });
}

} // namespace plim::importers
