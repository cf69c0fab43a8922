// Tensors that the caller gives up: their memory comes back as a result.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr const char *donationSource = R"(
!t = tensor<?xf32>
func.func @step(%x: !t {plim.donate = 1}, %y: !t) -> (f32, !t) {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : !t
  %r = arith.addf %x, %y : !t
  return %v, %r : f32, !t
}
func.func @replace(%x: !t {plim.donate = 0}, %y: !t) -> !t {
  return %y : !t
}
func.func @mixed(%x: !t {plim.donate = 0}, %m: memref<?xf32>) -> !t {
  %c0 = arith.constant 0 : index
  %v = memref.load %m[%c0] : memref<?xf32>
  %n = tensor.dim %x, %c0 : !t
  %s = tensor.splat %v[%n] : !t
  %r = arith.addf %x, %s : !t
  memref.store %v, %m[%c0] : memref<?xf32>
  return %r : !t
}
func.func @doubled(%x: !t {plim.donate = 0}, %y: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c0 : !t
  %e = tensor.empty(%n) : !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e) -> !t {
    %v = tensor.extract %y[%i] : !t
    %s = arith.addf %v, %v : f32
    %b = tensor.insert %s into %a[%i] : !t
    scf.yield %b : !t
  }
  return %r : !t
}
func.func @sum(%x: !t {plim.donate = 0}, %y: !t) -> (!t, !t) {
  %r = arith.addf %x, %y : !t
  %p = arith.mulf %y, %y : !t
  return %r, %p : !t, !t
}
)";

Buffer numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0f);
  return makeBuffer<float>({count}, values);
}

class DonationTest : public ::testing::TestWithParam<bool> {
protected:
  Function function(const char *name) const { return lookup(module, name); }

  void expectRefused(const char *name, const std::vector<Value> &arguments, const char *message,
                     const CallOptions &options = {}) const {
    StatusOr<std::vector<Value>> results = function(name).call(arguments, options);
    ASSERT_FALSE(results.ok());
    EXPECT_EQ(results.status().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(results.status().message(), HasSubstr(message));
  }

  std::shared_ptr<Engine> engine = makeEngine({.checked = GetParam()});
  std::shared_ptr<Module> module = load(*engine, donationSource);
};

TEST_P(DonationTest, SignatureSaysSo) {
  const jit::FunctionSignature &signature = function("step").signature();
  EXPECT_EQ(signature.arguments[0].donatedTo, 1u);
  EXPECT_EQ(signature.arguments[0].access, jit::Access::ReadWrite);
  EXPECT_FALSE(signature.arguments[1].donatedTo);
}

TEST_P(DonationTest, ResultIsTheArgumentsBuffer) {
  for (int64_t count : {1, 2, 17, 1031}) {
    Buffer x = numbers(count), y = numbers(count);
    std::vector<Value> results = callOk(function("step"), {x, y});
    EXPECT_EQ(std::get<Scalar>(results[0]), scalarF32(1.0f));
    const auto &result = std::get<Buffer>(results[1]);
    EXPECT_EQ(result.data(), x.data());
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(static_cast<const float *>(x.data())[i], 2.0f * static_cast<float>(i + 1));
    EXPECT_EQ(static_cast<const float *>(y.data())[count - 1], static_cast<float>(count));
  }
}

TEST_P(DonationTest, EmptyTensor) {
  Buffer x = numbers(0);
  std::vector<Value> results = callOk(function("replace"), {x, numbers(0)});
  EXPECT_EQ(std::get<Buffer>(results[0]).shape()[0], 0);
}

TEST_P(DonationTest, CopiesWhatCannotBeMadeThere) {
  Buffer x = numbers(9), y = makeBuffer<float>({9}, std::vector<float>(9, 5.0f));
  std::vector<Value> results = callOk(function("replace"), {x, y});
  EXPECT_EQ(std::get<Buffer>(results[0]).data(), x.data());
  EXPECT_EQ(static_cast<const float *>(x.data())[8], 5.0f);
}

TEST_P(DonationTest, OtherExtentsFail) {
  StatusOr<std::vector<Value>> results =
      function("replace").call(std::vector<Value>{numbers(3), numbers(4)});
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.status().message(),
              HasSubstr("result #0 of 'replace' has other extents than argument #0"));
}

TEST_P(DonationTest, OtherExtentsFailBeforeTheMemoryIsWritten) {
  Buffer x = numbers(5);
  Status status = callStatus(function("doubled"), {x, numbers(100000)});
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("result #0 of 'doubled' has other extents than argument #0"));
  EXPECT_EQ(elements<float>(x), elements<float>(numbers(5)));
  EXPECT_EQ(elements<float>(callOk(function("doubled"), {x, numbers(5)})[0]),
            (std::vector<float>{2, 4, 6, 8, 10}));
}

TEST_P(DonationTest, ReadOnlyMemoryIsRefused) {
  std::vector<float> values(4, 1.0f);
  StatusOr<Buffer> readOnly = Buffer::wrap(values.data(), ElementType::F32, std::vector<int64_t>{4},
                                           /*readOnly=*/true, nullptr, nullptr);
  ASSERT_TRUE(readOnly.ok());
  expectRefused("step", {*readOnly, numbers(4)},
                "argument #0 (%x) of 'step' is read-only, but the function writes it");
}

TEST_P(DonationTest, SharedMemoryIsRefused) {
  Buffer x = numbers(8);
  expectRefused("step", {x, x},
                "argument #0 (%x) of 'step', which is donated, overlaps argument #1 (%y)");
  expectRefused("mixed", {x, x},
                "argument #0 (%x) of 'mixed', which is donated, overlaps argument #1 (%m)");
}

TEST_P(DonationTest, BesideAMemref) {
  Buffer x = numbers(8), m = numbers(3);
  std::vector<Value> results = callOk(function("mixed"), {x, m});
  EXPECT_EQ(std::get<Buffer>(results[0]).data(), x.data());
  EXPECT_EQ(static_cast<const float *>(x.data())[7], 9.0f);
}

TEST_P(DonationTest, OutputsOfOthers) {
  Buffer x = numbers(5), y = numbers(5), output = numbers(5);
  std::vector<Buffer> outputs = {Buffer(), output};
  StatusOr<std::vector<Value>> results =
      function("sum").call(std::vector<Value>{x, y}, {.outputs = outputs});
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(std::get<Buffer>((*results)[0]).data(), x.data());
  EXPECT_EQ(std::get<Buffer>((*results)[1]).data(), output.data());
  EXPECT_EQ(static_cast<const float *>(output.data())[4], 25.0f);

  outputs = {output, Buffer()};
  expectRefused("sum", {x, y}, "is not needed: argument #0 (%x) is donated to it",
                {.outputs = outputs});
  outputs = {Buffer(), x};
  expectRefused("sum", {x, y}, "overlaps argument #0 (%x), which is donated", {.outputs = outputs});
}

INSTANTIATE_TEST_SUITE_P(Engines, DonationTest, ::testing::Values(false, true),
                         [](const auto &info) { return info.param ? "Checked" : "Unchecked"; });

} // namespace
} // namespace plim
