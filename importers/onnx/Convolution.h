// Sums over windows with weights, for the operators that are made of them.
#pragma once

#include "importers/onnx/Windows.h"

namespace plim::importers {

/// Input [N, C, ...], weights [M, C / groups, ...]; the result is of type `sum`. `padding` fills what is outside; `prepare` makes of
/// the whole what is summed, if it is there.
Value convolution(Operator &op, const Value &input, const Value &weights, ElementType sum,
                  const Scalar &padding,
                  const std::function<Value(const Value &)> &prepare = nullptr);

/// The extents of windows, by the weights [M, C, ...] and the attribute kernel_shape.
Numbers kernelOf(Operator &op, const Value &weights);

/// With an input that has a number for each channel, if that is there.
Value withBias(Operator &op, const Value &sum, size_t input);

} // namespace plim::importers
