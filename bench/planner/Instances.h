// Problems to plan, in families. Standard library only: tests use them too.
#pragma once

#include "planner/Planner.h"

#include <cstdint>

namespace plim::bench {

/// The same in every run: plans are compared over time. One pool, one interval a buffer.
///
/// A network in program order: most buffers feed the next few steps, some are skip connections that
/// live long; sizes are a few shapes times powers of two, in multiples of 64 bytes.
planner::Problem layers(int count);
/// A rectangle of time and bytes cut into pieces until there are `count`: the best peak is the lower
/// bound, and every byte counts.
planner::Problem cuts(int count);
/// Uniform starts, durations around `share` of all time, sizes over three orders of magnitude.
planner::Problem scatter(int count, double share);

/// Pairs of buffers that are live at the same time.
int64_t countPairs(const planner::Problem &problem);

} // namespace plim::bench
