// Activations that other operators name in an attribute, element by element.
#pragma once

#include "importers/emit/Emitter.h"

#include <string>

namespace plim::importers {

struct Activation {
  std::string name;
  double alpha = 0, beta = 0, gamma = 0;
};

/// The activation of that name, with the numbers that it has if none are given.
Activation activationOf(const std::string &name);

Scalar applied(Emitter &emit, const Activation &activation, const Scalar &x);
Value applied(Emitter &emit, const Activation &activation, const Value &x);

/// x times the normal distribution at x, or its approximation with tanh.
Scalar gelu(Emitter &emit, const Scalar &x, bool isApproximate);
/// 1 / (1 + e^-x)
Scalar sigmoid(Emitter &emit, const Scalar &x);
/// x sigmoid(alpha x)
Scalar swish(Emitter &emit, const Scalar &x, double alpha);

} // namespace plim::importers
