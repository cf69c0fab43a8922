#include "tools/io/ValueDifference.h"

#include "tools/io/ValueText.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace plim::tools {
namespace {

using namespace runtime;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Value value(std::string_view text) { return *parseValue(text, std::make_shared<MemoryPool>()); }

ValueDifference difference(std::string_view is, std::string_view shouldBe, double tolerance = 0) {
  return differenceOf(value(is), value(shouldBe), tolerance);
}

TEST(ValueDifference, EqualValuesHaveNone) {
  for (const char *text : {"2x2xf32=1 nan inf -inf", "f64=0.5", "3xi4=-8 0 7", "0x3xf32=[]",
                           "2xcomplex<f32>=1+2j nan-infj", "index=3", "2xf8E4M3FN=nan 448"}) {
    const ValueDifference found = difference(text, text);
    EXPECT_TRUE(found.isComparable) << text;
    EXPECT_EQ(found.different, 0) << text;
    EXPECT_EQ(found.wrong, 0) << text;
    EXPECT_EQ(found.largest, 0) << text;
    EXPECT_EQ(found.is, "") << text;
    EXPECT_THAT(found.index, IsEmpty()) << text;
  }
}

TEST(ValueDifference, FloatsAreRelativeToTheLargestMagnitude) {
  const ValueDifference found = difference("2x2xf32=-8 1 2 3", "2x2xf32=-8 1 1 2.5", 0.1);
  EXPECT_EQ(found.elements, 4);
  EXPECT_EQ(found.different, 2);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.largest, 0.125);
  EXPECT_THAT(found.index, ElementsAre(1, 0));
  EXPECT_EQ(found.is, "2");
  EXPECT_EQ(found.shouldBe, "1");
  // Of either side, so that it is never without end where all are finite.
  EXPECT_EQ(difference("2xf64=0 4", "2xf64=0 0").largest, 1);
  EXPECT_EQ(difference("2xf64=0 0", "2xf64=4 0").largest, 1);
}

TEST(ValueDifference, TheToleranceIsAllowed) {
  EXPECT_EQ(difference("2xf32=8 1", "2xf32=8 2", 0.125).wrong, 0);
  EXPECT_EQ(difference("2xf32=8 1", "2xf32=8 2", 0.124).wrong, 1);
}

TEST(ValueDifference, WithoutToleranceAllBitsCount) {
  EXPECT_EQ(difference("2xf32=0 1", "2xf32=-0 1", 0).wrong, 1);
  const ValueDifference found = difference("2xf32=0 1", "2xf32=-0 1", 1e-9);
  EXPECT_EQ(found.wrong, 0);
  EXPECT_EQ(found.different, 1);
  EXPECT_EQ(found.largest, 0);
  EXPECT_EQ(found.shouldBe, "-0");
  // But those of a NaN: parsed ones have other bits than this one.
  auto pool = std::make_shared<MemoryPool>();
  const float other = -std::nanf("7");
  const int64_t extents[] = {1};
  const Value nan =
      *Buffer::fromCopy(pool, ElementType::F32, extents, std::as_bytes(std::span(&other, 1)));
  EXPECT_EQ(differenceOf(nan, value("1xf32=nan"), 0).different, 0);
}

TEST(ValueDifference, NoNumberIsNearAnInfinityOrNaN) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (auto [is, shouldBe] : {std::pair("3xf32=1 nan 2", "3xf32=1 2 2"),
                              {"3xf32=1 2 2", "3xf32=1 nan 2"},
                              {"3xf32=1 inf 2", "3xf32=1 2 2"},
                              {"3xf32=1 -inf 2", "3xf32=1 inf 2"},
                              {"3xf32=1 inf 2", "3xf32=1 nan 2"}}) {
    const ValueDifference found = difference(is, shouldBe, 1e30);
    EXPECT_EQ(found.wrong, 1) << is;
    EXPECT_EQ(found.largest, infinity) << is;
    EXPECT_THAT(found.index, ElementsAre(1)) << is;
  }
}

TEST(ValueDifference, IntegersAreExact) {
  for (auto [is, shouldBe, units] : {std::tuple("2xi32=5 -7", "2xi32=5 -4", 3.0),
                                     {"i1=1", "i1=0", 1.0},
                                     {"3xi4=-8 7 0", "3xi4=7 7 0", 15.0},
                                     {"2xi2=1 -2", "2xi2=1 1", 3.0},
                                     {"i8=-128", "i8=127", 255.0},
                                     {"i64=-0x8000000000000000", "i64=0x7fffffffffffffff", 0x1p64},
                                     {"i64=0x7fffffffffffffff", "i64=0x7ffffffffffffffe", 1.0}}) {
    const ValueDifference found = difference(is, shouldBe, 0.5);
    EXPECT_EQ(found.wrong, 1) << is;
    EXPECT_EQ(found.largest, units) << is;
  }
}

TEST(ValueDifference, OtherBitsOfAByteDoNotCount) {
  auto pool = std::make_shared<MemoryPool>();
  const uint8_t low[] = {0x0f, 0x03}, all[] = {0xff, 0xf3};
  const int64_t extents[] = {2};
  EXPECT_EQ(differenceOf(
                *Buffer::fromCopy(pool, ElementType::I4, extents, std::as_bytes(std::span(low))),
                *Buffer::fromCopy(pool, ElementType::I4, extents, std::as_bytes(std::span(all))), 0)
                .different,
            0);
}

TEST(ValueDifference, SmallFloatsAndComplexNumbers) {
  for (const char *type : {"f16", "bf16", "f8E4M3FN", "f8E5M2"}) {
    const ValueDifference found =
        difference("2x" + std::string(type) + "=2 1.5", "2x" + std::string(type) + "=2 1");
    EXPECT_EQ(found.largest, 0.25) << type;
    EXPECT_EQ(found.is, "1.5") << type;
  }
  const ValueDifference found =
      difference("2xcomplex<f64>=10+0j 3-4j", "2xcomplex<f64>=10+0j 0+0j", 0.4);
  EXPECT_EQ(found.largest, 0.5);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.is, "3-4j");
  // An infinity in one part does not hide the other.
  EXPECT_EQ(difference("1xcomplex<f32>=inf+1j", "1xcomplex<f32>=inf+2j", 0.1).wrong, 1);
}

TEST(ValueDifference, ValuesOfAnotherTypeAreNotComparable) {
  EXPECT_FALSE(difference("2xf32=1", "3xf32=1").isComparable);
  EXPECT_FALSE(difference("2x1xf32=1", "1x2xf32=1").isComparable);
  EXPECT_FALSE(difference("2xf32=1", "2xi32=1").isComparable);
  EXPECT_FALSE(difference("f32=1", "1xf32=1").isComparable);
}

TEST(ValueDifference, TheUsualToleranceIsMoreThanOneRounding) {
  for (ElementType type : allElementTypes()) {
    const double usual = usualTolerance(type);
    if (!isFloat(type) && !isComplex(type)) {
      EXPECT_EQ(usual, 0) << elementTypeName(type);
      continue;
    }
    EXPECT_GT(usual, 0) << elementTypeName(type);
    EXPECT_LE(usual, 0.5) << elementTypeName(type);
  }
  // Neighbours.
  EXPECT_EQ(difference("f8E4M3FN=1", "f8E4M3FN=1.125", usualTolerance(ElementType::F8E4M3FN)).wrong,
            0);
  EXPECT_EQ(difference("f8E5M2=1", "f8E5M2=1.25", usualTolerance(ElementType::F8E5M2)).wrong, 0);
}

} // namespace
} // namespace plim::tools
