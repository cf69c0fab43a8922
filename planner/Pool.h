// The best packing of one pool that a budget finds. Internal to planner/.
//
// A portfolio of searches, local search and greedy placements in turn, on as many threads as the
// budget says; docs/design/planner.md explains it. The result depends on the arguments alone as
// long as nobody stops it.
#pragma once

#include "planner/Packing.h"

#include <atomic>
#include <limits>
#include <mutex>

namespace plim::planner {

/// What is left to spend, shared by all that a call of solve() does. Nodes are counted by the
/// thread that called solve(); only `stop` and isStopped() are for all threads.
struct Budget {
  uint64_t nodes = 0; // left
  uint64_t spent = 0;
  unsigned threads = 1, orders = 1;                  // as in Options
  const std::function<bool()> *shouldStop = nullptr; // Options::stop, borrowed; null: none
  std::atomic<bool> stop = false;
  std::mutex asking;

  /// Asks whether to stop. Any thread; none waits, since only one at a time calls `shouldStop`.
  /// Once true it stays true.
  bool isStopped() {
    if (!stop && shouldStop && *shouldStop) {
      std::unique_lock<std::mutex> lock(asking, std::try_to_lock);
      if (lock && !stop && (*shouldStop)())
        stop = true;
    }
    return stop;
  }
  bool isOver() { return isStopped() || nodes == 0; }
  /// Takes `count` nodes for work that is not counted placement by placement. False, and nothing is
  /// taken, if fewer are left.
  bool spend(uint64_t count) {
    if (count > nodes)
      return false;
    nodes -= count;
    spent += count;
    return true;
  }
};

/// What planPool() found, in bytes.
struct PoolPlan {
  std::vector<int64_t> offsets; // of boxes; empty if none was found, or if there are no boxes
  int64_t peak = 0;             // of the offsets
  int64_t lowerBound = 0;       // of any packing; above the capacity: there is none
};

/// When a plan is not looked for any longer, apart from the budget. What is found does not depend
/// on it until then: it is the same with a capacity and without.
struct Goal {
  int64_t enough = 0;                                 // a peak that need not be lowered
  int64_t most = std::numeric_limits<int64_t>::max(); // a bound above it is of no interest
};

/// Starts from the classical heuristics and from `start`, and searches until the peak meets the
/// bound, the goal is reached or the budget is spent. `start` has one offset for each box, or none
/// at all; the caller knows that it is a packing. A bound of the largest int64_t says that pinned
/// boxes collide. Takes its nodes from the budget; blocks, on the calling thread and the others of
/// the budget.
PoolPlan planPool(const Model &model, const Packing &packing, Goal goal,
                  const std::vector<int64_t> &start, Budget &budget);

} // namespace plim::planner
