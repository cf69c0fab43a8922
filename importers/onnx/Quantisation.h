// Quantised numbers, for operators that are made of them: an integer, less its zero point, times its scale.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

/// A scale or zero point as the tensor is broadcast with: one for all, or one for each position of an axis.
Value along(Emitter &emit, const Value &list, const Value &x, int64_t axis);

/// round(x / scale) + zero point, saturated; of the type of the zero point.
Value quantised(Emitter &emit, const Value &x, const Value &scale, const Value &zero);
/// Of the type of the scale. Without `zero` the zero point is 0.
Value dequantised(Emitter &emit, const Value &x, const Value &scale, const Value *zero);

/// x less its zero point, in 32 bits.
Value centred(Emitter &emit, const Value &x, const Value &zero);
/// The same with an input as the zero point, if it is there: one for all or, of `rows`, for each row or filter, else for each
/// column.
Value centred(Operator &op, const Value &x, size_t input, bool rows);

struct Quantised {
  Value value, scale, zero;
};
/// As uint8, with the scale that all elements and 0 need.
Quantised dynamicallyQuantised(Emitter &emit, const Value &x);

} // namespace plim::importers
