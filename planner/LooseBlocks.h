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

/// Makes fewer of loose blocks by large neighbourhood search: takes a few that are near each other in
/// time apart, joins their boxes and the other blocks in an order of its own and as if some pairs did not
/// match, and goes on with that unless there are more then. Two boxes that match by chance keep each from those that it belongs to,
/// and then more blocks are left: with fewer ones there are fewer such mistakes. `spend` is told what a
/// try costs, in nodes, and may refuse it.
///
/// P. Shaw, "Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems",
/// 1998, has the neighbourhoods.
Blocks joinBetter(const Packing &packing, Blocks blocks, int64_t most, uint64_t seed,
                  const std::function<bool(uint64_t)> &spend,
                  const std::function<bool()> &isStopped);

/// What joining so many boxes loosely costs, in nodes.
constexpr uint64_t nodesOfJoining(uint64_t boxes) { return boxes * boxes / 512; }

} // namespace plim::planner
