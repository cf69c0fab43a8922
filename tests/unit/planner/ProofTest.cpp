// Proofs: whatever the optimum is above the bound, they end, and what they say is what trying
// everything says.
#include "bench/planner/Instances.h"
#include "planner/Nogoods.h"
#include "planner/Pairs.h"
#include "tests/unit/planner/BruteForce.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace plim::planner {
namespace {

/// Most bytes live at once, counted at every start.
int64_t loadOf(const Problem &problem) {
  int64_t most = 0;
  for (const Buffer &at : problem.buffers) {
    int64_t sum = 0;
    for (const Buffer &other : problem.buffers)
      if (other.lifetime[0].lower <= at.lifetime[0].lower &&
          at.lifetime[0].lower < other.lifetime[0].upper)
        sum += other.bytes;
    most = std::max(most, sum);
  }
  return most;
}

Packing packingOf(const Problem &problem, Model &model) {
  EXPECT_EQ(build(problem, {}, model), "");
  std::vector<uint32_t> items(model.items.size());
  std::iota(items.begin(), items.end(), 0u);
  return planner::packingOf(model, items, 0);
}

bool never() { return false; }

TEST(PlannerProof, WhatIsAboveTheLoadIsProved) {
  int above = 0;
  for (auto [count, load, largest, slack, nodes] :
       {std::tuple(21, 24, 12, 0, 20'000), {32, 64, 24, 2, 40'000}, {43, 24, 12, 0, 200'000}})
    for (int seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(::testing::Message() << count << " buffers, seed " << seed);
      Problem problem = bench::gaps(count, seed, load, largest, slack);
      Options options;
      options.nodes = uint64_t(nodes);
      Plan plan = solve(problem, options);
      EXPECT_EQ(verify(problem, plan), "");
      EXPECT_EQ(plan.status, Status::Optimal);
      above += plan.lowerBounds[0] > loadOf(problem);
    }
  EXPECT_GE(above, 5);
}

/// What an order refutes is so for all.
TEST(PlannerProof, OrdersProveTheSame) {
  for (int seed = 1; seed <= 20; ++seed) {
    Problem problem = bench::gaps(32, seed, 64, 24, 2);
    Options options;
    options.orders = 3;
    options.threads = 2;
    Plan plan = solve(problem, options), one = solve(problem);
    EXPECT_EQ(verify(problem, plan), "");
    EXPECT_EQ(plan.status, Status::Optimal);
    EXPECT_EQ(plan.peaks, one.peaks);
    EXPECT_EQ(plan.lowerBounds, one.lowerBounds);
  }
}

TEST(PlannerProof, OptimaAboveTheLoadAreThoseOfTryingEverything) {
  PLIM_TRACE_SEED();
  uint64_t seed = plim::testing::testSeed();
  for (int i = 0; i < 300 && !::testing::Test::HasFailure(); ++i) {
    int one = int((seed + uint64_t(i)) % 1'000'000);
    SCOPED_TRACE(one);
    Problem problem = bench::gaps(9 + i % 6, one, 9 + i % 7, 5, i % 2);
    Plan plan = solve(problem);
    ASSERT_EQ(verify(problem, plan), "");
    EXPECT_EQ(plan.status, Status::Optimal);
    std::vector<uint32_t> all(problem.buffers.size());
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(plan.peaks[0], testing::BruteForce(problem).smallestPeak(0, all));
  }
}

/// Every capacity below the optimum is refuted, the least one that an exhausted search names is
/// none that is too high, and the slices in which it is continued change nothing.
TEST(PlannerProof, SlicesChangeNothing) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
    int seed = int(random() % 1'000'000);
    SCOPED_TRACE(seed);
    Problem problem = bench::gaps(18, seed, 20, 9, 0);
    int64_t optimum = solve(problem).peaks[0];
    Model model;
    Packing packing = packingOf(problem, model);
    for (int64_t capacity = optimum - 3; capacity <= optimum; ++capacity) {
      auto expect = [&](auto whole, auto sliced) {
        Attempt once = whole.run(UINT64_MAX, never), last;
        uint64_t nodes = 0;
        do {
          last = sliced.run(1 + random() % 50, never);
          nodes += last.nodes;
        } while (last.outcome == Outcome::Stopped);
        EXPECT_EQ(once.outcome, capacity < optimum ? Outcome::Exhausted : Outcome::Found);
        EXPECT_EQ(last.outcome, once.outcome);
        EXPECT_EQ(last.offsets, once.offsets);
        EXPECT_EQ(nodes, once.nodes);
        if (capacity < optimum) {
          EXPECT_GT(once.least, capacity);
          EXPECT_LE(once.least, optimum);
        }
      };
      for (Strategy::Choice choice : {Strategy::Choice::FewestOptions, Strategy::Choice::Lowest})
        expect(Search(packing, capacity, {.choice = choice}),
               Search(packing, capacity, {.choice = choice}));
      if (i % 20 == 0)
        expect(PairSearch(model, packing, capacity), PairSearch(model, packing, capacity));
    }
  }
}

/// Three shapes that interlock, and many buffers that meet nobody.
TEST(PlannerProof, ManyBoxesAreNoReasonToGiveUp) {
  Problem problem;
  auto add = [&](int64_t lower, int64_t upper, int64_t bytes) -> Buffer & {
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.lifetime = {{lower, upper}};
    buffer.bytes = bytes;
    return buffer;
  };
  add(0, 2, 2);
  Buffer &step = add(1, 3, 2);
  step.base = 0;
  step.delta = 3;
  add(0, 1, 2);
  add(1, 3, 2);
  add(2, 4, 3);
  std::vector<uint32_t> all(problem.buffers.size());
  std::iota(all.begin(), all.end(), 0u);
  int64_t optimum = *testing::BruteForce(problem).smallestPeak(0, all);
  for (int64_t i = 0; i < 100; ++i)
    add(10 + i, 11 + i, 1 + i % 3);
  Plan plan = solve(problem);
  EXPECT_EQ(verify(problem, plan), "");
  EXPECT_EQ(plan.peaks[0], optimum);
  EXPECT_EQ(plan.status, Status::Optimal);
}

TEST(PlannerProof, ANogoodHoldsWhereTheSameBoxesAreHigher) {
  Nogoods nogoods(4);
  std::vector<uint32_t> boxes = {2, 0}, more = {2, 0, 3};
  auto hashOf = [](const std::vector<uint32_t> &set) {
    uint64_t hash = 0;
    for (uint32_t box : set)
      hash += Nogoods::hashOf(box);
    return hash;
  };
  auto holds = [&](const std::vector<uint32_t> &set, const std::vector<int64_t> &low) {
    return nogoods.holds(hashOf(set), set.data(), set.data() + set.size(), low);
  };
  EXPECT_FALSE(holds(boxes, {5, 5, 5, 5}));
  nogoods.add(hashOf(boxes), boxes.data(), boxes.data() + 2, {3, 9, 4, 9});
  EXPECT_TRUE(holds(boxes, {3, 0, 4, 0}));
  EXPECT_TRUE(holds({0, 2}, {7, 0, 4, 0}));
  EXPECT_FALSE(holds(boxes, {2, 0, 9, 0}));
  EXPECT_FALSE(holds(more, {9, 9, 9, 9}));
  // A hash that two sets have in common says nothing.
  EXPECT_FALSE(nogoods.holds(hashOf(boxes), more.data(), more.data() + 3, {9, 9, 9, 9}));
  std::vector<uint32_t> other = {1, 3};
  EXPECT_FALSE(nogoods.holds(hashOf(boxes), other.data(), other.data() + 2, {9, 9, 9, 9}));
}

} // namespace
} // namespace plim::planner
