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
/// A rectangle of time and bytes cut into pieces until there are `count`: the best peak is the
/// lower bound, and every byte counts.
planner::Problem cuts(int count);
/// The same, but each lifetime trimmed by up to 2% at either end and each size by up to 1%, so that
/// hardly two fit together any more: the best peak is at most 2^20 bytes, that of cuts().
planner::Problem trims(int count);
/// Trimmed in the same way, but the rectangle was divided into four around one in the middle, and so was each piece:
/// no straight cut goes through any of them, and no two pieces ever make a rectangle. `count` is 1 more than a
/// multiple of 4.
planner::Problem pinwheels(int count);
/// What ends is replaced by as many bytes in other pieces, wherever they may be: the load is about
/// `load` bytes all the time, and often no packing is as low. Sizes are up to `largest`; `slack`
/// bytes of the load may be missing. Where count is 20 to 45, the best peak can be proved.
planner::Problem gaps(int count, int seed, int64_t load, int64_t largest, int64_t slack);
/// Uniform starts, durations around `share` of all time, sizes over three orders of magnitude.
planner::Problem scatter(int count, double share);

/// Pairs of buffers that are live at the same time.
int64_t countPairs(const planner::Problem &problem);

} // namespace plim::bench
