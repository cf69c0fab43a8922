// Results written into buffers that the caller gives.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr const char *outputsSource = R"(
!t = tensor<?x4xf32>
func.func @both(%x: !t) -> (!t, f32, !t) {
  %c1 = arith.constant 1.0 : f32
  %sum = arith.addf %x, %x : !t
  %product = arith.mulf %x, %x : !t
  return %sum, %c1, %product : !t, f32, !t
}
func.func @carried(%x: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> !t {
    %z = arith.addf %y, %x : !t
    scf.yield %z : !t
  }
  return %r : !t
}
func.func @same(%x: !t) -> (!t, !t) {
  return %x, %x : !t, !t
}
func.func @inner(%x: !t) -> !t {
  %y = arith.addf %x, %x : !t
  return %y : !t
}
func.func @outer(%x: !t, %c: i1) -> (f32, !t) {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> !t {
    %y = func.call @inner(%x) : (!t) -> !t
    scf.yield %y : !t
  } else {
    scf.yield %x : !t
  }
  %v = tensor.extract %r[%c0, %c0] : !t
  return %v, %r : f32, !t
}
)";

Buffer zeros(std::initializer_list<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return makeBuffer<float>(shape, std::vector<float>(static_cast<size_t>(count), 0.0f));
}

class OutputTest : public ::testing::TestWithParam<const char *> {
protected:
  Function function(const char *name) const { return lookup(module, name); }

  /// The function's results in `outputs` are those that it makes by itself.
  void expectInPlace(const char *name, const std::vector<Value> &arguments,
                     const std::vector<Buffer> &outputs) const {
    std::vector<Value> expected = callOk(function(name), arguments);
    StatusOr<std::vector<Value>> results = function(name).call(arguments, {.outputs = outputs});
    ASSERT_TRUE(results.ok()) << results.status().toString();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto *want = std::get_if<Buffer>(&expected[i]);
      if (!want) {
        EXPECT_EQ(std::get<Scalar>((*results)[i]), std::get<Scalar>(expected[i]));
        continue;
      }
      EXPECT_EQ(elements<float>((*results)[i]), elements<float>(*want)) << name << " " << i;
      EXPECT_EQ(shapeOf((*results)[i]), shapeOf(*want));
      if (outputs[i])
        EXPECT_EQ(std::get<Buffer>((*results)[i]).data(), outputs[i].data()) << name << " " << i;
    }
  }

  std::shared_ptr<Engine> engine = makeEngine({.policy = GetParam()});
  std::shared_ptr<Module> module = load(*engine, outputsSource);
};

TEST_P(OutputTest, AreWrittenInPlace) {
  for (int64_t rows : {0, 1, 5, 67}) {
    std::vector<Value> x = {smallIntegers({rows, 4})};
    expectInPlace("both", x, {zeros({rows, 4}), {}, zeros({rows, 4})});
    expectInPlace("both", x, {{}, {}, zeros({rows, 4})});
    expectInPlace("both", x, {{}, {}, {}});
    expectInPlace("same", x, {zeros({rows, 4}), zeros({rows, 4})});
    expectInPlace("inner", x, {zeros({rows, 4})});
    for (uint64_t n : {0u, 1u, 3u})
      expectInPlace("carried", {x[0], Scalar{ElementType::Index, n}}, {zeros({rows, 4})});
    if (rows > 0)
      for (uint64_t c : {0u, 1u})
        expectInPlace("outer", {x[0], Scalar{ElementType::I1, c}}, {{}, zeros({rows, 4})});
  }
}

TEST_P(OutputTest, SpareTheAllocation) {
  std::vector<Value> x = {smallIntegers({16, 4})}, results(3);
  std::vector<Buffer> outputs = {zeros({16, 4}), {}, zeros({16, 4})};
  Function both = function("both");
  ASSERT_TRUE(both.callInto(x, results, {.outputs = outputs}).ok());
  EngineMemoryStatistics before = engine->memoryStatistics();
  ASSERT_TRUE(both.callInto(x, results, {.outputs = outputs}).ok());
  EXPECT_EQ(engine->memoryStatistics().buffers.allocations, before.buffers.allocations);
}

TEST_P(OutputTest, ThatDoNotFitAreRefused) {
  auto expectRefused = [&](const char *name, const std::vector<Value> &arguments,
                           const std::vector<Buffer> &outputs, const char *text) {
    Status status = function(name).call(arguments, {.outputs = outputs}).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  };
  Buffer x = smallIntegers({3, 4}), y = zeros({3, 4});
  expectRefused("inner", {x}, {y, y}, "'inner' has 1 results, got buffers for 2");
  expectRefused("inner", {x}, {zeros({3, 5})}, "is 3x5xf32, expected ?x4xf32");
  expectRefused("inner", {x}, {zeros({12})}, "is 12xf32, expected ?x4xf32");
  expectRefused("inner", {x}, {makeBuffer<double>({3, 4}, std::vector<double>(12))}, "is 3x4xf64");
  expectRefused("both", {x}, {{}, y, {}}, "result #1 of 'both' is 3x4xf32, expected f32");
  expectRefused("both", {x}, {y, {}, y}, "overlaps that for result #0");
  // What only the call finds out.
  expectRefused("inner", {x}, {zeros({4, 4})},
                "result #0 has the extents 3x4, the buffer given for it 4x4");
  expectRefused("carried", {x, Scalar{ElementType::Index, 0}}, {zeros({2, 4})},
                "result #0 has the extents 3x4, the buffer given for it 2x4");

  std::vector<float> memory(64);
  int64_t shape[] = {3, 4}, strides[] = {8, 1};
  auto wrap = [&](size_t at, bool readOnly) {
    return *Buffer::wrap(memory.data() + at, ElementType::F32, shape, readOnly, nullptr, nullptr);
  };
  expectRefused("inner", {x}, {wrap(0, true)}, "is read-only");
  expectRefused("inner", {x},
                {*Buffer::wrapStrided(memory.data(), ElementType::F32, shape, strides, false,
                                      nullptr, nullptr)},
                "dense");

  Parameters parameters = {{"w", smallIntegers({4})}};
  std::shared_ptr<Module> bound = load(*engine, parameterSource, {.parameters = parameters});
  std::vector<Buffer> parameter = {parameters.at("w")};
  Status status =
      lookup(bound, "main").call(std::vector<Value>{zeros({4})}, {.outputs = parameter}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("overlaps parameter 'w'"));
}

/// Memory in which arguments and outputs lie as a test wants them.
struct Overlapping {
  std::vector<float> memory = std::vector<float>(128);

  Overlapping() {
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<float>(i) - 20;
  }
  Buffer at(size_t offset, std::initializer_list<int64_t> shape, bool readOnly = false) {
    return *Buffer::wrap(memory.data() + offset, ElementType::F32,
                         std::span(shape.begin(), shape.size()), readOnly, nullptr, nullptr);
  }
};

TEST_P(OutputTest, MayOverlapArguments) {
  std::shared_ptr<Engine> plain = makeEngine();
  std::shared_ptr<Module> oracle = load(*plain, outputsSource, {.oracle = true});
  for (const char *name : {"both", "same", "inner", "carried", "outer"})
    for (int64_t rows : {0, 1, 3, 7})
      for (size_t begin : {0u, 1u, 5u, 12u, 27u, 28u}) {
        Overlapping here;
        // The second output, where there is one, lies over the argument as well.
        Buffer x = here.at(14, {rows, 4}, begin % 2 == 0), first = here.at(begin, {rows, 4});
        Buffer second = here.at(begin + static_cast<size_t>(4 * rows), {rows, 4});
        std::vector<Value> arguments = {x};
        std::vector<Buffer> outputs = {first};
        if (std::string_view(name) == "both")
          outputs = {first, {}, second};
        else if (std::string_view(name) == "same")
          outputs = {first, second};
        else if (std::string_view(name) == "carried")
          arguments.push_back(Scalar{ElementType::Index, 2});
        else if (std::string_view(name) == "outer" && rows > 0)
          arguments.push_back(Scalar{ElementType::I1, begin % 2}), outputs = {{}, first};
        else if (std::string_view(name) == "outer")
          continue;
        std::vector<Value> expected = callOk(lookup(oracle, name), arguments);
        StatusOr<std::vector<Value>> results = function(name).call(arguments, {.outputs = outputs});
        ASSERT_TRUE(results.ok()) << results.status().toString();
        for (size_t i = 0; i < outputs.size(); ++i)
          if (outputs[i]) {
            EXPECT_EQ(std::get<Buffer>((*results)[i]).data(), outputs[i].data());
            EXPECT_EQ(elements<float>(outputs[i]), elements<float>(expected[i]))
                << name << ", " << rows << " rows at " << begin;
          }
      }
  // Extents that do not fit are an error there too.
  Overlapping here;
  std::vector<Buffer> wrong = {here.at(0, {4, 4})};
  Status status =
      function("inner").call(std::vector<Value>{here.at(0, {3, 4})}, {.outputs = wrong}).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the buffer given for it 4x4"));
}

TEST_P(OutputTest, OverAnArgumentComeToRest) {
  Overlapping here;
  std::vector<Value> x = {here.at(0, {4, 4})}, results(1);
  std::vector<Buffer> outputs = {here.at(2, {4, 4})};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(function("inner").callInto(x, results, {.outputs = outputs}).ok());
  runtime::MemoryPoolStatistics before = engine->memoryStatistics().buffers;
  ASSERT_TRUE(function("inner").callInto(x, results, {.outputs = outputs}).ok());
  runtime::MemoryPoolStatistics after = engine->memoryStatistics().buffers;
  EXPECT_EQ(after.liveBytes, before.liveBytes);
  if (std::string_view(GetParam()) != "heap")
    EXPECT_EQ(after.allocations - before.allocations, after.poolHits - before.poolHits);
}

// A result by another shape than it was computed in, and one over the argument that is only its destination.
TEST_P(OutputTest, ThroughReshapesAndOverDestinationsSpareTheAllocation) {
  std::shared_ptr<Module> products = load(*engine, R"(
func.func @product(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%c : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>,
                                        affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x4xf32>, tensor<4x5xf32>) outs(%z : tensor<2x3x5xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @sum(%a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.add ins(%a, %a : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
)");
  auto expectSpared = [&](const char *name, const std::vector<Value> &arguments) {
    Function made = lookup(products, name);
    std::vector<float> expected = elements<float>(callOk(made, arguments)[0]);
    std::vector<Buffer> outputs = {std::get<Buffer>(arguments.back())};
    std::vector<Value> results(1);
    runtime::MemoryPoolStatistics before = engine->memoryStatistics().buffers;
    Status status = made.callInto(arguments, results, {.outputs = outputs});
    ASSERT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(engine->memoryStatistics().buffers.allocations, before.allocations) << name;
    EXPECT_EQ(elements<float>(outputs[0]), expected) << name;
  };
  expectSpared("product", {smallIntegers({2, 3, 4}), smallIntegers({4, 5}), zeros({2, 3, 5})});
  for (int64_t size : {1, 7, 64})
    expectSpared("sum", {smallIntegers({size}), zeros({size})});
}

TEST_P(OutputTest, MayOverlapStridedArguments) {
  std::shared_ptr<Module> strided = load(*engine, R"(
!s = memref<3x4xf32, strided<[?, ?], offset: ?>>
func.func @ends(%x: !s) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %u = memref.load %x[%c0, %c0] : !s
  %v = memref.load %x[%c2, %c3] : !s
  %r = tensor.from_elements %u, %v, %v, %u : tensor<4xf32>
  return %r : tensor<4xf32>
})");
  int64_t shape[] = {3, 4};
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{-4, 1}, {8, 2}, {1, 3}, {0, -1}})
    for (size_t at = 0; at < 60; ++at) {
      Overlapping here;
      float first = here.memory[30];
      float last = here.memory[static_cast<size_t>(30 + 2 * rows + 3 * columns)];
      int64_t strides[] = {rows, columns};
      std::vector<Value> x = {*Buffer::wrapStrided(here.memory.data() + 30, ElementType::F32, shape,
                                                   strides, false, nullptr, nullptr)};
      std::vector<Buffer> output = {here.at(at, {4})};
      StatusOr<std::vector<Value>> results = lookup(strided, "ends").call(x, {.outputs = output});
      ASSERT_TRUE(results.ok()) << results.status().toString();
      EXPECT_EQ(elements<float>(output[0]), (std::vector<float>{first, last, last, first})) << at;
    }
}

TEST_P(OutputTest, ATensorOverAMemrefIsWhatItWasBefore) {
  std::shared_ptr<Module> mixed = load(*engine, R"(
func.func @mixed(%m: memref<?xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %m[%i] : memref<?xf32>
  }
  %r = arith.addf %t, %t : tensor<4xf32>
  return %r : tensor<4xf32>
})");
  for (size_t at : {0u, 1u, 4u, 9u, 10u})
    for (int64_t count : {0, 1, 6}) {
      Overlapping here, before;
      Buffer t = here.at(4, {4}, /*readOnly=*/true);
      std::vector<Value> results = callOk(lookup(mixed, "mixed"), {here.at(at, {count}), t});
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(elements<float>(results.at(0))[i], 2 * before.memory[4 + i]);
      for (size_t i = 0; i < before.memory.size(); ++i)
        EXPECT_EQ(here.memory[i],
                  i >= at && i < at + static_cast<size_t>(count) ? 0 : before.memory[i]);
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, OutputTest, ::testing::Values("auto", "heap"));

} // namespace
} // namespace plim
