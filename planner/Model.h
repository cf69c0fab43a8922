// A problem as the planning code sees it: rigid groups have become items, times have become
// sections, and listed conflicts are sections too. Internal to planner/.
//
// A section is a maximal set of buffers that are live at once. Two buffers conflict if and only if
// they share a section, so that floors, loads and conflicts are all kept by section.
#pragma once

#include "planner/Offsets.h"
#include "planner/Planner.h"

namespace plim::planner {

/// An item's bytes [low, high), counted from its offset, in the sections [first, last).
struct Piece {
  uint32_t first = 0, last = 0;
  int64_t low = 0, high = 0;
};

/// The indices [first, last).
struct Range {
  uint32_t first = 0, last = 0;
  uint32_t size() const { return last - first; }
};

/// A pool that an item may be in, where in it, and what its bytes cost there
/// (Objective::PreferredPools).
struct Candidate {
  uint32_t pool = 0;
  Stride stride;
  double cost = 0;
};

/// What is placed as a whole: a rigid group, most often of a single buffer. Its offset is that of
/// its lowest member.
struct Item {
  Range pieces, members, candidates; // in the lists of the model
  int64_t extent = 0;                // bytes: the end of the highest piece
  int64_t bytes = 0;                 // of its pieces where they are highest
  double duration = 0;               // of the lifetimes of its members
  std::optional<int64_t> pin;        // its only offset
};

/// The problem, in lists that items have ranges of. Immutable once built; several threads may read
/// it.
struct Model {
  struct Member {
    uint32_t buffer = 0;
    int64_t delta = 0; // from the item's offset
  };
  /// Bytes that an item adds to the sections [first, last).
  struct Load {
    uint32_t first = 0, last = 0;
    int64_t bytes = 0;
  };

  std::vector<Item> items;
  std::vector<Piece> pieces;         // by item, ascending by `first`
  std::vector<Member> members;       // by item
  std::vector<Candidate> candidates; // by item, best first
  std::vector<uint32_t> itemOf;      // of a buffer
  uint32_t numSections = 0;
  /// Two items of which one may be in place of the other.
  struct Pair {
    uint32_t index = 0;    // in Problem::inPlace
    uint32_t a = 0, b = 0; // items
    int64_t saved = 0;     // bytes, at most, where both are live
  };
  std::vector<Pair> pairs;

  /// Calls `add` with loads whose sum is what the item needs in each section.
  void loadsOf(uint32_t item, const std::function<void(Load)> &add) const;
  /// Do the items share a section and, at these offsets, a byte?
  bool collide(uint32_t a, int64_t offsetA, uint32_t b, int64_t offsetB) const;
};

/// Makes `model` that of the problem, of which it borrows nothing. `fused` are pairs of
/// Problem::inPlace, by index, that are taken as rigid groups. Returns nothing, or why the problem
/// makes no sense, one sentence: then the model is of no use.
std::string build(const Problem &problem, const std::vector<uint32_t> &fused, Model &model);

/// The sections where one of the pieces begins or ends, ascending.
std::vector<uint32_t> cutsOf(const std::vector<Piece> &pieces);

/// Most bytes live at once among `items`: no pool that holds them all has a lower peak. O(pieces +
/// sections).
int64_t lowerBound(const Model &model, const std::vector<uint32_t> &items);

/// What messages call a buffer.
std::string nameOf(const Problem &problem, uint32_t buffer);

/// What messages call a pool.
std::string nameOfPool(const Problem &problem, uint32_t pool);

} // namespace plim::planner
