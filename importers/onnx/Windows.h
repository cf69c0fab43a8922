// Windows that move over the spatial dimensions of a tensor: what convolutions and pooling have in common.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

struct Windows {
  Numbers kernel, strides, dilations;
  Scalars low, high; // padding
  Scalars out;       // how many windows there are along each dimension
  size_t rank() const { return kernel.size(); }
};

/// An attribute with `count` numbers, none of them less than `least`; all `otherwise` if it is not given.
Numbers numbersOf(Operator &op, const char *name, size_t count, int64_t otherwise, int64_t least);

/// Of the attributes kernel_shape (or `kernel`), strides, dilations, pads, auto_pad and ceil_mode, for an input whose
/// dimensions from the third on are spatial.
Windows windowsOf(Operator &op, const Value &input, Numbers kernel);

/// From [N, ..., C] to [N, C, ...], and back.
Value channelsFirst(Emitter &emit, const Value &x);
Value channelsLast(Emitter &emit, const Value &x);

} // namespace plim::importers
