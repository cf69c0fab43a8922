// Sums over windows with weights, for the operators that are made of them.
#pragma once

#include "importers/onnx/Windows.h"

namespace plim::importers {

/// Input [N, C, ...], weights [M, C / groups, ...]; the result is of type `sum`. `padding` fills what is outside; `prepare` makes of
/// the whole what is summed, if it is there.
Value convolution(Operator &op, const Value &input, const Value &weights, ElementType sum,
                  const Scalar &padding,
                  const std::function<Value(const Value &)> &prepare = nullptr);

} // namespace plim::importers
