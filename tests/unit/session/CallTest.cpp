// Calling functions: arguments, results, failures inside, threads.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char *resultsSource = R"(
func.func @main(%x: tensor<?xf32>, %k: i8) -> (tensor<?xf32>, i8, tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %s, %k, %x, %n : tensor<?xf32>, i8, tensor<?xf32>, index
}
func.func @rank0(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
)";

class CallTest : public ::testing::Test {
protected:
  Function function(std::string_view source, std::string_view name) {
    return lookup(load(*engine, source), name);
  }
  std::shared_ptr<Engine> engine = makeEngine();
};

TEST_F(CallTest, SeveralResultsOfDifferentKinds) {
  Function main = function(resultsSource, "main");
  ASSERT_EQ(main.signature().results.size(), 4u);
  Buffer x = makeBuffer<float>({3}, {1, 2, 3});
  std::vector<Value> results = callOk(main, {x, Scalar{ElementType::I8, 0xfc}});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(elements<float>(results[0]), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(std::get<Scalar>(results[1]), (Scalar{ElementType::I8, 0xfc}));
  EXPECT_EQ(elements<float>(results[2]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(std::get<Scalar>(results[3]), (Scalar{ElementType::Index, 3}));
  // An argument that is returned is a copy.
  static_cast<float *>(x.mutableData())[0] = 100;
  EXPECT_EQ(elements<float>(results[2])[0], 1);
}

TEST_F(CallTest, EmptyAndRankZeroTensors) {
  Function main = function(resultsSource, "main");
  std::vector<Value> results =
      callOk(main, {makeBuffer<float>({0}, {}), Scalar{ElementType::I8, 1}});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(shapeOf(results[0]), std::vector<int64_t>{0});
  EXPECT_EQ(std::get<Scalar>(results[3]).bits, 0u);
  Function rank0 = function(resultsSource, "rank0");
  results = callOk(rank0, {makeBuffer<float>({}, {7})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(shapeOf(results[0]), std::vector<int64_t>{});
  EXPECT_EQ(elements<float>(results[0]), std::vector<float>{7});
}

TEST_F(CallTest, AKernelWritesItsBuffers) {
  Function saxpy = function(saxpySource, "saxpy");
  Buffer x = makeBuffer<float>({4}, {1, 2, 3, 4}), y = makeBuffer<float>({4}, {1, 1, 1, 1});
  EXPECT_TRUE(callOk(saxpy, {scalarF32(2), x, y}).empty());
  EXPECT_EQ(elements<float>(y), (std::vector<float>{3, 5, 7, 9}));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(CallTest, AKernelReturnsAScalar) {
  std::vector<Value> results =
      callOk(function(sumSource, "sum"), {makeBuffer<double>({3}, {1, 2, 3.5})});
  ASSERT_EQ(results.size(), 1u);
  double value;
  std::memcpy(&value, &std::get<Scalar>(results[0]).bits, sizeof value);
  EXPECT_EQ(value, 6.5);
}

TEST_F(CallTest, RawPointersOfKernels) {
  Function saxpy = function(saxpySource, "saxpy");
  auto raw =
      reinterpret_cast<void (*)(float, float *, int64_t, float *, int64_t)>(saxpy.rawPointer());
  ASSERT_NE(raw, nullptr);
  float x[] = {1, 2, 3}, y[] = {10, 20, 30};
  raw(0.5f, x, 3, y, 3);
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{10.5, 21, 31.5}));
  raw(0.5f, x, 0, y, 0);
  EXPECT_EQ(y[0], 10.5f);

  Function sum = function(sumSource, "sum");
  auto rawSum = reinterpret_cast<double (*)(const double *, int64_t)>(sum.rawPointer());
  ASSERT_NE(rawSum, nullptr);
  const double values[] = {1, 2, 4};
  EXPECT_EQ(rawSum(values, 3), 7);
  EXPECT_EQ(function(matmulSource, "matmul").rawPointer(), nullptr);
}

TEST_F(CallTest, ArgumentsThatDoNotFit) {
  Function main = function(resultsSource, "main");
  Function saxpy = function(saxpySource, "saxpy");
  Function fixed = function(temporariesSource, "main");
  Buffer x = makeBuffer<float>({3}, {1, 2, 3});
  Scalar k{ElementType::I8, 1};
  auto message = [](const Function &function, const std::vector<Value> &arguments) {
    Status status = callStatus(function, arguments);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(message(main, {x}), "'main' takes 2 arguments, got 1");
  EXPECT_EQ(message(main, {x, k, k}), "'main' takes 2 arguments, got 3");
  EXPECT_EQ(message(main, {}), "'main' takes 2 arguments, got 0");
  EXPECT_EQ(message(main, {makeBuffer<double>({3}, {1, 2, 3}), k}),
            "argument #0 (%x) of 'main' is 3xf64, expected ?xf32");
  EXPECT_EQ(message(main, {makeBuffer<float>({1, 3}, {1, 2, 3}), k}),
            "argument #0 (%x) of 'main' is 1x3xf32, expected ?xf32");
  EXPECT_EQ(message(main, {k, k}), "argument #0 (%x) of 'main' is i8, expected ?xf32 as a buffer");
  EXPECT_THAT(message(main, {x, x}),
              StartsWith("argument #1 (%k) of 'main' is 3xf32, expected i8"));
  EXPECT_THAT(message(main, {x, Scalar{ElementType::I16, 1}}),
              StartsWith("argument #1 (%k) of 'main' is i16, expected i8"));
  EXPECT_EQ(message(main, {Buffer(), k}),
            "argument #0 (%x) of 'main' is an empty handle, expected ?xf32");
  EXPECT_EQ(message(fixed, {smallIntegers({8, 16}), smallIntegers({16, 15})}),
            "argument #1 (%w) of 'main' is 16x15xf32, expected 16x16xf32");
  float memory[3] = {1, 2, 3};
  const int64_t shape[] = {3};
  StatusOr<Buffer> readOnly =
      Buffer::wrap(memory, ElementType::F32, shape, /*readOnly=*/true, nullptr, nullptr);
  ASSERT_TRUE(readOnly.ok());
  EXPECT_EQ(message(saxpy, {scalarF32(1), x, *readOnly}),
            "argument #2 (%y) of 'saxpy' is read-only, but the function writes it");
  EXPECT_EQ(saxpy.signature().arguments[2].access, jit::Access::ReadWrite);
  EXPECT_EQ(saxpy.signature().arguments[1].access, jit::Access::ReadOnly);
  EXPECT_TRUE(callStatus(saxpy, {scalarF32(1), *readOnly, x}).ok());
  // A tensor is only read.
  EXPECT_EQ(elements<float>(callOk(main, {*readOnly, k}).at(0)), (std::vector<float>{2, 4, 6}));
}

TEST_F(CallTest, WhatIsWrittenIsApartFromParameters) {
  constexpr const char *source = R"(
ml_program.global private @w(#ml_program.extern<tensor<3xf32>>) : tensor<3xf32>
func.func @main(%out: memref<3xf32>) {
  %w = ml_program.global_load_const @w : tensor<3xf32>
  bufferization.materialize_in_destination %w in restrict writable %out
      : (tensor<3xf32>, memref<3xf32>) -> ()
  return
}
)";
  Buffer w = makeBuffer<float>({3}, {1, 2, 3}), out = makeBuffer<float>({3}, {0, 0, 0});
  Function main = lookup(load(*engine, source, {.parameters = {{"w", w}}}), "main");
  Status status = callStatus(main, {w});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "argument #0 (%out) of 'main', which the function writes, overlaps parameter 'w'");
  callOk(main, {out});
  EXPECT_EQ(elements<float>(out), (std::vector<float>{1, 2, 3}));
}

TEST_F(CallTest, CallIntoReplacesResultsOnlyOnSuccess) {
  Function matmul = function(matmulSource, "matmul");
  Buffer old = makeBuffer<float>({1}, {42});
  std::vector<Value> results = {old};
  Buffer a = makeBuffer<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Status status = matmul.callInto(std::vector<Value>{a, smallIntegers({4, 5})}, results);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(elements<float>(results[0]), std::vector<float>{42});
  status = matmul.callInto(std::vector<Value>{a, makeBuffer<float>({3, 1}, {1, 1, 1})}, results);
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(elements<float>(results[0]), (std::vector<float>{6, 15}));
  EXPECT_EQ(elements<float>(old), std::vector<float>{42});
  // Nobody wants them, or too many.
  status = matmul.callInto(std::vector<Value>{a, makeBuffer<float>({3, 1}, {1, 1, 1})}, {});
  EXPECT_TRUE(status.ok()) << status.toString();
  std::vector<Value> two(2);
  EXPECT_EQ(matmul.callInto(std::vector<Value>{a, a}, two).message(),
            "'matmul' has 1 results, got room for 2");
}

TEST_F(CallTest, ShapesThatDoNotMatchAreALocatedErrorAndTheEngineGoesOn) {
  Function matmul = function(matmulSource, "matmul");
  Buffer a = smallIntegers({2, 3}), b = smallIntegers({4, 5});
  for (int i = 0; i < 100; ++i) {
    Status status = callStatus(matmul, {a, b});
    ASSERT_EQ(status.code(), StatusCode::FailedPrecondition) << status.toString();
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith("in.mlir:10:8: "), HasSubstr("extent")));
  }
  std::vector<Value> results = callOk(matmul, {smallIntegers({2, 4}), b});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(shapeOf(results[0]), (std::vector<int64_t>{2, 5}));
}

TEST_F(CallTest, MatmulAgreesWithAPlainLoop) {
  Function matmul = function(matmulSource, "matmul");
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {5, 7, 3},
                         {33, 65, 17},
                         {64, 64, 64},
                         {0, 4, 3},
                         {4, 4, 0},
                         {1, 130, 2}}) {
    Buffer a = smallIntegers({m, k}), b = smallIntegers({k, n});
    std::vector<Value> results = callOk(matmul, {a, b});
    ASSERT_EQ(results.size(), 1u);
    std::vector<float> expected(static_cast<size_t>(m * n), 0.0f);
    const auto *left = static_cast<const float *>(a.data());
    const auto *right = static_cast<const float *>(b.data());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          expected[static_cast<size_t>(i * n + j)] += left[i * k + l] * right[l * n + j];
    EXPECT_EQ(elements<float>(results[0]), expected) << m << "x" << n << "x" << k;
  }
}

TEST_F(CallTest, EightThreadsCallOneFunction) {
  Function matmul = function(matmulSource, "matmul");
  Buffer b = smallIntegers({40, 48});
  std::vector<std::vector<float>> expected;
  std::vector<Buffer> inputs;
  for (int t = 0; t < 8; ++t) {
    inputs.push_back(smallIntegers({20 + t, 40}));
    expected.push_back(elements<float>(callOk(matmul, {inputs.back(), b}).at(0)));
  }
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        std::vector<Value> arguments = {inputs[t], b};
        StatusOr<std::vector<Value>> results = matmul.call(arguments);
        if (!results.ok() || elements<float>((*results)[0]) != expected[t])
          ++bad;
        // Failing calls in between leave the others alone.
        std::vector<Value> wrong = {b, b};
        if (matmul.call(wrong).ok())
          ++bad;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(bad.load(), 0);
}

TEST_F(CallTest, ResultsAreTheSameForAnyNumberOfThreads) {
  std::vector<float> first;
  for (int threads : {1, 2, 3, 8}) {
    std::shared_ptr<Engine> own = makeEngine({.threads = threads});
    EXPECT_LE(own->threads(), threads); // no more than the process may use
    EXPECT_GE(own->threads(), 1);
    Function matmul = lookup(load(*own, matmulSource), "matmul");
    // Not exact: bits differ if the order of additions does.
    std::vector<float> values(200 * 150);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1.0f / static_cast<float>(i % 97 + 1);
    std::vector<float> result = elements<float>(
        callOk(matmul, {makeBuffer({200, 150}, values), makeBuffer({150, 200}, values)}).at(0));
    if (first.empty())
      first = result;
    EXPECT_TRUE(first == result) << threads << " threads";
  }
}

TEST_F(CallTest, AFunctionKeepsItsModuleAndEngine) {
  Function sum = function(sumSource, "sum");
  engine.reset();
  EXPECT_EQ(callOk(sum, {makeBuffer<double>({1}, {3})}).size(), 1u);
}

TEST_F(CallTest, ResultsOutliveTheEngine) {
  std::vector<Value> results;
  {
    std::shared_ptr<Engine> own = makeEngine();
    results = callOk(lookup(load(*own, matmulSource), "matmul"),
                     {smallIntegers({3, 3}), smallIntegers({3, 3})});
  }
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(elements<float>(results[0]).size(), 9u);
}

TEST_F(CallTest, GlobalsKeepTheirValueBetweenCallsAndAreOfOneModule) {
  std::shared_ptr<Module> one = load(*engine, stateSource), two = load(*engine, stateSource);
  Function first = lookup(one, "add"), second = lookup(two, "add");
  Buffer x = makeBuffer<float>({2}, {1, 2});
  EXPECT_EQ(elements<float>(callOk(first, {x}).at(0)), (std::vector<float>{11, 22}));
  EXPECT_EQ(elements<float>(callOk(first, {x}).at(0)), (std::vector<float>{12, 24}));
  EXPECT_EQ(elements<float>(callOk(second, {x}).at(0)), (std::vector<float>{11, 22}));
  // Two handles of one module share them.
  EXPECT_EQ(elements<float>(callOk(lookup(one, "add"), {x}).at(0)), (std::vector<float>{13, 26}));
}

TEST_F(CallTest, CallsThatWriteGlobalsExcludeEachOther) {
  Function add = function(stateSource, "add");
  Buffer x = makeBuffer<float>({2}, {1, 1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        callOk(add, {x});
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(elements<float>(callOk(add, {x}).at(0)), (std::vector<float>{1611, 1621}));
}

TEST(Division, ByZeroFailsTheCall) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, R"(
func.func @elements(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = arith.remui %x, %y : tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @scalars(%x: tensor<1xi32>, %a: i64, %b: i64) -> i64 {
  %r = arith.floordivsi %a, %b : i64
  return %r : i64
}
// Goes on until the quotient is zero.
func.func @turns(%x: tensor<1xi32>, %y: tensor<1xi32>) -> tensor<1xi32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %r = scf.while (%s = %x) : (tensor<1xi32>) -> tensor<1xi32> {
    %v = tensor.extract %s[%c0] : tensor<1xi32>
    %c = arith.cmpi ne, %v, %zero : i32
    scf.condition(%c) %s : tensor<1xi32>
  } do {
  ^bb0(%s: tensor<1xi32>):
    %n = arith.divsi %s, %y : tensor<1xi32>
    scf.yield %n : tensor<1xi32>
  }
  return %r : tensor<1xi32>
}
func.func @vectors(%x: tensor<4xi32>, %i: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %v = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : tensor<4xi32>, vector<4xi32>
  %n = arith.constant dense<12> : vector<4xi32>
  %q = arith.divsi %n, %v : vector<4xi32>
  %r = vector.transfer_write %q, %x[%c0] {in_bounds = [true]} : vector<4xi32>, tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func @constant(%x: tensor<2xi8>) -> tensor<2xi8> {
  %z = arith.constant dense<0> : tensor<2xi8>
  %r = arith.divui %x, %z : tensor<2xi8>
  return %r : tensor<2xi8>
}
)");
  auto numbers = [](std::vector<int32_t> values) {
    return *Buffer::fromCopy(std::make_shared<runtime::MemoryPool>(), ElementType::I32,
                             std::vector<int64_t>{static_cast<int64_t>(values.size())},
                             std::as_bytes(std::span(values)));
  };
  auto i64 = [](int64_t value) { return Scalar{ElementType::I64, static_cast<uint64_t>(value)}; };
  auto expectZero = [&](const char *name, const std::vector<Value> &arguments, const char *place) {
    Status status = callStatus(lookup(module, name), arguments);
    EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
    EXPECT_EQ(status.message(), std::string(place) + "integer division by zero");
  };
  for (int64_t count : {1, 2, 17, 100003}) {
    std::vector<int32_t> divisors(static_cast<size_t>(count), 3);
    Buffer x = numbers(std::vector<int32_t>(divisors.size(), 7));
    EXPECT_EQ(elements<int32_t>(callOk(lookup(module, "elements"), {x, numbers(divisors)})[0]),
              std::vector<int32_t>(divisors.size(), 1));
    divisors.back() = 0;
    expectZero("elements", {x, numbers(divisors)}, "in.mlir:3:8: ");
  }
  expectZero("scalars", {numbers({0}), i64(3), i64(0)}, "in.mlir:7:8: ");
  expectZero("turns", {numbers({5}), numbers({0})}, "in.mlir:20:10: ");
  EXPECT_THAT(elements<int32_t>(callOk(lookup(module, "turns"), {numbers({50}), numbers({-3})})[0]),
              ::testing::ElementsAre(0));
  Scalar anything = {ElementType::Index, 0};
  EXPECT_THAT(
      elements<int32_t>(callOk(lookup(module, "vectors"), {numbers({1, 2, -5, 100}), anything})[0]),
      ::testing::ElementsAre(12, 6, -2, 0));
  expectZero("vectors", {numbers({1, 2, 0, 100}), anything}, "in.mlir:30:8: ");
  std::vector<int8_t> bytes = {1, 2};
  Buffer x =
      *Buffer::wrap(bytes.data(), ElementType::I8, std::vector<int64_t>{2}, true, nullptr, nullptr);
  expectZero("constant", {x}, "in.mlir:36:8: ");
}

} // namespace
} // namespace plim
