// Greedy placement of items, one after the other. Internal to planner/.
#pragma once

#include "planner/Model.h"

namespace plim::planner {

/// Where the items are. One that found no room has been placed as if its last pool had no capacity.
struct Placement {
  std::vector<int64_t> offsets;
  std::vector<uint32_t> pools;
};

/// Places the items in the given order, each into the smallest gap that holds it, in the first of its
/// pools where it fits.
Placement placeBestFit(const Problem &problem, const Model &model,
                       const std::vector<uint32_t> &order);

/// Pinned items, then the largest first.
std::vector<uint32_t> orderBySize(const Model &model);

/// The plan of a placement: optimal if it reaches the bounds, infeasible or unknown if it is none.
Plan planOf(const Problem &problem, const Model &model, const Placement &placement);

} // namespace plim::planner
