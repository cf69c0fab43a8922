// Sums over windows of a tensor with weights, in the orders of dimensions that linalg has: N batch,
// C channels, M filters, then space. All write to `e`, and throw ImportError for shapes that do not
// fit.
#pragma once

#include "importers/emit/Emitter.h"

namespace plim::importers {

/// Along each spatial dimension: how far windows lie apart, and the elements of one.
struct WindowSteps {
  Numbers strides, dilations;
};

/// Input [N, C, ...] with its padding, weights [M, C / groups, ...]; the result, [N, M, ...], has
/// the extents `dims` and sums of `type`.
Value convolution(Emitter &e, const Value &padded, const Value &weights, ElementType type,
                  const WindowSteps &steps, int64_t groups, const Scalars &dims);

/// One of linalg's convolutions, added to zeros; what is narrower than `type` has a sign.
Value namedConvolution(Emitter &e, const std::string &operation, const Value &padded,
                       const Value &weights, ElementType type, const WindowSteps &steps,
                       const Scalars &dims);

/// Splits dimension `axis` in two: `groups`, and the elements of one. Its extent must be a multiple
/// of `groups`.
Value grouped(Emitter &e, const Value &value, size_t axis, int64_t groups);

} // namespace plim::importers
