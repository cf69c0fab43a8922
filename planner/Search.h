// Branch and bound on one pool with a given capacity. Internal to planner/.
#pragma once

#include "planner/Packing.h"

#include <functional>
#include <memory>

namespace plim::planner {

class Proof;

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

/// A decision counts as one node, and one more for every so many sections of boxes that it looks
/// at.
constexpr uint64_t sectionsPerNode = 2048;

/// Found: there is a packing. Exhausted: the search has tried everything. Stopped: it may go on.
enum class Outcome { Found, Exhausted, Stopped };

/// What one run of a search came to.
struct Attempt {
  Outcome outcome = Outcome::Stopped;
  std::vector<int64_t> offsets; // of boxes, if found
  uint64_t nodes = 0;           // that it took
  int64_t least = 0; // if exhausted: no packing has a lower peak; the most if there is none at all
};

/// Branch and bound over what rests where in a packing whose peak is at most `capacity`. It may be
/// continued for as long as it takes, so that it always ends. Memory is linear in the boxes, the
/// sections and the depth.
class Search {
public:
  /// Borrows the packing. What refutes `capacity`, in bytes, is written to `proof`, if there is
  /// one; both must live as long. A search is of one thread at a time.
  Search(const Packing &packing, int64_t capacity, Strategy strategy, Proof *proof = nullptr);
  Search(Search &&) noexcept;
  Search &operator=(Search &&) noexcept;
  ~Search();

  /// Makes up to `nodes` further decisions. If Packing::isExact, Exhausted proves that there is no
  /// such packing. `isStopped` is asked between nodes; after Stopped, call it again to go on.
  Attempt run(uint64_t nodes, const std::function<bool()> &isStopped);

private:
  class Searcher;
  std::unique_ptr<Searcher> searcher;
};

/// The first so many decisions of a search.
Attempt search(const Packing &packing, int64_t capacity, Strategy strategy, uint64_t nodes,
               const std::function<bool()> &isStopped);

} // namespace plim::planner
