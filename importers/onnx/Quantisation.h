// Quantised numbers, for operators that are made of them: an integer, less its zero point, times its scale.
#pragma once

#include "importers/emit/SmallFloats.h"
#include "importers/onnx/Operator.h"

namespace plim::importers {

/// A scale or zero point as the tensor is broadcast with: one for all, or one for each position of an axis.
Value along(Emitter &emit, const Value &list, const Value &x, int64_t axis);

/// round(x / scale) + zero point, saturated to the type of the zero point. Small floats are rounded when they are made.
/// The quotient is of the type of the scale, or of `precision`.
Value quantised(Emitter &emit, const Value &x, const Value &scale, const Value &zero,
                std::optional<ElementType> precision = {}, const Rounding &rounding = {});
/// Of the type of the scale, or f32 if that is a small float. Without `zero` the zero point is 0.
Value dequantised(Emitter &emit, const Value &x, const Value &scale, const Value *zero);

/// x less its zero point, in 32 bits.
Value centred(Emitter &emit, const Value &x, const Value &zero);
/// The same with an input of the same type as the zero point, if it is there: one for all, one for each position of `axis`, which may be
/// counted from the end, or what is broadcast to x. An error of the import or the call if it does not fit.
Value centred(Operator &op, const Value &x, size_t input, std::optional<int64_t> axis);
/// Where a list has a number for each row of the left factor, each column of the right one, each filter.
inline constexpr int64_t rowAxis = -2, columnAxis = -1, filterAxis = 0;

struct Quantised {
  Value value, scale, zero;
};
/// As uint8, with the scale that all elements and 0 need.
Quantised dynamicallyQuantised(Emitter &emit, const Value &x);

} // namespace plim::importers
