// Branch and bound on one pool with a given capacity. Internal to planner/.
#pragma once

#include "planner/Packing.h"

#include <functional>

namespace plim::planner {

/// How the search branches. Instances differ widely in what suits them: a portfolio is tried.
struct Strategy {
  /// The section to branch on.
  enum class Choice {
    FewestOptions, // ties: least slack
    Failures,      // fewest options by failures seen so far
    LeastSlack,
    Lowest,
    FewestLowest, // fewest options, ties: lowest
  };
  /// Which box of a section is tried first.
  enum class First { Area, Width, Size, LoadArea, LoadWidth, LoadSize };
  Choice choice = Choice::FewestOptions;
  First first = First::Area;
  uint64_t noise = 0; // seed of a perturbation of the order; 0: none
};

/// A node counts once more for so many sections of boxes that it looks at.
constexpr uint64_t sectionsPerNode = 2048;

enum class Outcome { Found, Exhausted, Stopped };

struct Attempt {
  Outcome outcome = Outcome::Stopped;
  std::vector<int64_t> offsets; // of boxes, if found
  uint64_t nodes = 0;
};

/// Looks for a packing whose peak is at most `capacity`, with at most `nodes` decisions. If
/// Packing::isExact, Exhausted proves that there is none. `isStopped` is
/// asked between nodes.
Attempt search(const Packing &packing, int64_t capacity, Strategy strategy, uint64_t nodes,
               const std::function<bool()> &isStopped);

} // namespace plim::planner
