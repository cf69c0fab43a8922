// Boxes joined to larger ones, so that there are fewer to place. Internal to planner/.
#pragma once

#include "planner/Packing.h"

namespace plim::planner {

/// A packing of fewer boxes. Each of its solutions is a solution of the packing that it was made
/// of, with the same peak; not every solution of that one is one of the blocks.
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

/// A box, or what two of them were joined to, while boxes are joined.
struct BlockNode {
  static constexpr uint32_t none = ~0u; // no parent
  Stride stride;
  Piece part;               // if it is a rectangle
  uint32_t parent = none;   // what it has become a part of
  int64_t delta = 0;        // from the offset of that
  bool isRectangle = false; // only those may be joined

  /// Bytes up to where another one may be put on top.
  int64_t rounded() const;
};

/// A node for each box. What is pinned, has holes or steps is no rectangle.
std::vector<BlockNode> nodesOf(const Packing &packing);
/// The blocks that joined nodes make: those without a parent. The first nodes are those of the
/// boxes, and each parent comes after what it is made of.
Blocks assemble(const Packing &packing, const std::vector<BlockNode> &nodes);

/// The blocks of `packing` for which `isKept` is true, and the boxes that the others were made of.
Blocks takeApart(const Packing &packing, const Blocks &blocks, const std::vector<bool> &isKept);

/// Calls `joinOnce` with the packing of the blocks again, as long as there become fewer of them.
/// Fewer sections are maximal then, so that more boxes may have the same sections.
Blocks joinRepeatedly(Blocks blocks, const std::function<Blocks(const Packing &)> &joinOnce);

/// Joins two boxes of the same sections, one above the other, and two of the same bytes of which
/// one begins where the other ends, side by side, as long as there are any. No section needs more
/// bytes than before. `seed` decides what is joined first. O(n log n), again for each time that
/// there are fewer sections afterwards. `isStopped` is asked every 64 boxes; then nothing further
/// is joined.
Blocks join(const Packing &packing, uint64_t seed, const std::function<bool()> &isStopped);

} // namespace plim::planner
