#include "tools/io/SmallFloat.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace plim::tools {
namespace {

using runtime::ElementType;

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 1.0), 0x3c00);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, -2.0), 0xc000);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 65504.0), 0x7bff);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 65519.99), 0x7bff);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 65520.0), 0x7c00);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, std::ldexp(1, -25)), 0x0000);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, std::ldexp(1.001, -25)), 0x0001);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, std::ldexp(1, -14)), 0x0400);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 2049.0), 0x6800) << "ties to even";
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 2051.0), 0x6802);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, -0.0), 0x8000);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, inf), 0x7c00);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, -inf), 0xfc00);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 1e300), 0x7c00);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, 1e-300), 0x0000);
  EXPECT_EQ(smallFloatFromDouble(ElementType::F16, std::nan("")) & 0x7e00, 0x7e00);
  EXPECT_EQ(smallFloatFromDouble(ElementType::BF16, 1.0), 0x3f80);
  EXPECT_EQ(smallFloatFromDouble(ElementType::BF16, 3.4e38), 0x7f80);
  EXPECT_EQ(smallFloatFromDouble(ElementType::BF16, 3.389e38), 0x7f7f);
  EXPECT_EQ(smallFloatFromDouble(ElementType::BF16, 257.0), 0x4380) << "ties to even";
  EXPECT_EQ(smallFloatFromDouble(ElementType::BF16, std::nan("")) & 0x7fc0, 0x7fc0);
}

TEST(SmallFloat, FloatsOf8Bits) {
  constexpr ElementType fn = ElementType::F8E4M3FN, e5 = ElementType::F8E5M2;
  EXPECT_EQ(smallFloatFromDouble(fn, 1), 0x38);
  EXPECT_EQ(smallFloatFromDouble(fn, -448), 0xfe);
  EXPECT_EQ(smallFloatFromDouble(fn, 464), 0x7e) << "ties to even";
  EXPECT_EQ(smallFloatFromDouble(fn, 464.1), 0x7f) << "NaN";
  EXPECT_EQ(smallFloatFromDouble(fn, -inf), 0xff);
  EXPECT_EQ(smallFloatFromDouble(fn, std::nan("")), 0x7f);
  EXPECT_EQ(smallFloatFromDouble(fn, std::ldexp(1, -9)), 0x01);
  EXPECT_EQ(smallFloatFromDouble(fn, std::ldexp(1, -10)), 0x00);
  EXPECT_EQ(smallFloatFromDouble(fn, std::ldexp(3, -10)), 0x02);
  EXPECT_EQ(smallFloatFromDouble(e5, 57344), 0x7b);
  EXPECT_EQ(smallFloatFromDouble(e5, 61439), 0x7b);
  EXPECT_EQ(smallFloatFromDouble(e5, 61440), 0x7c) << "infinity";
  EXPECT_EQ(smallFloatFromDouble(e5, -inf), 0xfc);
  EXPECT_EQ(smallFloatFromDouble(e5, std::nan("")), 0x7e);
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    auto upper = static_cast<uint16_t>(bits << 8);
    double value = smallFloatToDouble(e5, static_cast<uint16_t>(bits));
    double half = smallFloatToDouble(ElementType::F16, upper);
    EXPECT_TRUE(std::isnan(half) ? std::isnan(value) : value == half) << bits;
    for (ElementType type : {fn, e5}) {
      double number = smallFloatToDouble(type, static_cast<uint16_t>(bits));
      EXPECT_TRUE(std::isnan(number) || smallFloatFromDouble(type, number) == bits) << bits;
    }
  }
  EXPECT_EQ(smallFloatToDouble(fn, 0x7e), 448);
  EXPECT_EQ(smallFloatToDouble(fn, 0x78), 256);
  EXPECT_TRUE(std::isnan(smallFloatToDouble(fn, 0xff)));
}

TEST(SmallFloat, AllHalvesAgreeWithTheCompilersType) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    auto expected = static_cast<double>(half);
    double decoded = smallFloatToDouble(ElementType::F16, static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(decoded));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint64_t>(decoded), std::bit_cast<uint64_t>(expected)) << bits;
    ASSERT_EQ(smallFloatFromDouble(ElementType::F16, decoded), bits);
  }
}

TEST(SmallFloat, AllBfloatsAreUpperHalves) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    double expected = std::bit_cast<float>(bits << 16);
    double decoded = smallFloatToDouble(ElementType::BF16, static_cast<uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(decoded));
      continue;
    }
    ASSERT_EQ(decoded, expected);
    ASSERT_EQ(smallFloatFromDouble(ElementType::BF16, decoded), bits);
  }
}

TEST(SmallFloat, RoundsToNearest) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  for (int i = 0; i < 200000; ++i) {
    // Random bits of a double with an exponent in and around the range of a half.
    uint64_t exponent = 1023 - 30 + random() % 50;
    double value = std::bit_cast<double>((random() & 0x800fffffffffffff) | exponent << 52);
    ASSERT_EQ(smallFloatFromDouble(ElementType::F16, value),
              std::bit_cast<uint16_t>(static_cast<_Float16>(value)))
        << value;

    uint16_t bits = smallFloatFromDouble(ElementType::BF16, value);
    double down =
        std::fabs(smallFloatToDouble(ElementType::BF16, static_cast<uint16_t>(bits - 1)) - value);
    double up =
        std::fabs(smallFloatToDouble(ElementType::BF16, static_cast<uint16_t>(bits + 1)) - value);
    double here = std::fabs(smallFloatToDouble(ElementType::BF16, bits) - value);
    ASSERT_LE(here, std::min(down, up));
    if (here == std::min(down, up))
      ASSERT_EQ(bits & 1, 0);
  }
}

} // namespace
} // namespace plim::tools
