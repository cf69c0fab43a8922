#include "planner/Greedy.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <tuple>

namespace plim::planner {

namespace {

/// Offsets of an item between these two would share bytes with a placed one.
struct Forbidden {
  int64_t low, high;
};

class Placer {
public:
  Placer(const Problem &problem, const Model &model) : problem(problem), model(model) {
    placement.offsets.assign(model.items.size(), 0);
    placement.pools.assign(model.items.size(), 0);
    placed.resize(problem.pools.size());
  }

  void place(uint32_t index) {
    const Item &item = model.items[index];
    for (uint32_t c = item.candidates.first; c < item.candidates.last; ++c) {
      const Candidate &candidate = model.candidates[c];
      std::optional<int64_t> capacity = problem.pools[candidate.pool].capacity;
      int64_t offset = bestFit(index, candidate);
      bool fits = offset >= 0 && (!capacity || offset + item.extent <= *capacity);
      if (!fits && c + 1 < item.candidates.last)
        continue;
      placement.pools[index] = candidate.pool;
      placement.offsets[index] = fits || offset >= 0 ? offset : *item.pin;
      auto lower = [&](uint32_t a, uint32_t b) {
        return placement.offsets[a] < placement.offsets[b];
      };
      std::vector<uint32_t> &there = placed[candidate.pool];
      if (item.pieces.size() > 0)
        there.insert(std::upper_bound(there.begin(), there.end(), index, lower), index);
      return;
    }
  }

  Placement placement;

private:
  /// -1 if the item is pinned and cannot be where it is.
  int64_t bestFit(uint32_t index, const Candidate &candidate) {
    const Item &item = model.items[index];
    forbidden.clear();
    for (uint32_t other : placed[candidate.pool]) {
      int64_t offset = placement.offsets[other];
      const Item &there = model.items[other];
      for (uint32_t i = item.pieces.first; i < item.pieces.last; ++i)
        for (uint32_t j = there.pieces.first; j < there.pieces.last; ++j) {
          const Piece &p = model.pieces[i], &q = model.pieces[j];
          if (p.first < q.last && q.first < p.last)
            forbidden.push_back({offset + q.low - p.high, offset + q.high - p.low});
        }
    }
    if (item.pin) {
      for (Forbidden range : forbidden)
        if (range.low < *item.pin && *item.pin < range.high)
          return -1;
      return *item.pin;
    }
    auto lower = [](const Forbidden &a, const Forbidden &b) { return a.low < b.low; };
    if (!std::is_sorted(forbidden.begin(), forbidden.end(), lower))
      std::sort(forbidden.begin(), forbidden.end(), lower);
    int64_t best = -1, leastSlack = std::numeric_limits<int64_t>::max();
    int64_t at = candidate.stride.atLeast(0);
    for (Forbidden range : forbidden) {
      int64_t slack = range.low - at;
      if (slack >= 0 && slack < leastSlack) {
        best = at;
        leastSlack = slack;
      }
      if (at < range.high)
        at = candidate.stride.atLeast(range.high);
    }
    return best >= 0 ? best : at;
  }

  const Problem &problem;
  const Model &model;
  std::vector<std::vector<uint32_t>> placed; // by pool, lowest first
  std::vector<Forbidden> forbidden;
};

} // namespace

Placement placeBestFit(const Problem &problem, const Model &model,
                       const std::vector<uint32_t> &order) {
  Placer placer(problem, model);
  for (uint32_t item : order)
    placer.place(item);
  return std::move(placer.placement);
}

std::vector<uint32_t> orderBySize(const Model &model) {
  std::vector<uint32_t> order(model.items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Item &x = model.items[a], &y = model.items[b];
    return std::tuple(!x.pin, -x.extent, a) < std::tuple(!y.pin, -y.extent, b);
  });
  return order;
}

Plan planOf(const Problem &problem, const Model &model, const Placement &placement) {
  Plan plan;
  plan.peaks.assign(problem.pools.size(), 0);
  plan.lowerBounds.assign(problem.pools.size(), 0);
  std::vector<std::vector<uint32_t>> itemsIn(problem.pools.size());
  bool isBest = problem.pools.size() <= 1;
  for (uint32_t i = 0; i < model.items.size(); ++i) {
    uint32_t pool = placement.pools[i];
    itemsIn[pool].push_back(i);
    if (model.items[i].extent > 0)
      plan.peaks[pool] = std::max(plan.peaks[pool], placement.offsets[i] + model.items[i].extent);
  }
  for (uint32_t pool = 0; pool < problem.pools.size(); ++pool) {
    plan.lowerBounds[pool] = lowerBound(model, itemsIn[pool]);
    isBest &= plan.peaks[pool] == plan.lowerBounds[pool];
    if (problem.pools[pool].capacity)
      plan.missingBytes += std::max<int64_t>(0, plan.peaks[pool] - *problem.pools[pool].capacity);
    std::vector<uint32_t> pinned;
    for (uint32_t item : itemsIn[pool])
      if (model.items[item].pin)
        pinned.push_back(item);
    for (uint32_t a : pinned)
      for (uint32_t b : pinned)
        if (a < b && model.collide(a, placement.offsets[a], b, placement.offsets[b]))
          plan.message = "pins collide";
  }
  if (plan.missingBytes > 0)
    plan.message = "no plan was found: " + std::to_string(plan.missingBytes) + " bytes are missing";
  if (!plan.message.empty()) {
    plan.status = Status::Unknown;
    return plan;
  }
  plan.status = isBest ? Status::Optimal : Status::Feasible;
  plan.offsets.resize(problem.buffers.size());
  plan.pools.resize(problem.buffers.size());
  for (uint32_t i = 0; i < model.items.size(); ++i)
    for (uint32_t m = model.items[i].members.first; m < model.items[i].members.last; ++m) {
      plan.offsets[model.members[m].buffer] = placement.offsets[i] + model.members[m].delta;
      plan.pools[model.members[m].buffer] = placement.pools[i];
    }
  return plan;
}

Plan planGreedy(const Problem &problem) {
  Model model;
  Plan plan;
  plan.message = build(problem, {}, model);
  if (!plan.message.empty())
    return plan;
  plan = planOf(problem, model, placeBestFit(problem, model, orderBySize(model)));
  assert(!plan.isFound() || verify(problem, plan).empty());
  return plan;
}

} // namespace plim::planner
