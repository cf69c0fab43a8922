// Problems as they are met: families of many sizes, and the public benchmark where it is at hand.
#include "bench/planner/Instances.h"
#include "bench/planner/Heuristics.h"
#include "planner/Csv.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace plim::planner {
namespace {

Options budget(uint64_t nodes, unsigned threads = 1) {
  Options options;
  options.nodes = nodes;
  options.threads = threads;
  return options;
}

/// Sound, and no higher than what any of the classical rules gives.
void expectGood(const Problem &problem, const Plan &plan) {
  ASSERT_EQ(verify(problem, plan), "");
  for (bench::Rule rule : bench::rules) {
    Plan classical = bench::planByRule(problem, rule);
    ASSERT_EQ(verify(problem, classical), "") << bench::nameOf(rule);
    EXPECT_LE(plan.peaks[0], classical.peaks[0]) << bench::nameOf(rule);
    EXPECT_LE(plan.lowerBounds[0], classical.peaks[0]) << bench::nameOf(rule);
  }
}

TEST(PlannerInstances, NoneIsWorseThanByTheClassicalRules) {
  for (int count : {1, 2, 7, 60, 100, 250, 500})
    for (auto *family : {bench::layers, bench::cuts}) {
      SCOPED_TRACE(count);
      Problem problem = family(count);
      expectGood(problem, solve(problem, budget(1)));
    }
  for (double share : {0.01, 0.05, 0.2, 0.7}) {
    Problem problem = bench::scatter(300, share);
    expectGood(problem, solve(problem, budget(1)));
  }
}

/// Lifetimes and sizes are trimmed, so that hardly two boxes match: the best peak is at most 2^20.
TEST(PlannerInstances, TrimmedOnesAreNearTheBestPeak) {
  for (auto [count, nodes, over] : {std::tuple(60, 20'000, 1.0),
                                    {100, 100'000, 1.005},
                                    {245, 200'000, 1.01},
                                    {250, 100'000, 1.02},
                                    {500, 200'000, 1.01},
                                    {505, 400'000, 1.01},
                                    {1000, 400'000, 1.03}}) {
    SCOPED_TRACE(count);
    Problem problem = bench::trims(count);
    Plan plan = solve(problem, budget(uint64_t(nodes)));
    ASSERT_EQ(verify(problem, plan), "");
    EXPECT_LE(plan.lowerBounds[0], int64_t(1) << 20);
    EXPECT_LE(double(plan.peaks[0]), over * double(int64_t(1) << 20));
  }
}

/// No two pieces make a rectangle, so that there is nothing to join.
TEST(PlannerInstances, PinwheelsAreNearTheBestPeakWhereTheyAreFew) {
  for (auto [count, nodes, over] :
       {std::tuple(21, 20'000, 1.0), {61, 20'000, 1.0}, {101, 50'000, 1.0}, {245, 100'000, 1.19}}) {
    SCOPED_TRACE(count);
    Problem problem = bench::pinwheels(count);
    EXPECT_EQ(problem.buffers.size(), size_t(count));
    for (const Buffer &buffer : problem.buffers) {
      EXPECT_GT(buffer.bytes, 0);
      EXPECT_LT(buffer.lifetime[0].lower, buffer.lifetime[0].upper);
    }
    Plan plan = solve(problem, budget(uint64_t(nodes)));
    ASSERT_EQ(verify(problem, plan), "");
    EXPECT_LE(plan.lowerBounds[0], int64_t(1) << 20);
    EXPECT_LE(double(plan.peaks[0]), over * double(int64_t(1) << 20));
  }
}

TEST(PlannerInstances, RandomOnesAreNotEither) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = bench::scatter(int(1 + random() % 80), double(1 + random() % 90) / 100);
    for (Buffer &buffer : problem.buffers)
      buffer.alignment = int64_t(1) << random() % 9;
    problem.pools[0].alignment = 1;
    expectGood(problem, solve(problem, budget(1 + random() % 2000)));
  }
}

TEST(PlannerInstances, MoreBudgetIsNeverWorseAndThreadsChangeNothing) {
  for (const Problem &problem : {bench::cuts(60), bench::scatter(150, 0.2), bench::layers(200)}) {
    int64_t before = INT64_MAX;
    for (uint64_t nodes : {0, 100, 3000, 20'000}) {
      Plan plan = solve(problem, budget(nodes));
      ASSERT_EQ(verify(problem, plan), "");
      EXPECT_LE(plan.peaks[0], before);
      before = plan.peaks[0];
      for (unsigned threads : {2u, 3u}) {
        Plan other = solve(problem, budget(nodes, threads));
        EXPECT_EQ(other.offsets, plan.offsets);
        EXPECT_EQ(other.nodes, plan.nodes);
        EXPECT_EQ(other.status, plan.status);
      }
    }
  }
}

TEST(PlannerInstances, PlansAreMadeAgainFromOlderOnes) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int i = 0; i < 30 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = i % 2 ? bench::layers(60 + i) : bench::cuts(60 + i);
    Plan before = solve(problem, budget(1000));
    for (int changes = 0; changes < 4; ++changes) {
      Buffer &buffer = problem.buffers[random() % problem.buffers.size()];
      buffer.bytes = int64_t(random() % uint64_t(2 * buffer.bytes + 1));
    }
    Options options = budget(0);
    options.warmStart = &before;
    Plan after = solve(problem, options);
    ASSERT_EQ(verify(problem, after), "");
    EXPECT_LE(after.peaks[0], planGreedy(problem).peaks[0]);
  }
}

TEST(PlannerInstances, ManyBuffersNeedNoPairs) {
  Problem problem = bench::scatter(6000, 0.03);
  problem.buffers[17].alignment = 4096;
  Plan plan = solve(problem, budget(0));
  ASSERT_EQ(verify(problem, plan), "");
  EXPECT_LE(double(plan.peaks[0]), 1.1 * double(plan.lowerBounds[0]));
  // What is pinned or has holes takes the slower way.
  problem.buffers[100].offset = 64;
  problem.buffers[200].lifetime.push_back({70'000, 70'001});
  plan = solve(problem, budget(0));
  ASSERT_EQ(verify(problem, plan), "");
  EXPECT_LE(double(plan.peaks[0]), 1.3 * double(plan.lowerBounds[0]));
  // It can be stopped: what is left is put on top.
  for (int last : {1, 30}) {
    Options options = budget(0);
    int asked = 0;
    options.stop = [&] { return ++asked >= last; };
    Plan stopped = solve(problem, options);
    EXPECT_EQ(asked, last);
    ASSERT_EQ(verify(problem, stopped), "");
    EXPECT_GT(stopped.peaks[0], plan.peaks[0]);
  }
}

TEST(PlannerInstances, AStopEndsTheSearchWithAPlan) {
  Problem problem = bench::cuts(200);
  Options options = budget(UINT64_MAX);
  int asked = 0;
  options.stop = [&] { return ++asked > 10; };
  Plan plan = solve(problem, options);
  EXPECT_TRUE(asked > 10 || plan.status == Status::Optimal);
  expectGood(problem, plan);
}

TEST(PlannerInstances, AStopIsHeededWithinAPassOverManyBuffers) {
  Problem problem = bench::scatter(6000, 0.03);
  Options options = budget(UINT64_MAX, 2);
  int asked = 0, last = 1;
  options.stop = [&] { return ++asked >= last; };
  // Once it has said so, it is not asked again.
  for (last = 1; last < 100; last *= 3) {
    asked = 0;
    ASSERT_EQ(verify(problem, solve(problem, options)), "");
    EXPECT_EQ(asked, last);
  }
}

/// The public benchmark. It is no part of the checkout.
const std::filesystem::path publicFolder = PLIM_SOURCE_FOLDER "/../shared/data/planner";

TEST(PlannerInstances, PublicOnes) {
  if (!std::filesystem::exists(publicFolder))
    GTEST_SKIP() << "there is no " << publicFolder;
  struct Known {
    const char *name;
    size_t buffers;
    int64_t bound;  // most bytes live at once
    int64_t best;   // peak that is to be met
    uint64_t nodes; // in so many
  };
  constexpr Known instances[] = {
      {"example.12", 5, 12, 12, 20'000},
      {"A.1048576", 154, 1048576, 1048576, 20'000},
      {"B.1048576", 170, 1048576, 1048576, 20'000},
      {"C.1048576", 203, 1039360, 1039360, 20'000},
      {"D.1048576", 213, 986112, 986112, 100'000},
      {"E.1048576", 215, 1048576, 1048576, 20'000},
      {"J.1048576", 409, 989184, 1036288, 20'000},
  };
  for (const Known &known : instances) {
    SCOPED_TRACE(known.name);
    std::ifstream stream(publicFolder / (std::string(known.name) + ".csv"), std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    Problem problem;
    EXPECT_FALSE(readCsv(text, problem));
    EXPECT_EQ(problem.buffers.size(), known.buffers);
    Plan plan = solve(problem, budget(known.nodes));
    expectGood(problem, plan);
    EXPECT_GE(plan.lowerBounds[0], known.bound);
    EXPECT_LE(plan.peaks[0], known.best);
    // The solution pins everything, and is as good.
    Problem pinned;
    EXPECT_FALSE(readCsv(writeCsv(text, problem, plan), pinned));
    EXPECT_EQ(solve(pinned).peaks, plan.peaks);
  }
}

/// Several orders share the nodes: the plan depends on how many they are, but not on the threads.
TEST(PlannerInstances, OrdersAreSearchedSideBySideOnAnyThreads) {
  for (const Problem &problem :
       {bench::trims(100), bench::cuts(200), bench::gaps(43, 14, 64, 24, 2), bench::pinwheels(101)})
    for (unsigned orders : {2u, 4u}) {
      Options options = budget(120'000);
      options.orders = orders;
      Plan plan = solve(problem, options);
      ASSERT_EQ(verify(problem, plan), "");
      EXPECT_LE(plan.peaks[0], solve(problem, budget(10'000)).peaks[0]);
      EXPECT_LE(plan.nodes, 121'000u);
      for (unsigned threads : {2u, 3u, 8u}) {
        options.threads = threads;
        Plan other = solve(problem, options);
        EXPECT_EQ(other.offsets, plan.offsets);
        EXPECT_EQ(other.lowerBounds, plan.lowerBounds);
        EXPECT_EQ(other.nodes, plan.nodes);
        EXPECT_EQ(other.status, plan.status);
      }
    }
}

TEST(PlannerInstances, AStopEndsAllOrders) {
  Problem problem = bench::pinwheels(245);
  Options options = budget(UINT64_MAX, 3);
  options.orders = 3;
  std::atomic<int> asked = 0;
  options.stop = [&] { return ++asked > 3000; };
  Plan plan = solve(problem, options);
  EXPECT_EQ(verify(problem, plan), "");
  EXPECT_GT(asked, 3000);
}

/// The restarts vary the order of the rows by numbers of their own: whatever the order of the rows is,
/// the plan is sound, and the same with two threads.
TEST(PlannerInstances, RestartsAreDeterministicInAnyOrderOfRows) {
  Problem problem = bench::trims(500);
  std::mt19937_64 random(500);
  for (int turn = 0; turn < 2; ++turn) {
    Plan plan = solve(problem, budget(200'000));
    EXPECT_EQ(verify(problem, plan), "");
    EXPECT_LE(plan.nodes, 201'000u);
    Plan other = solve(problem, budget(200'000, 2));
    EXPECT_EQ(other.offsets, plan.offsets);
    EXPECT_EQ(other.lowerBounds, plan.lowerBounds);
    EXPECT_EQ(other.nodes, plan.nodes);
    for (size_t i = problem.buffers.size(); i > 1; --i)
      std::swap(problem.buffers[i - 1], problem.buffers[random() % i]);
  }
}

} // namespace
} // namespace plim::planner
