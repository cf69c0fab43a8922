// The best packing of one pool that a budget finds. Internal to planner/.
#pragma once

#include "planner/Packing.h"

#include <atomic>
#include <mutex>

namespace plim::planner {

/// What is left to spend, shared by all that a call of solve() does.
struct Budget {
  uint64_t nodes = 0; // left
  uint64_t spent = 0;
  unsigned threads = 1;
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
};

struct PoolPlan {
  std::vector<int64_t> offsets; // of boxes; empty if none was found
  int64_t peak = 0;
  int64_t lowerBound = 0; // of any packing; above the capacity: there is none
};

/// Starts from the classical heuristics and from `start`, if it is sound, and searches until the peak
/// meets the bound or the budget is spent. Without `searches` only the heuristics are tried. What is
/// above `capacity` is still returned, as long as nothing better is found.
PoolPlan planPool(const Model &model, const Packing &packing, int64_t capacity,
                  const std::vector<int64_t> &start, bool searches, Budget &budget);

} // namespace plim::planner
