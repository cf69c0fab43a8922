// Boxes joined to larger ones that waste a little. Internal to planner/.
#pragma once

#include "planner/Blocks.h"

namespace plim::planner {

/// As join(), for boxes that nearly match: two that are live at about the same time, one above the
/// other, and two of about the same bytes of which one ends before the other begins, side by side.
/// What wastes the least comes first, and no section may need more than `most` bytes, if it has not
/// before. So a packing of the blocks may still be that low; its bound says so. `seed` changes the
/// order; 0: none. `isStopped` is asked now and then; nothing further is joined then. O(n^2 log n):
/// at most `manyItems` boxes.
Blocks joinLoosely(const Packing &packing, int64_t most, uint64_t seed,
                   const std::function<bool()> &isStopped);

} // namespace plim::planner
