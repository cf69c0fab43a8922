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

/// Of the attributes kernel_shape (or `kernel`), strides, dilations, pads, auto_pad and ceil_mode, for an input whose
/// dimensions from the third on are spatial.
Windows windowsOf(Operator &op, const Value &input, Numbers kernel);

/// From [N, ..., C] to [N, C, ...], and back.
Value channelsFirst(Emitter &emit, const Value &x);
Value channelsLast(Emitter &emit, const Value &x);

} // namespace plim::importers
