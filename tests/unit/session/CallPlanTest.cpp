// Temporaries whose sizes only a call knows: their places in the slab are chosen then.
#include "engine/session/CallPlanner.h"
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// ((a b) b) b with four temporaries, two of which live at once, and one in a loop.
constexpr const char *chainSource = R"(
!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %a, %c0 : !t
  %m = tensor.dim %b, %c1 : !t
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%p, %b : !t, !t) outs(%z : !t) -> !t
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %q) -> !t {
    %y = linalg.matmul ins(%x, %b : !t, !t) outs(%z : !t) -> !t
    %s = linalg.sub ins(%y, %x : !t, !t) outs(%e : !t) -> !t
    scf.yield %s : !t
  }
  %u = linalg.matmul ins(%r, %b : !t, !t) outs(%z : !t) -> !t
  %v = linalg.add ins(%u, %p : !t, !t) outs(%e : !t) -> !t
  return %v : !t
}
)";

/// The second one has a single 1 in each row: all sums are exact.
std::vector<Value> squares(int64_t rows, int64_t columns) {
  std::vector<float> shift(static_cast<size_t>(columns * columns), 0.0f);
  for (int64_t i = 0; i < columns; ++i)
    shift[static_cast<size_t>(i * columns + (i * 5 + 2) % columns)] = 1;
  return {smallIntegers({rows, columns}), makeBuffer<float>({columns, columns}, shift)};
}

void expectStatus(const Status &status, StatusCode code, const char *text) {
  EXPECT_EQ(status.code(), code) << status.toString();
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

class CallPlanTest : public ::testing::TestWithParam<int> {
protected:
  std::shared_ptr<Engine> engine = makeEngine({.threads = GetParam()});
};

TEST_P(CallPlanTest, ResultsAreThoseOfTheOracleForAllSizes) {
  Function main = lookup(load(*engine, chainSource), "main");
  ASSERT_FALSE(main.signature().plan.buffers.empty());
  Function oracle = lookup(load(*engine, chainSource, {.oracle = true}), "main");
  EXPECT_TRUE(oracle.signature().plan.buffers.empty());
  for (int turn = 0; turn < 2; ++turn)
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>(3, 4),
                                 {0, 3},
                                 {1, 1},
                                 {7, 5},
                                 {2, 0},
                                 {31, 17},
                                 {64, 3},
                                 {3, 4},
                                 {1, 129}})
      EXPECT_EQ(elements<float>(callOk(main, squares(rows, columns)).at(0)),
                elements<float>(callOk(oracle, squares(rows, columns)).at(0)))
          << rows << "x" << columns;
}

TEST_P(CallPlanTest, OneSlabInsteadOfManyBuffers) {
  Function main = lookup(load(*engine, chainSource), "main");
  callOk(main, squares(8, 8));
  EngineMemoryStatistics before = engine->memoryStatistics();
  callOk(main, squares(8, 8));
  EngineMemoryStatistics after = engine->memoryStatistics();
  EXPECT_EQ(after.workspaces.allocations, before.workspaces.allocations + 1);
  // What the loop carries round, the result, and the handle to that.
  EXPECT_LE(after.buffers.allocations, before.buffers.allocations + 6);
}

TEST_P(CallPlanTest, MoreSizesThanAreKept) {
  Function main = lookup(load(*engine, chainSource), "main");
  std::vector<std::vector<float>> expected;
  for (int turn = 0; turn < 2; ++turn)
    for (int64_t rows = 0; rows < int64_t(CallPlanner::maxKept) + 10; ++rows) {
      std::vector<float> result = elements<float>(callOk(main, squares(rows, 3)).at(0));
      if (turn == 0)
        expected.push_back(result);
      EXPECT_EQ(result, expected[size_t(rows)]) << rows;
    }
}

TEST_P(CallPlanTest, CallsOfDifferentSizesAtOnce) {
  Function main = lookup(load(*engine, chainSource), "main");
  std::vector<std::vector<float>> expected;
  for (int64_t rows = 1; rows <= 5; ++rows)
    expected.push_back(elements<float>(callOk(main, squares(rows, 6)).at(0)));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int64_t rows = 1; rows <= 5; ++rows)
    threads.emplace_back([&, rows] {
      for (int i = 0; i < 50; ++i) {
        StatusOr<std::vector<Value>> results = main.call(squares(rows, 6));
        wrong += !results.ok() || elements<float>(results->at(0)) != expected[size_t(rows - 1)];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CallPlanner, EightThreadsFindAndPlan) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function main = lookup(load(*engine, chainSource), "main");
  const jit::CallPlan &plan = main.signature().plan;
  CallPlanner planner(main.signature());
  // More than are kept, so that every thread finds, plans and drops.
  constexpr size_t sizes = CallPlanner::maxKept + 6;
  auto extentsOf = [&](size_t size) {
    return std::vector<int64_t>(static_cast<size_t>(plan.extentCount), static_cast<int64_t>(size));
  };
  std::vector<std::vector<int64_t>> offsets(sizes, std::vector<int64_t>(plan.buffers.size()));
  std::vector<size_t> bytes(sizes);
  for (size_t i = 0; i < sizes; ++i) {
    StatusOr<size_t> planned = planner.plan(extentsOf(i), offsets[i]);
    ASSERT_TRUE(planned.ok()) << planned.status().toString();
    bytes[i] = *planned;
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      std::vector<int64_t> found(plan.buffers.size());
      for (size_t i = 0; i < 20000; ++i) {
        // Mostly a few that are kept, now and then one that is not.
        size_t size = i % 50 ? (i * 7 + thread) % 8 : (i / 50 + thread * 11) % sizes;
        std::optional<size_t> had = planner.find(extentsOf(size), found);
        if (!had)
          if (StatusOr<size_t> planned = planner.plan(extentsOf(size), found); planned.ok())
            had = *planned;
        wrong += had != bytes[size] || found != offsets[size];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

constexpr const char *sizedSource = R"(
func.func @always(%n: index, %x: tensor<f32>) -> f32 {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.broadcast ins(%x : tensor<f32>) outs(%e : tensor<?xf32>) dimensions = [0]
  %y = tensor.extract %f[%c0] : tensor<?xf32>
  return %y : f32
}
func.func @checked(%n: index, %x: tensor<f32>) -> f32 {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 1000 : index
  %small = arith.cmpi sle, %n, %limit : index
  cf.assert %small, "n is too large"
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %f = linalg.broadcast ins(%x : tensor<f32>) outs(%e : tensor<?x?xf32>) dimensions = [0, 1]
  %y = tensor.extract %f[%c0, %c0] : tensor<?x?xf32>
  return %y : f32
}
func.func @branch(%n: index, %x: tensor<f32>) -> f32 {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 1000 : index
  %small = arith.cmpi sle, %n, %limit : index
  %r = scf.if %small -> f32 {
    %e = tensor.empty(%n, %n) : tensor<?x?xf32>
    %f = linalg.broadcast ins(%x : tensor<f32>) outs(%e : tensor<?x?xf32>) dimensions = [0, 1]
    %y = tensor.extract %f[%c0, %c0] : tensor<?x?xf32>
    scf.yield %y : f32
  } else {
    %y = tensor.extract %x[] : tensor<f32>
    scf.yield %y : f32
  }
  return %r : f32
}
// Quotients and floating-point numbers: not ahead of the call.
func.func @quotient(%n: index, %x: tensor<f32>) -> f32 {
  %c0 = arith.constant 0 : index
  %positive = arith.cmpi sgt, %n, %c0 : index
  cf.assert %positive, "n must be positive"
  %c100 = arith.constant 100 : index
  %m = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%c100, %n]
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.broadcast ins(%x : tensor<f32>) outs(%e : tensor<?xf32>) dimensions = [0]
  %y = tensor.extract %f[%c0] : tensor<?xf32>
  return %y : f32
}
)";

TEST_P(CallPlanTest, ExtentsWithoutMemoryFailWhereTheyAreUsed) {
  std::shared_ptr<Module> module = load(*engine, sizedSource);
  auto statusOf = [&](const char *function, int64_t n) {
    std::vector<Value> arguments = {Scalar{ElementType::Index, static_cast<uint64_t>(n)},
                                    smallIntegers({})};
    return callStatus(lookup(module, function), arguments);
  };
  auto isLate = [&](const char *function) {
    return !lookup(module, function).signature().plan.buffers.empty();
  };
  EXPECT_TRUE(isLate("always"));
  EXPECT_TRUE(isLate("checked"));
  EXPECT_FALSE(isLate("branch"));
  EXPECT_FALSE(isLate("quotient"));
  EXPECT_TRUE(statusOf("always", 3).ok());
  expectStatus(statusOf("always", -1), StatusCode::FailedPrecondition, "an extent is negative: -1");
  expectStatus(statusOf("always", INT64_MIN), StatusCode::FailedPrecondition, "negative");
  EXPECT_FALSE(statusOf("always", INT64_MAX / 2).ok());
  expectStatus(statusOf("always", int64_t(1) << 44), StatusCode::ResourceExhausted, "no memory");
  EXPECT_TRUE(statusOf("checked", 7).ok());
  for (int64_t n : {int64_t(1001), int64_t(4000000), INT64_MAX})
    expectStatus(statusOf("checked", n), StatusCode::FailedPrecondition, "n is too large");
  for (int64_t n : {int64_t(7), int64_t(4000000), INT64_MAX})
    EXPECT_TRUE(statusOf("branch", n).ok());
  EXPECT_TRUE(statusOf("quotient", 7).ok());
  expectStatus(statusOf("quotient", 0), StatusCode::FailedPrecondition, "n must be positive");
  EXPECT_EQ(engine->memoryStatistics().total().liveBytes, 0u);
}

TEST_P(CallPlanTest, AWorkspaceOfTheCallersIsAskedForWithTheArguments) {
  Function main = lookup(load(*engine, dynamicProductsSource), "main");
  expectStatus(main.workspaceRequirement().status(), StatusCode::FailedPrecondition,
               "depends on the extents of its arguments");
  std::vector<Value> small = squares(16, 16), large = squares(40, 40);
  StatusOr<WorkspaceRequirement> smallNeed = main.workspaceRequirement(small);
  StatusOr<WorkspaceRequirement> largeNeed = main.workspaceRequirement(large);
  ASSERT_TRUE(smallNeed.ok() && largeNeed.ok()) << smallNeed.status().toString();
  EXPECT_GE(smallNeed->bytes, 16u * 16 * 4);
  EXPECT_GE(largeNeed->bytes, smallNeed->bytes + (40 * 40 - 16 * 16) * 4);
  expectStatus(
      main.workspaceRequirement(std::vector<Value>(small.begin(), small.end() - 1)).status(),
      StatusCode::InvalidArgument, "");

  std::vector<float> expected = elements<float>(callOk(main, small).at(0));
  std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte *>(std::aligned_alloc(64, (largeNeed->bytes + 127) / 64 * 64)),
      &std::free);
  EngineMemoryStatistics before = engine->memoryStatistics();
  CallOptions options{.workspace = HostMemory{memory.get(), smallNeed->bytes}};
  StatusOr<std::vector<Value>> results = main.call(small, options);
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(elements<float>(results->at(0)), expected);
  EngineMemoryStatistics after = engine->memoryStatistics();
  EXPECT_EQ(after.workspaces.allocations, before.workspaces.allocations);
  EXPECT_EQ(after.scratch.allocations, before.scratch.allocations);
  // The result and the handle to it.
  EXPECT_EQ(after.buffers.allocations, before.buffers.allocations + 2);
  expectStatus(main.call(large, options).status(), StatusCode::ResourceExhausted, "are missing");
}

TEST_P(CallPlanTest, PlansAreThoseOfTheCache) {
  TemporaryFolder folder;
  for (bool fromCache : {false, true}) {
    std::shared_ptr<Module> module =
        load(*makeEngine({.threads = GetParam(), .cacheFolder = folder.path()}), chainSource);
    EXPECT_EQ(module->statistics().fromCache, fromCache);
    EXPECT_EQ(elements<float>(callOk(lookup(module, "main"), squares(5, 6)).at(0)),
              elements<float>(callOk(lookup(load(*engine, chainSource, {.oracle = true}), "main"),
                                     squares(5, 6))
                                  .at(0)));
  }
}

TEST(CallPlanner, IsDeterministicAndFillsTheSlab) {
  jit::FunctionSignature function;
  function.name = "f";
  function.plan.function = "f.extents";
  function.plan.extentCount = 2;
  function.plan.alignment = 256;
  // The first two live at once, the third after both, the last all the time.
  function.plan.buffers = {{0, 4, 4, {0}}, {2, 6, 4, {1, 1}}, {6, 8, 4, {0, 1}}, {0, 8, 12, {}}};
  CallPlanner planner(function);
  std::vector<int64_t> offsets(4), sizes = {400, 400, 4000, 12};
  StatusOr<size_t> bytes = planner.plan(std::vector<int64_t>{100, 10}, offsets);
  ASSERT_TRUE(bytes.ok());
  // No more than the largest and, at the next multiple of the alignment, what lives with it.
  EXPECT_LE(*bytes, 4096u + 12 + 256 - 64);
  auto areApart = [&](size_t i, size_t j) {
    return offsets[i] + sizes[i] <= offsets[j] || offsets[j] + sizes[j] <= offsets[i];
  };
  EXPECT_TRUE(areApart(0, 1) && areApart(0, 3) && areApart(1, 3) && areApart(2, 3));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(offsets[i] % 256, 0);
    EXPECT_LE(offsets[i] + sizes[i] + 256 - 64, static_cast<int64_t>(*bytes));
  }
  std::vector<int64_t> again(4);
  ASSERT_TRUE(planner.plan(std::vector<int64_t>{100, 10}, again).ok());
  EXPECT_EQ(again, offsets);
  EXPECT_TRUE(planner.plan(std::vector<int64_t>{-1, 10}, again).ok());
  EXPECT_EQ(again[0], -1);
  EXPECT_GE(again[1], 0);
  EXPECT_EQ(again[2], -1);
  EXPECT_TRUE(planner.plan(std::vector<int64_t>{0, 0}, again).ok());
  EXPECT_TRUE(planner.plan(std::vector<int64_t>{int64_t(1) << 45, 1}, again).ok());
  EXPECT_GE(again[0], 0);
  EXPECT_TRUE(planner.plan(std::vector<int64_t>{int64_t(1) << 46, 1}, again).ok());
  EXPECT_EQ(again[0], -1);
}

INSTANTIATE_TEST_SUITE_P(Threads, CallPlanTest, ::testing::Values(1, 2));

} // namespace
} // namespace plim
