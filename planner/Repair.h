// Local search on one pool. Internal to planner/.
#pragma once

#include "planner/Search.h"

namespace plim::planner {

/// Holds a packing and makes it lower, again and again by a share of what it is above a bound. What
/// ends above that is taken out. Then what is out is put back, the most valuable box first: into
/// the tightest gap that holds it, or where those in its way are worth least, and these are taken
/// out. A box that finds no gap becomes worth more.
///
/// O(boxes + sqrt(sections) * boxes of a section) memory. A step looks at the boxes that are live
/// together with one. Of one thread at a time; the same calls give the same offsets.
class Repair {
public:
  /// Borrows the packing. hold() before run().
  explicit Repair(const Packing &packing);
  /// Holds these offsets, a packing, from now on.
  void hold(const std::vector<int64_t> &offsets);
  /// Tries to lower the peak to `bound`, in about `nodes` steps. Found, with the offsets that are
  /// held then, if the peak has become lower; Stopped if it is as before. `isStopped` is asked
  /// between steps.
  Attempt run(int64_t bound, uint64_t nodes, const std::function<bool()> &isStopped);

private:
  /// A part of a box that is not out.
  struct Placed {
    int64_t low = 0, high = 0; // bytes
    float worth = 0;           // 0 if it is out
    uint32_t last = 0;         // section
    uint32_t box = 0;
  };
  /// Where something begins or ends to be in the way.
  struct Edge {
    int64_t offset;
    double worth;
  };
  struct Spot {
    int64_t offset = 0;
    bool isFree = false;
  };

  void index();
  bool reach(int64_t capacity, uint64_t nodes, const std::function<bool()> &isStopped);
  template <typename Function> void forOthers(uint32_t box, Function function);
  void take(uint32_t box);
  uint32_t next();
  void put(uint32_t box, int64_t offset);
  bool choose(uint32_t box, int64_t capacity, Spot &spot);
  void sortEdges(std::vector<Edge> &edges);
  double random();

  const Packing &packing;
  std::vector<int64_t> held, offsets; // of boxes
  std::vector<double> value, worth;   // of boxes; `worth` grows
  std::vector<Placed> placed;         // by part, ascending by where they begin
  std::vector<uint32_t> indexOf;      // of parts in `placed`
  std::vector<uint32_t> out;          // boxes, a heap by value
  std::vector<uint32_t> firstFrom;    // by section, where in `placed` its own begin
  /// Parts that cross into every `period`th section, and by such section where they begin.
  std::vector<uint32_t> crossing, firstCrossing;
  uint32_t period = 1;
  std::vector<Edge> lows, highs, sorted;
  std::vector<uint32_t> counts;
  double share = 0.03; // to be saved next, of what is above the bound
  uint64_t state = 88172645463325252u, spent = 0, looked = 0;
};

} // namespace plim::planner
