// The best packing of one pool that a budget finds. Internal to planner/.
#pragma once

#include "planner/Packing.h"

#include <atomic>
#include <limits>
#include <mutex>

namespace plim::planner {

/// What is left to spend, shared by all that a call of solve() does.
struct Budget {
  uint64_t nodes = 0; // left
  uint64_t spent = 0;
  unsigned threads = 1, orders = 1;
  const std::function<bool()> *shouldStop = nullptr;
  std::atomic<bool> stop = false;
  std::mutex asking;

  /// Asks whether to stop. By any thread, but only one asks at a time.
  bool isStopped() {
    if (!stop && shouldStop && *shouldStop) {
      std::unique_lock<std::mutex> lock(asking, std::try_to_lock);
      if (lock && !stop && (*shouldStop)())
        stop = true;
    }
    return stop;
  }
  bool isOver() { return isStopped() || nodes == 0; }
  /// For what is not counted placement by placement. False if there are not as many left.
  bool spend(uint64_t count) {
    if (count > nodes)
      return false;
    nodes -= count;
    spent += count;
    return true;
  }
};

struct PoolPlan {
  std::vector<int64_t> offsets; // of boxes; empty if none was found
  int64_t peak = 0;
  int64_t lowerBound = 0; // of any packing; above the capacity: there is none
};

/// When a plan is not looked for any longer, apart from the budget. What is found does not depend
/// on it until then: it is the same with a capacity and without.
struct Goal {
  int64_t enough = 0;                                 // a peak that need not be lowered
  int64_t most = std::numeric_limits<int64_t>::max(); // a bound above it is of no interest
};

/// Starts from the classical heuristics and from `start`, if it is sound, and searches until the
/// peak meets the bound, the goal is reached or the budget is spent.
PoolPlan planPool(const Model &model, const Packing &packing, Goal goal,
                  const std::vector<int64_t> &start, Budget &budget);

} // namespace plim::planner
