#include "tools/io/HalfFloat.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace plim::tools {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(HalfFloat, KnownValues) {
  EXPECT_EQ(halfFromDouble(1.0), 0x3c00);
  EXPECT_EQ(halfFromDouble(-2.0), 0xc000);
  EXPECT_EQ(halfFromDouble(65504.0), 0x7bff);
  EXPECT_EQ(halfFromDouble(65519.99), 0x7bff);
  EXPECT_EQ(halfFromDouble(65520.0), 0x7c00);
  EXPECT_EQ(halfFromDouble(std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(halfFromDouble(std::ldexp(1, -25)), 0x0000);
  EXPECT_EQ(halfFromDouble(std::ldexp(1.001, -25)), 0x0001);
  EXPECT_EQ(halfFromDouble(std::ldexp(1, -14)), 0x0400);
  EXPECT_EQ(halfFromDouble(2049.0), 0x6800) << "ties to even";
  EXPECT_EQ(halfFromDouble(2051.0), 0x6802);
  EXPECT_EQ(halfFromDouble(-0.0), 0x8000);
  EXPECT_EQ(halfFromDouble(inf), 0x7c00);
  EXPECT_EQ(halfFromDouble(-inf), 0xfc00);
  EXPECT_EQ(halfFromDouble(1e300), 0x7c00);
  EXPECT_EQ(halfFromDouble(1e-300), 0x0000);
  EXPECT_EQ(halfFromDouble(std::nan("")) & 0x7e00, 0x7e00);
  EXPECT_EQ(bfloatFromDouble(1.0), 0x3f80);
  EXPECT_EQ(bfloatFromDouble(3.4e38), 0x7f80);
  EXPECT_EQ(bfloatFromDouble(3.389e38), 0x7f7f);
  EXPECT_EQ(bfloatFromDouble(257.0), 0x4380) << "ties to even";
  EXPECT_EQ(bfloatFromDouble(std::nan("")) & 0x7fc0, 0x7fc0);
}

TEST(HalfFloat, AllHalvesAgreeWithTheCompilersType) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    auto expected = static_cast<double>(half);
    double decoded = halfToDouble(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(decoded));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint64_t>(decoded), std::bit_cast<uint64_t>(expected)) << bits;
    ASSERT_EQ(halfFromDouble(decoded), bits);
  }
}

TEST(HalfFloat, AllBfloatsAreUpperHalves) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    double expected = std::bit_cast<float>(bits << 16);
    double decoded = bfloatToDouble(static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(decoded));
      continue;
    }
    ASSERT_EQ(decoded, expected);
    ASSERT_EQ(bfloatFromDouble(decoded), bits);
  }
}

TEST(HalfFloat, RoundsToNearest) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 200000; ++i) {
    // Random bits of a double with an exponent in and around the range of a half.
    uint64_t exponent = 1023 - 30 + random() % 50;
    double value = std::bit_cast<double>((random() & 0x800fffffffffffff) | exponent << 52);
    ASSERT_EQ(halfFromDouble(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value)))
        << value;

    uint16_t bits = bfloatFromDouble(value);
    double down = std::fabs(bfloatToDouble(static_cast<uint16_t>(bits - 1)) - value);
    double up = std::fabs(bfloatToDouble(static_cast<uint16_t>(bits + 1)) - value);
    double here = std::fabs(bfloatToDouble(bits) - value);
    ASSERT_LE(here, std::min(down, up));
    if (here == std::min(down, up))
      ASSERT_EQ(bits & 1, 0);
  }
}

} // namespace
} // namespace plim::tools
