#include "tests/unit/planner/BruteForce.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace plim::planner::testing {

namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max();
constexpr uint64_t one = 1;

/// How many pools the buffer prefers to this one.
int64_t rankOf(const Problem &problem, uint32_t buffer, uint32_t pool) {
  const std::vector<uint32_t> &pools = problem.buffers[buffer].pools;
  return pools.empty() ? pool : std::find(pools.begin(), pools.end(), pool) - pools.begin();
}

} // namespace

Value valueOf(const Problem &problem, const Plan &plan) {
  Value value = {0, 0};
  for (uint32_t pool = 0; pool < problem.pools.size(); ++pool)
    if (problem.objective == Objective::WeightedPeaks)
      value.first += plan.peaks[pool] * problem.pools[pool].weight;
    else
      value.second += plan.peaks[pool];
  if (problem.objective == Objective::PreferredPools)
    for (uint32_t i = 0; i < problem.buffers.size(); ++i)
      value.first += problem.buffers[i].bytes * rankOf(problem, i, plan.pools[i]);
  return value;
}

BruteForce::BruteForce(const Problem &problem) : problem(problem) {
  group();
  for (Group &group : groups)
    for (uint32_t pool = 0; pool < problem.pools.size(); ++pool)
      allow(group, pool);
  forbidden.resize(groups.size());
  for (uint32_t a = 0; a < groups.size(); ++a)
    for (uint32_t b = 0; b < groups.size(); ++b) {
      unsigned __int128 &mask = forbidden[a].emplace_back(0);
      for (int64_t distance = -63; a != b && distance <= 63; ++distance)
        if (collide(groups[a], groups[b], distance))
          mask |= (unsigned __int128)(1) << (63 + distance);
    }
}

void BruteForce::group() {
  std::map<uint32_t, uint32_t> groupOfRoot;
  for (uint32_t i = 0; i < problem.buffers.size(); ++i) {
    uint32_t root = i;
    int64_t distance = 0;
    for (; problem.buffers[root].base; root = *problem.buffers[root].base)
      distance += problem.buffers[root].delta;
    auto [known, isNew] = groupOfRoot.emplace(root, uint32_t(groups.size()));
    if (isNew)
      groups.emplace_back();
    groupOf.push_back(known->second);
    groups[known->second].members.push_back({i, distance});
  }
  for (Group &group : groups) {
    int64_t lowest = never;
    for (auto [buffer, distance] : group.members)
      lowest = std::min(lowest, distance);
    for (auto &[buffer, distance] : group.members) {
      distance -= lowest;
      if (int64_t bytes = problem.buffers[buffer].bytes)
        group.extent = std::max(group.extent, distance + bytes);
    }
  }
}

void BruteForce::allow(Group &group, uint32_t index) {
  const Pool &pool = problem.pools[index];
  Mask &mask = group.allowed.emplace_back(0);
  for (int64_t at = 0; at < 64; ++at) {
    bool isAllowed = true;
    for (auto [i, distance] : group.members) {
      const Buffer &buffer = problem.buffers[i];
      int64_t offset = at + distance;
      bool isCandidate = buffer.pools.empty() || std::find(buffer.pools.begin(), buffer.pools.end(),
                                                           index) != buffer.pools.end();
      isAllowed &= isCandidate && (buffer.accessors & ~pool.accessors) == 0 &&
                   offset % buffer.alignment == 0 &&
                   (buffer.base || offset % pool.alignment == 0) &&
                   (!buffer.offset || *buffer.offset == offset);
    }
    mask |= isAllowed ? one << at : 0;
  }
}

bool BruteForce::conflict(uint32_t a, uint32_t b) const {
  for (auto [c, d] : problem.conflicts)
    if ((c == a && d == b) || (c == b && d == a))
      return true;
  for (Interval x : problem.buffers[a].lifetime)
    for (Interval y : problem.buffers[b].lifetime)
      if (std::max(x.lower, y.lower) < std::min(x.upper, y.upper))
        return true;
  return false;
}

bool BruteForce::collide(const Group &a, const Group &b, int64_t distance) const {
  for (auto [i, atI] : a.members)
    for (auto [j, inB] : b.members) {
      int64_t atJ = inB + distance;
      if (atI >= atJ + problem.buffers[j].bytes || atJ >= atI + problem.buffers[i].bytes ||
          problem.buffers[i].bytes == 0 || problem.buffers[j].bytes == 0 || !conflict(i, j))
        continue;
      bool isInPlace = false;
      for (auto [c, d] : problem.inPlace)
        isInPlace |= atI == atJ && ((c == i && d == j) || (c == j && d == i));
      if (!isInPlace)
        return true;
    }
  return false;
}

BruteForce::Mask BruteForce::groupsOf(const std::vector<uint32_t> &buffers) const {
  Mask set = 0;
  for (uint32_t buffer : buffers)
    set |= one << groupOf[buffer];
  return set;
}

/// Places the unplaced at one of their offsets each, which is left in `offsets`.
bool BruteForce::fits(std::vector<Mask> &offsets, Mask unplaced) const {
  if (unplaced == 0)
    return true;
  int next = -1;
  for (Mask rest = unplaced; rest; rest &= rest - 1) {
    int group = std::countr_zero(rest);
    if (next < 0 || std::popcount(offsets[group]) < std::popcount(offsets[next]))
      next = group;
  }
  unplaced &= ~(one << next);
  for (Mask choices = offsets[next]; choices; choices &= choices - 1) {
    int at = std::countr_zero(choices);
    std::vector<Mask> left = offsets;
    bool isPossible = true;
    for (Mask rest = unplaced; rest && isPossible; rest &= rest - 1) {
      int group = std::countr_zero(rest);
      left[group] &= ~Mask(forbidden[next][group] >> (63 - at));
      isPossible = left[group] != 0;
    }
    if (isPossible && fits(left, unplaced))
      return true;
  }
  return false;
}

int64_t BruteForce::peakOfComponent(uint32_t pool, const std::vector<uint32_t> &component) const {
  Mask set = 0;
  int64_t capacity = 0;
  for (uint32_t group : component) {
    set |= one << group;
    capacity = std::max(capacity, groups[group].extent);
  }
  for (; capacity <= 64; ++capacity) {
    std::vector<Mask> offsets(groups.size(), 0);
    for (uint32_t group : component) {
      int64_t last = std::min<int64_t>(63, capacity - groups[group].extent);
      if (groups[group].extent == 0)
        last = 63; // without bytes it counts in no peak
      offsets[group] = groups[group].allowed[pool] & (~Mask(0) >> (63 - last));
    }
    if (fits(offsets, set))
      return capacity;
  }
  return never;
}

/// The highest of the peaks of what hangs together by conflicts.
int64_t BruteForce::smallestPeak(uint32_t pool, Mask set) {
  auto [known, isNew] = peaks.emplace(std::pair(pool, set), 0);
  if (!isNew)
    return known->second;
  int64_t peak = 0;
  while (set) {
    std::vector<uint32_t> component = {uint32_t(std::countr_zero(set))};
    set &= set - 1;
    for (size_t i = 0; i < component.size(); ++i)
      for (Mask rest = set; rest; rest &= rest - 1) {
        uint32_t group = uint32_t(std::countr_zero(rest));
        if (forbidden[component[i]][group] == 0)
          continue;
        component.push_back(group);
        set &= ~(one << group);
      }
    peak = std::max(peak, peakOfComponent(pool, component));
  }
  return known->second = peak;
}

/// Every way to put the rest of the groups into pools.
void BruteForce::assign(Mask rest, std::vector<Mask> &sets, int64_t cost,
                        std::optional<Value> &best) {
  if (best && cost > best->first)
    return;
  if (rest) {
    int group = std::countr_zero(rest);
    for (uint32_t pool = 0; pool < sets.size(); ++pool) {
      if (groups[group].allowed[pool] == 0)
        continue;
      int64_t more = 0;
      if (problem.objective == Objective::PreferredPools)
        for (auto [buffer, distance] : groups[group].members)
          more += problem.buffers[buffer].bytes * rankOf(problem, buffer, pool);
      sets[pool] ^= one << group;
      assign(rest & (rest - 1), sets, cost + more, best);
      sets[pool] ^= one << group;
    }
    return;
  }
  Value value = {cost, 0};
  for (uint32_t pool = 0; pool < sets.size(); ++pool) {
    int64_t peak = smallestPeak(pool, sets[pool]);
    if (peak == never || peak > problem.pools[pool].capacity.value_or(never))
      return;
    if (problem.objective == Objective::WeightedPeaks)
      value.first += peak * problem.pools[pool].weight;
    else
      value.second += peak;
  }
  if (!best || value < *best)
    best = value;
}

std::optional<Value> BruteForce::best(const std::vector<uint32_t> &buffers) {
  std::optional<Value> best;
  std::vector<Mask> sets(problem.pools.size(), 0);
  assign(groupsOf(buffers), sets, 0, best);
  return best;
}

std::optional<Value> BruteForce::best() {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < problem.buffers.size(); ++i)
    all.push_back(i);
  return best(all);
}

std::optional<int64_t> BruteForce::smallestPeak(uint32_t pool,
                                                const std::vector<uint32_t> &buffers) {
  int64_t peak = smallestPeak(pool, groupsOf(buffers));
  if (peak == never)
    return std::nullopt;
  return peak;
}

} // namespace plim::planner::testing
