// Elements by their order along a dimension.
#pragma once

#include "importers/emit/Emitter.h"

namespace plim::importers {

/// Is `a` on that side of `b`? A NaN stands behind all numbers.
Scalar standsBefore(Builder &e, Compare how, const Scalar &a, const Scalar &b);

/// Do these elements, one of each tensor, stand before those?
using Before = std::function<Scalar(const Scalars &, const Scalars &)>;

/// Tensors of one shape, sorted together along `axis`. Equal ones stay in their order. n log n comparisons for each line.
Values sorted(Emitter &e, const Values &values, int64_t axis, const Before &before);
/// The first `count` elements along `axis`, as they would be sorted, and where they stood: positions as I64. An error if there are
/// not as many. `before` is of one tensor. Few of many are had in one pass.
Values firstSorted(Emitter &e, const Value &x, int64_t axis, const Scalar &count,
                   const Before &before);
/// The elements along `axis` that `order` says.
Value inOrder(Emitter &e, const Value &value, int64_t axis, const Value &order);
/// Where the greatest (`better` is Greater) or the least along `axis`, which goes, stands, as I64: the first of equal ones or the
/// last; the first NaN if there is one, as in NumPy; 0 if there are no elements.
Value placeOf(Emitter &e, const Value &x, int64_t axis, Compare better, bool last);

} // namespace plim::importers
