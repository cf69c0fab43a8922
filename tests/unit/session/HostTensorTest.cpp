// Functions of the host application on tensors: whose memory a result is, and how large.
#include "tests/unit/session/EngineFixture.h"
#include "tests/unit/session/HostViews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace plim {
namespace {

using namespace testing;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char *tensorSource = R"(
func.func private @next(tensor<4xf32>) -> (tensor<4xf32>, index)
func.func private @fill(tensor<?xf32> {plim.donate = 0 : index, plim.access = #plim.access<writeonly>}, f32) -> tensor<?xf32>
func.func private @bump(tensor<?xf32> {plim.donate = 0 : index}) -> tensor<?xf32>
func.func @made(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, index) {
  %two = arith.addf %x, %x : tensor<4xf32>
  %m, %n = func.call @next(%two) : (tensor<4xf32>) -> (tensor<4xf32>, index)
  %w = arith.mulf %m, %two : tensor<4xf32>
  return %m, %w, %n : tensor<4xf32>, tensor<4xf32>, index
}
// The argument is the caller's, so that a copy is bumped, and needed twice.
func.func @kept(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = func.call @bump(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = func.call @bump(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
func.func @filled(%n: index, %s: f32) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = func.call @fill(%e, %s) : (tensor<?xf32>, f32) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
func.func @looped(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?xf32> {
    %u = func.call @bump(%t) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
// A column is not dense where it lies.
func.func @column(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<?xf32>) {
  %s = tensor.extract_slice %x[0, 1] [3, 1] [1, 1] : tensor<3x2xf32> to tensor<3xf32>
  %c = tensor.cast %s : tensor<3xf32> to tensor<?xf32>
  %b = func.call @bump(%c) : (tensor<?xf32>) -> tensor<?xf32>
  %d = tensor.cast %b : tensor<?xf32> to tensor<3xf32>
  %r = tensor.insert_slice %d into %x[0, 1] [3, 1] [1, 1] : tensor<3xf32> into tensor<3x2xf32>
  return %r, %b : tensor<3x2xf32>, tensor<?xf32>
}
)";

HostFunctions tensorFunctions() {
  HostFunctions functions;
  functions["next"].function = [](plim_context *, void *, const plim_view *arguments,
                                  const plim_view *results) {
    EXPECT_EQ(results[0].sizes[0], 4);
    EXPECT_NE(results[0].data, arguments[0].data);
    for (int64_t i = 0; i < 4; ++i)
      at<float>(results[0], i) = at<float>(arguments[0], i) + 1;
    at<int64_t>(results[1]) = 7;
    return plim_code(0);
  };
  functions["fill"].function = [](plim_context *, void *, const plim_view *arguments,
                                  const plim_view *results) {
    EXPECT_EQ(results[0].data, arguments[0].data);
    std::fill_n(&at<float>(results[0]), results[0].sizes[0], at<float>(arguments[1]));
    return plim_code(0);
  };
  functions["bump"].function = [](plim_context *, void *, const plim_view *,
                                  const plim_view *results) {
    for (int64_t i = 0; i < results[0].sizes[0]; ++i)
      ++at<float>(results[0], i);
    return plim_code(0);
  };
  return functions;
}

class HostTensorTest : public ::testing::TestWithParam<const char *> {
protected:
  Function function(const char *name) const { return lookup(module, name); }
  bool isOracle = std::string_view(GetParam()) == "oracle";
  std::shared_ptr<Engine> engine =
      makeEngine({.policy = isOracle ? "auto" : GetParam(), .functions = tensorFunctions()});
  std::shared_ptr<Module> module = load(*engine, tensorSource, {.oracle = isOracle});
};

TEST_P(HostTensorTest, ResultsHaveMemoryOfTheCaller) {
  std::vector<Value> results = callOk(function("made"), {makeBuffer<float>({4}, {1, 2, 3, 4})});
  EXPECT_THAT(elements<float>(results[0]), ElementsAre(3, 5, 7, 9));
  EXPECT_THAT(elements<float>(results[1]), ElementsAre(6, 20, 42, 72));
  EXPECT_EQ(std::get<Scalar>(results[2]).bits, 7u);
}

TEST_P(HostTensorTest, WhatIsNeededAgainIsCopied) {
  Buffer x = makeBuffer<float>({3}, {1, 2, 3});
  std::vector<Value> results = callOk(function("kept"), {x});
  EXPECT_THAT(elements<float>(results[0]), ElementsAre(2, 3, 4));
  EXPECT_THAT(elements<float>(results[1]), ElementsAre(3, 4, 5));
  EXPECT_THAT(elements<float>(x), ElementsAre(1, 2, 3));
}

TEST_P(HostTensorTest, DynamicExtents) {
  for (uint64_t n : {0, 1, 7, 1000}) {
    std::vector<Value> results =
        callOk(function("filled"), {Scalar{ElementType::Index, n}, scalarF32(2)});
    EXPECT_EQ(elements<float>(results[0]), std::vector<float>(n, 2));
  }
}

TEST_P(HostTensorTest, InLoops) {
  Buffer x = makeBuffer<float>({2}, {1, 2});
  for (uint64_t n : {0, 1, 5}) {
    std::vector<Value> results = callOk(function("looped"), {x, Scalar{ElementType::Index, n}});
    EXPECT_THAT(elements<float>(results[0]), ElementsAre(1 + float(n), 2 + float(n)));
  }
  EXPECT_THAT(elements<float>(x), ElementsAre(1, 2));
}

TEST_P(HostTensorTest, TensorsAreDense) {
  std::vector<Value> results =
      callOk(function("column"), {makeBuffer<float>({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(elements<float>(results[0]), ElementsAre(1, 3, 3, 5, 5, 7));
  EXPECT_THAT(elements<float>(results[1]), ElementsAre(3, 5, 7));
}

INSTANTIATE_TEST_SUITE_P(Policies, HostTensorTest,
                         ::testing::Values("auto", "stack", "workspace", "heap", "oracle"));

TEST(HostTensors, CheckedEngines) {
  auto engine = makeEngine({.functions = tensorFunctions(), .checked = true});
  auto module = load(*engine, tensorSource);
  Buffer x = makeBuffer<float>({3}, {1, 2, 3});
  EXPECT_THAT(elements<float>(callOk(lookup(module, "kept"), {x})[1]), ElementsAre(3, 4, 5));
}

TEST(HostTensors, SignaturesNameAccessAndDonation) {
  EngineOptions options;
  options.functions = tensorFunctions();
  options.functions["next"].signature = "(tensor<4xf32>) -> (tensor<4xf32>, index)";
  options.functions["fill"].signature =
      "(tensor<?xf32> writeonly as result 0, f32) -> tensor<?xf32>";
  EXPECT_TRUE(makeEngine(options)->load(tensorSource, "in.mlir").ok());
  options.functions["fill"].signature = "(tensor<?xf32>, f32) -> tensor<?xf32>";
  EXPECT_EQ(makeEngine(options)->load(tensorSource, "in.mlir").status().code(),
            StatusCode::InvalidArgument);
}

// Results that are as large as the function of the host finds them to be.
constexpr const char *openSource = R"(
func.func private @rows(index) -> (i32, tensor<?x4xf32>)
func.func private @both(index, index) -> (tensor<?xf64>, tensor<?x?xi8>)
func.func private @grow(tensor<?xf32>) -> tensor<?xf32>
func.func private @length(index) -> tensor<?xf32> attributes {plim.pure}
func.func private @bump(tensor<?xf32> {plim.donate = 0 : index}) -> tensor<?xf32>

func.func @returned(%n: index) -> (tensor<?x4xf32>, i32) {
  %code, %r = func.call @rows(%n) : (index) -> (i32, tensor<?x4xf32>)
  return %r, %code : tensor<?x4xf32>, i32
}
func.func @used(%n: index, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %code, %r = func.call @rows(%n) : (index) -> (i32, tensor<?x4xf32>)
  %twice = arith.addf %r, %r : tensor<?x4xf32>
  %s = arith.addf %twice, %x : tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}
func.func @twice(%n: index) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %code, %r = func.call @rows(%n) : (index) -> (i32, tensor<?x4xf32>)
  return %r, %r : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @several(%n: index, %m: index) -> (tensor<?x?xi8>, tensor<?xf64>) {
  %a, %b = func.call @both(%n, %m) : (index, index) -> (tensor<?xf64>, tensor<?x?xi8>)
  return %b, %a : tensor<?x?xi8>, tensor<?xf64>
}
func.func @looped(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?xf32> {
    %u = func.call @grow(%t) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @chosen(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %r = scf.if %c -> tensor<?xf32> {
    %u = func.call @grow(%x) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  } else {
    %d = arith.addf %x, %x : tensor<?xf32>
    scf.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @handed(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %u = func.call @grow(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %v = func.call @bump(%u) : (tensor<?xf32>) -> tensor<?xf32>
  return %u, %v : tensor<?xf32>, tensor<?xf32>
}
func.func @dropped(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %u = func.call @grow(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %n = tensor.dim %u, %c0 : tensor<?xf32>
  return %n : index
}
func.func @pure(%n: index) -> tensor<?xf32> {
  %a = func.call @length(%n) : (index) -> tensor<?xf32>
  %b = func.call @length(%n) : (index) -> tensor<?xf32>
  %s = arith.addf %a, %b : tensor<?xf32>
  return %s : tensor<?xf32>
}
)";

/// Makes the result, with extents that are arguments, and gives its elements the values 0, 1, ...
template <typename T>
bool makeCounting(plim_context *context, const plim_view *results, int64_t index,
                  std::vector<int64_t> sizes) {
  EXPECT_EQ(results[index].data, nullptr);
  auto *elements = static_cast<T *>(plim_rt_make_result(context, index, sizes.data()));
  if (!elements)
    return false;
  EXPECT_EQ(results[index].data, elements);
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    EXPECT_EQ(results[index].sizes[d], sizes[d]);
    count *= sizes[d];
  }
  for (int64_t i = 0; i < count; ++i)
    elements[i] = static_cast<T>(i);
  return true;
}

std::atomic<int> pureCalls = 0;

HostFunctions openFunctions() {
  HostFunctions functions = tensorFunctions();
  functions["rows"].function = [](plim_context *context, void *, const plim_view *arguments,
                                  const plim_view *results) {
    EXPECT_EQ(results[1].sizes[0], -1);
    EXPECT_EQ(results[1].sizes[1], 4);
    at<int32_t>(results[0]) = 5;
    return plim_code(makeCounting<float>(context, results, 1, {at<int64_t>(arguments[0]), 4}) ? 0
                                                                                              : 1);
  };
  functions["both"].function = [](plim_context *context, void *, const plim_view *arguments,
                                  const plim_view *results) {
    const int64_t n = at<int64_t>(arguments[0]), m = at<int64_t>(arguments[1]);
    // In any order.
    return plim_code(makeCounting<int8_t>(context, results, 1, {n, m}) &&
                             makeCounting<double>(context, results, 0, {m})
                         ? 0
                         : 1);
  };
  functions["grow"].function = [](plim_context *context, void *, const plim_view *arguments,
                                  const plim_view *results) {
    const int64_t n = arguments[0].sizes[0];
    if (!makeCounting<float>(context, results, 0, {n + 2}))
      return plim_code(1);
    for (int64_t i = 0; i < n; ++i)
      at<float>(results[0], i) = at<float>(arguments[0], i) + 1;
    return plim_code(0);
  };
  functions["length"] = {
      .function =
          [](plim_context *context, void *, const plim_view *arguments, const plim_view *results) {
            ++pureCalls;
            return plim_code(
                makeCounting<float>(context, results, 0, {at<int64_t>(arguments[0])}) ? 0 : 1);
          },
      .kind = HostFunctionKind::Pure};
  return functions;
}

std::vector<float> counting(int64_t count, float times = 1) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(times * static_cast<float>(i));
  return values;
}

Value indexOf(int64_t value) { return Scalar{ElementType::Index, static_cast<uint64_t>(value)}; }

class HostOpenTest : public ::testing::TestWithParam<const char *> {
protected:
  Function function(const char *name) const { return lookup(module, name); }
  bool isOracle = std::string_view(GetParam()) == "oracle";
  bool isChecked = std::string_view(GetParam()) == "checked";
  std::shared_ptr<Engine> engine =
      makeEngine({.policy = isOracle || isChecked ? "auto" : GetParam(),
                  .functions = openFunctions(),
                  .checked = isChecked});
  std::shared_ptr<Module> module = load(*engine, openSource, {.oracle = isOracle});
};

TEST_P(HostOpenTest, ResultsAreAsLargeAsTheFunctionMakesThem) {
  for (int64_t n : {0, 1, 7, 1000}) {
    std::vector<Value> returned = callOk(function("returned"), {indexOf(n)});
    EXPECT_EQ(elements<float>(returned[0]), counting(4 * n));
    EXPECT_EQ(std::get<Buffer>(returned[0]).shape()[0], n);
    EXPECT_EQ(std::get<Scalar>(returned[1]).bits, 5u);
    EXPECT_EQ(elements<float>(
                  callOk(function("used"), {indexOf(n), makeBuffer<float>({n, 4}, counting(4 * n))})
                      .at(0)),
              counting(4 * n, 3));
    for (const Value &result : callOk(function("twice"), {indexOf(n)}))
      EXPECT_EQ(elements<float>(result), counting(4 * n));
    std::vector<Value> several = callOk(function("several"), {indexOf(3), indexOf(n)});
    EXPECT_EQ(std::get<Buffer>(several[0]).shape()[1], n);
    EXPECT_EQ(elements<double>(several[1]).size(), static_cast<size_t>(n));
  }
  // The extents are checked as those of any tensor are.
  EXPECT_THAT(
      callStatus(function("used"), {indexOf(3), makeBuffer<float>({2, 4}, counting(8))}).toString(),
      ContainsRegex(
          "extent 0 of operand #0 \\(of [0-9]+:[0-9]+\\) is 3, but extent 0 of argument #1 "
          "\\(%x\\) is 2"));
}

TEST_P(HostOpenTest, InControlFlow) {
  Buffer x = makeBuffer<float>({1}, {7});
  EXPECT_THAT(elements<float>(callOk(function("looped"), {x, indexOf(0)})[0]), ElementsAre(7));
  EXPECT_THAT(elements<float>(callOk(function("looped"), {x, indexOf(2)})[0]),
              ElementsAre(9, 2, 3, 3, 4));
  EXPECT_EQ(elements<float>(callOk(function("looped"), {x, indexOf(20)})[0]).size(), 41u);
  EXPECT_THAT(elements<float>(callOk(function("chosen"), {x, Scalar{ElementType::I1, 1}})[0]),
              ElementsAre(8, 1, 2));
  EXPECT_THAT(elements<float>(callOk(function("chosen"), {x, Scalar{ElementType::I1, 0}})[0]),
              ElementsAre(14));
  std::vector<Value> handed = callOk(function("handed"), {x});
  EXPECT_THAT(elements<float>(handed[0]), ElementsAre(8, 1, 2));
  EXPECT_THAT(elements<float>(handed[1]), ElementsAre(9, 2, 3));
  EXPECT_EQ(std::get<Scalar>(callOk(function("dropped"), {x})[0]).bits, 3u);
  EXPECT_THAT(elements<float>(x), ElementsAre(7));
}

TEST_P(HostOpenTest, EqualPureCallsAreOne) {
  pureCalls = 0;
  EXPECT_EQ(elements<float>(callOk(function("pure"), {indexOf(9)})[0]), counting(9, 2));
  EXPECT_EQ(pureCalls, 1);
}

TEST_P(HostOpenTest, IntoBuffersOfTheCaller) {
  Buffer out = makeBuffer<float>({3, 4}, std::vector<float>(12, -1));
  Buffer none;
  CallOptions options;
  const Buffer outputs[] = {out, none};
  options.outputs = outputs;
  StatusOr<std::vector<Value>> results =
      function("returned").call(std::vector<Value>{indexOf(3)}, options);
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(elements<float>(out), counting(12));
  EXPECT_THAT(
      function("returned").call(std::vector<Value>{indexOf(2)}, options).status().toString(),
      HasSubstr("2"));
}

TEST_P(HostOpenTest, NoCallKeepsMemory) {
  auto live = [&] {
    callOk(function("dropped"), {makeBuffer<float>({1}, {7})});
    (void)callStatus(function("used"), {indexOf(3), makeBuffer<float>({2, 4}, counting(8))});
    callOk(function("looped"), {makeBuffer<float>({1}, {7}), indexOf(5)});
    return engine->memoryStatistics().total().liveBytes;
  };
  auto first = live();
  EXPECT_EQ(live(), first);
  if (!isOracle && !isChecked)
    EXPECT_THAT(function("dropped").workspaceRequirement().status().toString(),
                HasSubstr("a host function makes a buffer"));
}

INSTANTIATE_TEST_SUITE_P(Policies, HostOpenTest,
                         ::testing::Values("auto", "stack", "workspace", "heap", "oracle",
                                           "checked"));

/// What is wrong with how the function makes its second result, if anything is.
TEST(HostTensors, ResultsThatAreMadeWrongly) {
  using Make = plim_code (*)(plim_context *, const plim_view *);
  static Make make;
  auto engine = makeEngine();
  LoadOptions options;
  options.functions["rows"].function = [](plim_context *context, void *, const plim_view *,
                                          const plim_view *results) {
    return make(context, results);
  };
  auto module = load(*engine, R"(func.func private @rows() -> (i32, tensor<?x4xf32>, tensor<2xf32>)
func.func @main() -> (tensor<?x4xf32>, i32) {
  %code, %r, %s = func.call @rows() : () -> (i32, tensor<?x4xf32>, tensor<2xf32>)
  return %r, %code : tensor<?x4xf32>, i32
})",
                     options);
  Function main = lookup(module, "main");
  auto sizes = [](plim_context *context, int64_t index, std::vector<int64_t> sizes) {
    return plim_code(plim_rt_make_result(context, index, sizes.data()) ? 0 : 3);
  };
  static auto tell = sizes;
  const std::pair<Make, const char *> cases[] = {
      {[](plim_context *, const plim_view *) { return plim_code(0); },
       "in.mlir:3:19: host function 'rows' has not made result #1"},
      {[](plim_context *c, const plim_view *) { return tell(c, 0, {}); },
       "in.mlir:3:19: result #0 of host function 'rows' is not for it to make"},
      {[](plim_context *c, const plim_view *) { return tell(c, 2, {2}); },
       "in.mlir:3:19: result #2 of host function 'rows' is not for it to make"},
      {[](plim_context *c, const plim_view *) { return tell(c, -1, {2}); },
       "in.mlir:3:19: result #-1 of host function 'rows' is not for it to make"},
      {[](plim_context *c, const plim_view *) { return tell(c, 1, {3, 5}); },
       "has extent 5 in dimension 1, declared as 4"},
      {[](plim_context *c, const plim_view *) { return tell(c, 1, {-1, 4}); },
       "has extent -1 in dimension 0, declared as ?"},
      {[](plim_context *c, const plim_view *) { return tell(c, 1, {int64_t(1) << 60, 4}); }, ""},
      {[](plim_context *c, const plim_view *) {
         return plim_code(plim_rt_make_result(c, 1, nullptr) ? 0 : 3);
       },
       "has no extents"},
      {[](plim_context *c, const plim_view *) { return tell(c, 1, {2, 4}) + tell(c, 1, {2, 4}); },
       "in.mlir:3:19: result #1 of host function 'rows' is made twice"},
      // It fails after all.
      {[](plim_context *c, const plim_view *) { return tell(c, 1, {2, 4}) + 3; },
       "host function 'rows' failed"},
      // Nobody asks what it returns.
      {[](plim_context *c, const plim_view *) {
         (void)tell(c, 1, {3, 5});
         return plim_code(0);
       },
       "declared as 4"},
  };
  for (const auto &[how, message] : cases) {
    make = how;
    Status status = callStatus(main, {});
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.toString(), HasSubstr(message));
    EXPECT_EQ(engine->memoryStatistics().buffers.liveBytes, 0);
  }
  make = [](plim_context *c, const plim_view *) { return tell(c, 1, {2, 4}); };
  EXPECT_EQ(std::get<Buffer>(callOk(main, {})[0]).shape()[0], 2);
}

} // namespace
} // namespace plim
