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
  expectRefused("inner", {x}, {x}, "overlaps argument #0");
  expectRefused("both", {x}, {y, {}, y}, "overlaps that for result #0");
  // What only the call finds out.
  expectRefused("inner", {x}, {zeros({4, 4})},
                "result #0 has the extents 3x4, the buffer given for it 4x4");
  expectRefused("carried", {x, Scalar{ElementType::Index, 0}}, {zeros({2, 4})},
                "result #0 has the extents 3x4, the buffer given for it 2x4");

  std::vector<float> memory(64);
  int64_t shape[] = {3, 4}, strides[] = {8, 1}, reversed[] = {-4, 1};
  auto wrap = [&](size_t at, bool readOnly) {
    return *Buffer::wrap(memory.data() + at, ElementType::F32, shape, readOnly, nullptr, nullptr);
  };
  expectRefused("inner", {x}, {wrap(0, true)}, "is read-only");
  expectRefused("inner", {x},
                {*Buffer::wrapStrided(memory.data(), ElementType::F32, shape, strides, false,
                                      nullptr, nullptr)},
                "dense");
  expectRefused("inner", {wrap(8, false)}, {wrap(0, false)}, "overlaps argument #0");
  expectRefused("inner", {wrap(0, true)}, {wrap(11, false)}, "overlaps argument #0");
  std::vector<Buffer> apart = {wrap(12, false)};
  EXPECT_TRUE(function("inner").call(std::vector<Value>{wrap(0, true)}, {.outputs = apart}).ok());

  Parameters parameters = {{"w", smallIntegers({4})}};
  std::shared_ptr<Module> bound = load(*engine, parameterSource, {.parameters = parameters});
  std::vector<Buffer> parameter = {parameters.at("w")};
  Status status =
      lookup(bound, "main").call(std::vector<Value>{zeros({4})}, {.outputs = parameter}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("overlaps parameter 'w'"));

  std::shared_ptr<Module> strided = load(*engine, R"(
func.func @first(%x: memref<3x4xf32, strided<[?, ?], offset: ?>>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0, %c0] : memref<3x4xf32, strided<[?, ?], offset: ?>>
  %r = tensor.splat %v : tensor<4xf32>
  return %r : tensor<4xf32>
})");
  Buffer backwards = *Buffer::wrapStrided(memory.data() + 40, ElementType::F32, shape, reversed,
                                          false, nullptr, nullptr);
  int64_t four[] = {4};
  for (auto [at, overlaps] :
       {std::pair<size_t, bool>(28, false), {29, true}, {43, true}, {44, false}}) {
    std::vector<Buffer> output = {
        *Buffer::wrap(memory.data() + at, ElementType::F32, four, false, nullptr, nullptr)};
    Status status =
        lookup(strided, "first").call(std::vector<Value>{backwards}, {.outputs = output}).status();
    EXPECT_EQ(status.ok(), !overlaps) << at << ": " << status.toString();
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, OutputTest, ::testing::Values("auto", "heap"));

} // namespace
} // namespace plim
