#include "planner/Allocated.h"
#include "planner/Greedy.h"
#include "planner/InPlace.h"
#include "planner/Pool.h"
#include "planner/Skyline.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <tuple>

namespace plim::planner {

namespace {

/// The greedy plan of so few takes about a millisecond: it is not stopped.
constexpr size_t fewItems = 1000;
/// So many are tried before any single item is moved.
constexpr double fewAssignments = 4096;
constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 2;

/// What a plan costs, less is better: bytes missing, what the objective says, the sum of peaks.
using Cost = std::tuple<double, double, double>;

/// Where everything is, by pool.
struct State {
  struct InPool {
    std::vector<uint32_t> items;
    std::vector<int64_t> offsets; // of those
    int64_t peak = 0;
    int64_t lowerBound = 0;
  };
  std::vector<InPool> pools;
  double preference = 0; // sum of the candidates' costs
};

class Solver {
public:
  Solver(const Problem &problem, const Options &options, bool explains)
      : problem(problem), options(options), explains(explains) {
    budget.nodes = options.nodes;
    budget.threads = std::max(1u, options.threads);
    budget.orders = std::max(1u, options.orders);
    budget.shouldStop = &options.stop;
  }

  Plan run() {
    Model model;
    best.message = build(problem, {}, model);
    if (!best.message.empty())
      return best;
    best.status = Status::Unknown;
    bool areAll = false;
    std::vector<std::vector<uint32_t>> choices = {{}};
    if (options.nodes > 0)
      choices = inPlaceChoices(problem, model, areAll);
    isProved = areAll || model.pairs.empty();
    bound = unlimited;
    for (size_t i = 0; i < choices.size(); ++i) {
      Model variant;
      if (!build(problem, choices[i], variant).empty())
        continue;
      // Each gets its share of what is left.
      uint64_t later = budget.nodes - budget.nodes / (choices.size() - i);
      budget.nodes -= later;
      planVariant(variant);
      budget.nodes += later;
    }
    return conclude(model);
  }

private:
  int64_t capacityOf(uint32_t pool) const {
    return problem.pools[pool].capacity.value_or(unlimited);
  }

  /// Plans with a fixed choice of pairs in place.
  void planVariant(const Model &model) {
    State warm;
    bool isWarm = options.warmStart && startWarm(model, warm);
    // Nothing is better then, and most often little has changed.
    if (isWarm && problem.pools.size() == 1 && problem.inPlace.empty() &&
        std::get<0>(bestCost) == 0 && best.peaks == best.lowerBounds)
      return;
    State state = startOf(model);
    offer(model, state);
    if (isWarm && costOf(warm) < costOf(state))
      state = std::move(warm);
    if (options.nodes == 0) {
      isProved = false;
      return;
    }
    if (problem.pools.size() > 1) {
      planPools(model, state);
      return;
    }
    State::InPool &all = state.pools[0];
    all.lowerBound = lowerBound(model, all.items);
    if (!budget.isStopped())
      plan(model, state, 0);
    bound = std::min(bound, all.lowerBound);
    offer(model, state);
  }

  /// Starts from all that can be in one pool and from what each item prefers, improves the best of
  /// these by moves, and then tries all assignments in a branch and bound that takes what is left.
  void planPools(const Model &model, State &state) {
    for (uint32_t favourite : favourites()) {
      if (budget.isOver())
        break;
      State next = assignTo(model, favourite);
      withShare(3, [&] { planAll(model, next); });
      offer(model, next);
      if (costOf(next) < costOf(state))
        state = std::move(next);
      if (isLeast(model, state))
        return;
    }
    areFew = countAssignments(model) <= fewAssignments;
    if (!areFew)
      improve(model, state);
    withShare(2, [&] { planAll(model, state); });
    offer(model, state);
    if (isLeast(model, state))
      return;
    largestFirst.resize(model.items.size());
    std::iota(largestFirst.begin(), largestFirst.end(), 0u);
    std::sort(largestFirst.begin(), largestFirst.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(-model.items[a].bytes, a) < std::pair(-model.items[b].bytes, b);
    });
    // What a leaf may cost grows until all are proved.
    bool isVariantProved = false;
    for (nodesOfLeaf = 1000; !isVariantProved && !budget.isOver(); nodesOfLeaf *= 8) {
      isVariantProved = true;
      State none;
      none.pools.resize(problem.pools.size());
      assign(model, none, 0, isVariantProved);
    }
    isProved &= isVariantProved;
  }

  /// Lets `function` have a part of what is left of the budget.
  template <typename Function> void withShare(uint64_t parts, Function function) {
    uint64_t later =
        budget.nodes - std::max(budget.nodes / parts, std::min<uint64_t>(1, budget.nodes));
    budget.nodes -= later;
    function();
    budget.nodes += later;
  }

  /// The pools that may be best for all, the cheapest first; one there is none of stands for what
  /// each item prefers.
  std::vector<uint32_t> favourites() const {
    if (problem.objective == Objective::PreferredPools)
      return {uint32_t(problem.pools.size())};
    std::vector<uint32_t> pools(problem.pools.size());
    std::iota(pools.begin(), pools.end(), 0u);
    std::sort(pools.begin(), pools.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(problem.pools[a].weight, a) < std::pair(problem.pools[b].weight, b);
    });
    return pools;
  }

  /// All items that may be in the favourite pool are there, the others in the pool that they
  /// prefer.
  State assignTo(const Model &model, uint32_t favourite) const {
    State state;
    state.pools.resize(problem.pools.size());
    for (uint32_t i = 0; i < model.items.size(); ++i) {
      uint32_t pool = model.candidates[model.items[i].candidates.first].pool;
      for (uint32_t c = model.items[i].candidates.first; c < model.items[i].candidates.last; ++c)
        if (model.candidates[c].pool == favourite)
          pool = favourite;
      state.pools[pool].items.push_back(i);
      state.preference += costIn(model, i, pool);
    }
    return state;
  }

  void planAll(const Model &model, State &state) {
    for (uint32_t pool = 0; pool < state.pools.size(); ++pool)
      withShare(state.pools.size() - pool, [&] { plan(model, state, pool); });
  }

  static double countAssignments(const Model &model) {
    double count = 1;
    for (const Item &item : model.items)
      count *= item.candidates.size();
    return count;
  }

  /// Is the plan proved to be the best of all assignments?
  bool isLeast(const Model &model, const State &state) const {
    auto [missing, cost, peaks] = costOf(state);
    if (missing > 0)
      return false;
    if (problem.objective == Objective::WeightedPeaks)
      return cost < 0x1p53 && cost <= leastWeightedSum(model);
    // All where they prefer to be, and nowhere else as much.
    for (const Item &item : model.items)
      if (item.candidates.size() > 1 && model.candidates[item.candidates.first].cost >=
                                            model.candidates[item.candidates.first + 1].cost)
        return false;
    double least = 0;
    for (const Item &item : model.items)
      least += model.candidates[item.candidates.first].cost;
    for (const State::InPool &in : state.pools)
      if (in.peak > in.lowerBound)
        return false;
    return cost <= least;
  }

  /// Of any assignment: at every time, each byte is in one of its pools.
  double leastWeightedSum(const Model &model) const {
    std::vector<double> steps(model.numSections + 1, 0);
    for (uint32_t i = 0; i < model.items.size(); ++i) {
      double least = std::numeric_limits<double>::max();
      for (uint32_t c = model.items[i].candidates.first; c < model.items[i].candidates.last; ++c)
        least = std::min(least, double(problem.pools[model.candidates[c].pool].weight));
      model.loadsOf(i, [&](Model::Load load) {
        steps[load.first] += least * double(load.bytes);
        steps[load.last] -= least * double(load.bytes);
      });
    }
    std::partial_sum(steps.begin(), steps.end(), steps.begin());
    return *std::max_element(steps.begin(), steps.end());
  }

  /// Best fit by size, but for too many items.
  State startOf(const Model &model) {
    if (problem.pools.size() == 1) {
      std::vector<uint32_t> items(model.items.size());
      std::iota(items.begin(), items.end(), 0u);
      Packing packing = packingOf(model, items, 0);
      Placement placement;
      bool areFew = items.size() <= fewItems, areMany = items.size() > manyItems;
      std::function<bool()> isStopped = [&] { return !areFew && budget.isStopped(); };
      auto offer = [&](std::vector<int64_t> offsets) {
        if (placement.offsets.empty() ||
            (!offsets.empty() && peakOf(packing, offsets) < peakOf(packing, placement.offsets)))
          placement.offsets = std::move(offsets);
      };
      if (!areFew)
        offer(placeAsAllocated(packing));
      if (areMany && !isStopped())
        offer(placeOnSkyline(packing, {}, isStopped));
      // The same as placeBestFit's where it is exact, in less time.
      if (areMany ? placement.offsets.empty() : packing.isExact)
        offer(placeInOrder(packing, orderBy(packing, Order::Size), Fit::Best, isStopped));
      placement.pools.assign(items.size(), 0);
      if (!placement.offsets.empty())
        return stateOf(model, placement);
    }
    return stateOf(model, placeBestFit(problem, model, orderBySize(model)));
  }

  /// Searches for a lower peak of the pool. What is missing is told from the lowest one: only where
  /// nothing has to be told the capacity is enough.
  void plan(const Model &model, State &state, uint32_t pool) {
    State::InPool &in = state.pools[pool];
    Packing packing = packingOf(model, in.items, pool);
    Goal goal;
    if (!explains)
      goal = {capacityOf(pool), capacityOf(pool)};
    PoolPlan plan = planPool(model, packing, goal, in.offsets, budget);
    in.lowerBound = plan.lowerBound;
    if (!plan.offsets.empty()) {
      in.offsets = std::move(plan.offsets);
      in.peak = plan.peak;
    }
  }

  State stateOf(const Model &model, const Placement &placement) const {
    State state;
    state.pools.resize(problem.pools.size());
    for (uint32_t i = 0; i < model.items.size(); ++i)
      add(model, state, i, placement.pools[i], placement.offsets[i]);
    for (State::InPool &in : state.pools)
      if (arePinsApart(model, in))
        in.peak = peakIn(model, in);
      else
        in.offsets.clear();
    return state;
  }

  void add(const Model &model, State &state, uint32_t item, uint32_t pool, int64_t offset) const {
    state.pools[pool].items.push_back(item);
    state.pools[pool].offsets.push_back(offset);
    state.preference += costIn(model, item, pool);
  }

  static double costIn(const Model &model, uint32_t item, uint32_t pool) {
    for (uint32_t c = model.items[item].candidates.first; c < model.items[item].candidates.last;
         ++c)
      if (model.candidates[c].pool == pool)
        return model.candidates[c].cost;
    return 0;
  }

  static bool arePinsApart(const Model &model, const State::InPool &in) {
    std::vector<uint32_t> pinned;
    for (uint32_t i = 0; i < in.items.size(); ++i)
      if (model.items[in.items[i]].pin)
        pinned.push_back(i);
    for (size_t a = 0; a < pinned.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (model.collide(in.items[pinned[a]], in.offsets[pinned[a]], in.items[pinned[b]],
                          in.offsets[pinned[b]]))
          return false;
    return true;
  }

  static int64_t peakIn(const Model &model, const State::InPool &in) {
    int64_t peak = 0;
    for (size_t i = 0; i < in.offsets.size(); ++i)
      if (model.items[in.items[i]].extent > 0)
        peak = std::max(peak, in.offsets[i] + model.items[in.items[i]].extent);
    return peak;
  }

  /// A pool whose pinned items cannot be together counts as one that lacks everything.
  Cost costOf(const State &state) const {
    double missing = 0, weighted = 0, peaks = 0;
    for (uint32_t pool = 0; pool < state.pools.size(); ++pool) {
      const State::InPool &in = state.pools[pool];
      if (in.offsets.size() != in.items.size())
        missing += double(unlimited); // pins collide
      missing += double(std::max<int64_t>(0, in.peak - capacityOf(pool)));
      weighted += double(in.peak) * double(problem.pools[pool].weight);
      peaks += double(in.peak);
    }
    return {missing, problem.objective == Objective::WeightedPeaks ? weighted : state.preference,
            peaks};
  }

  void offer(const Model &model, const State &state) {
    Cost cost = costOf(state);
    if (hasBest && cost >= bestCost)
      return;
    hasBest = true;
    bestCost = cost;
    best.peaks.clear();
    best.offsets.assign(problem.buffers.size(), 0);
    best.pools.assign(problem.buffers.size(), 0);
    best.missingBytes = 0;
    for (uint32_t pool = 0; pool < state.pools.size(); ++pool) {
      const State::InPool &in = state.pools[pool];
      best.peaks.push_back(in.peak);
      best.missingBytes += std::max<int64_t>(0, in.peak - capacityOf(pool));
      for (size_t i = 0; i < in.offsets.size(); ++i) {
        const Item &item = model.items[in.items[i]];
        for (uint32_t m = item.members.first; m < item.members.last; ++m) {
          best.offsets[model.members[m].buffer] = in.offsets[i] + model.members[m].delta;
          best.pools[model.members[m].buffer] = pool;
        }
      }
    }
  }

  /// Places in the order of an earlier plan, in its pools: where little changed, little moves.
  /// False if it is not one of these buffers.
  bool startWarm(const Model &model, State &warm) {
    const Plan &earlier = *options.warmStart;
    if (earlier.offsets.size() != problem.buffers.size() ||
        earlier.pools.size() != problem.buffers.size())
      return false;
    warm.pools.resize(problem.pools.size());
    for (uint32_t i = 0; i < model.items.size(); ++i) {
      const Item &item = model.items[i];
      uint32_t first = model.members[item.members.first].buffer;
      uint32_t pool = model.candidates[item.candidates.first].pool;
      for (uint32_t c = item.candidates.first; c < item.candidates.last; ++c)
        if (model.candidates[c].pool == earlier.pools[first])
          pool = earlier.pools[first];
      add(model, warm, i, pool, earlier.offsets[first] - model.members[item.members.first].delta);
    }
    for (uint32_t pool = 0; pool < warm.pools.size(); ++pool) {
      State::InPool &in = warm.pools[pool];
      Packing packing = packingOf(model, in.items, pool);
      std::vector<uint32_t> order(in.items.size());
      std::iota(order.begin(), order.end(), 0u);
      std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::tuple(!model.items[in.items[a]].pin, in.offsets[a], a) <
               std::tuple(!model.items[in.items[b]].pin, in.offsets[b], b);
      });
      in.offsets = placeInOrder(packing, order, Fit::First);
      in.peak = peakOf(packing, in.offsets);
    }
    offer(model, warm);
    return true;
  }

  /// Moves single items between pools as long as that makes the plan better.
  void improve(const Model &model, State &state) {
    bool moved = true;
    while (moved && !budget.isOver()) {
      moved = false;
      std::vector<std::pair<double, uint32_t>> order;
      for (uint32_t pool = 0; pool < state.pools.size(); ++pool)
        for (uint32_t item : state.pools[pool].items)
          order.push_back({-double(model.items[item].bytes), item});
      std::sort(order.begin(), order.end());
      for (auto [size, item] : order) {
        uint32_t from = 0;
        for (uint32_t pool = 0; pool < state.pools.size(); ++pool)
          if (std::count(state.pools[pool].items.begin(), state.pools[pool].items.end(), item))
            from = pool;
        Range candidates = model.items[item].candidates;
        for (uint32_t c = candidates.first; c < candidates.last; ++c) {
          uint32_t to = model.candidates[c].pool;
          if (to == from || budget.isOver())
            continue;
          if (tryMove(model, state, item, from, to)) {
            from = to;
            moved = true;
          }
        }
      }
    }
  }

  bool tryMove(const Model &model, State &state, uint32_t item, uint32_t from, uint32_t to) {
    double preference = state.preference - costIn(model, item, from) + costIn(model, item, to);
    bool mustGain = problem.objective == Objective::PreferredPools;
    if (mustGain && std::get<0>(costOf(state)) == 0 && preference > state.preference)
      return false;
    State next = state;
    next.preference = preference;
    State::InPool &source = next.pools[from], &target = next.pools[to];
    size_t at = std::find(source.items.begin(), source.items.end(), item) - source.items.begin();
    source.items.erase(source.items.begin() + at);
    if (!source.offsets.empty())
      source.offsets.erase(source.offsets.begin() + at);
    source.peak = peakIn(model, source);
    target.items.push_back(item);
    Packing packing = packingOf(model, target.items, to);
    spend(target.items.size());
    if (packing.lowerBound > capacityOf(to) && target.peak <= capacityOf(to))
      return false;
    for (uint32_t pool : {from, to}) {
      State::InPool &in = next.pools[pool];
      if (pool == to)
        in.offsets.clear();
      Packing its = packingOf(model, in.items, pool);
      uint64_t later = budget.nodes - std::min<uint64_t>(budget.nodes, 8 * in.items.size() + 64);
      budget.nodes -= later;
      PoolPlan plan = planPool(model, its, {0, capacityOf(pool)}, in.offsets, budget);
      budget.nodes += later;
      in.offsets = std::move(plan.offsets);
      in.peak = plan.peak;
    }
    if (costOf(next) >= costOf(state))
      return false;
    state = std::move(next);
    return true;
  }

  void spend(uint64_t nodes) { budget.spend(std::min(nodes, budget.nodes)); }

  /// Tries all assignments of the items from `depth` on that may be better. `isProved` becomes
  /// false if one was not planned to the end.
  void assign(const Model &model, State &state, uint32_t depth, bool &isProved) {
    if (budget.isOver()) {
      isProved = false;
      return;
    }
    spend(1 + depth / 16);
    // No completion is better than the bounds of what is there.
    double weighted = 0, peaks = 0;
    std::vector<Packing> packings(state.pools.size());
    bool hasRoom = true;
    for (uint32_t pool = 0; pool < state.pools.size(); ++pool) {
      packings[pool] = packingOf(model, state.pools[pool].items, pool);
      int64_t least = packings[pool].lowerBound;
      hasRoom &= least <= capacityOf(pool);
      weighted += double(least) * double(problem.pools[pool].weight);
      peaks += double(least);
    }
    Cost least = {0, problem.objective == Objective::WeightedPeaks ? weighted : state.preference,
                  peaks};
    if (hasBest && least >= bestCost)
      return;
    if (!hasRoom && std::get<0>(bestCost) == 0)
      return;
    if (!hasRoom && depth < model.items.size() && (!explains || !areFew))
      return;
    if (depth < model.items.size()) {
      uint32_t item = largestFirst[depth];
      Range candidates = model.items[item].candidates;
      for (uint32_t c = candidates.first; c < candidates.last; ++c) {
        State::InPool &in = state.pools[model.candidates[c].pool];
        in.items.push_back(item);
        state.preference += model.candidates[c].cost;
        assign(model, state, depth + 1, isProved);
        state.preference -= model.candidates[c].cost;
        in.items.pop_back();
      }
      return;
    }
    State full = state;
    bool isBest = true, isOut = false;
    for (uint32_t pool = 0; pool < full.pools.size(); ++pool) {
      State::InPool &in = full.pools[pool];
      uint64_t later = budget.nodes - std::min(budget.nodes, nodesOfLeaf);
      budget.nodes -= later;
      PoolPlan plan = planPool(model, packings[pool], {0, capacityOf(pool)}, {}, budget);
      budget.nodes += later;
      isOut |= plan.lowerBound > capacityOf(pool);
      isBest &= in.items.empty() ||
                (packings[pool].isExact && !plan.offsets.empty() && plan.peak <= plan.lowerBound);
      in.offsets = std::move(plan.offsets);
      in.peak = plan.peak;
    }
    isProved &= isBest || isOut;
    offer(model, full);
  }

  Plan conclude(const Model &model) {
    best.nodes = budget.spent;
    bool isFound = std::get<0>(bestCost) == 0;
    // Of the buffers as they are: a plan with some in place bounds no plan without.
    std::vector<std::vector<uint32_t>> itemsIn(problem.pools.size());
    if (hasBest)
      for (uint32_t item = 0; item < model.items.size(); ++item)
        itemsIn[best.pools[model.members[model.items[item].members.first].buffer]].push_back(item);
    best.lowerBounds.clear();
    for (const std::vector<uint32_t> &items : itemsIn)
      best.lowerBounds.push_back(lowerBound(model, items));
    if (problem.pools.size() == 1 && bound < unlimited && isProved)
      for (int64_t &each : best.lowerBounds)
        each = std::max(each, bound);
    if (isFound) {
      for (size_t pool = 0; pool < best.peaks.size(); ++pool)
        best.lowerBounds[pool] = std::min(best.lowerBounds[pool], best.peaks[pool]);
      bool meetsBounds = best.peaks == best.lowerBounds;
      bool isBest = problem.pools.size() == 1 ? meetsBounds : isProved;
      best.status = isBest || problem.buffers.empty() ? Status::Optimal : Status::Feasible;
      return best;
    }
    best.offsets.clear();
    best.pools.clear();
    best.status = isProved && (problem.pools.size() > 1 || bound > capacityOf(0))
                      ? Status::Infeasible
                      : Status::Unknown;
    if (best.status == Status::Infeasible && explains)
      best.subset = irreducible(model);
    std::string missing = std::to_string(best.missingBytes) + " bytes are missing";
    if (best.subset.empty()) {
      best.message = "no plan was found: " + missing;
    } else {
      best.message = "there is no plan: " + missing + ", and " +
                     std::to_string(best.subset.size()) + " buffers cannot be together: ";
      constexpr size_t shown = 8;
      for (size_t i = 0; i < std::min(shown, best.subset.size()); ++i)
        best.message += (i ? ", " : "") + nameOf(problem, best.subset[i]);
      best.message += best.subset.size() > shown ? " and others" : "";
    }
    return best;
  }

  /// Leaves out rigid groups as long as what is left has no plan. Once stopped, or when that has
  /// taken as many nodes as the search could have, what is left stays.
  std::vector<uint32_t> irreducible(const Model &model) {
    uint64_t left = options.nodes;
    std::vector<uint32_t> items(model.items.size());
    std::iota(items.begin(), items.end(), 0u);
    if (problem.pools.size() == 1) {
      // Most often what is live at the fullest time is enough.
      Packing packing = packingOf(model, items, 0);
      std::vector<int64_t> steps(packing.numSections + 1, 0);
      for (const Piece &part : packing.parts) {
        steps[part.first] += part.high - part.low;
        steps[part.last] -= part.high - part.low;
      }
      std::partial_sum(steps.begin(), steps.end(), steps.begin());
      uint32_t fullest = uint32_t(std::max_element(steps.begin(), steps.end()) - steps.begin());
      std::vector<uint32_t> there;
      for (const Box &box : packing.boxes)
        for (uint32_t i = box.parts.first; i < box.parts.last; ++i)
          if (packing.parts[i].first <= fullest && fullest < packing.parts[i].last)
            there.push_back(box.item);
      if (lowerBound(model, there) > capacityOf(0) || isImpossible(model, there, left))
        items = there;
    }
    // The least are most likely not needed.
    std::sort(items.begin(), items.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(model.items[a].bytes, a) < std::pair(model.items[b].bytes, b);
    });
    std::vector<uint32_t> others;
    for (size_t i = 0; i < items.size() && left > 0 && !budget.isStopped();) {
      others = items;
      others.erase(others.begin() + ptrdiff_t(i));
      if (isImpossible(model, others, left))
        items.swap(others);
      else
        ++i;
    }
    std::vector<uint32_t> subset = buffersOf(model, items);
    std::sort(subset.begin(), subset.end());
    return subset;
  }

  static std::vector<uint32_t> buffersOf(const Model &model, const std::vector<uint32_t> &items) {
    std::vector<uint32_t> buffers;
    for (uint32_t item : items)
      for (uint32_t m = model.items[item].members.first; m < model.items[item].members.last; ++m)
        buffers.push_back(model.members[m].buffer);
    return buffers;
  }

  bool isImpossible(const Model &model, const std::vector<uint32_t> &items, uint64_t &left) {
    constexpr uint64_t mostNodes = 20'000;
    // Most often that decides.
    if (problem.pools.size() == 1 && lowerBound(model, items) > capacityOf(0))
      return true;
    std::vector<uint32_t> buffers = buffersOf(model, items);
    std::vector<uint32_t> indexOf(problem.buffers.size(), ~0u);
    Problem part;
    part.pools = problem.pools;
    part.objective = problem.objective;
    for (uint32_t buffer : buffers) {
      indexOf[buffer] = uint32_t(part.buffers.size());
      part.buffers.push_back(problem.buffers[buffer]);
    }
    for (Buffer &buffer : part.buffers)
      if (buffer.base)
        buffer.base = indexOf[*buffer.base];
    auto copy = [&](auto &from, auto &to) {
      for (auto [a, b] : from)
        if (indexOf[a] != ~0u && indexOf[b] != ~0u)
          to.push_back({indexOf[a], indexOf[b]});
    };
    copy(problem.conflicts, part.conflicts);
    copy(problem.inPlace, part.inPlace);
    Options less;
    less.nodes = std::min(left, mostNodes);
    less.stop = [&] { return budget.isStopped(); };
    Plan plan = Solver(part, less, false).run();
    left -= std::min(left, plan.nodes + items.size());
    Status status = plan.status;
    return status == Status::Infeasible || status == Status::Invalid;
  }

  const Problem &problem;
  const Options &options;
  const bool explains;
  Budget budget;
  Plan best;
  bool hasBest = false;
  Cost bestCost;
  bool isProved = true;
  std::vector<uint32_t> largestFirst; // items
  uint64_t nodesOfLeaf = 0;           // that planning one assignment may take
  bool areFew = false;                // assignments
  int64_t bound = 0;                  // of a single pool, over all choices of pairs
};

} // namespace

Plan solve(const Problem &problem, const Options &options) {
  Plan plan = Solver(problem, options, true).run();
  assert(!plan.isFound() || verify(problem, plan).empty());
  return plan;
}

} // namespace plim::planner
