// Small random problems with every kind of constraint: what the planner says of them is compared with
// what trying all plans gives.
#include "tests/unit/planner/BruteForce.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

namespace plim::planner::testing {
namespace {

class Draw {
public:
  explicit Draw(uint64_t seed) : random(seed) {}
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool oneIn(int64_t n) { return (*this)(1, n) == 1; }

private:
  std::mt19937_64 random;
};

Problem randomProblem(Draw &draw) {
  Problem problem;
  problem.pools.resize(size_t(draw.oneIn(2) ? 1 : draw(2, 3)));
  for (Pool &pool : problem.pools) {
    pool.alignment = draw.oneIn(3) ? draw(1, 4) : 1;
    if (draw.oneIn(3))
      pool.accessors = 1;
    pool.weight = draw(0, 3);
    if (draw.oneIn(2))
      pool.capacity = draw(4, 24);
  }
  problem.pools.back().accessors = ~uint64_t(0);
  problem.objective = draw.oneIn(2) ? Objective::PreferredPools : Objective::WeightedPeaks;
  int64_t count = draw(1, 8), steps = draw(2, 12);
  // Of some constraints a problem has many, of others none.
  bool hasBases = draw.oneIn(3), hasPins = draw.oneIn(3), hasHoles = draw.oneIn(2),
       hasAlignments = draw.oneIn(2), hasConflicts = draw.oneIn(3), hasPairs = draw.oneIn(3);
  for (int64_t i = 0; i < count; ++i) {
    Buffer &buffer = problem.buffers.emplace_back();
    int64_t at = draw(0, steps - 1);
    for (int64_t n = hasHoles ? draw(0, 3) : 1; n > 0; --n) {
      int64_t end = at + draw(hasHoles ? 0 : 1, steps / 2);
      buffer.lifetime.push_back({at, end});
      at = end + draw(0, 2);
    }
    buffer.bytes = draw.oneIn(12) ? 0 : draw(1, 6);
    if (hasAlignments && draw.oneIn(2))
      buffer.alignment = draw(1, 4);
    buffer.accessors = draw.oneIn(6) ? 2 : draw(0, 1);
    if (draw.oneIn(4)) {
      uint32_t first = uint32_t(draw(0, int64_t(problem.pools.size()) - 1));
      buffer.pools = {first};
      if (first > 0 && draw.oneIn(2))
        buffer.pools.push_back(first - 1);
    }
    if (hasBases && i > 0 && draw.oneIn(2)) {
      buffer.base = uint32_t(draw(0, i - 1));
      if (!draw.oneIn(2))
        buffer.delta = hasAlignments ? 12 * draw(-1, 1) : draw(-4, 4);
    } else if (hasPins && draw.oneIn(3)) {
      buffer.offset = draw.oneIn(2) ? draw(0, 12) : 12 * draw(0, 1);
    }
    if (hasConflicts && i > 0 && draw.oneIn(2))
      problem.conflicts.push_back({uint32_t(draw(0, i - 1)), uint32_t(i)});
    if (hasPairs && i > 0 && draw.oneIn(2))
      problem.inPlace.push_back({uint32_t(i), uint32_t(draw(0, i - 1))});
  }
  return problem;
}

std::vector<uint32_t> buffersIn(const Plan &plan, uint32_t pool) {
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < plan.pools.size(); ++i)
    if (plan.pools[i] == pool)
      buffers.push_back(i);
  return buffers;
}

/// Subsets that could have been smaller: the budget does not always prove it.
int reducible = 0;

/// The subset has no plan, and mostly has one without any of its rigid groups.
void expectIrreducible(const Problem &problem, BruteForce &bruteForce,
                       const std::vector<uint32_t> &subset) {
  auto root = [&](uint32_t buffer) {
    while (problem.buffers[buffer].base)
      buffer = *problem.buffers[buffer].base;
    return buffer;
  };
  ASSERT_FALSE(subset.empty());
  EXPECT_FALSE(bruteForce.best(subset));
  for (uint32_t left : subset) {
    std::vector<uint32_t> rest = subset;
    std::erase_if(rest, [&](uint32_t other) { return root(other) == root(left); });
    if (!bruteForce.best(rest)) {
      ++reducible;
      return;
    }
  }
}

void expectRight(const Problem &problem, const Plan &plan) {
  BruteForce bruteForce(problem);
  std::optional<Value> best = bruteForce.best();
  EXPECT_EQ(plan.status == Status::Invalid, !check(problem).empty());
  EXPECT_EQ(plan.message.empty(), plan.isFound());
  if (plan.status == Status::Invalid || plan.status == Status::Infeasible)
    EXPECT_FALSE(best) << plan.message;
  if (plan.status == Status::Infeasible) {
    bool hasPins = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                               [](const Buffer &buffer) { return buffer.offset.has_value(); });
    EXPECT_GE(plan.missingBytes, hasPins ? 0 : 1);
    expectIrreducible(problem, bruteForce, plan.subset);
  }
  if (!plan.isFound())
    return;
  ASSERT_EQ(verify(problem, plan), "");
  ASSERT_TRUE(best) << "trying all plans is wrong";
  Value value = valueOf(problem, plan);
  EXPECT_LE(*best, value) << "trying all plans is wrong";
  if (plan.status == Status::Optimal)
    EXPECT_EQ(*best, value);
  for (uint32_t pool = 0; pool < problem.pools.size(); ++pool)
    EXPECT_LE(plan.lowerBounds[pool], bruteForce.smallestPeak(pool, buffersIn(plan, pool)));
}

TEST(PlannerBruteForce, TenThousandSmallProblems) {
  int counts[5] = {};
  for (uint64_t i = 0; i < 10'000 && !::testing::Test::HasFailure(); ++i) {
    // A seed for each, so that a failure can be run alone.
    uint64_t seed = plim::testing::testSeed() + i;
    SCOPED_TRACE(::testing::Message() << "PLIM_TEST_SEED=" << seed);
    Draw draw(seed);
    Problem problem = randomProblem(draw);
    Plan plan = solve(problem), greedy = planGreedy(problem);
    expectRight(problem, plan);
    expectRight(problem, greedy);
    if (greedy.isFound()) {
      EXPECT_TRUE(plan.isFound());
      EXPECT_LE(valueOf(problem, plan), valueOf(problem, greedy));
    }
    ++counts[int(plan.status)];
  }
  EXPECT_LE(reducible, 1 + counts[int(Status::Infeasible)] / 100);
  const char *names[] = {"optimal", "feasible", "unknown", "infeasible", "invalid"};
  for (int i = 0; i < 5; ++i)
    RecordProperty(names[i], counts[i]);
}

} // namespace
} // namespace plim::planner::testing
