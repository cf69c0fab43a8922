// What is known of extents and indices without running anything: upstream's analysis of bounds, with an end.
//
// Upstream follows definitions to the beginning of the program and asks its solver after each: where an answer is not to be
// had, in a deep network with open extents, one question took a second. Here a question follows so many definitions and asks
// a few times; "not known" is a right answer always, and costs a check while the program runs.
#pragma once

#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <optional>

namespace plim::ir {

using BoundsVariable = mlir::ValueBoundsConstraintSet::Variable;
using BoundsComparison = mlir::ValueBoundsConstraintSet::ComparisonOperator;

/// Does `left` have that relation to `right` in every run?
bool isKnown(const BoundsVariable &left, BoundsComparison comparison, const BoundsVariable &right);

/// What the value never exceeds.
std::optional<int64_t> greatestKnown(const BoundsVariable &variable);

} // namespace plim::ir
