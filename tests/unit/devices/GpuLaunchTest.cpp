#include "devices/GpuLaunch.h"

#include "tests/unit/devices/SampleCode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace plim::devices {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A code with no kernel but one that hands the number out, as 64 bits.
StatusOr<int64_t> compute(std::vector<GpuNumber> numbers, std::vector<GpuArgument> arguments = {},
                          std::vector<plim_view> views = {}) {
  GpuCode code;
  code.numbers = std::move(numbers);
  code.arguments = std::move(arguments);
  auto last = static_cast<uint32_t>(code.numbers.size() - 1);
  code.kernels = {{"kernel", 0, {1, 1, 1}, {}, {{last, 64}}, last}};
  code.modules = {"code"};
  EXPECT_TRUE(verify(code).ok());
  LaunchNumbers launch(code);
  PLIM_RETURN_IF_ERROR(launch.compute(views.data()));
  int64_t value = 0;
  std::memcpy(&value, launch.launch().kernels[0].words.data(), sizeof value);
  return value;
}

StatusOr<int64_t> compute(GpuNumber::Kind kind, int64_t a, int64_t b) {
  return compute({{GpuNumber::Constant, a, 0}, {GpuNumber::Constant, b, 0}, {kind, 0, 1}});
}

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

TEST(GpuLaunchTest, ComputesNumbers) {
  EXPECT_EQ(*compute(GpuNumber::Add, 3, -5), -2);
  EXPECT_EQ(*compute(GpuNumber::Add, highest, 1), lowest);
  EXPECT_EQ(*compute(GpuNumber::Subtract, 3, -5), 8);
  EXPECT_EQ(*compute(GpuNumber::Subtract, lowest, 1), highest);
  EXPECT_EQ(*compute(GpuNumber::Multiply, -3, 5), -15);
  EXPECT_EQ(*compute(GpuNumber::Minimum, -3, 5), -3);
  EXPECT_EQ(*compute(GpuNumber::Maximum, -3, 5), 5);
  struct {
    int64_t a, b, floor, ceil, remainder, quotient;
  } quotients[] = {{7, 2, 3, 4, 1, 3},
                   {-7, 2, -4, -3, -1, -3},
                   {7, -2, -4, -3, 1, -3},
                   {-7, -2, 3, 4, -1, 3},
                   {6, 3, 2, 2, 0, 2},
                   {-6, 3, -2, -2, 0, -2},
                   {6, -3, -2, -2, 0, -2},
                   {0, 5, 0, 0, 0, 0},
                   {1, 5, 0, 1, 1, 0},
                   {-1, 5, -1, 0, -1, 0},
                   {lowest, 1, lowest, lowest, 0, lowest}};
  for (const auto &[a, b, floor, ceil, remainder, quotient] : quotients) {
    EXPECT_EQ(*compute(GpuNumber::FloorDivide, a, b), floor) << a << " " << b;
    EXPECT_EQ(*compute(GpuNumber::CeilDivide, a, b), ceil) << a << " " << b;
    EXPECT_EQ(*compute(GpuNumber::Remainder, a, b), remainder) << a << " " << b;
    EXPECT_EQ(*compute(GpuNumber::Divide, a, b), quotient) << a << " " << b;
  }
}

// A size that wraps around would be one that nobody asked for.
TEST(GpuLaunchTest, RefusesProductsThatDoNotFit) {
  EXPECT_EQ(compute(GpuNumber::Multiply, highest, 2).status().code(), StatusCode::OutOfRange);
  EXPECT_EQ(compute(GpuNumber::Multiply, int64_t(1) << 32, int64_t(1) << 32).status().code(),
            StatusCode::OutOfRange);
  EXPECT_EQ(compute(GpuNumber::Multiply, lowest, -1).status().code(), StatusCode::OutOfRange);
  EXPECT_EQ(*compute(GpuNumber::Multiply, highest, 0), 0);
}

TEST(GpuLaunchTest, RefusesDivisionsThatHaveNoResult) {
  for (auto kind :
       {GpuNumber::FloorDivide, GpuNumber::CeilDivide, GpuNumber::Remainder, GpuNumber::Divide}) {
    EXPECT_EQ(compute(kind, 5, 0).status().code(), StatusCode::OutOfRange);
    EXPECT_EQ(compute(kind, lowest, -1).status().code(), StatusCode::OutOfRange);
  }
}

TEST(GpuLaunchTest, ReadsArguments) {
  std::vector<int64_t> sizes = {2, 3, 4};
  std::vector<plim_view> tensor = {{nullptr, sizes.data(), nullptr}};
  EXPECT_EQ(*compute({{GpuNumber::Extent, 0, 2}}, {{true, 1, 3, false, false}}, tensor), 4);

  auto scalar = [](auto value) {
    return *compute({{GpuNumber::Scalar, 0, 0}}, {{false, sizeof value, 0, true, false}},
                    {{&value, nullptr, nullptr}});
  };
  EXPECT_EQ(scalar(int8_t{-1}), -1);
  EXPECT_EQ(scalar(true), 1);
  EXPECT_EQ(scalar(int16_t{-2}), -2);
  EXPECT_EQ(scalar(int32_t{-3}), -3);
  EXPECT_EQ(scalar(lowest), lowest);
  // Bits, which fit into 32 whatever the sign.
  EXPECT_EQ(scalar(-2.0f), static_cast<int32_t>(0xc0000000));
  EXPECT_EQ(scalar(-2.0), static_cast<int64_t>(0xc000000000000000));
}

TEST(GpuLaunchTest, FillsALaunch) {
  Vector x(100), y(100);
  std::vector<plim_view> views = {x.view(), y.view()};
  GpuCode code = tenfoldCode(GpuCodeKind::Spirv);
  LaunchNumbers numbers(code);
  ASSERT_TRUE(numbers.compute(views.data()).ok());
  GpuLaunch launch = numbers.launch();
  ASSERT_EQ(launch.arguments.size(), 2u);
  EXPECT_EQ(launch.arguments[0].data, x.elements.data());
  EXPECT_EQ(launch.arguments[0].bytes, 400u);
  EXPECT_THAT(launch.temporaryBytes, ElementsAre(400u));
  ASSERT_EQ(launch.kernels.size(), 3u);
  EXPECT_EQ(launch.kernels[0].workgroups, 2u);
  int32_t packed[3];
  ASSERT_EQ(launch.kernels[0].words.size(), sizeof packed);
  std::memcpy(packed, launch.kernels[0].words.data(), sizeof packed);
  EXPECT_THAT(packed, ElementsAre(100, 0, 0x40000000));

  GpuCode ptx = tenfoldCode(GpuCodeKind::Ptx);
  LaunchNumbers ofPtx(ptx);
  ASSERT_TRUE(ofPtx.compute(views.data()).ok());
  int64_t apart[2];
  ASSERT_EQ(ofPtx.launch().kernels[2].words.size(), sizeof apart);
  std::memcpy(apart, ofPtx.launch().kernels[2].words.data(), sizeof apart);
  EXPECT_THAT(apart, ElementsAre(100, 0x40000000));
}

class LaunchFaults : public testing::Test {
protected:
  Status run(int64_t extent) {
    LaunchNumbers numbers(code);
    std::vector<plim_view> views = {{nullptr, &extent, nullptr}, {nullptr, &extent, nullptr}};
    return numbers.compute(views.data());
  }
  GpuCode code = tenfoldCode(GpuCodeKind::Spirv);
};

TEST_F(LaunchFaults, RefusesSizesThatDoNotFit) {
  EXPECT_TRUE(run(0).ok());
  EXPECT_TRUE(run(INT32_MAX).ok());
  EXPECT_EQ(run(-1).code(), StatusCode::InvalidArgument);
  Status status = run(int64_t{1} << 31);
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("2147483647 elements"));
  code.maxElements = highest;
  EXPECT_EQ(run(highest).code(), StatusCode::OutOfRange);
}

TEST_F(LaunchFaults, RefusesWordsThatDoNotFit) {
  code.maxElements = highest;
  Status status = run(int64_t{1} << 31); // axpy takes it as 32 bits
  EXPECT_EQ(status.code(), StatusCode::OutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'axpy' takes 2147483648 as 32 bits"));
}

TEST_F(LaunchFaults, RefusesTemporaries) {
  code.numbers[3].a = -4;
  EXPECT_EQ(run(1).code(), StatusCode::OutOfRange);
  code.numbers[3].a = 400;
  code.maxElements = 99;
  EXPECT_EQ(run(1).code(), StatusCode::OutOfRange);
  code.maxElements = 100;
  EXPECT_TRUE(run(1).ok());
}

TEST(GpuLaunchTest, CountsElementsOfAllDimensions) {
  GpuCode code;
  code.arguments = {{true, 8, 3, true, false}};
  LaunchNumbers numbers(code);
  auto status = [&](std::vector<int64_t> sizes) {
    plim_view view = {nullptr, sizes.data(), nullptr};
    return numbers.compute(&view).code();
  };
  constexpr int64_t large = int64_t{1} << 40;
  EXPECT_EQ(status({2, 3, 4}), StatusCode::Ok);
  EXPECT_EQ(numbers.launch().arguments[0].bytes, 2u * 3 * 4 * 8);
  EXPECT_EQ(status({large, large, 1}), StatusCode::OutOfRange);
  EXPECT_EQ(status({large, large, 0}), StatusCode::Ok);
  EXPECT_EQ(numbers.launch().arguments[0].bytes, 0u);
  EXPECT_EQ(status({0, large, -1}), StatusCode::InvalidArgument);
  EXPECT_EQ(status({large, 1 << 22, 1}), StatusCode::OutOfRange); // of the bytes
}

TEST(GpuLaunchTest, BoundsWorkgroups) {
  GpuCode code;
  code.kind = GpuCodeKind::Ptx;
  code.modules = {"text"};
  code.arguments = {{false, 8, 0, true, false}};
  code.numbers = {{GpuNumber::Scalar, 0, 0}};
  code.kernels = {{"kernel", 0, {1, 1, 1}, {}, {}, 0}};
  LaunchNumbers numbers(code);
  auto workgroups = [&](int64_t value) {
    plim_view view = {&value, nullptr, nullptr};
    EXPECT_TRUE(numbers.compute(&view).ok());
    return numbers.launch().kernels[0].workgroups;
  };
  EXPECT_EQ(workgroups(lowest), 0u);
  EXPECT_EQ(workgroups(0), 0u);
  EXPECT_EQ(workgroups(1), 1u);
  EXPECT_EQ(workgroups(highest), 0x7fffffffu);
}

/// Does nothing, or fails.
class Program : public GpuProgram {
public:
  const GpuCode &code() const override { return source; }
  Status run(const GpuLaunch &launch) override {
    if (throws)
      throw std::bad_alloc();
    bytes = launch.arguments[0].bytes;
    return status;
  }
  GpuCode source = axpyCode(GpuCodeKind::Spirv);
  Status status;
  bool throws = false;
  size_t bytes = 0;
};

std::string reported;
plim_code report(plim_context *, plim_code code, const char *message) {
  reported = message;
  return code;
}

TEST(GpuLaunchTest, IsAHostFunction) {
  auto program = std::make_shared<Program>();
  std::weak_ptr<Program> alive = program;
  LaunchFunction launch = makeLaunchFunction(program, &report);
  Vector x(5), y(5);
  float a = 2;
  std::vector<plim_view> views = {x.view(), {&a, nullptr, nullptr}, y.view()};
  plim_context context = {};
  auto run = [&] { return launch.function(&context, launch.user, views.data(), nullptr); };
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(program->bytes, 20u);
  program->status = unavailableError("gone");
  EXPECT_EQ(run(), static_cast<plim_code>(StatusCode::Unavailable));
  EXPECT_EQ(reported, "gone");
  program->throws = true;
  EXPECT_EQ(run(), static_cast<plim_code>(StatusCode::ResourceExhausted));
  x.extent = -1;
  EXPECT_EQ(run(), static_cast<plim_code>(StatusCode::InvalidArgument));
  EXPECT_THAT(reported, HasSubstr("argument #0"));
  program = nullptr;
  EXPECT_FALSE(alive.expired());
  launch.owner = nullptr;
  EXPECT_TRUE(alive.expired());
}

} // namespace
} // namespace plim::devices
