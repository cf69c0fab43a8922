#include "support/CheckedMath.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace {

using plim::checkedAdd;
using plim::checkedAlignUp;
using plim::checkedMul;
using plim::checkedProduct;
using plim::checkedSub;

constexpr int64_t maxSigned = std::numeric_limits<int64_t>::max();
constexpr int64_t minSigned = std::numeric_limits<int64_t>::min();
constexpr uint64_t maxUnsigned = std::numeric_limits<uint64_t>::max();

TEST(CheckedMath, GivesNothingWhereTheResultDoesNotFit) {
  EXPECT_EQ(checkedAdd<int64_t>(maxSigned, 0), maxSigned);
  EXPECT_EQ(checkedAdd<int64_t>(maxSigned, 1), std::nullopt);
  EXPECT_EQ(checkedAdd<int64_t>(minSigned, -1), std::nullopt);
  EXPECT_EQ(checkedAdd<uint64_t>(maxUnsigned, 1), std::nullopt);
  EXPECT_EQ(checkedSub<uint64_t>(0, 1), std::nullopt);
  EXPECT_EQ(checkedSub<int64_t>(minSigned, 1), std::nullopt);
  EXPECT_EQ(checkedSub<int64_t>(3, 5), -2);
  EXPECT_EQ(checkedMul<int64_t>(minSigned, -1), std::nullopt);
  EXPECT_EQ(checkedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checkedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 31), uint64_t{1} << 63);
}

TEST(CheckedMath, AlignsUp) {
  EXPECT_EQ(checkedAlignUp<int64_t>(0, 64), 0);
  EXPECT_EQ(checkedAlignUp<int64_t>(1, 64), 64);
  EXPECT_EQ(checkedAlignUp<int64_t>(64, 64), 64);
  EXPECT_EQ(checkedAlignUp<int64_t>(65, 1), 65);
  EXPECT_EQ(checkedAlignUp<int64_t>(maxSigned - 63, 64), maxSigned - 63);
  EXPECT_EQ(checkedAlignUp<int64_t>(maxSigned - 62, 64), std::nullopt);
  EXPECT_EQ(checkedAlignUp<uint64_t>(maxUnsigned, 2), std::nullopt);
  EXPECT_EQ(checkedAlignUp<int64_t>(-1, 64), std::nullopt);
  EXPECT_EQ(checkedAlignUp<int64_t>(1, 0), std::nullopt);
  EXPECT_EQ(checkedAlignUp<int64_t>(1, -64), std::nullopt);
  EXPECT_EQ(checkedAlignUp<int64_t>(1, 48), std::nullopt);
}

TEST(CheckedMath, IsUsableInConstants) {
  static_assert(checkedAdd<int64_t>(1, 2) == 3);
  static_assert(!checkedMul<int64_t>(maxSigned, 2));
  static_assert(checkedAlignUp<uint64_t>(65, 64) == 128u);
}

TEST(CheckedMath, ProductOfShapes) {
  EXPECT_EQ(checkedProduct({}), 1);
  EXPECT_EQ(checkedProduct({}, 4), 4);
  EXPECT_EQ(checkedProduct(std::vector<int64_t>{2, 3, 5}, 8), 240);
  EXPECT_EQ(checkedProduct(std::vector<int64_t>{4294967296, 4294967296, 16}, 4), std::nullopt);
  EXPECT_EQ(checkedProduct(std::vector<int64_t>{2, -1}), std::nullopt);
  EXPECT_EQ(checkedProduct(std::vector<int64_t>{2}, -1), std::nullopt);
  EXPECT_EQ(checkedProduct(std::vector<int64_t>{maxSigned, 3, 0}, 8), 0);
  EXPECT_EQ(checkedProduct(std::vector<int64_t>{0, -1}), std::nullopt);
}

TEST(CheckedMath, ProductAgreesWithWideArithmetic) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<int64_t> corners = {0,
                                        1,
                                        2,
                                        3,
                                        (int64_t{1} << 31) - 1,
                                        int64_t{1} << 31,
                                        (int64_t{1} << 31) + 1,
                                        (int64_t{1} << 32) + 1,
                                        maxSigned,
                                        -1,
                                        minSigned};
  for (int trial = 0; trial < 100000; ++trial) {
    std::vector<int64_t> sizes(random() % 4);
    for (int64_t &size : sizes)
      size = random() % 2 ? corners[random() % corners.size()]
                          : static_cast<int64_t>(random() >> (random() % 64));
    // Saturating at 2^64 keeps the product of up to four 64-bit factors inside 128 bits.
    constexpr unsigned __int128 ceiling = static_cast<unsigned __int128>(1) << 64;
    unsigned __int128 expected = 1;
    bool isNegative = false;
    bool isEmpty = false;
    for (int64_t size : sizes) {
      isNegative |= size < 0;
      isEmpty |= size == 0;
    }
    if (!isNegative && !isEmpty)
      for (int64_t size : sizes)
        expected = std::min(expected * static_cast<uint64_t>(size), ceiling);
    std::optional<int64_t> product = checkedProduct(sizes);
    if (isNegative)
      ASSERT_EQ(product, std::nullopt);
    else if (isEmpty)
      ASSERT_EQ(product, 0);
    else if (expected > static_cast<uint64_t>(maxSigned))
      ASSERT_EQ(product, std::nullopt);
    else
      ASSERT_EQ(product, static_cast<int64_t>(expected));
  }
}

} // namespace
