#include "planner/Pool.h"

#include "planner/Pairs.h"
#include "planner/Skyline.h"

#include <algorithm>
#include <limits>
#include <system_error>
#include <thread>

namespace plim::planner {

namespace {

using Choice = Strategy::Choice;
using First = Strategy::First;

/// Each of them solves instances that the others do not; the ones before solve most.
constexpr Strategy strategies[] = {
    {Choice::FewestOptions, First::Width},    {Choice::FewestOptions, First::Size},
    {Choice::FewestLowest, First::Area},      {Choice::FewestLowest, First::Size},
    {Choice::FewestOptions, First::Area},     {Choice::Failures, First::LoadSize},
    {Choice::FewestOptions, First::LoadSize}, {Choice::Failures, First::Area},
    {Choice::FewestLowest, First::LoadArea},  {Choice::FewestLowest, First::LoadSize},
    {Choice::Failures, First::LoadArea},      {Choice::Lowest, First::Size},
    {Choice::LeastSlack, First::LoadWidth},   {Choice::Lowest, First::LoadWidth},
};
/// The last ones solve at once or not at all: they are tried without perturbation only.
constexpr size_t numPersistent = 11;
static_assert(numPersistent % 2 == 1, "every strategy gets its turn at both lengths");

/// Each is best for some families of instances.
constexpr SkylineWeights skylines[] = {
    {.size = 0.2, .duration = 0.2, .load = 52, .touch = 1.15, .level = 1.7},
    {.size = 1, .duration = 2, .load = 18, .touch = 2.9, .level = 2},
    {.size = 0.35, .duration = 0.25, .load = 19, .touch = 1.25, .level = 2.9},
    {.size = 0.05, .duration = 1.15, .load = 22, .touch = 2.8, .level = 7},
};

struct Task {
  int64_t capacity = 0;
  Strategy strategy;
  bool isOfPairs = false;
  uint64_t nodes = 0;
  Attempt attempt;
};

class Portfolio {
public:
  Portfolio(const Model &model, const Packing &packing, int64_t capacity, PoolPlan &best,
            Budget &budget)
      : model(model), packing(packing), capacity(capacity), best(best), budget(budget) {
    uint64_t sections = 0;
    for (const Piece &part : packing.parts)
      sections += part.last - part.first;
    uint64_t boxes = packing.boxes.size();
    dive = boxes * (1 + sections / 2 / sectionsPerNode);
  }

  void run() {
    for (uint64_t round = 0; !isDone() && dive <= budget.nodes && !budget.isOver(); ++round) {
      form(round);
      work();
      merge();
    }
  }

private:
  bool isDone() const {
    return best.lowerBound > capacity || (!best.offsets.empty() && best.peak <= best.lowerBound);
  }

  /// One task asks for the bound, which is nearly always the hardest to miss by accident and the
  /// easiest to refute; one for something between it and what is known, nearer and nearer to that
  /// as long as it is not found. The first cycle is short; then long attempts and middling ones take
  /// turns, as either kind finds what the other does not. As long as the bound has not been refused
  /// often, it gets most of the nodes.
  void form(uint64_t round) {
    bool isFirst = round < std::size(strategies);
    size_t count = isFirst ? std::size(strategies) : numPersistent;
    uint64_t nodes = (2 * dive + 200) * (isFirst ? 1 : round % 2 ? 4 : 16);
    int64_t most = capacity;
    if (!best.offsets.empty() && best.peak <= capacity)
      most = best.peak - 1;
    int64_t room = most - best.lowerBound;
    auto between = [&](size_t turn) { return most - (room >> (1 + turn % 3)); };
    tasks.assign(2, {});
    // What was refused so often is not asked for as often any more.
    bool asksForBound = round < std::size(strategies) + 3 * numPersistent || round % 4 == 0;
    tasks[0].capacity = asksForBound ? best.lowerBound : between(shift + 1);
    tasks[1].capacity = between(shift);
    for (size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].strategy = strategies[(round + i * 5) % count];
      tasks[i].strategy.noise = isFirst ? 0 : round * tasks.size() + i + 1;
      tasks[i].nodes = std::min(nodes, budget.nodes / tasks.size());
    }
    if (asksForBound && !isFirst)
      tasks[1].nodes /= 4;
    // Shapes that interlock are searched in the way that can prove something, too.
    if (!packing.isExact) {
      tasks[0].isOfPairs = true;
      tasks[0].capacity = most;
    }
    if (room <= 0)
      tasks.resize(1);
  }

  /// Runs the tasks. Nothing after the first that meets the bound counts, whoever ran it.
  void work() {
    std::atomic<size_t> next = 0, winner = tasks.size();
    std::vector<std::atomic<bool>> stops(tasks.size());
    auto run = [&] {
      for (size_t i; (i = next++) < tasks.size();) {
        if (i > winner)
          continue;
        Task &task = tasks[i];
        auto isStopped = [&, i] { return stops[i] || budget.isStopped(); };
        task.attempt = task.isOfPairs
                           ? searchPairs(model, packing, task.capacity, task.nodes, isStopped)
                           : search(packing, task.capacity, task.strategy, task.nodes, isStopped);
        if (task.attempt.outcome == Outcome::Found &&
            peakOf(packing, task.attempt.offsets) <= best.lowerBound) {
          size_t seen = winner;
          while (i < seen && !winner.compare_exchange_weak(seen, i))
            ;
          for (size_t j = i + 1; j < tasks.size(); ++j)
            stops[j] = true;
        }
      }
    };
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::min<size_t>(budget.threads, tasks.size()); ++i) {
      try {
        threads.emplace_back(run);
      } catch (const std::system_error &) {
        break; // the caller does it all
      }
    }
    run();
    for (std::thread &thread : threads)
      thread.join();
    if (winner < tasks.size())
      tasks.resize(winner + 1);
  }

  void merge() {
    bool found = false;
    for (Task &task : tasks) {
      budget.nodes -= std::min(budget.nodes, task.attempt.nodes);
      budget.spent += task.attempt.nodes;
      if (task.attempt.outcome == Outcome::Found) {
        int64_t peak = peakOf(packing, task.attempt.offsets);
        if (best.offsets.empty() || peak < best.peak) {
          best.peak = peak;
          best.offsets = std::move(task.attempt.offsets);
          found = true;
        }
      } else if (task.attempt.outcome == Outcome::Exhausted &&
                 (packing.isExact || task.isOfPairs)) {
        int64_t step = packing.isExact ? packing.step : 1;
        int64_t least = (task.capacity / step + 1) * step;
        best.lowerBound = std::max(best.lowerBound, least);
      }
    }
    shift = found ? 0 : shift + 1;
  }

  const Model &model;
  const Packing &packing;
  const int64_t capacity;
  PoolPlan &best;
  Budget &budget;
  uint64_t dive = 0; // nodes that one packing costs
  size_t shift = 0;  // rounds without success
  std::vector<Task> tasks;
};

/// Whatever the capacity is.
bool doPinsCollide(const Model &model, const Packing &packing) {
  for (const Box &a : packing.boxes)
    for (const Box &b : packing.boxes)
      if (&a < &b && a.pin >= 0 && b.pin >= 0 && model.collide(a.item, a.pin, b.item, b.pin))
        return true;
  return false;
}

} // namespace

PoolPlan planPool(const Model &model, const Packing &packing, int64_t capacity,
                  const std::vector<int64_t> &start, bool searches, Budget &budget) {
  PoolPlan best;
  best.lowerBound = packing.lowerBound;
  auto offer = [&](std::vector<int64_t> offsets) {
    int64_t peak = peakOf(packing, offsets);
    if (offsets.size() == packing.boxes.size() && (best.offsets.empty() || peak < best.peak)) {
      best.peak = peak;
      best.offsets = std::move(offsets);
    }
    return !best.offsets.empty() && best.peak <= best.lowerBound;
  };
  if (packing.boxes.empty()) // `offsets` says nothing then
    return best;
  if (!start.empty() && offer(start))
    return best;
  for (const SkylineWeights &weights : skylines)
    if (searches && !budget.isOver() &&
        offer(placeOnSkyline(packing, weights, [&] { return budget.isStopped(); })))
      return best;
  // The rules look at all pairs.
  if (packing.boxes.size() > manyItems && !best.offsets.empty()) {
    if (searches)
      Portfolio(model, packing, capacity, best, budget).run();
    return best;
  }
  std::vector<int64_t> bySize = placeInOrder(packing, orderBy(packing, Order::Size), Fit::Best);
  if (bySize.empty()) {
    // Parts that collide prove nothing: they may be larger than their pieces.
    if (doPinsCollide(model, packing))
      best.lowerBound = std::numeric_limits<int64_t>::max();
    else if (searches)
      Portfolio(model, packing, capacity, best, budget).run();
    return best;
  }
  if (offer(std::move(bySize)) || !searches)
    return best;
  for (Order order : {Order::Size, Order::Area, Order::Conflicts, Order::Duration, Order::Start})
    if (!budget.isStopped() && offer(placeInOrder(packing, orderBy(packing, order), Fit::First)))
      return best;
  Portfolio(model, packing, capacity, best, budget).run();
  return best;
}

} // namespace plim::planner
