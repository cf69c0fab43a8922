// The static memory planner: offsets for buffers with lifetimes, in one or several pools.
//
// Standard library only; used at load, and at call when sizes become known. A problem that makes no
// sense gives a plan of status Invalid that says why: nothing here throws, aborts or overflows for
// what a problem holds. Functions are pure and may run on any thread; what they return depends on
// their arguments alone, never on the clock or on how threads were scheduled.
// docs/design/planner.md explains the model and the search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plim::planner {

/// Half-open, in positions of a schedule. Empty if both are the same.
struct Interval {
  int64_t lower = 0;
  int64_t upper = 0;
};

/// What is to be placed. All in bytes and positions of a schedule.
struct Buffer {
  /// When it is live: ascending and disjoint, with holes where its memory may be used by others.
  /// None at all if only listed conflicts count.
  std::vector<Interval> lifetime;
  int64_t bytes = 0;     // one of 0 bytes conflicts with nobody
  int64_t alignment = 1; // of its offset, any positive number of bytes
  /// Where it has to be, in whichever pool.
  std::optional<int64_t> offset;
  /// The pools it may be in, indices into Problem::pools, best first. Empty: all, in their order.
  std::vector<uint32_t> pools;
  /// The devices that touch it, a bit each: a pool must be reached by all of them.
  uint64_t accessors = 0;
  /// A buffer that this one has a fixed distance from: offset = offset of base + delta. Buffers
  /// that hang together in this way are a rigid group. It is in one pool, and its members never
  /// conflict with each other: views, parts of a concatenation, and (delta 0) results computed in
  /// place.
  std::optional<uint32_t> base;
  int64_t delta = 0;
  std::string name; // for messages; buffers without one are told by their index
};

/// Memory that buffers may be in, of offsets from 0.
struct Pool {
  std::string name;                // for messages
  std::optional<int64_t> capacity; // bytes; none: no limit
  /// Of every offset in it but those of buffers that have a base.
  int64_t alignment = 1;
  uint64_t accessors = ~uint64_t(0); // the devices that reach it, a bit each
  int64_t weight = 1;                // of a byte of its peak, at least 0
};

/// What the best plan is.
enum class Objective {
  /// Every byte in the best pool that its buffer may be in, as far as they have room: the least sum
  /// over all buffers of bytes times the pools it prefers to its own. The sum of peaks decides
  /// ties.
  PreferredPools,
  /// The least sum over all pools of peak times weight.
  WeightedPeaks,
};

/// Two buffers conflict, and may not share a byte of a pool, if there is a time when both are live
/// or if they are listed in `conflicts`.
struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Pool> pools = {Pool{}};
  std::vector<std::pair<uint32_t, uint32_t>> conflicts; // in any order
  /// The conflict of these two does not count if they get the same offset in the same pool.
  std::vector<std::pair<uint32_t, uint32_t>> inPlace;
  Objective objective = Objective::PreferredPools;
};

enum class Status {
  Optimal,    // no plan is better
  Feasible,   // a plan; there may be better ones
  Unknown,    // no plan found in the budget, and none proved impossible
  Infeasible, // no plan is possible: `subset` shows why
  Invalid,    // the problem makes no sense: `message` says why
};

/// An answer to a problem, by value: it refers to nothing of the problem.
struct Plan {
  Status status = Status::Invalid;
  /// For Unknown, Infeasible and Invalid, one sentence.
  std::string message;
  /// Of the buffers, in their order; empty if there is no plan.
  std::vector<int64_t> offsets; // bytes
  std::vector<uint32_t> pools;
  /// Of the pools, in their order. A peak is the end of the highest buffer. A bound is what the
  /// buffers that the plan has in the pool need at least, wherever in it they are.
  std::vector<int64_t> peaks, lowerBounds;
  /// For Infeasible: buffers that have no plan together, but have one without any one of them;
  /// rigid groups count as one. Irreducible as far as the budget reached.
  std::vector<uint32_t> subset;
  /// For Infeasible and Unknown: by how many bytes capacities would have to grow for the best plan
  /// that was found without them; 0 if pins collide whatever the capacities are.
  int64_t missingBytes = 0;
  /// Placements tried, the measure of the budget.
  uint64_t nodes = 0;

  bool isFound() const { return status == Status::Optimal || status == Status::Feasible; }
};

/// How long solve() searches, and from where.
struct Options {
  /// Placements to try beyond the classical heuristics. The plan depends on the problem, this
  /// number, the number of orders and the warm start only.
  uint64_t nodes = 100'000;
  /// Threads that search, the caller's among them. Changes the time, not the plan.
  unsigned threads = 1;
  /// Orders of the buffers that are searched side by side and share the nodes. Each keeps about two
  /// threads busy: where there are more, they are worth it. Changes the plan.
  unsigned orders = 1;
  /// A plan of a similar problem (the same buffers, of which some may have changed), to start from.
  /// Borrowed; null: none.
  const Plan *warmStart = nullptr;
  /// Asked now and then, by one thread at a time; true ends the search with the best plan so far.
  /// Empty: it is not asked. Must not throw.
  std::function<bool()> stop;
};

/// Why the problem makes no sense, one sentence; empty if it does. O(n log n) without conflicts.
std::string check(const Problem &problem);

/// The best plan that the budget finds, never worse than planGreedy's of up to 5,000 buffers unless
/// it is stopped. A capacity of a single pool changes no plan: it is the same without one. Blocks,
/// and starts threads of its own if Options::threads says so, which have ended when it returns.
Plan solve(const Problem &problem, const Options &options = {});

/// Greedy by size, best fit: largest buffer first, each into the smallest gap between the buffers
/// it conflicts with that holds it, in the first of its pools where it fits (Pisarchyk and Lee,
/// "Efficient Memory Management for Deep Neural Net Inference", 2020). Does not look for more. A
/// plan of 0 buffers has peak 0. O(n^2).
Plan planGreedy(const Problem &problem);

/// Why the plan is not one of the problem: offsets, alignments, pins, bases, pools, conflicts,
/// capacities and peaks, found without any code of the search. Empty if it is sound; a plan that
/// was not found is not.
std::string verify(const Problem &problem, const Plan &plan);

} // namespace plim::planner
