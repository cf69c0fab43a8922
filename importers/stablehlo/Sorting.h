// Elements by their order along a dimension.
#pragma once

#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

/// Do these elements, one of each tensor, stand before those?
using Before = std::function<Scalar(const Scalars &, const Scalars &)>;

/// Tensors of one shape, sorted together along `axis`. Equal ones stay in their order.
Values sorted(Emitter &e, const Values &values, int64_t axis, const Before &before);
/// Where the first `count` elements along the last dimension, as they would be sorted, stand: positions as I64. For few of
/// many.
Value bestOf(Emitter &e, const Value &x, int64_t count, const Before &before);
/// The elements along `axis` that `order` says.
Value inOrder(Emitter &e, const Value &value, int64_t axis, const Value &order);

} // namespace plim::importers::stablehlo
