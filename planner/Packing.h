// What one pool has to hold: boxes of sections and bytes. Internal to planner/.
#pragma once

#include "planner/Model.h"

namespace plim::planner {

/// An item of a pool. Its parts are its pieces, at most one in each section: what lies between two
/// pieces of one section is lost to others here.
struct Box {
  Range parts;         // in Packing::parts
  Stride stride;       // the offsets that it may have
  int64_t extent = 0;  // bytes, up to the end of its highest part
  int64_t pin = -1;    // the only offset that it may have; -1: none
  uint32_t item = 0;   // of the model; of no meaning in a block of several boxes
  double duration = 0; // of its lifetime, in positions of the schedule

  /// The least offset that it may have.
  int64_t lowest() const { return pin >= 0 ? pin : stride.atLeast(0); }
};

/// The problem of one pool. A packing of it, or solution, is an offset in bytes for each box, such
/// that no two boxes of one section share a byte of it. Immutable once made; several threads may
/// read it.
struct Packing {
  std::vector<Box> boxes;
  std::vector<Piece> parts; // by box, ascending
  uint32_t numSections = 0; // renumbered: the maximal sets of these boxes only
  /// All offsets that are needed are multiples of it: what is between is lost.
  int64_t unit = 1;
  /// All peaks that are needed are multiples of it.
  int64_t step = 1;
  /// Some best solution has the boxes of every section in the order of their offsets, as the search
  /// assumes. False if parts do not begin at the offset of their box.
  bool isExact = true;
  int64_t lowerBound = 0; // of any peak

  Range partsOf(uint32_t box) const { return boxes[box].parts; }
};

/// A box for each of these items, in their order, all of which may be in `pool`. Keeps nothing of
/// the model.
Packing packingOf(const Model &model, const std::vector<uint32_t> &items, uint32_t pool);

/// Drops the sections of which another holds all boxes. Offsets mean the same afterwards.
void renumber(Packing &packing);

/// The end of the highest box, in bytes; 0 without boxes.
int64_t peakOf(const Packing &packing, const std::vector<int64_t> &offsets);

/// The orders in which classical heuristics place.
enum class Order { Size, Conflicts, Area, Duration, Start };
/// Every box once, pinned ones first.
std::vector<uint32_t> orderBy(const Packing &packing, Order order);

enum class Fit { First, Best };
/// Places the boxes one after the other, pinned ones before, each into the first or the smallest
/// gap that holds it. O(n^2). Empty if pinned boxes collide. `isStopped` is asked every 64 boxes,
/// if there is one; what is left then is put on top.
std::vector<int64_t> placeInOrder(const Packing &packing, const std::vector<uint32_t> &order,
                                  Fit fit, const std::function<bool()> &isStopped = {});

} // namespace plim::planner
