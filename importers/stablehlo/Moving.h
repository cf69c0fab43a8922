// Tensors that are moved, for operations that are made of it.
#pragma once

#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

/// With the elements along these axes in the opposite order.
Value reverse(Emitter &e, const Value &value, const Axes &axes);
/// Padding may be negative; `interior` elements come between two each.
Value pad(Emitter &e, const Value &value, const Scalar &with, const Numbers &low,
          const Numbers &high, const Numbers &interior);
/// Of a list of integers, an extent each: a shape that a run gives, or that is known.
Scalars shapeOf(Emitter &e, const Value &list);

} // namespace plim::importers::stablehlo
