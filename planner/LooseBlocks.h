// Boxes joined to larger ones that waste a little. Internal to planner/.
#pragma once

#include "planner/Blocks.h"

namespace plim::planner {

/// As join(), for boxes that nearly match. Two that are live at about the same time become one
/// above the other; two of about the same bytes, of which one ends before the other begins, become
/// side by side. Pairs that waste the least come first. No section may come to need more than
/// `most` bytes by it, so that a packing of the blocks may still be that low; the bound of the
/// blocks says so. `seed` changes the order; 0: none. `isStopped` is asked now and then; once it is
/// true nothing further is joined. O(n^2 log n): for at most `manyItems` boxes.
Blocks joinLoosely(const Packing &packing, int64_t most, uint64_t seed,
                   const std::function<bool()> &isStopped);

/// Makes fewer of loose blocks by large neighbourhood search. A step takes apart a few blocks that
/// are near each other in time. It joins their boxes and the other blocks again, in an order of its
/// own and as if some pairs did not match. It keeps the result unless there are more blocks then.
/// Fewer blocks are better: two boxes that match by chance keep each other from the boxes that they
/// belong to, which leaves more blocks. `spend` is told what a step costs, in nodes, and may refuse
/// it.
///
/// P. Shaw, "Using Constraint Programming and Local Search Methods to Solve Vehicle Routing
/// Problems", 1998, has the neighbourhoods.
Blocks joinBetter(const Packing &packing, Blocks blocks, int64_t most, uint64_t seed,
                  const std::function<bool(uint64_t)> &spend,
                  const std::function<bool()> &isStopped);

/// What joining so many boxes loosely costs, in nodes.
constexpr uint64_t nodesOfJoining(uint64_t boxes) { return boxes * boxes / 512; }

} // namespace plim::planner
