// Branch and bound over which of two pieces is above the other. Internal to planner/.
#pragma once

#include "planner/Search.h"

namespace plim::planner {

/// As search(), for shapes that interlock: slower, but Exhausted proves that there is no packing
/// whatever the shapes are, and gaps within items are used.
Attempt searchPairs(const Model &model, const Packing &packing, int64_t capacity, uint64_t nodes,
                    const std::function<bool()> &isStopped);

} // namespace plim::planner
