#include "planner/Repair.h"
#include "bench/planner/Instances.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace plim::planner {
namespace {

const std::function<bool()> never = [] { return false; };

struct Case {
  Problem problem;
  Model model;
  Packing packing;

  explicit Case(Problem theProblem) : problem(std::move(theProblem)) {
    EXPECT_EQ(build(problem, {}, model), "");
    std::vector<uint32_t> items(model.items.size());
    std::iota(items.begin(), items.end(), 0u);
    packing = packingOf(model, items, 0);
  }

  std::vector<int64_t> firstFit() const {
    return placeInOrder(packing, orderBy(packing, Order::Start), Fit::First);
  }

  /// Why these are no offsets of the buffers; they are an item each.
  std::string faultOf(const std::vector<int64_t> &offsets) const {
    Plan plan;
    plan.status = Status::Feasible;
    plan.offsets = offsets;
    plan.pools.assign(offsets.size(), 0);
    plan.peaks = {peakOf(packing, offsets)};
    plan.lowerBounds = {0};
    return verify(problem, plan);
  }
};

TEST(PlannerRepair, LowersWhatFirstFitFinds) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  int lowered = 0, count = 0;
  for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
    Problem problem = bench::scatter(60 + i, 0.2);
    for (Buffer &buffer : problem.buffers) {
      buffer.alignment = int64_t(1) << random() % 9;
      if (random() % 8 == 0)
        buffer.lifetime.push_back({10'000, 10'000 + int64_t(random() % 100)});
    }
    Case test(std::move(problem));
    std::vector<int64_t> offsets = test.firstFit();
    // As by a pin; those of the start are where they have to be.
    for (size_t box = 0; box < offsets.size(); box += 7)
      test.packing.boxes[box].pin = offsets[box];
    int64_t peak = peakOf(test.packing, offsets);
    Repair repair(test.packing);
    repair.hold(offsets);
    for (int run = 0; run < 3; ++run) {
      Attempt attempt = repair.run(test.packing.lowerBound, 1000, never);
      ++count;
      if (attempt.outcome != Outcome::Found)
        continue;
      ++lowered;
      EXPECT_EQ(test.faultOf(attempt.offsets), "");
      EXPECT_LT(peakOf(test.packing, attempt.offsets), peak);
      peak = peakOf(test.packing, attempt.offsets);
      for (size_t box = 0; box < offsets.size(); box += 7)
        EXPECT_EQ(attempt.offsets[box], offsets[box]);
    }
  }
  EXPECT_GT(lowered, count / 4);
}

TEST(PlannerRepair, KeepsWhatItHoldsIfItFails) {
  Case test(bench::scatter(200, 0.3));
  std::vector<int64_t> offsets = test.firstFit();
  int64_t peak = peakOf(test.packing, offsets);
  Repair repair(test.packing);
  repair.hold(offsets);
  // Only the bound is asked for, and not found so soon.
  Attempt attempt = repair.run(peak - 1, 1, never);
  EXPECT_EQ(attempt.outcome, Outcome::Stopped);
  EXPECT_LE(attempt.nodes, 20u);
  int asked = 0;
  attempt = repair.run(test.packing.lowerBound, 1000, [&] { return ++asked > 0; });
  EXPECT_EQ(attempt.outcome, Outcome::Stopped);
  EXPECT_EQ(asked, 1);
  // Nothing is too high: nothing moves.
  EXPECT_EQ(repair.run(peak, 1000, never).nodes, 0u);
  attempt = repair.run(test.packing.lowerBound, 1000, never);
  EXPECT_EQ(attempt.outcome, Outcome::Found);
  EXPECT_LT(peakOf(test.packing, attempt.offsets), peak);
  EXPECT_EQ(test.faultOf(attempt.offsets), "");
}

TEST(PlannerRepair, FillsTheTightestGap) {
  // Pins with gaps between them, and a box of 4 above, which ends at the upper end of its gap.
  struct Wanted {
    std::vector<int64_t> gaps;
    int64_t offset;
  };
  for (const Wanted &wanted :
       {Wanted{{10, 4, 6}, 30}, Wanted{{4, 10, 6}, 10}, Wanted{{6, 10, 4}, 46},
        Wanted{{5, 9, 5}, 11}, Wanted{{3, 9, 5}, 43}, Wanted{{3, 3, 3}, -1}}) {
    Problem problem;
    std::vector<int64_t> offsets;
    int64_t top = 0;
    auto add = [&](int64_t bytes, int64_t gap, bool isPinned) {
      offsets.push_back(top + gap);
      top = offsets.back() + bytes;
      Buffer &buffer = problem.buffers.emplace_back();
      buffer.lifetime = {{0, 1}};
      buffer.bytes = bytes;
      if (isPinned)
        buffer.offset = offsets.back();
    };
    add(10, 0, true);
    for (int64_t gap : wanted.gaps)
      add(10, gap, true);
    add(4, 0, false);
    Case test(problem);
    Repair repair(test.packing);
    repair.hold(offsets);
    const Attempt attempt = repair.run(top - 4, 1000, never);
    ASSERT_EQ(attempt.outcome, wanted.offset < 0 ? Outcome::Stopped : Outcome::Found);
    if (wanted.offset >= 0)
      EXPECT_EQ(attempt.offsets.back(), wanted.offset);
  }
}

TEST(PlannerRepair, GivesUpWhereOnlyPinsAreInTheWay) {
  Problem problem;
  for (int64_t bytes : {10, 20}) {
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.lifetime = {{0, 1}};
    buffer.bytes = bytes;
  }
  problem.buffers[0].offset = 15;
  Case test(problem);
  Repair repair(test.packing);
  repair.hold({15, 25}); // 45 is the least
  // First between, which is too low for the one or the other.
  EXPECT_EQ(repair.run(40, 1000, never).outcome, Outcome::Stopped);
  EXPECT_EQ(repair.run(20, 1000, never).outcome, Outcome::Stopped);
  // Or there is a box that is larger than that.
  EXPECT_EQ(repair.run(15, 1000, never).outcome, Outcome::Stopped);
}

} // namespace
} // namespace plim::planner
