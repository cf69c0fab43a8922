// The order of elements along a dimension.
#pragma once

#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

/// Does the element at one position stand before that at another?
using Before = std::function<Scalar(const Scalars &, const Scalars &)>;

/// Where the elements of a tensor with those extents, sorted along `axis`, come from: positions as I64. Equal ones stay in
/// their order.
Value sortedOrder(Emitter &e, const Scalars &dims, int64_t axis, const Before &before);
/// A tensor in that order.
Value inOrder(Emitter &e, const Value &value, int64_t axis, const Value &order);

} // namespace plim::importers::stablehlo
