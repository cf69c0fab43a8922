#include "bench/planner/Instances.h"
#include "planner/LooseBlocks.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace plim::planner {
namespace {

Packing packingOf(const Problem &problem) {
  Model model;
  EXPECT_EQ(build(problem, {}, model), "");
  std::vector<uint32_t> items(model.items.size());
  std::iota(items.begin(), items.end(), 0u);
  return packingOf(model, items, 0);
}

Problem problemOf(std::vector<Buffer> buffers) {
  Problem problem;
  problem.buffers = std::move(buffers);
  return problem;
}

Buffer live(int64_t lower, int64_t upper, int64_t bytes) {
  Buffer buffer;
  buffer.lifetime = {{lower, upper}};
  buffer.bytes = bytes;
  return buffer;
}

/// The plan that the packing of the blocks gives for the buffers, one item each.
Plan planOf(const Problem &problem, const Packing &packing, const Blocks &blocks) {
  std::vector<int64_t> there =
      placeInOrder(blocks.packing, orderBy(blocks.packing, Order::Size), Fit::Best);
  Plan plan;
  plan.status = Status::Feasible;
  plan.offsets = blocks.offsetsOf(there);
  plan.pools.assign(problem.buffers.size(), 0);
  plan.peaks = {peakOf(packing, plan.offsets)};
  plan.lowerBounds = {0};
  EXPECT_EQ(plan.peaks[0], peakOf(blocks.packing, there));
  return plan;
}

TEST(PlannerBlocks, WhatWasCutIsPutTogether) {
  // One row of two, above it one of two of which one is again two.
  Problem problem =
      problemOf({live(0, 4, 10), live(4, 9, 10), live(0, 6, 5), live(6, 9, 2), live(6, 9, 3)});
  Packing packing = packingOf(problem);
  for (uint64_t seed : {0, 1, 2, 3}) {
    Blocks blocks = join(packing, seed, [] { return false; });
    EXPECT_EQ(blocks.packing.boxes.size(), 1u);
    Plan plan = planOf(problem, packing, blocks);
    EXPECT_EQ(verify(problem, plan), "");
    EXPECT_EQ(plan.peaks[0], 15);
  }
}

TEST(PlannerBlocks, WhatIsNoRectangleStaysAsItIs) {
  Problem problem = problemOf({live(0, 4, 10), live(0, 4, 10), live(0, 4, 10)});
  problem.buffers[0].offset = 10; // pinned
  problem.buffers.push_back(live(4, 8, 10));
  problem.buffers[3].lifetime.push_back({9, 10}); // with a hole
  problem.buffers.push_back(live(8, 9, 3));
  problem.buffers.push_back(live(0, 2, 7)); // in a group with steps
  problem.buffers.push_back(live(2, 4, 9));
  problem.buffers[6].base = 5;
  Packing packing = packingOf(problem);
  Blocks blocks = join(packing, 0, [] { return false; });
  EXPECT_EQ(blocks.packing.boxes.size(), packing.boxes.size() - 1); // 1 and 2
  EXPECT_NE(blocks.places[0].block, blocks.places[1].block);
  EXPECT_EQ(blocks.places[1].block, blocks.places[2].block);
}

/// What is joined loosely is sound, too, and needs no more in any section than it may.
TEST(PlannerBlocks, LooseBlocksWasteNoMoreThanTheyMay) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int i = 0; i < 100 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = bench::trims(int(2 + random() % 80));
    for (Buffer &buffer : problem.buffers)
      buffer.alignment = i % 2 ? 1 : int64_t(1) << random() % 3;
    Packing packing = packingOf(problem);
    int64_t most = packing.lowerBound + packing.lowerBound / int64_t(50 + random() % 1000);
    Blocks blocks = joinLoosely(packing, most, random() % 3, [] { return false; });
    EXPECT_LE(blocks.packing.boxes.size(), packing.boxes.size());
    EXPECT_GE(blocks.packing.lowerBound, packing.lowerBound);
    EXPECT_LE(blocks.packing.lowerBound, most);
    EXPECT_EQ(verify(problem, planOf(problem, packing, blocks)), "");
  }
}

/// Large neighbourhood search leaves no more blocks than before, and what it takes apart it joins soundly.
TEST(PlannerBlocks, BetterBlocksAreFewerAndSound) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  size_t before = 0, after = 0;
  for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = bench::trims(int(40 + random() % 80));
    for (Buffer &buffer : problem.buffers)
      buffer.alignment = i % 2 ? 1 : int64_t(1) << random() % 3;
    // Some are no rectangles.
    problem.buffers[0].offset = 0;
    problem.buffers[1].lifetime.push_back({1'000'000, 1'000'001});
    problem.buffers[3].lifetime.clear();
    Packing packing = packingOf(problem);
    int64_t most = packing.lowerBound + packing.lowerBound / 256;
    auto never = [] { return false; };
    Blocks blocks = i % 3 ? joinLoosely(packing, most, 1, never) : join(packing, 1, never);
    uint64_t spent = 0;
    auto spend = [&](uint64_t nodes) { return (spent += nodes) < 20'000; };
    Blocks better = joinBetter(packing, blocks, most, random(), spend, never);
    EXPECT_LE(better.packing.boxes.size(), blocks.packing.boxes.size());
    EXPECT_LE(better.packing.lowerBound, most);
    EXPECT_EQ(verify(problem, planOf(problem, packing, better)), "");
    before += blocks.packing.boxes.size();
    after += better.packing.boxes.size();
    // Taken apart whole, it is what was joined.
    Blocks none = takeApart(packing, better, std::vector<bool>(better.packing.boxes.size(), false));
    EXPECT_EQ(none.packing.boxes.size(), packing.boxes.size());
    Blocks all = takeApart(packing, better, std::vector<bool>(better.packing.boxes.size(), true));
    EXPECT_EQ(all.packing.boxes.size(), better.packing.boxes.size());
    EXPECT_EQ(verify(problem, planOf(problem, packing, all)), "");
  }
  EXPECT_LT(after, before);
}

TEST(PlannerBlocks, AlignmentsAreKept) {
  Problem problem = problemOf({live(0, 4, 10), live(0, 4, 10), live(4, 8, 14)});
  problem.buffers[0].alignment = problem.buffers[2].alignment = 16;
  Packing packing = packingOf(problem);
  Blocks blocks = join(packing, 0, [] { return false; });
  EXPECT_EQ(verify(problem, planOf(problem, packing, blocks)), "");
  EXPECT_EQ(blocks.places[0].block, blocks.places[2].block) << "both take 16 bytes";
  EXPECT_NE(blocks.places[0].block, blocks.places[1].block);
}

TEST(PlannerBlocks, PlansOfBlocksArePlans) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = i % 2 ? bench::cuts(int(1 + random() % 80)) : problemOf({});
    // Few times and sizes: much can be joined, in many ways.
    for (int j = int(random() % 40); i % 2 == 0 && j > 0; --j) {
      int64_t lower = int64_t(random() % 6);
      problem.buffers.push_back(live(lower, lower + 1 + int64_t(random() % 4), 1 + random() % 3));
      problem.buffers.back().alignment = 1 + int64_t(random() % 2);
    }
    Packing packing = packingOf(problem);
    Blocks blocks = join(packing, random() % 4, [] { return false; });
    EXPECT_LE(blocks.packing.boxes.size(), packing.boxes.size());
    EXPECT_EQ(verify(problem, planOf(problem, packing, blocks)), "");
  }
}

} // namespace
} // namespace plim::planner
