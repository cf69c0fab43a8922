// Whatever runs can be stopped: kernels, dispatches, recursion, loads. What a test waits for has no end of its
// own; how soon a stop ends it is a matter of the benchmark.
#include "tests/unit/session/EngineFixture.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using namespace std::chrono_literals;

/// Each takes an i64 beside its buffers: how long it goes on.
constexpr const char *stopSource = R"(
// A number that no compiler knows a closed form of.
func.func private @step(%x: i64) -> i64 {
  %a = arith.constant 6364136223846793005 : i64
  %c = arith.constant 1442695040888963407 : i64
  %y = arith.muli %x, %a : i64
  %s = arith.constant 29 : i64
  %h = arith.shrui %y, %s : i64
  %m = arith.xori %y, %h : i64
  %z = arith.addi %m, %c : i64
  return %z : i64
}
func.func @scalar_while(%x: i32, %n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r:2 = scf.while (%i = %c0, %y = %c1) : (i64, i64) -> (i64, i64) {
    %goes = arith.cmpi slt, %i, %n : i64
    scf.condition(%goes) %i, %y : i64, i64
  } do {
  ^bb0(%i: i64, %y: i64):
    %z = func.call @step(%y) : (i64) -> i64
    %j = arith.addi %i, %c1 : i64
    scf.yield %j, %z : i64, i64
  }
  return %r#1 : i64
}
func.func @scalar_for(%x: i32, %n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %c1) -> i64 : i64 {
    %z = func.call @step(%y) : (i64) -> i64
    scf.yield %z : i64
  }
  return %r : i64
}
func.func @branches(%x: i32, %n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  cf.br ^again(%c0, %c1 : i64, i64)
^again(%i: i64, %y: i64):
  %z = func.call @step(%y) : (i64) -> i64
  %j = arith.addi %i, %c1 : i64
  %goes = arith.cmpi slt, %j, %n : i64
  cf.cond_br %goes, ^again(%j, %z : i64, i64), ^end
^end:
  return %z : i64
}
func.func @kernel_for(%x: memref<1xi32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.index_cast %n : i64 to index
  %seven = arith.constant 7 : i32
  scf.for %i = %c0 to %count step %c1 {
    %u = memref.load %x[%c0] : memref<1xi32>
    %v = arith.muli %u, %u : i32
    %w = arith.addi %v, %seven : i32
    memref.store %w, %x[%c0] : memref<1xi32>
  }
  return
}
func.func @kernel_nest(%x: memref<1xi32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.index_cast %n : i64 to index
  %seven = arith.constant 7 : i32
  scf.for %i = %c0 to %count step %c1 {
    scf.for %j = %c0 to %count step %c1 {
      scf.for %k = %c0 to %i step %c1 {
        %u = memref.load %x[%c0] : memref<1xi32>
        %v = arith.muli %u, %u : i32
        %w = arith.addi %v, %seven : i32
        memref.store %w, %x[%c0] : memref<1xi32>
      }
    }
  }
  return
}
func.func @kernel_parallel(%x: memref<1xi32>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.index_cast %n : i64 to index
  %seven = arith.constant 7 : i32
  scf.parallel (%i, %j) = (%c0, %c0) to (%count, %count) step (%c1, %c1) {
    %u = memref.load %x[%c0] : memref<1xi32>
    %v = arith.muli %u, %u : i32
    %w = arith.addi %v, %seven : i32
    memref.store %w, %x[%c0] : memref<1xi32>
  }
  return
}
// One workgroup.
func.func @dispatch_for(%x: tensor<1xi32>, %n: i64) -> tensor<1xi32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %e = tensor.empty() : tensor<1xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<1xi32>) outs(%e : tensor<1xi32>) {
    ^bb0(%a: i32, %o: i32):
      %s = arith.extsi %a : i32 to i64
      %t = scf.for %i = %c0 to %n step %c1 iter_args(%y = %s) -> i64 : i64 {
        %z = func.call @step(%y) : (i64) -> i64
        scf.yield %z : i64
      }
      %w = arith.trunci %t : i64 to i32
      linalg.yield %w : i32
  } -> tensor<1xi32>
  return %r : tensor<1xi32>
}
func.func @dispatch_while(%x: tensor<1xi32>, %n: i64) -> tensor<1xi32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %e = tensor.empty() : tensor<1xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<1xi32>) outs(%e : tensor<1xi32>) {
    ^bb0(%a: i32, %o: i32):
      %s = arith.extsi %a : i32 to i64
      %t:2 = scf.while (%i = %c0, %y = %s) : (i64, i64) -> (i64, i64) {
        %goes = arith.cmpi slt, %i, %n : i64
        scf.condition(%goes) %i, %y : i64, i64
      } do {
      ^bb0(%i: i64, %y: i64):
        %z = func.call @step(%y) : (i64) -> i64
        %j = arith.addi %i, %c1 : i64
        scf.yield %j, %z : i64, i64
      }
      %w = arith.trunci %t#1 : i64 to i32
      linalg.yield %w : i32
  } -> tensor<1xi32>
  return %r : tensor<1xi32>
}
// Two turns for each of the first 64.
func.func private @twice(%n: i64, %x: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %ends = arith.cmpi sle, %n, %c0 : i64
  %r = scf.if %ends -> i64 {
    %y = func.call @step(%x) : (i64) -> i64
    scf.yield %y : i64
  } else {
    %m = arith.subi %n, %c1 : i64
    %most = arith.constant 64 : i64
    %k = arith.minsi %m, %most : i64
    %y = func.call @twice(%k, %x) : (i64, i64) -> i64
    %z = func.call @twice(%k, %y) : (i64, i64) -> i64
    scf.yield %z : i64
  }
  return %r : i64
}
func.func @recursion(%x: i32, %n: i64) -> i64 {
  %s = arith.extsi %x : i32 to i64
  %r = func.call @twice(%n, %s) : (i64, i64) -> i64
  return %r : i64
}
// Dispatches of many workgroups, one after the other.
func.func @dispatches(%x: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<?xf32> : i64 {
    %z = arith.addf %y, %x : tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
)";

struct Kind {
  const char *function;
  int64_t brief = 3;
};

class StopTest : public ::testing::TestWithParam<Kind> {
protected:
  static Scalar number(int64_t value) { return {ElementType::I64, static_cast<uint64_t>(value)}; }
  static std::vector<Value> arguments(const Function &function, int64_t n) {
    const jit::ValueType &type = function.signature().arguments[0];
    if (!type.isShaped)
      return {Scalar{ElementType::I32, 5}, number(n)};
    if (type.element == "f32")
      return {smallIntegers({1000}), number(n)};
    return {makeBuffer<int32_t>({1}, {5}), number(n)};
  }
  static void expectStops(const Function &function) {
    constexpr int64_t forever = int64_t(1) << 60;
    std::stop_source source;
    std::thread stopper([&] {
      std::this_thread::sleep_for(30ms);
      source.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    Status status =
        function.call(arguments(function, forever), {.stop = source.get_token()}).status();
    EXPECT_EQ(status.code(), StatusCode::Cancelled) << status.toString();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    stopper.join();
    // Nothing of it is left behind.
    callOk(function, arguments(function, GetParam().brief));
  }
};

TEST_P(StopTest, ACallEnds) {
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads});
    expectStops(lookup(load(*engine, stopSource), GetParam().function));
  }
}

TEST_P(StopTest, ACallOfTheOracleEnds) {
  std::shared_ptr<Engine> engine = makeEngine();
  expectStops(lookup(load(*engine, stopSource, {.oracle = true}), GetParam().function));
}

TEST_P(StopTest, ACallByItselfIsCancelled) {
  std::shared_ptr<Engine> engine = makeEngine();
  Function function = lookup(load(*engine, stopSource), GetParam().function);
  Event event = function.callAsync(arguments(function, int64_t(1) << 60));
  EXPECT_FALSE(event.waitFor(30ms));
  event.cancel();
  EXPECT_TRUE(event.waitFor(10s));
  EXPECT_EQ(event.wait().code(), StatusCode::Cancelled);
}

TEST_P(StopTest, WhatIsLookedForChangesNoResult) {
  std::shared_ptr<Engine> engine = makeEngine();
  for (int64_t n : {int64_t(0), int64_t(1), int64_t(2), GetParam().brief, GetParam().brief * 50}) {
    std::vector<std::vector<Value>> both;
    for (bool oracle : {false, true}) {
      Function function =
          lookup(load(*engine, stopSource, {.oracle = oracle}), GetParam().function);
      std::vector<Value> given = arguments(function, std::min<int64_t>(n, 200));
      if (std::string_view(GetParam().function) == "recursion" && n > 12)
        continue;
      std::vector<Value> results = callOk(function, given);
      results.push_back(given[0]);
      both.push_back(results);
    }
    if (both.size() != 2)
      continue;
    for (size_t i = 0; i < both[0].size(); ++i)
      if (const Scalar *scalar = std::get_if<Scalar>(&both[0][i]))
        EXPECT_EQ(scalar->bits, std::get<Scalar>(both[1][i]).bits) << n;
      else if (std::get<Buffer>(both[0][i]).type() == ElementType::I32)
        EXPECT_EQ(elements<int32_t>(both[0][i]), elements<int32_t>(both[1][i])) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, StopTest,
                         ::testing::Values(Kind{"scalar_while"}, Kind{"scalar_for"},
                                           Kind{"branches"}, Kind{"kernel_for"},
                                           Kind{"kernel_nest"}, Kind{"kernel_parallel"},
                                           Kind{"dispatch_for"}, Kind{"dispatch_while"},
                                           Kind{"recursion"}, Kind{"dispatches"}),
                         [](const auto &kind) { return std::string(kind.param.function); });

/// Loops whose bounds are at the ends of their type come out right when they are cut into pieces.
TEST(StopLoopsTest, BoundsAtTheEndsOfTheType) {
  constexpr const char *source = R"(
func.func @count(%begin: i64, %end: i64, %step: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %begin to %end step %step iter_args(%n = %c0) -> i64 : i64 {
    %m = arith.muli %n, %i : i64
    %k = arith.xori %m, %i : i64
    %l = arith.addi %k, %c1 : i64
    scf.yield %l : i64
  }
  return %r : i64
}
func.func @count_unsigned(%begin: i64, %end: i64, %step: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for unsigned %i = %begin to %end step %step iter_args(%n = %c0) -> i64 : i64 {
    %m = arith.muli %n, %i : i64
    %k = arith.xori %m, %i : i64
    %l = arith.addi %k, %c1 : i64
    scf.yield %l : i64
  }
  return %r : i64
}
)";
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, source);
  constexpr int64_t least = INT64_MIN, most = INT64_MAX;
  auto call = [&](const char *name, uint64_t begin, uint64_t end, uint64_t step) {
    auto value = [](uint64_t bits) { return Scalar{ElementType::I64, bits}; };
    std::vector<Value> results =
        callOk(lookup(module, name), {value(begin), value(end), value(step)});
    return std::get<Scalar>(results[0]).bits;
  };
  auto expected = [](uint64_t begin, uint64_t trips, uint64_t step) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < trips; ++i, begin += step)
      n = ((n * begin) ^ begin) + 1;
    return n;
  };
  EXPECT_EQ(call("count", 5, 5, 1), 0u);
  EXPECT_EQ(call("count", 6, 5, 1), 0u);
  EXPECT_EQ(call("count", uint64_t(most), uint64_t(least), 1), 0u);
  EXPECT_EQ(call("count", uint64_t(most - 7), uint64_t(most), 1),
            expected(uint64_t(most - 7), 7, 1));
  EXPECT_EQ(call("count", uint64_t(least), uint64_t(least + 7), 3),
            expected(uint64_t(least), 3, 3));
  EXPECT_EQ(call("count", uint64_t(least), uint64_t(most), uint64_t(1) << 40),
            expected(uint64_t(least), uint64_t(1) << 24, uint64_t(1) << 40));
  EXPECT_EQ(call("count", 0, 1000003, 1), expected(0, 1000003, 1));
  EXPECT_EQ(call("count", 0, 3000003, 7), expected(0, 428572, 7));
  EXPECT_EQ(call("count", 0, 1 << 20, 1), expected(0, 1 << 20, 1));
  EXPECT_EQ(call("count_unsigned", 5, uint64_t(-1), uint64_t(1) << 40),
            expected(5, uint64_t(1) << 24, uint64_t(1) << 40));
  EXPECT_EQ(call("count_unsigned", uint64_t(-3), 5, 1), 0u);
  // The step after the last one leaves the type.
  EXPECT_EQ(call("count", uint64_t(most - 1), uint64_t(most), 5),
            expected(uint64_t(most - 1), 1, 5));
  EXPECT_EQ(call("count_unsigned", 0, uint64_t(-1), uint64_t(1) << 63),
            expected(0, 2, uint64_t(1) << 63));
}

/// A raw pointer has nobody to tell: it runs to its end, or ends where it must not go on.
TEST(StopRawTest, RawPointersStay) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, stopSource);
  auto loop =
      reinterpret_cast<int64_t (*)(int32_t, int64_t)>(lookup(module, "scalar_for").rawPointer());
  ASSERT_NE(loop, nullptr);
  std::vector<Value> results =
      callOk(lookup(module, "scalar_for"),
             {Scalar{ElementType::I32, 5}, Scalar{ElementType::I64, 100000}});
  EXPECT_EQ(static_cast<uint64_t>(loop(5, 100000)), std::get<Scalar>(results[0]).bits);

  std::shared_ptr<Module> divides = load(*engine, R"(
func.func @divide(%a: i32, %b: i32) -> i32 {
  %q = arith.divsi %a, %b : i32
  %c = arith.constant 100 : i32
  %r = arith.addi %q, %c : i32
  return %r : i32
})");
  auto divide =
      reinterpret_cast<int32_t (*)(int32_t, int32_t)>(lookup(divides, "divide").rawPointer());
  ASSERT_NE(divide, nullptr);
  EXPECT_EQ(divide(7, 2), 103);
  EXPECT_EQ(divide(7, 0), 0);
}

/// Without a call a parallel loop runs where it is called, and the kernel ends where an iteration fails.
TEST(StopRawTest, RawPointersOfParallelLoops) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, R"(
func.func @main(%n: index, %x: memref<?xi32>, %y: memref<?xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = arith.divsi %c100, %u : i32
    memref.store %v, %y[%i] : memref<?xi32>
    scf.reduce
  }
  memref.store %c100, %x[%c0] : memref<?xi32>
  return %c100 : i32
})");
  Function function = lookup(module, "main");
  auto raw = reinterpret_cast<int32_t (*)(int64_t, int32_t *, int64_t, int32_t *, int64_t)>(
      function.rawPointer());
  ASSERT_NE(raw, nullptr);
  const int64_t size = 200000;
  std::vector<int32_t> x(size, 3), y(size, 0);
  EXPECT_EQ(raw(size, x.data(), size, y.data(), size), 100);
  EXPECT_EQ(y, std::vector<int32_t>(size, 33));
  EXPECT_EQ(x[0], 100);
  EXPECT_EQ(raw(0, x.data(), size, y.data(), size), 100);
  x[0] = 3;
  x[size / 2] = 0;
  EXPECT_EQ(raw(size, x.data(), size, y.data(), size), 0);
  EXPECT_EQ(x[0], 3) << "nothing comes behind the failure";
}

/// Many functions, so that there is something to stop.
std::string largeSource() {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    std::string name = "f" + std::to_string(i);
    text += "func.func @" + name + "(%a: tensor<64x" + std::to_string(i + 8) +
            "xf32>, %b: tensor<" + std::to_string(i + 8) +
            "x32xf32>) -> tensor<64x32xf32> {\n"
            "  %z = arith.constant dense<0.0> : tensor<64x32xf32>\n"
            "  %r = linalg.matmul ins(%a, %b : tensor<64x" +
            std::to_string(i + 8) + "xf32>, tensor<" + std::to_string(i + 8) +
            "x32xf32>) outs(%z : tensor<64x32xf32>) -> tensor<64x32xf32>\n"
            "  return %r : tensor<64x32xf32>\n}\n";
  }
  return text;
}

TEST(StopLoadTest, ALoadEnds) {
  const std::string source = largeSource();
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads});
    for (auto delay : {0ms, 100ms, 700ms, 2500ms}) {
      std::stop_source stop;
      if (delay == 0ms)
        stop.request_stop();
      std::thread stopper([&] {
        std::this_thread::sleep_for(delay);
        stop.request_stop();
      });
      const auto begin = std::chrono::steady_clock::now();
      Status status =
          engine->load(source, "large.mlir", LoadOptions{.stop = stop.get_token()}).status();
      EXPECT_EQ(status.code(), StatusCode::Cancelled) << status.toString();
      const auto took = std::chrono::steady_clock::now() - begin - delay;
      RecordProperty("late_ms_" + std::to_string(delay.count()),
                     static_cast<int>(took / std::chrono::milliseconds(1)));
      EXPECT_LT(took, 10s);
      stopper.join();
    }
    // The engine is none the worse for it.
    std::stop_source never;
    EXPECT_TRUE(engine->load(stopSource, "in.mlir", LoadOptions{.stop = never.get_token()}).ok());
  }
}

} // namespace
} // namespace plim
