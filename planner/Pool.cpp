#include "planner/Pool.h"

#include "planner/LooseBlocks.h"
#include "planner/Pairs.h"
#include "planner/Repair.h"
#include "planner/Skyline.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <system_error>
#include <thread>
#include <variant>

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

/// Any packing that is looked for is below.
constexpr int64_t mostPeak = std::numeric_limits<int64_t>::max() / 2;

/// A search for a packing within a capacity that is continued round after round until it ends,
/// whatever that takes.
struct Continued {
  std::variant<std::monostate, Search, PairSearch> search;
  int64_t capacity = 0;
  bool isOver = false;
};

/// The boxes as they are, or joined to blocks, and the best packing of them.
struct View {
  Blocks blocks; // without places: as they are
  bool isLoose = false;
  const Packing *packing = nullptr;
  PoolPlan plan;
  std::optional<Repair> repair;
  uint64_t dive = 0;                  // nodes that one packing by search costs
  uint64_t spent = 0;                 // nodes
  uint64_t rounds = 0;                // of this view
  size_t shift = 0;                   // rounds without success
  std::array<Continued, 2> continued; // for the bound, and for less than the best peak

  bool isWhole() const { return blocks.places.empty(); }
};

struct Task {
  enum class Kind { Search, Continue, Repair };
  Kind kind = Kind::Search;
  View *view = nullptr;
  Continued *continued = nullptr;
  int64_t capacity = 0;
  Strategy strategy;
  uint64_t nodes = 0;
  Attempt attempt;
};

/// Calls `function` with each number below `count`, on so many threads, the caller's among them.
template <typename Function>
void runOnThreads(size_t count, unsigned numThreads, const Function &function) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t i; (i = next++) < count;)
      function(i);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(numThreads, count); ++i) {
    try {
      threads.emplace_back(run);
    } catch (const std::system_error &) {
      break; // the caller does it all
    }
  }
  run();
  for (std::thread &thread : threads)
    thread.join();
}

void lower(std::atomic<size_t> &value, size_t to) {
  size_t seen = value;
  while (to < seen && !value.compare_exchange_weak(seen, to))
    ;
}

class Portfolio {
public:
  Portfolio(const Model &model, const Packing &packing, Goal goal, PoolPlan &best, Budget &budget)
      : model(model), whole(packing), goal(goal), best(best), budget(budget) {
    asIs.packing = &whole;
    asIs.plan = best;
    asIs.dive = diveOf(whole);
  }

  bool isDone() const {
    return best.lowerBound > goal.most ||
           (!best.offsets.empty() && best.peak <= std::max(best.lowerBound, goal.enough));
  }

  /// Is there nothing that the budget is enough for? In each cycle both have a turn, even if no
  /// task is small enough for one of them.
  bool isOver() { return idle >= 4 || isDone() || budget.isOver(); }

  /// Rounds until so many nodes of the budget are spent, or it is over.
  void run(uint64_t untilSpent) {
    for (; !isOver() && budget.spent < untilSpent; ++round) {
      bool restarts = joint >= 2 && isFar();
      // Rounds of many boxes are long: those of the boxes as they are get no more than half of the
      // nodes, and little while there are restarts.
      bool isJoined = joins && (round % 4 != 1 || asIs.spent > spent / (restarts ? 8 : 2));
      // Another way to join helps more often than a long search, but not always. A restart has the
      // cycle of short attempts, a long one and a middling one.
      uint64_t longRounds = restarts ? 2 : joint;
      if (isJoined && (!joined || isVain(*joined) || (restarts && isPoor(*joined)) ||
                       joined->rounds >= std::size(strategies) + longRounds)) {
        isJoined = joins = joinAnew(joined, joint++);
      }
      if (isDone())
        break;
      View &view = isJoined ? *joined : asIs;
      form(view);
      proceed(view);
      share();
      work();
      merge(view);
      idle = tasks.empty() ? idle + 1 : 0;
    }
  }

private:
  /// Is there much to gain? Little of it is often less than what blocks waste.
  bool isFar() const {
    return best.offsets.empty() || best.peak - best.lowerBound > best.lowerBound >> 8;
  }

  static uint64_t diveOf(const Packing &packing) {
    uint64_t sections = 0;
    for (const Piece &part : packing.parts)
      sections += part.last - part.first;
    return packing.boxes.size() * (1 + sections / 2 / sectionsPerNode);
  }

  /// Joins in another order each time: exactly, loosely, and then most often in the way that has
  /// given the lower peak. False if neither helps. If joining exactly leaves more than half of the
  /// boxes, exact matches are chance, and loose ones come first.
  bool joinAnew(std::optional<View> &view, uint64_t turn) {
    if (view && !view->plan.offsets.empty() && view->plan.peak <= lowest[view->isLoose]) {
      lowest[view->isLoose] = view->plan.peak;
      if (view->isLoose)
        loosest = std::move(view->blocks);
    }
    size_t count = whole.boxes.size();
    uint64_t seed = turn < 2 ? 0 : turn;
    bool isLoose = turn % 2 == 1;
    if (turn >= 2 && lowest[0] != lowest[1])
      isLoose = (lowest[1] < lowest[0]) == (turn % 4 != 3);
    if (isLoose && !loosest.places.empty() && isFar()) {
      joinBetter(view.emplace(), turn);
      return true;
    }
    return (!isLoose && join(view.emplace(), seed, false, count / 2)) ||
           join(view.emplace(), seed, true, count / 4 * 3) ||
           join(view.emplace(), seed, false, count / 4 * 3);
  }

  /// A little above the bound there are many more ways to join, and nothing is lost as long as the
  /// best peak is far above it.
  int64_t mostLoad(uint64_t seed) const {
    constexpr int shifts[] = {8, 63, 6}; // of the bound
    if (best.offsets.empty())
      return best.lowerBound;
    return best.lowerBound + std::min((best.peak - best.lowerBound) / 2,
                                      best.lowerBound >> shifts[seed % std::size(shifts)]);
  }

  /// Could a packing of the view be better than the best?
  bool isVain(const View &view) const {
    return !best.offsets.empty() && boundOf(view) >= best.peak;
  }

  /// Is it twice as far above the bound as the best after some rounds?
  bool isPoor(const View &view) const {
    constexpr uint64_t fewRounds = 4;
    return view.rounds >= fewRounds && !view.plan.offsets.empty() &&
           (view.plan.peak - best.lowerBound) / 2 > best.peak - best.lowerBound;
  }

  /// Blocks may waste some bytes.
  int64_t boundOf(const View &view) const {
    return std::max(best.lowerBound, view.packing->lowerBound);
  }

  /// Joins in another order for each seed. False if more than `mostBoxes` are left, or it costs too
  /// much.
  bool join(View &view, uint64_t seed, bool isLoose, size_t mostBoxes) {
    size_t count = whole.boxes.size();
    if ((isLoose && count > manyItems) ||
        !budget.spend(count + (isLoose ? nodesOfJoining(count) : 0)))
      return false;
    std::function<bool()> isStopped = [&] { return budget.isStopped(); };
    view.isLoose = isLoose;
    view.blocks = isLoose ? joinLoosely(whole, mostLoad(seed), seed, isStopped)
                          : planner::join(whole, seed, isStopped);
    if (view.blocks.packing.boxes.size() > mostBoxes)
      return false;
    begin(view);
    return true;
  }

  /// Goes on from the loose blocks that have given the lowest peak.
  void joinBetter(View &view, uint64_t seed) {
    view.isLoose = true;
    view.blocks = planner::joinBetter(
        whole, loosest, mostLoad(0), seed, [&](uint64_t nodes) { return budget.spend(nodes); },
        [&] { return budget.isStopped(); });
    begin(view);
  }

  /// The first packings of blocks.
  void begin(View &view) {
    view.packing = &view.blocks.packing;
    view.dive = diveOf(*view.packing);
    for (const SkylineWeights &weights : skylines)
      if (budget.spend(view.packing->boxes.size()))
        offer(view, placeOnSkyline(*view.packing, weights, [&] { return budget.isStopped(); }));
  }

  void offer(View &view, std::vector<int64_t> offsets) {
    if (offsets.empty())
      return;
    int64_t peak = peakOf(*view.packing, offsets);
    if (best.offsets.empty() || peak < best.peak) {
      best.peak = peak;
      best.offsets = view.blocks.places.empty() ? offsets : view.blocks.offsetsOf(offsets);
    }
    if (view.plan.offsets.empty() || peak < view.plan.peak) {
      view.plan.peak = peak;
      view.plan.offsets = std::move(offsets);
    }
  }

  /// Forms the tasks of a round. One search asks for the bound, which is nearly always the hardest
  /// to miss by accident and the easiest to refute. Another asks for a peak between the bound and
  /// the best one that is known, nearer and nearer to the best one as long as it finds nothing.
  ///
  /// The first cycle is short; then long attempts and middling ones take turns, as either kind
  /// finds what the other does not. As long as the bound has not been refused often, its search
  /// gets most of the nodes. Repairing the best packing of the view gets as many nodes as both
  /// searches, and comes first: of many boxes, a search takes long to find any packing.
  void form(View &view) {
    uint64_t round = view.rounds++;
    bool isFirst = round < std::size(strategies);
    size_t count = isFirst ? std::size(strategies) : numPersistent;
    uint64_t nodes = (2 * view.dive + 200) * (isFirst ? 1 : round % 2 ? 4 : 16);
    int64_t most = best.offsets.empty() ? mostPeak : best.peak - 1;
    int64_t bound = boundOf(view), room = most - bound;
    auto between = [&](size_t turn) { return most - (room >> (1 + turn % 3)); };
    // What was refused so often is not asked for as often any more.
    bool asksForBound = round < std::size(strategies) + 3 * numPersistent || round % 4 == 0;
    tasks.clear();
    if (view.dive <= budget.nodes) {
      tasks.resize(room > 0 ? 2 : 1);
      for (Task &task : tasks)
        task.view = &view;
      tasks[0].capacity = asksForBound ? bound : between(view.shift + 1);
      for (size_t i = 0; i < tasks.size(); ++i) {
        if (i > 0)
          tasks[i].capacity = between(view.shift);
        tasks[i].strategy = strategies[(round + i * 5) % count];
        tasks[i].strategy.noise = isFirst ? 0 : round * 2 + i + 1;
        tasks[i].nodes = nodes;
      }
      if (asksForBound && !isFirst && room > 0)
        tasks[1].nodes /= 4;
    }
    if (!view.plan.offsets.empty() && room > 0) {
      Task task;
      task.kind = Task::Kind::Repair;
      task.view = &view;
      task.nodes = tasks.empty() ? 4 * whole.boxes.size() : 0;
      for (const Task &other : tasks)
        task.nodes += other.nodes;
      tasks.insert(tasks.begin(), std::move(task));
      if (!view.repair)
        view.repair.emplace(*view.packing);
      view.repair->hold(view.plan.offsets);
    }
  }

  /// The searches that are continued. Those of the boxes as they are prove what they do not find,
  /// and have their turn in each round.
  void proceed(View &view) {
    uint64_t nodes = 0;
    for (const Task &task : tasks)
      nodes += task.nodes;
    if (tasks.empty())
      return;
    proceed(asIs, nodes);
    if (!view.isWhole())
      proceed(view, nodes);
  }

  /// One for the bound and one for less than the best peak, so that what is between them gets less
  /// from both sides. Of many boxes they seldom end: they get a smaller share.
  void proceed(View &view, uint64_t nodes) {
    constexpr uint64_t fewBoxes = 32;
    if (view.dive > budget.nodes)
      return;
    const Packing &packing = *view.packing;
    nodes = nodes * fewBoxes / (fewBoxes + packing.boxes.size());
    nodes *= std::min<uint64_t>(4, 1 + view.shift / 16);
    int64_t below = best.offsets.empty() ? mostPeak : best.peak - stepOf(packing);
    std::array<int64_t, 2> capacities = {below, boundOf(view)};
    size_t count = below > boundOf(view) ? 2 : 1;
    for (size_t i = 0; i < count; ++i) {
      Continued &continued = view.continued[i];
      if (std::holds_alternative<std::monostate>(continued.search) ||
          continued.capacity != capacities[i]) {
        continued.capacity = capacities[i];
        continued.isOver = false;
        // Pairs are of the model's pieces: blocks have none.
        if (packing.isExact || !view.isWhole())
          continued.search = Search(packing, continued.capacity, strategies[i]);
        else
          continued.search = PairSearch(model, packing, continued.capacity);
      }
      if (continued.isOver)
        continue;
      Task &task = tasks.emplace_back();
      task.kind = Task::Kind::Continue;
      task.view = &view;
      task.continued = &continued;
      task.capacity = continued.capacity;
      task.nodes = nodes / count;
    }
  }

  /// What is left of the budget.
  void share() {
    for (Task &task : tasks)
      task.nodes = std::clamp<uint64_t>(budget.nodes / tasks.size(), 1, task.nodes);
  }

  /// All peaks that are needed are multiples of it.
  static int64_t stepOf(const Packing &packing) { return packing.isExact ? packing.step : 1; }

  /// Runs the tasks. Nothing after the first that meets the bound counts, whoever ran it.
  void work() {
    std::atomic<size_t> winner = tasks.size();
    std::vector<std::atomic<bool>> stops(tasks.size());
    runOnThreads(tasks.size(), budget.threads, [&](size_t i) {
      if (i > winner)
        return;
      Task &task = tasks[i];
      auto isStopped = [&, i] { return stops[i] || budget.isStopped(); };
      task.attempt = attempt(task, isStopped);
      if (task.attempt.outcome == Outcome::Found &&
          peakOf(*task.view->packing, task.attempt.offsets) <= best.lowerBound) {
        lower(winner, i);
        for (size_t j = i + 1; j < tasks.size(); ++j)
          stops[j] = true;
      }
    });
    if (winner < tasks.size())
      tasks.resize(winner + 1);
  }

  Attempt attempt(const Task &task, const std::function<bool()> &isStopped) {
    switch (task.kind) {
    case Task::Kind::Search:
      return search(*task.view->packing, task.capacity, task.strategy, task.nodes, isStopped);
    case Task::Kind::Continue:
      if (auto *pairs = std::get_if<PairSearch>(&task.continued->search))
        return pairs->run(task.nodes, isStopped);
      return std::get<Search>(task.continued->search).run(task.nodes, isStopped);
    case Task::Kind::Repair:
      return task.view->repair->run(boundOf(*task.view), task.nodes, isStopped);
    }
  }

  void merge(View &view) {
    int64_t before = best.peak;
    for (Task &task : tasks) {
      budget.nodes -= std::min(budget.nodes, task.attempt.nodes);
      budget.spent += task.attempt.nodes;
      view.spent += task.attempt.nodes;
      spent += task.attempt.nodes;
      bool isContinued = task.kind == Task::Kind::Continue;
      if (isContinued)
        task.continued->isOver = task.attempt.outcome != Outcome::Stopped;
      if (task.attempt.outcome == Outcome::Found)
        offer(*task.view, std::move(task.attempt.offsets));
      else if (task.attempt.outcome == Outcome::Exhausted && task.view->isWhole() &&
               (isContinued || whole.isExact))
        best.lowerBound = std::max(best.lowerBound, task.attempt.least);
    }
    view.shift = best.peak < before ? 0 : view.shift + 1;
  }

  const Model &model;
  const Packing &whole;
  const Goal goal;
  PoolPlan &best;
  Budget &budget;
  View asIs;
  std::optional<View> joined;
  bool joins = true;
  uint64_t joint = 0; // how often boxes were joined
  uint64_t round = 0;
  int idle = 0;   // rounds without a task
  Blocks loosest; // of those that have given the lowest peak
  std::vector<Task> tasks;
  uint64_t spent = 0;                                   // nodes of all rounds
  std::array<int64_t, 2> lowest = {mostPeak, mostPeak}; // peaks of what was joined exactly, loosely
};

/// Searches several orders of the boxes side by side. What they have found is shared after each
/// slice, so that it does not depend on the threads.
class Orders {
public:
  /// With fewer for each order, there is no use in several.
  static constexpr uint64_t fewNodes = 20'000;

  Orders(const Model &model, const Packing &packing, Goal goal, PoolPlan &best, Budget &budget)
      : model(model), packing(packing), goal(goal), best(best), budget(budget),
        share(budget.nodes / budget.orders) {}
  Orders(const Orders &) = delete;
  Orders &operator=(const Orders &) = delete;

  void run() {
    // Most problems are solved by the first order within that.
    uint64_t until = std::clamp<uint64_t>(budget.nodes / 4, fewNodes, 5 * fewNodes);
    add();
    runSlice(until);
    while (!isOver()) {
      while (orders.size() < budget.orders)
        add();
      until += std::max(fewNodes, until / 4);
      runSlice(until);
    }
  }

private:
  struct One {
    One(unsigned seed, const Model &model, const Packing &whole, Goal goal, const PoolPlan &start,
        uint64_t nodes, unsigned threads, const std::function<bool()> &isStopped)
        : packing(whole), boxOf(whole.boxes.size()) {
      std::iota(boxOf.begin(), boxOf.end(), 0u);
      std::mt19937_64 random(seed);
      for (size_t i = boxOf.size(); seed && i > 1; --i)
        std::swap(boxOf[i - 1], boxOf[random() % i]);
      packing.parts.clear();
      for (size_t i = 0; i < boxOf.size(); ++i) {
        Box &box = packing.boxes[i];
        box = whole.boxes[boxOf[i]];
        Range parts = box.parts;
        box.parts.first = uint32_t(packing.parts.size());
        packing.parts.insert(packing.parts.end(), whole.parts.begin() + parts.first,
                             whole.parts.begin() + parts.last);
        box.parts.last = uint32_t(packing.parts.size());
      }
      learn(start);
      budget.nodes = nodes;
      budget.threads = threads;
      budget.shouldStop = &isStopped;
      portfolio.emplace(model, packing, goal, best, budget);
    }

    void learn(const PoolPlan &other) {
      best.lowerBound = std::max(best.lowerBound, other.lowerBound);
      if (other.offsets.empty() || (!best.offsets.empty() && best.peak <= other.peak))
        return;
      best.peak = other.peak;
      best.offsets.resize(boxOf.size());
      for (size_t i = 0; i < boxOf.size(); ++i)
        best.offsets[i] = other.offsets[boxOf[i]];
    }

    void teach(PoolPlan &other) const {
      other.lowerBound = std::max(other.lowerBound, best.lowerBound);
      if (best.offsets.empty() || (!other.offsets.empty() && other.peak <= best.peak))
        return;
      other.peak = best.peak;
      other.offsets.resize(boxOf.size());
      for (size_t i = 0; i < boxOf.size(); ++i)
        other.offsets[boxOf[i]] = best.offsets[i];
    }

    Packing packing;
    std::vector<uint32_t> boxOf; // in the order that is given
    PoolPlan best;
    Budget budget;
    std::optional<Portfolio> portfolio;
  };

  void add() {
    unsigned threads = std::max(1u, budget.threads / budget.orders);
    orders.push_back(std::make_unique<One>(unsigned(orders.size()), model, packing, goal, best,
                                           share, threads, isStopped));
  }

  bool isOver() const {
    return std::any_of(orders.begin(), orders.end(),
                       [](const auto &order) { return order->portfolio->isDone(); }) ||
           std::all_of(orders.begin(), orders.end(),
                       [](const auto &order) { return order->portfolio->isOver(); });
  }

  /// What those after the first that is done have found does not count, whether they have or not.
  void runSlice(uint64_t until) {
    size_t count = orders.size();
    std::atomic<size_t> winner = count;
    std::vector<uint64_t> before;
    for (auto &order : orders)
      before.push_back(order->budget.spent);
    runOnThreads(count, budget.threads, [&](size_t i) {
      if (i > winner)
        return;
      orders[i]->portfolio->run(until);
      if (!orders[i]->portfolio->isDone())
        return;
      lower(winner, i);
      for (size_t j = i + 1; j < count; ++j)
        orders[j]->budget.stop = true;
    });
    for (size_t i = 0; i < std::min(count, winner + 1); ++i) {
      budget.spend(std::min(budget.nodes, orders[i]->budget.spent - before[i]));
      orders[i]->teach(best);
    }
    for (auto &order : orders)
      order->learn(best);
  }

  const Model &model;
  const Packing &packing;
  const Goal goal;
  PoolPlan &best;
  Budget &budget;
  const uint64_t share; // nodes of an order
  const std::function<bool()> isStopped = [this] { return budget.isStopped(); };
  std::vector<std::unique_ptr<One>> orders;
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

PoolPlan planPool(const Model &model, const Packing &packing, Goal goal,
                  const std::vector<int64_t> &start, Budget &budget) {
  PoolPlan best;
  best.lowerBound = packing.lowerBound;
  auto offer = [&](std::vector<int64_t> offsets) {
    int64_t peak = peakOf(packing, offsets);
    if (offsets.size() == packing.boxes.size() && (best.offsets.empty() || peak < best.peak)) {
      best.peak = peak;
      best.offsets = std::move(offsets);
    }
    return !best.offsets.empty() && best.peak <= std::max(best.lowerBound, goal.enough);
  };
  if (packing.boxes.empty()) // `offsets` says nothing then
    return best;
  if (!start.empty() && offer(start))
    return best;
  for (const SkylineWeights &weights : skylines)
    if (!budget.isOver() &&
        offer(placeOnSkyline(packing, weights, [&] { return budget.isStopped(); })))
      return best;
  // The rules look at all pairs.
  if (packing.boxes.size() <= manyItems || best.offsets.empty()) {
    std::function<bool()> isStopped = [&] { return budget.isStopped(); };
    std::vector<int64_t> bySize =
        placeInOrder(packing, orderBy(packing, Order::Size), Fit::Best, isStopped);
    bool isPlaced = !bySize.empty();
    if (!isPlaced && doPinsCollide(model, packing)) {
      // Parts that collide prove nothing: they may be larger than their pieces.
      best.lowerBound = std::numeric_limits<int64_t>::max();
      return best;
    }
    if (isPlaced && offer(std::move(bySize)))
      return best;
    for (Order order : {Order::Size, Order::Area, Order::Conflicts, Order::Duration, Order::Start})
      if (isPlaced && !budget.isStopped() &&
          offer(placeInOrder(packing, orderBy(packing, order), Fit::First, isStopped)))
        return best;
  }
  if (budget.orders > 1 && budget.nodes / budget.orders >= Orders::fewNodes)
    Orders(model, packing, goal, best, budget).run();
  else
    Portfolio(model, packing, goal, best, budget).run(std::numeric_limits<uint64_t>::max());
  return best;
}

} // namespace plim::planner
