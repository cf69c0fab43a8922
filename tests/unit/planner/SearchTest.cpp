// What the search promises: plans that depend on the problem and the budget alone, never worse than
// what they start from.
#include "planner/Planner.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

namespace plim::planner {
namespace {

Problem randomProblem(std::mt19937_64 &random, size_t count, int64_t steps) {
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Problem problem;
  for (size_t i = 0; i < count; ++i) {
    Buffer &buffer = problem.buffers.emplace_back();
    int64_t lower = draw(0, steps);
    buffer.lifetime = {{lower, lower + draw(1, steps / 3)}};
    buffer.bytes = draw(1, 40) * 64;
  }
  return problem;
}

bool isSame(const Plan &a, const Plan &b) {
  return a.status == b.status && a.offsets == b.offsets && a.pools == b.pools &&
         a.peaks == b.peaks && a.lowerBounds == b.lowerBounds && a.nodes == b.nodes;
}

TEST(PlannerSearch, ThreadsChangeNothingButTime) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 20; ++i) {
    Problem problem = randomProblem(random, 20 + random() % 60, 30);
    Options options;
    options.nodes = 5000;
    Plan one = solve(problem, options);
    EXPECT_EQ(verify(problem, one), "");
    for (unsigned threads : {2u, 4u}) {
      options.threads = threads;
      EXPECT_TRUE(isSame(one, solve(problem, options))) << threads << " threads";
    }
  }
}

TEST(PlannerSearch, NoBudgetIsWorseThanGreedy) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 10; ++i) {
    Problem problem = randomProblem(random, 80, 30);
    int64_t greedy = planGreedy(problem).peaks[0];
    for (uint64_t nodes : {0u, 1000u, 8000u}) {
      Options options;
      options.nodes = nodes;
      Plan plan = solve(problem, options);
      EXPECT_EQ(verify(problem, plan), "");
      EXPECT_LE(plan.peaks[0], greedy);
      EXPECT_LE(plan.nodes, nodes + 200);
    }
  }
}

TEST(PlannerSearch, AWarmStartIsNeverWorseThanGreedy) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 20; ++i) {
    Problem problem = randomProblem(random, 100, 40);
    Options options;
    options.nodes = 3000;
    Plan earlier = solve(problem, options);
    for (int changed = 0; changed < 3; ++changed)
      problem.buffers[random() % problem.buffers.size()].bytes = int64_t(1 + random() % 40) * 64;
    options.nodes = 0;
    options.warmStart = &earlier;
    Plan plan = solve(problem, options);
    EXPECT_EQ(verify(problem, plan), "");
    EXPECT_LE(plan.peaks[0], planGreedy(problem).peaks[0]);
  }
}

TEST(PlannerSearch, AWarmStartOfAnotherProblemIsIgnored) {
  std::mt19937_64 random(1);
  Problem problem = randomProblem(random, 10, 10);
  Plan other = solve(randomProblem(random, 9, 10));
  Options options;
  options.warmStart = &other;
  EXPECT_EQ(verify(problem, solve(problem, options)), "");
}

TEST(PlannerSearch, StopsWhenItIsTold) {
  std::mt19937_64 random(7);
  Problem problem = randomProblem(random, 300, 60);
  Options options;
  options.nodes = uint64_t(1) << 60;
  int asked = 0;
  options.stop = [&] { return ++asked > 3; };
  Plan plan = solve(problem, options);
  EXPECT_EQ(verify(problem, plan), "");
}

/// A plan is never worse for a capacity, and what is missing is what the best plan without one
/// lacks.
TEST(PlannerSearch, ACapacityChangesNoPlan) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 30 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = randomProblem(random, 10 + random() % 60, 20);
    Options options;
    options.nodes = 200 + random() % 3000;
    Plan free = solve(problem, options);
    int64_t peak = free.peaks[0], bound = free.lowerBounds[0];
    for (int64_t capacity :
         {bound - 64, bound, bound + 1, (bound + peak) / 2, peak - 1, peak, peak + 1, 2 * peak}) {
      problem.pools[0].capacity = capacity;
      Plan plan = solve(problem, options);
      EXPECT_EQ(plan.peaks, free.peaks);
      EXPECT_EQ(plan.isFound(), peak <= capacity);
      EXPECT_EQ(plan.missingBytes, std::max<int64_t>(0, peak - capacity));
      if (plan.isFound())
        EXPECT_EQ(plan.offsets, free.offsets);
      else
        EXPECT_EQ(plan.status, bound > capacity ? Status::Infeasible : Status::Unknown);
    }
  }
}

/// Where all in one pool meets the bound of every assignment, a second pool changes nothing.
TEST(PlannerSearch, TwoPoolsAreAsGoodAsOne) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 20 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = randomProblem(random, 20 + random() % 40, 15);
    Options options;
    options.nodes = 60'000;
    Plan one = solve(problem, options);
    if (one.status != Status::Optimal)
      continue;
    problem.pools.resize(2);
    problem.pools[1].weight = 1 + i % 3;
    problem.objective = Objective::WeightedPeaks;
    Plan two = solve(problem, options);
    EXPECT_EQ(verify(problem, two), "");
    EXPECT_LE(two.peaks[0] + two.peaks[1] * problem.pools[1].weight, one.peaks[0]);
    // A pool that holds all: nothing is spilled.
    problem.pools[0].capacity = one.peaks[0];
    problem.objective = Objective::PreferredPools;
    two = solve(problem, options);
    EXPECT_EQ(verify(problem, two), "");
    EXPECT_EQ(two.pools, std::vector<uint32_t>(problem.buffers.size(), 0));
    EXPECT_EQ(two.status, Status::Optimal);
  }
}

TEST(PlannerSearch, AStopEndsTheExplanationToo) {
  Problem problem;
  problem.pools[0].capacity = 40;
  for (int64_t i = 0; i < 60; ++i) {
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.lifetime = {{i % 3, 4}};
    buffer.bytes = 1;
  }
  Plan whole = solve(problem);
  EXPECT_EQ(whole.subset.size(), 41u);
  Options options;
  int asked = 0;
  options.stop = [&] { return ++asked >= 1; };
  Plan stopped = solve(problem, options);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(stopped.status, Status::Infeasible);
  EXPECT_GE(stopped.subset.size(), 41u);
}

TEST(PlannerSearch, WhatIsPinnedBetweenMembersOfAGroupDoesNotCollide) {
  Problem problem;
  problem.objective = Objective::WeightedPeaks;
  problem.pools.resize(2);
  problem.pools[0].capacity = 15;
  problem.pools[0].alignment = 4;
  auto add = [&](int64_t bytes, std::vector<Interval> lifetime) -> Buffer & {
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.bytes = bytes;
    buffer.lifetime = std::move(lifetime);
    return buffer;
  };
  add(6, {});
  add(5, {{3, 5}}).offset = 1;
  problem.pools[0].accessors = ~uint64_t(2);
  problem.buffers.back().accessors = 2;
  add(3, {{2, 4}, {5, 7}}).offset = 7;
  Buffer &member = add(2, {{3, 6}});
  member.base = 1;
  member.delta = 12;
  add(4, {{3, 4}, {5, 7}});
  Plan plan = solve(problem);
  EXPECT_EQ(verify(problem, plan), "");
  EXPECT_EQ(plan.peaks[0] + plan.peaks[1], 19);
}

TEST(PlannerSearch, WhatHasNoPlanIsShownBySomeBuffers) {
  Problem problem;
  problem.pools[0].name = "sram";
  problem.pools[0].capacity = 100;
  for (int64_t i = 0; i < 10; ++i) {
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.lifetime = {{i, i + (i == 4 || i == 5 ? 2 : 1)}};
    buffer.bytes = 60;
  }
  Plan plan = solve(problem);
  EXPECT_EQ(plan.status, Status::Infeasible);
  EXPECT_EQ(plan.missingBytes, 20);
  EXPECT_EQ(plan.subset.size(), 2u);
  EXPECT_EQ(plan.message, "there is no plan: 20 bytes are missing, and 2 buffers cannot be "
                          "together: buffer " +
                              std::to_string(plan.subset[0]) + ", buffer " +
                              std::to_string(plan.subset[1]));
}

} // namespace
} // namespace plim::planner
