// Normalisation and softmax, for operators that are made of them.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

/// e^x over its sum along an axis, taken from the greatest, so that nothing overflows.
Value softmaxOver(Emitter &emit, const Value &x, int64_t axis);
/// The same along all dimensions from the axis on.
Value softmaxFrom(Emitter &emit, const Value &x, int64_t axis);
/// The logarithm of the first.
Value logSoftmaxOver(Emitter &emit, const Value &x, int64_t axis);

/// Those from `first` to the last.
Axes axesFrom(int64_t first, int64_t rank);
Value meanOver(Emitter &emit, const Value &x, const Axes &axes);

struct Normalised {
  Value value, mean, inverse; // of the standard deviation
};
/// (x - mean) / sqrt(variance + epsilon)
Normalised normalised(Emitter &emit, const Value &x, const Axes &axes, double epsilon);
/// x / sqrt(mean of x^2 + epsilon); its `inverse` is that of the root, and it has no mean.
Normalised rootNormalised(Emitter &emit, const Value &x, const Axes &axes, double epsilon);
/// Groups of as many channels each of [N, C, ...].
Value groupNormalised(Emitter &emit, const Value &x, int64_t groups, double epsilon);

/// A list of one number for each channel, as [N, C, ...] has them.
Value perChannel(Emitter &emit, const Value &list, const Value &x);
/// x scale + bias, without a bias if that is none.
Value scaled(Emitter &emit, const Value &x, const Value &scale, const Value &bias);

} // namespace plim::importers
