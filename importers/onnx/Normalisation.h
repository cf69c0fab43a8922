// Softmax, for operators that are made of it.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

/// e^x over its sum along an axis, taken from the greatest, so that nothing overflows.
Value softmaxOver(Emitter &emit, const Value &x, int64_t axis);
/// The logarithm of that.
Value logSoftmaxOver(Emitter &emit, const Value &x, int64_t axis);

} // namespace plim::importers
