// A first plan of very many boxes. Internal to planner/.
#pragma once

#include "planner/Packing.h"

namespace plim::planner {

/// Has each box one interval at most, and nothing but a size and a stride? One that is pinned is
/// none.
bool areRectangles(const Packing &packing);

/// Offsets by box, as an allocator would give them that is called as time goes on: in the order in
/// which they begin, each box gets a free range that is hardly larger. O(boxes + sections). Empty
/// unless they are rectangles. Its lists of free ranges are those of M. Masmano et al., "TLSF: a
/// New Dynamic Memory Allocator for Real-Time Systems", 2004.
std::vector<int64_t> placeAsAllocated(const Packing &packing);

} // namespace plim::planner
