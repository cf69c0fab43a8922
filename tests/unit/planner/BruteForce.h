// What the best plan of a small problem is, found by trying all there are. Shares nothing with the
// planner but Planner.h; slow by design.
#pragma once

#include "planner/Planner.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace plim::planner::testing {

/// The objective of a plan: the lower the better, in this order.
using Value = std::pair<int64_t, int64_t>;
Value valueOf(const Problem &problem, const Plan &plan);

/// Buffers must make sense each by themselves; together they may have no plan. At most 64 bytes of a
/// pool are looked at.
class BruteForce {
public:
  explicit BruteForce(const Problem &problem);

  /// Of the groups with a buffer in `buffers` alone; nothing if there is no plan.
  std::optional<Value> best(const std::vector<uint32_t> &buffers);
  std::optional<Value> best();

  /// With all of these in the pool, whatever its capacity; nothing if that cannot be.
  std::optional<int64_t> smallestPeak(uint32_t pool, const std::vector<uint32_t> &buffers);

private:
  using Mask = uint64_t; // of offsets, or of groups
  struct Group {
    std::vector<std::pair<uint32_t, int64_t>> members; // and their distances from the lowest
    int64_t extent = 0;
    std::vector<Mask> allowed; // offsets, by pool
  };

  void group();
  void allow(Group &group, uint32_t pool);
  bool conflict(uint32_t a, uint32_t b) const;
  bool collide(const Group &a, const Group &b, int64_t distance) const;
  Mask groupsOf(const std::vector<uint32_t> &buffers) const;
  int64_t smallestPeak(uint32_t pool, Mask set);
  int64_t peakOfComponent(uint32_t pool, const std::vector<uint32_t> &component) const;
  bool fits(std::vector<Mask> &offsets, Mask unplaced) const;
  void assign(Mask rest, std::vector<Mask> &sets, int64_t cost, std::optional<Value> &best);

  const Problem &problem;
  std::vector<Group> groups;
  std::vector<uint32_t> groupOf; // of a buffer
  /// By two groups: bit 63 + d if the second may not lie d bytes above the first.
  std::vector<std::vector<unsigned __int128>> forbidden;
  std::map<std::pair<uint32_t, Mask>, int64_t> peaks; // by pool and set
};

} // namespace plim::planner::testing
