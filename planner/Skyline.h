// Greedy placement from below, for packings of many boxes. Internal to planner/.
#pragma once

#include "planner/Packing.h"

#include <functional>

namespace plim::planner {

/// More than that are too many for what looks at all pairs.
constexpr size_t manyItems = 5000;

/// What makes a box the next one in the lowest gap: its size and duration to these powers; more if
/// it is live where little can be lost, if it touches a side of the gap, and if it becomes level
/// with a neighbour.
struct SkylineWeights {
  double size = 0.5, duration = 1, load = 16, touch = 1, level = 1;
};

/// Offsets by box. Takes the lowest gap of the skyline again and again, and puts the best of the
/// boxes that fit between its sides there. If none fits, the gap is given up to the height of its
/// lower side. What was given up is remembered: where it comes to most, boxes are placed first. O(n
/// log n) gaps, each of which looks at the boxes that begin in it. Empty if a box is pinned, has
/// holes or steps, or once `isStopped`, asked between gaps.
///
/// E. K. Burke, G. Kendall, G. Whitwell, "A New Placement Heuristic for the Orthogonal
/// Stock-Cutting Problem", 2004, is the same for boxes that may move sideways.
std::vector<int64_t> placeOnSkyline(const Packing &packing, const SkylineWeights &weights,
                                    const std::function<bool()> &isStopped);

} // namespace plim::planner
