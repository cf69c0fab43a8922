// Elements by their order along a dimension.
#pragma once

#include "importers/emit/Emitter.h"

namespace plim::importers {

/// An integer with a sign, and of the bits, for each element of a type: what stands before has the lesser one.
using Key = std::function<Scalar(const Scalar &)>;

/// From the greatest (`how` is Greater) or the least. A NaN stands behind all numbers, and zeros are equal.
Key numbersFirst(Builder &e, Compare how);
/// As IEEE 754 orders all that there is: a NaN with a sign, numbers, of which -0 stands before 0, and other NaNs; or the
/// other way round.
Key totalOrder(Builder &e, Compare how);

/// Do these elements, one of each tensor, stand before those?
using Before = std::function<Scalar(const Scalars &, const Scalars &)>;

/// Tensors of one shape, sorted together along `axis`. Equal ones stay in their order. n log n comparisons for each line.
Values sorted(Emitter &e, const Values &values, int64_t axis, const Before &before);
/// Where the elements along `axis` stood that are sorted by `key`, as I64. Equal ones stay in their order. Some passes over each line,
/// as many as a key has digits.
Value orderOf(Emitter &e, const Value &x, int64_t axis, const Key &key);
/// The first `count` elements along `axis`, as they would be sorted, and where they stood: positions as I64. An error if there are
/// not as many. Few of many are had in one pass.
Values firstSorted(Emitter &e, const Value &x, int64_t axis, const Scalar &count, const Key &key);
/// The elements along `axis` that `order` says.
Value inOrder(Emitter &e, const Value &value, int64_t axis, const Value &order);
/// Where the greatest (`better` is Greater) or the least along `axis`, which goes, stands, as I64: the first of equal ones or the
/// last; the first NaN if there is one, as in NumPy; 0 if there are no elements.
Value placeOf(Emitter &e, const Value &x, int64_t axis, Compare better, bool last);

} // namespace plim::importers
