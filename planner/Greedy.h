// Greedy placement of items, one after the other. Internal to planner/.
#pragma once

#include "planner/Model.h"

namespace plim::planner {

/// Where the items are. An item that found no room has been placed as if its last pool had no
/// capacity, and a pinned one that collides is where it is pinned: planOf() finds both.
struct Placement {
  std::vector<int64_t> offsets; // by item, bytes
  std::vector<uint32_t> pools;  // by item
};

/// Places the items of `order`, each item once, each into the smallest gap that holds it, in the
/// first of its pools where it fits. O(n^2) for n items of a piece each.
Placement placeBestFit(const Problem &problem, const Model &model,
                       const std::vector<uint32_t> &order);

/// Pinned items, then the largest first.
std::vector<uint32_t> orderBySize(const Model &model);

/// The plan of a placement of all items. Optimal if there is one pool and its peak is the bound,
/// otherwise Feasible. Unknown, with a message, if pins collide or bytes are missing: another
/// placement may do.
Plan planOf(const Problem &problem, const Model &model, const Placement &placement);

} // namespace plim::planner
