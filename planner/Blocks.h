// Boxes joined to larger ones, so that there are fewer to place. Internal to planner/.
#pragma once

#include "planner/Packing.h"

namespace plim::planner {

/// A packing of fewer boxes. Each of its solutions is one of the packing that it was made of, with
/// the same peak; some of those are lost.
struct Blocks {
  struct Place {
    uint32_t block = 0;
    int64_t delta = 0; // from the block's offset
  };
  Packing packing;
  std::vector<Place> places; // of the boxes that were joined

  /// From offsets of the blocks to those of the boxes.
  std::vector<int64_t> offsetsOf(const std::vector<int64_t> &blocks) const;
};

/// Joins two boxes of the same sections, one above the other, and two of the same bytes of which one
/// begins where the other ends, side by side, as long as there are any. No section needs more bytes
/// than before. `seed` decides what is joined first. O(n log n), again for each time that there are
/// fewer sections afterwards. `isStopped` is asked every 64 boxes; then nothing further is joined.
Blocks join(const Packing &packing, uint64_t seed, const std::function<bool()> &isStopped);

} // namespace plim::planner
