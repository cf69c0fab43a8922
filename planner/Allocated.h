// A first plan of very many boxes. Internal to planner/.
#pragma once

#include "planner/Packing.h"

namespace plim::planner {

/// Has each box one interval, and nothing but a size and a stride?
bool areRectangles(const Packing &packing);

/// As an allocator would that is called as time goes on: in the order in which they begin, each box
/// gets a free range that is hardly larger. O(boxes + sections). Empty unless they are rectangles.
std::vector<int64_t> placeAsAllocated(const Packing &packing);

} // namespace plim::planner
