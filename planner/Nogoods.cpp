#include "planner/Nogoods.h"

#include <algorithm>

namespace plim::planner {

namespace {

constexpr size_t mostNumbers = size_t(1) << 20; // least offsets held

} // namespace

Nogoods::Nogoods(uint32_t numBoxes)
    : numBoxes(numBoxes),
      mostSets(std::max<size_t>(1, mostNumbers / ways / std::max<size_t>(1, numBoxes))) {}

uint64_t Nogoods::hashOf(uint32_t box) {
  // The finalizer of SplitMix64.
  uint64_t x = (uint64_t(box) + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::optional<uint32_t> Nogoods::find(uint64_t hash, const uint32_t *first, const uint32_t *last,
                                      const std::vector<int64_t> &low) const {
  if (turn.empty())
    return std::nullopt;
  size_t begin = setOf(hash) * ways;
  for (size_t i = begin; i < begin + ways; ++i) {
    const int64_t *least = lows.data() + i * numBoxes;
    if (entries[i].hash == hash && entries[i].size == uint32_t(last - first) &&
        std::all_of(first, last,
                    [&](uint32_t box) { return least[box] >= 0 && low[box] >= least[box]; }))
      return entries[i].tag;
  }
  return std::nullopt;
}

void Nogoods::add(uint64_t hash, const uint32_t *first, const uint32_t *last,
                  const std::vector<int64_t> &low, uint32_t tag) {
  if (added++ >= turn.size() * ways && turn.size() < mostSets)
    grow();
  size_t set = setOf(hash), i = set * ways + turn[set]++ % ways;
  int64_t *least = lows.data() + i * numBoxes;
  entries[i] = {hash, uint32_t(last - first), tag};
  std::fill(least, least + numBoxes, -1);
  for (; first != last; ++first)
    least[*first] = low[*first];
}

/// What is held is lost.
void Nogoods::grow() {
  size_t sets = std::min(mostSets, std::max<size_t>(64, 4 * turn.size()));
  turn.assign(sets, 0);
  entries.assign(sets * ways, {});
  lows.assign(sets * ways * numBoxes, -1);
  added = 1;
}

} // namespace plim::planner
