#include "tools/Text.h"

#include <gtest/gtest.h>

namespace plim::tools {
namespace {

TEST(Text, TimesHaveReadableUnits) {
  EXPECT_EQ(formatSeconds(0), "0 us");
  EXPECT_EQ(formatSeconds(5.51e-7), "0.551 us");
  EXPECT_EQ(formatSeconds(17.6e-6), "17.6 us");
  EXPECT_EQ(formatSeconds(26.0612e-3), "26.06 ms");
  EXPECT_EQ(formatSeconds(1.075), "1.075 s");
  EXPECT_EQ(formatSeconds(12345.6), "12346 s");
}

TEST(Text, LargeNumbersHaveNoExponent) {
  EXPECT_EQ(formatNumber(0.00146912), "0.001469");
  EXPECT_EQ(formatNumber(9999), "9999");
  EXPECT_EQ(formatNumber(56810.4), "56810");
  EXPECT_EQ(formatNumber(1075000), "1075000");
  EXPECT_EQ(formatNumber(1e15), "1e+15");
}

} // namespace
} // namespace plim::tools
