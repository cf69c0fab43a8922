#include "support/CheckedMath.h"

#include <gtest/gtest.h>
#include <limits>

namespace {

using plim::checkedAdd;
using plim::checkedMul;

constexpr int64_t maxSigned = std::numeric_limits<int64_t>::max();
constexpr int64_t minSigned = std::numeric_limits<int64_t>::min();
constexpr uint64_t maxUnsigned = std::numeric_limits<uint64_t>::max();

TEST(CheckedMath, GivesNothingWhereTheResultDoesNotFit) {
  EXPECT_EQ(checkedAdd<int64_t>(maxSigned, 0), maxSigned);
  EXPECT_EQ(checkedAdd<int64_t>(maxSigned, 1), std::nullopt);
  EXPECT_EQ(checkedAdd<int64_t>(minSigned, -1), std::nullopt);
  EXPECT_EQ(checkedAdd<uint64_t>(maxUnsigned, 1), std::nullopt);
  EXPECT_EQ(checkedMul<int64_t>(minSigned, -1), std::nullopt);
  EXPECT_EQ(checkedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checkedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 31), uint64_t{1} << 63);
}

TEST(CheckedMath, IsUsableInConstants) {
  static_assert(checkedAdd<int64_t>(1, 2) == 3);
  static_assert(!checkedMul<int64_t>(maxSigned, 2));
}

} // namespace
