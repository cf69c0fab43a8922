// Sums over windows with weights, for the operators that are made of them.
#pragma once

#include "importers/onnx/Windows.h"

namespace plim::importers {

/// Input [N, C, ...], weights [M, C / groups, ...]; the result is of type `sum`. `padding` fills what is outside.
Value convolution(Operator &op, const Value &input, const Value &weights, ElementType sum,
                  const Scalar &padding);

} // namespace plim::importers
