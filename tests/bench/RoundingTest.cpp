#include "bench/policies/Rounding.h"
#include "bench/policies/Race.h"
#include "tools/io/ValueText.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace plim::bench {
namespace {

using runtime::Value;
using ::testing::AllOf;
using ::testing::HasSubstr;

Value value(std::string_view text) {
  static const auto pool = std::make_shared<runtime::MemoryPool>();
  return *tools::parseValue(text, pool);
}

double most(std::string_view have, std::string_view want) {
  return distanceOf(value(have), value(want))->most;
}

TEST(Distance, IsThatOfTheFarthestNumber) {
  Distance distance = *distanceOf(value("2x2xf32=1,2,3,4"), value("2x2xf32=1,2.5,1,-8"));
  EXPECT_EQ(distance.most, 12);
  EXPECT_EQ(distance.element, 3);
  EXPECT_EQ(distance.have, 4);
  EXPECT_EQ(distance.want, -8);
  EXPECT_EQ(distance.magnitude, 8);
  EXPECT_FALSE(distance.isOfIntegers);
  EXPECT_EQ(most("f64=1", "f64=1.5"), 0.5);
  EXPECT_EQ(most("2xf16=1,2", "2xf16=1,2.5"), 0.5);
  EXPECT_EQ(most("2xbf16=1,2", "2xbf16=1,3"), 1);
  EXPECT_EQ(distanceOf(value("2xcomplex<f32>=1,2j"), value("2xcomplex<f32>=1,2.5j"))->element, 1);
  EXPECT_EQ(most("0x3xf32=[]", "0x3xf32=[]"), 0);
}

TEST(Distance, KnowsNumbersThatAreNone) {
  EXPECT_EQ(most("3xf32=nan,inf,-0.0", "3xf32=nan,inf,0.0"), 0);
  EXPECT_EQ(most("1xf32=nan", "1xf32=1"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(most("1xf32=1", "1xf32=nan"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(most("1xf32=inf", "1xf32=-inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(distanceOf(value("2xf32=1,1"), value("2xf32=1,inf"))->magnitude, 1);
}

TEST(Distance, IntegersAreExact) {
  EXPECT_TRUE(distanceOf(value("i32=3"), value("i32=3"))->isOfIntegers);
  EXPECT_EQ(most("2xi8=1,-3", "2xi8=1,4"), 7);
  // f64 has no room for the difference.
  EXPECT_EQ(most("i64=0x7fffffffffffffff", "i64=0x7ffffffffffffffe"), 1);
}

TEST(Distance, OfDifferentTypesIsAnError) {
  for (const char *other : {"2xf64=1", "3xf32=1", "2x1xf32=1", "f32=1"})
    EXPECT_EQ(distanceOf(value("2xf32=1"), value(other)).status().code(),
              StatusCode::InvalidArgument)
        << other;
}

TEST(Shake, MovesFloatsAlone) {
  std::vector<Value> values = {value("1000xf32=8"), value("f64=8"), value("3xi32=8"),
                               value("2xcomplex<f64>=8+8j"), value("2xf16=8")};
  const std::vector<Value> before = {value("1000xf32=8"), value("f64=8"), value("3xi32=8"),
                                     value("2xcomplex<f64>=8+8j"), value("2xf16=8")};
  ASSERT_TRUE(shake(values, 0.25).ok());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(distanceOf(values[i], before[i])->most, i == 2 ? 0 : 2) << i;
  // In both directions.
  const std::string text = tools::printValue(values[0]);
  EXPECT_THAT(text, AllOf(HasSubstr("6, "), HasSubstr("10, ")));
}

double squares(const char *source, int64_t extent = 1) {
  const double rounding = *relativeRounding(source, "in.mlir", extent);
  return std::round(std::ldexp(rounding * rounding, 48)); // in those of f32
}

constexpr const char *product = R"(
func.func @f(%a: tensor<4x100xf32>, %b: tensor<100x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x100xf32>, tensor<100x?xf32>) outs(%c : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
})";

TEST(RelativeRounding, CountsOperationsOfFloats) {
  EXPECT_EQ(squares(product), 200); // a product and a sum each
  EXPECT_EQ(squares("func.func @f(%x: i32) -> i32 {\n  %r = arith.addi %x, %x : i32\n"
                    "  return %r : i32\n}"),
            0);
  EXPECT_EQ(squares("func.func @f(%x: tensor<9xf32>) -> tensor<9xf32> {\n"
                    "  %r = arith.addf %x, %x : tensor<9xf32>\n  return %r : tensor<9xf32>\n}"),
            1);
  EXPECT_EQ(
      squares("func.func @f(%x: tensor<9xf32>) -> tensor<1xf32> {\n"
              "  %r = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<9xf32>) -> tensor<1xf32>\n"
              "  return %r : tensor<1xf32>\n}"),
      9);
}

TEST(RelativeRounding, TakesTheExtentForWhatIsOpen) {
  const char *sum = R"(
func.func @f(%x: tensor<?xf32>, %i: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce ins(%x : tensor<?xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32 linalg.yield %s : f32 }
  return %r : tensor<f32>
})";
  EXPECT_EQ(squares(sum, 30), 30);
  const char *loop = R"(
func.func @f(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %a = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %x) -> f32 {
    %z = arith.mulf %y, %y : f32
    scf.yield %z : f32
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %a) -> f32 {
    %z = arith.mulf %y, %y : f32
    scf.yield %z : f32
  }
  return %r : f32
})";
  EXPECT_EQ(squares(loop, 30), 35);
}

TEST(RelativeRounding, FollowsFromTheType) {
  auto of = [](const std::string &type) {
    return *relativeRounding(
        "func.func @f(%x: " + type + ") -> " + type + " {\n" +
            (type.starts_with("complex") ? "  %r = complex.add" : "  %r = arith.addf") +
            " %x, %x : " + type + "\n  return %r : " + type + "\n}",
        "in.mlir", 1);
  };
  EXPECT_EQ(of("f64"), std::ldexp(1, -53));
  EXPECT_EQ(of("f32"), std::ldexp(1, -24));
  EXPECT_EQ(of("bf16"), std::ldexp(1, -8));
  EXPECT_EQ(of("complex<f64>"), std::ldexp(1, -53));
}

TEST(RelativeRounding, OfMalformedTextIsAnError) {
  Status status = relativeRounding("func.func", "in.mlir", 1).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("in.mlir"));
}

RaceOptions quick() {
  RaceOptions options;
  options.policies = {"auto", "heap"};
  options.seconds = 0.01;
  return options;
}

TEST(Race, RoundingThatGrowsIsNoError) {
  // Sums, in another order than the source's, and x = 4 x (1 - x), each step of which makes errors larger.
  std::string source = R"(
func.func @f(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %scale = arith.constant dense<0.001> : tensor<64xf32>
  %four = arith.constant dense<4.0> : tensor<64xf32>
  %s = linalg.reduce ins(%x : tensor<64x256xf32>) outs(%zero : tensor<64xf32>) dimensions = [1]
    (%p: f32, %q: f32) { %t = arith.addf %p, %q : f32 linalg.yield %t : f32 }
  %b = math.absf %s : tensor<64xf32>
  %a = arith.mulf %b, %scale : tensor<64xf32>
)";
  std::string last = "%a";
  for (int i = 1; i <= 16; ++i) {
    const std::string n = std::to_string(i);
    source += "  %m" + n + " = arith.mulf " + last + ", " + last + " : tensor<64xf32>\n" + //
              "  %d" + n + " = arith.subf " + last + ", %m" + n + " : tensor<64xf32>\n" + "  %x" +
              n + " = arith.mulf %d" + n + ", %four : tensor<64xf32>\n";
    last = "%x" + n;
  }
  source += "  return " + last + " : tensor<64xf32>\n}\n";
  StatusOr<std::vector<Lap>> laps = race({"chaos", source, {}}, quick());
  ASSERT_TRUE(laps.ok()) << laps.status().toString();
  for (const Lap &lap : *laps) {
    EXPECT_GT(lap.difference, 0);
    EXPECT_LE(lap.difference, lap.differenceBound);
    EXPECT_GT(lap.differenceBound, 1e-4);
    EXPECT_LT(lap.differenceBound, 1);
  }
}

TEST(Race, IntegersThatDifferAreAnError) {
  // The last bits of a sum are those of its order.
  const char *source = R"(
func.func @f(%x: tensor<4096xf32>) -> i32 {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce ins(%x : tensor<4096xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
  %e = tensor.extract %s[] : tensor<f32>
  %r = arith.bitcast %e : f32 to i32
  return %r : i32
})";
  Status status = race({"bits", source, {}}, quick()).status();
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("policy auto: result #0 is not the oracle's: element 0 is "),
                    HasSubstr(" instead of "), HasSubstr(" away; rounding explains 0")));
}

} // namespace
} // namespace plim::bench
