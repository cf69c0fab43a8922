// What a problem may hold: groups, pins, pools, alignments, conflicts; and what makes no sense.
#include "planner/Planner.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

namespace plim::planner {
namespace {

Buffer live(int64_t lower, int64_t upper, int64_t bytes) {
  Buffer buffer;
  buffer.lifetime = {{lower, upper}};
  buffer.bytes = bytes;
  return buffer;
}

/// Every kind of constraint, in a mixture that mostly has a plan.
Problem randomProblem(std::mt19937_64 &random, size_t count) {
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Problem problem;
  problem.pools.resize(size_t(draw(1, 3)));
  for (Pool &pool : problem.pools) {
    pool.alignment = draw(0, 2) ? 1 : draw(1, 6);
    pool.accessors = draw(0, 3) ? ~uint64_t(0) : 1;
    pool.weight = draw(0, 3);
    if (&pool != &problem.pools.back() && draw(0, 1))
      pool.capacity = draw(10, 60);
  }
  problem.pools.back().accessors = ~uint64_t(0);
  problem.objective = draw(0, 1) ? Objective::PreferredPools : Objective::WeightedPeaks;
  for (size_t i = 0; i < count; ++i) {
    Buffer &buffer = problem.buffers.emplace_back();
    for (int64_t at = draw(0, 10), n = draw(0, 3); n > 0; --n) {
      int64_t end = at + draw(0, 6);
      buffer.lifetime.push_back({at, end});
      at = end + draw(0, 4);
    }
    buffer.bytes = draw(0, 6) ? draw(1, 20) : 0;
    buffer.alignment = draw(0, 2) ? 1 : draw(1, 6);
    buffer.accessors = uint64_t(draw(0, 3));
    if (draw(0, 3) == 0)
      buffer.pools = {uint32_t(problem.pools.size() - 1)};
    if (i > 0 && draw(0, 5) == 0) {
      buffer.base = uint32_t(draw(0, int64_t(i) - 1));
      buffer.delta = draw(-3, 12) * 60; // a multiple of all alignments
      buffer.pools = {};
    } else if (draw(0, 9) == 0) {
      buffer.offset = draw(0, 3) * 60;
    }
    for (auto *list : {&problem.conflicts, &problem.inPlace})
      if (i > 0 && draw(0, 4) == 0)
        list->push_back({uint32_t(i), uint32_t(draw(0, int64_t(i) - 1))});
  }
  return problem;
}

TEST(PlannerModel, RandomProblemsHaveSoundPlans) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  Options few;
  few.nodes = 2000;
  int found = 0;
  for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = randomProblem(random, 1 + random() % 20);
    std::string fault = check(problem);
    for (const Plan &plan : {planGreedy(problem), solve(problem, few)}) {
      EXPECT_EQ(plan.status == Status::Invalid, !fault.empty()) << fault;
      EXPECT_EQ(plan.message.empty(), plan.isFound());
      if (plan.isFound())
        EXPECT_EQ(verify(problem, plan), "");
      found += plan.isFound();
    }
  }
  EXPECT_GE(found, 2000);
}

TEST(PlannerModel, HolesInALifetimeAreUsed) {
  Problem problem;
  problem.buffers = {live(0, 1, 100), live(1, 2, 100)};
  problem.buffers[0].lifetime.push_back({2, 3});
  Plan plan = solve(problem);
  EXPECT_EQ(plan.status, Status::Optimal);
  EXPECT_EQ(plan.peaks[0], 100);
  EXPECT_EQ(verify(problem, plan), "");
}

TEST(PlannerModel, ViewsShareTheirBase) {
  Problem problem;
  problem.buffers = {live(0, 4, 100), live(0, 2, 60), live(1, 3, 40), live(0, 4, 10)};
  problem.buffers[1].base = 0;
  problem.buffers[2].base = 1;
  problem.buffers[2].delta = 60;
  Plan plan = solve(problem);
  EXPECT_EQ(plan.status, Status::Optimal);
  EXPECT_EQ(plan.peaks[0], 110);
  EXPECT_EQ(plan.offsets[2] - plan.offsets[0], 60);
  EXPECT_EQ(verify(problem, plan), "");
}

TEST(PlannerModel, ListedConflictsCount) {
  Problem problem;
  problem.buffers.resize(4);
  for (Buffer &buffer : problem.buffers)
    buffer.bytes = 8;
  problem.conflicts = {{0, 1}, {1, 2}, {2, 0}};
  Plan plan = solve(problem);
  EXPECT_EQ(plan.status, Status::Optimal);
  EXPECT_EQ(plan.peaks[0], 24);
  EXPECT_EQ(verify(problem, plan), "");
}

TEST(PlannerModel, WhatDoesNotFitGoesToTheNextPool) {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].capacity = 100;
  problem.buffers = {live(0, 2, 60), live(0, 2, 60)};
  Plan plan = solve(problem);
  ASSERT_TRUE(plan.isFound());
  EXPECT_NE(plan.pools[0], plan.pools[1]);
  EXPECT_EQ(verify(problem, plan), "");
}

TEST(PlannerModel, AlignmentsNeedNotBePowersOfTwo) {
  Problem problem;
  problem.pools[0].alignment = 4;
  problem.buffers = {live(0, 2, 5), live(0, 2, 5), live(0, 2, 5)};
  problem.buffers[0].alignment = 6;
  problem.buffers[1].alignment = 10;
  Plan plan = solve(problem);
  ASSERT_TRUE(plan.isFound());
  EXPECT_EQ(plan.offsets[0] % 12, 0);
  EXPECT_EQ(plan.offsets[1] % 20, 0);
  EXPECT_EQ(verify(problem, plan), "");
}

struct BadProblem {
  const char *message;
  std::function<void(Problem &)> spoil;
};

TEST(PlannerModel, WhatMakesNoSenseIsSaidOnce) {
  constexpr int64_t large = std::numeric_limits<int64_t>::max();
  const BadProblem cases[] = {
      {"buffer 'b1' has a negative size", [](Problem &p) { p.buffers[1].bytes = -1; }},
      {"buffer 'b1' has an alignment below 1", [](Problem &p) { p.buffers[1].alignment = 0; }},
      {"buffer 'b1' is pinned to a negative offset", [](Problem &p) { p.buffers[1].offset = -8; }},
      {"buffer 'b1' is pinned to 12, which is no multiple of its alignment 8",
       [](Problem &p) {
         p.buffers[1].alignment = 8;
         p.buffers[1].offset = 12;
       }},
      {"buffer 'b1' has a lifetime that ends before it begins",
       [](Problem &p) { p.buffers[1].lifetime = {{3, 2}}; }},
      {"buffer 'b1' has a lifetime whose intervals are not ascending and disjoint",
       [](Problem &p) { p.buffers[1].lifetime = {{0, 3}, {2, 4}}; }},
      {"buffer 'b1' may be in pool 7, which does not exist",
       [](Problem &p) { p.buffers[1].pools = {7}; }},
      {"buffer 'b1' has pool 'slow' twice among its pools",
       [](Problem &p) { p.buffers[1].pools = {1, 0, 1}; }},
      {"buffer 'b1' has accessors that do not reach pool 'fast', nor all of them another of its "
       "pools",
       [](Problem &p) { p.buffers[1].accessors = 2, p.buffers[1].pools = {0}; }},
      {"buffer 'b1' has a base that does not exist", [](Problem &p) { p.buffers[1].base = 9; }},
      {"buffer 'b1' is its own base, over others or directly",
       [](Problem &p) { p.buffers[1].base = 1; }},
      {"buffer 'b2' is its own base, over others or directly",
       [](Problem &p) {
         p.buffers[0].base = 1;
         p.buffers[1].base = 2;
         p.buffers[2].base = 0;
       }},
      {"the sizes, pins and distances of the buffers add up to 2^62 bytes or more",
       [](Problem &p) {
         p.buffers[0].bytes = large;
         p.buffers[1].bytes = large;
       }},
      {"the sizes and alignments of the buffers add up to 2^62 bytes or more",
       [](Problem &p) { p.buffers[0].alignment = large / 2 + 1; }},
      {"buffer 'b0' and buffer 'b1' conflict and are pinned onto each other",
       [](Problem &p) {
         p.pools.resize(1);
         p.buffers[0].offset = 0;
         p.buffers[1].offset = 8;
       }},
      {"buffer 'b1' is pinned so low that others of its group would begin below 0",
       [](Problem &p) {
         p.buffers[1].offset = 8;
         p.buffers[0].base = 1;
         p.buffers[0].delta = -16;
       }},
      {"buffer 'b1' is pinned against a pin of its group",
       [](Problem &p) {
         p.buffers[0].offset = 8;
         p.buffers[1].offset = 8;
         p.buffers[1].base = 0;
         p.buffers[1].delta = 8;
       }},
      {"buffer 'b1' cannot be aligned together with those it hangs together with",
       [](Problem &p) {
         p.buffers[0].alignment = 8;
         p.buffers[1].alignment = 8;
         p.buffers[1].base = 0;
         p.buffers[1].delta = 4;
       }},
      {"a conflict names buffer 5, which does not exist",
       [](Problem &p) { p.conflicts = {{0, 5}}; }},
      {"an in-place pair is of buffer 'b2' and itself", [](Problem &p) { p.inPlace = {{2, 2}}; }},
      {"pool 'fast' has a negative capacity", [](Problem &p) { p.pools[0].capacity = -1; }},
      {"pool 'fast' has an alignment below 1", [](Problem &p) { p.pools[0].alignment = 0; }},
      {"pool 'fast' has a negative weight", [](Problem &p) { p.pools[0].weight = -1; }},
      {"there are buffers and no pool", [](Problem &p) { p.pools.clear(); }},
  };
  for (const BadProblem &each : cases) {
    Problem problem;
    problem.pools.resize(2);
    problem.pools[0].name = "fast";
    problem.pools[0].accessors = 1;
    problem.pools[1].name = "slow";
    problem.buffers = {live(0, 2, 10), live(1, 3, 10), live(2, 4, 10)};
    for (int i = 0; i < 3; ++i)
      problem.buffers[i].name = "b" + std::to_string(i);
    ASSERT_EQ(check(problem), "");
    each.spoil(problem);
    EXPECT_EQ(check(problem), each.message);
    Plan plan = solve(problem);
    EXPECT_EQ(plan.status, Status::Invalid);
    EXPECT_EQ(plan.message, each.message);
    EXPECT_NE(verify(problem, plan), "");
  }
}

TEST(PlannerModel, TheVerifierFindsWhatIsWrong) {
  Problem problem;
  problem.buffers = {live(0, 2, 10), live(1, 3, 10), live(2, 4, 10)};
  Plan plan = solve(problem);
  ASSERT_EQ(verify(problem, plan), "");
  auto spoilt = [&](auto spoil) {
    Plan bad = plan;
    spoil(bad);
    return verify(problem, bad);
  };
  EXPECT_EQ(spoilt([](Plan &p) { p.offsets[0] = p.offsets[1]; }),
            "buffers 0 and 1 conflict and share bytes");
  EXPECT_EQ(spoilt([](Plan &p) { p.offsets[1] = -1; }),
            "buffer 1 has an offset that is out of range");
  EXPECT_EQ(spoilt([](Plan &p) { p.pools[1] = 1; }), "buffer 1 is in no pool");
  EXPECT_EQ(spoilt([](Plan &p) { --p.peaks[0]; }), "pool 0 has peak 20, not 19");
  EXPECT_EQ(spoilt([](Plan &p) { p.lowerBounds[0] = 21; }),
            "pool 0 has a lower bound above its peak");
  EXPECT_EQ(spoilt([](Plan &p) { p.offsets.pop_back(); }), "the plan is of another problem");
  problem.pools[0].capacity = 19;
  EXPECT_EQ(verify(problem, plan), "pool 0 has peak 20, above its capacity");
  problem.pools[0].capacity.reset();
  problem.conflicts = {{0, 2}};
  EXPECT_EQ(plan.offsets[0] == plan.offsets[2], !verify(problem, plan).empty());
  problem.buffers[2].alignment = 64;
  problem.buffers[2].offset = 64;
  EXPECT_EQ(verify(problem, plan), "buffer 2 is not where it is pinned");
}

} // namespace
} // namespace plim::planner
