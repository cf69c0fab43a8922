#include "engine/runtime/ElementType.h"
#include "engine/runtime/ByteSize.h"
#include "tests/unit/engine/Random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace plim::runtime {
namespace {

using ::testing::HasSubstr;
constexpr int64_t big = std::numeric_limits<int64_t>::max();

TEST(ElementType, NamesAndSizes) {
  struct Expected {
    ElementType type;
    std::string_view name;
    int64_t bits, bytes;
    bool isFloat;
  };
  const Expected table[] = {
      {ElementType::I1, "i1", 1, 1, false},
      {ElementType::I8, "i8", 8, 1, false},
      {ElementType::I16, "i16", 16, 2, false},
      {ElementType::I32, "i32", 32, 4, false},
      {ElementType::I64, "i64", 64, 8, false},
      {ElementType::F16, "f16", 16, 2, true},
      {ElementType::BF16, "bf16", 16, 2, true},
      {ElementType::F32, "f32", 32, 4, true},
      {ElementType::F64, "f64", 64, 8, true},
      {ElementType::Index, "index", 64, 8, false},
      {ElementType::F8E4M3FN, "f8E4M3FN", 8, 1, true},
      {ElementType::F8E5M2, "f8E5M2", 8, 1, true},
      {ElementType::ComplexF32, "complex<f32>", 64, 8, false},
      {ElementType::ComplexF64, "complex<f64>", 128, 16, false},
      {ElementType::I2, "i2", 2, 1, false},
      {ElementType::I4, "i4", 4, 1, false},
  };
  EXPECT_EQ(allElementTypes().size(), std::size(table));
  for (const Expected &row : table) {
    EXPECT_EQ(elementTypeName(row.type), row.name);
    EXPECT_EQ(elementTypeFromName(row.name), row.type);
    EXPECT_EQ(elementBits(row.type), row.bits) << row.name;
    EXPECT_EQ(elementBytes(row.type), row.bytes) << row.name;
    EXPECT_EQ(isFloat(row.type), row.isFloat) << row.name;
    EXPECT_EQ(isComplex(row.type), row.name.starts_with("complex")) << row.name;
    EXPECT_EQ(elementAlignment(row.type), isComplex(row.type) ? row.bytes / 2 : row.bytes);
  }
  EXPECT_EQ(elementTypeFromName("f8"), std::nullopt);
  EXPECT_EQ(elementTypeFromName(""), std::nullopt);
}

TEST(ByteSize, OrdinaryShapes) {
  EXPECT_EQ(*byteSizeOf({}, 4), 4);
  EXPECT_EQ(*byteSizeOf(std::vector<int64_t>{2, 3}, 4), 24);
  EXPECT_EQ(*byteSizeOf(std::vector<int64_t>{2, 0, 3}, 4), 0);
  EXPECT_EQ(*byteSizeOf(std::vector<int64_t>{big}, 1), big);
}

TEST(ByteSize, NegativeAndOverflowingShapesAreErrors) {
  StatusOr<int64_t> negative = byteSizeOf(std::vector<int64_t>{2, -3}, 4);
  EXPECT_EQ(negative.status().code(), StatusCode::InvalidArgument);
  EXPECT_THAT(negative.status().toString(), HasSubstr("extent -3 of dimension 1"));
  EXPECT_EQ(byteSizeOf({}, -1).status().code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(byteSizeOf(std::vector<int64_t>{big}, 2).ok());
  EXPECT_FALSE(byteSizeOf(std::vector<int64_t>{4294967296, 4294967296, 16}, 4).ok());
  EXPECT_FALSE(byteSizeOf(std::vector<int64_t>{0, big, big}, 4).ok());
  EXPECT_FALSE(byteSizeOf(std::vector<int64_t>{0, -1}, 4).ok());
}

TEST(ByteSize, AgreesWithWideArithmetic) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  const int64_t special[] = {0,
                             1,
                             2,
                             -1,
                             (int64_t{1} << 31) - 1,
                             int64_t{1} << 31,
                             (int64_t{1} << 31) + 1,
                             big,
                             big - 1,
                             3037000499,
                             3037000500};
  for (int round = 0; round < 200000; ++round) {
    std::vector<int64_t> shape(random() % 5);
    for (int64_t &extent : shape)
      extent = random() % 2 ? special[random() % std::size(special)]
                            : static_cast<int64_t>(random() >> (1 + random() % 63));
    int64_t unit = int64_t{1} << random() % 4;
    // At most 63 bits times 63 bits at every step: stop at the first that leaves 64.
    __int128 product = unit;
    bool valid = true, empty = false;
    for (int64_t extent : shape) {
      valid &= extent >= 0;
      empty |= extent == 0;
      if (valid && extent > 0 && product <= big)
        product *= extent;
    }
    valid &= product <= big;
    StatusOr<int64_t> bytes = byteSizeOf(shape, unit);
    ASSERT_EQ(bytes.ok(), valid) << ::testing::PrintToString(shape);
    if (valid)
      ASSERT_EQ(*bytes, empty ? 0 : static_cast<int64_t>(product));
  }
}

} // namespace
} // namespace plim::runtime
