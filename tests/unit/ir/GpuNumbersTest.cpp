#include "ir/Gpu/Numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace plim::ir {
namespace {

using Kind = Numbers::Kind;

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
constexpr int64_t highest = std::numeric_limits<int64_t>::max();

std::optional<int64_t> folded(Kind kind, int64_t a, int64_t b) {
  Numbers numbers;
  return numbers.constantOf(numbers.apply(kind, numbers.constant(a), numbers.constant(b)));
}

TEST(GpuNumbersTest, FoldsWhatIsKnown) {
  EXPECT_EQ(folded(Kind::Add, 3, -5), -2);
  EXPECT_EQ(folded(Kind::Subtract, 3, -5), 8);
  EXPECT_EQ(folded(Kind::Multiply, -3, 5), -15);
  EXPECT_EQ(folded(Kind::Minimum, -3, 5), -3);
  EXPECT_EQ(folded(Kind::Maximum, -3, 5), 5);
  EXPECT_EQ(folded(Kind::FloorDivide, -7, 2), -4);
  EXPECT_EQ(folded(Kind::CeilDivide, -7, 2), -3);
  EXPECT_EQ(folded(Kind::Divide, -7, 2), -3);
  EXPECT_EQ(folded(Kind::Remainder, -7, 2), -1);
}

TEST(GpuNumbersTest, LeavesFailuresToLaunches) {
  for (Kind kind : {Kind::FloorDivide, Kind::CeilDivide, Kind::Divide, Kind::Remainder})
    EXPECT_EQ(folded(kind, 7, 0), std::nullopt);
  EXPECT_EQ(folded(Kind::Divide, lowest, -1), std::nullopt);
  EXPECT_EQ(folded(Kind::Add, highest, 1), std::nullopt);
  EXPECT_EQ(folded(Kind::Subtract, lowest, 1), std::nullopt);
  EXPECT_EQ(folded(Kind::Multiply, highest, 2), std::nullopt);
}

TEST(GpuNumbersTest, EqualNumbersAreOne) {
  Numbers numbers;
  const Number n = numbers.extent(0, 1), m = numbers.extent(2, 0), s = numbers.scalar(1);
  EXPECT_EQ(numbers.constant(3), numbers.constant(3));
  EXPECT_NE(numbers.constant(0), numbers.extent(0, 0));
  EXPECT_EQ(n, numbers.extent(0, 1));
  EXPECT_NE(n, m);
  EXPECT_NE(s, numbers.scalar(2));
  for (Kind kind : {Kind::Add, Kind::Multiply, Kind::Minimum, Kind::Maximum})
    EXPECT_EQ(numbers.apply(kind, n, m), numbers.apply(kind, m, n));
  for (Kind kind : {Kind::Subtract, Kind::FloorDivide, Kind::CeilDivide, Kind::Remainder})
    EXPECT_NE(numbers.apply(kind, n, m), numbers.apply(kind, m, n));
  EXPECT_EQ(numbers.apply(Kind::Multiply, numbers.constant(4), n),
            numbers.apply(Kind::Multiply, n, numbers.constant(4)));
  EXPECT_EQ(numbers.product({n, m, s}), numbers.product({n, m, s}));
}

TEST(GpuNumbersTest, LeavesOutWhatChangesNothing) {
  Numbers numbers;
  const Number n = numbers.extent(0, 0), zero = numbers.constant(0), one = numbers.constant(1);
  EXPECT_EQ(numbers.apply(Kind::Add, n, zero), n);
  EXPECT_EQ(numbers.apply(Kind::Add, zero, n), n);
  EXPECT_EQ(numbers.apply(Kind::Subtract, n, zero), n);
  EXPECT_NE(numbers.apply(Kind::Subtract, zero, n), n);
  for (Kind kind : {Kind::Multiply, Kind::FloorDivide, Kind::CeilDivide, Kind::Divide})
    EXPECT_EQ(numbers.apply(kind, n, one), n);
  EXPECT_NE(numbers.apply(Kind::Divide, one, n), n);
  EXPECT_EQ(numbers.apply(Kind::Multiply, n, zero), zero);
  EXPECT_EQ(numbers.apply(Kind::Minimum, n, n), n);
  EXPECT_EQ(numbers.apply(Kind::Maximum, n, n), n);
  EXPECT_EQ(numbers.product({}), one);
  EXPECT_EQ(numbers.product({one, n, one}), n);
  EXPECT_EQ(numbers.product({n, zero}), zero);
}

TEST(GpuNumbersTest, ANumberStandsBehindWhatItIsComputedFrom) {
  Numbers numbers;
  const Number n = numbers.extent(0, 0);
  numbers.apply(Kind::Add, numbers.apply(Kind::Multiply, n, numbers.constant(3)),
                numbers.constant(7));
  const std::vector<devices::GpuNumber> all = numbers.take();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0], (devices::GpuNumber{Kind::Extent, 0, 0}));
  EXPECT_EQ(all[1], (devices::GpuNumber{Kind::Constant, 3, 0}));
  EXPECT_EQ(all[2], (devices::GpuNumber{Kind::Multiply, 0, 1}));
  EXPECT_EQ(all[3], (devices::GpuNumber{Kind::Constant, 7, 0}));
  EXPECT_EQ(all[4], (devices::GpuNumber{Kind::Add, 2, 3}));
}

} // namespace
} // namespace plim::ir
