#include "examples/filter/Filter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>
#include <string>
#include <vector>

namespace plim::filter {
namespace {

using runtime::ElementType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<Column> columns = {
    {"price", ElementType::F64}, {"qty", ElementType::I64}, {"region", ElementType::I32},
    {"rate", ElementType::F32},  {"paid", ElementType::I1}, {"small", ElementType::I8},
};

bool verifies(const std::string &module) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  return static_cast<bool>(mlir::parseSourceString<mlir::ModuleOp>(module, &context));
}

TEST(FilterTest, EmitsOneGenericOverTheNamedColumns) {
  auto filter = compileFilter("price * qty > 100 && region == 3", columns);
  ASSERT_TRUE(filter.ok()) << filter.status().toString();
  EXPECT_THAT(filter->columns, ElementsAre(0, 1, 2));
  EXPECT_THAT(filter->module, HasSubstr("    %0 = arith.sitofp %qty : i64 to f64\n"
                                        "    %1 = arith.mulf %price, %0 : f64\n"
                                        "    %2 = arith.constant 100 : i64\n"
                                        "    %3 = arith.sitofp %2 : i64 to f64\n"
                                        "    %4 = arith.cmpf ogt, %1, %3 : f64\n"
                                        "    %5 = arith.extsi %region : i32 to i64\n"
                                        "    %6 = arith.constant 3 : i64\n"
                                        "    %7 = arith.cmpi eq, %5, %6 : i64\n"
                                        "    %8 = arith.andi %4, %7 : i1\n"
                                        "    linalg.yield %8 : i1\n"));
  EXPECT_TRUE(verifies(filter->module)) << filter->module;
}

TEST(FilterTest, NamesEachColumnOnceInOrderOfUse) {
  auto filter = compileFilter("qty > 1 || price < 2 || qty < 0", columns);
  ASSERT_TRUE(filter.ok());
  EXPECT_THAT(filter->columns, ElementsAre(1, 0));
}

TEST(FilterTest, BindsAsInC) {
  auto plain = compileFilter("qty + 1 * 2 - 3 < 4 == paid || !paid && -qty >= 0", columns);
  auto grouped =
      compileFilter("((((qty + (1 * 2)) - 3) < 4) == paid) || ((!paid) && ((-qty) >= 0))", columns);
  ASSERT_TRUE(plain.ok()) << plain.status().toString();
  ASSERT_TRUE(grouped.ok()) << grouped.status().toString();
  EXPECT_EQ(plain->module, grouped->module);
}

TEST(FilterTest, AcceptsEveryKindOfOperand) {
  for (const char *expression : {"paid", "!paid", "paid == true", "paid != false", "rate / 2 > .5",
                                 "qty / region >= 1e3", "qty - -1 == 9223372036854775807",
                                 "price != 1.5e-300", "(((rate))) <= 3.", "--qty<0==!!paid"}) {
    auto filter = compileFilter(expression, columns);
    ASSERT_TRUE(filter.ok()) << filter.status().toString();
    EXPECT_TRUE(verifies(filter->module)) << expression << "\n" << filter->module;
  }
}

TEST(FilterTest, LocatesErrors) {
  struct {
    std::string expression;
    const char *message;
  } const faults[] = {
      {"", "filter:1:1: expected a number, a column or '(', got the end"},
      {"  ", "filter:1:3: expected a number"},
      {"price >", "filter:1:8: expected a number, a column or '(', got the end"},
      {"price > > 1", "filter:1:9: expected a number, a column or '(', got '>'"},
      {"price = 1", "filter:1:7: expected an operator, got '='"},
      {"price & paid", "filter:1:7: expected an operator, got '&'"},
      {"paid \xc3\xa9", "filter:1:6: expected an operator, got a character that has no meaning"},
      {"(price > 1", "filter:1:11: expected ')' for the '(' in column 1"},
      {"price > 1)", "filter:1:10: expected an operator, got ')'"},
      {"prize > 1", "filter:1:1: no column 'prize'; the columns are: price, qty"},
      {"small > 1", "filter:1:1: column 'small' has type i8, which filters do not read"},
      {"price", "filter:1:1: the expression is a number"},
      {"1 < 2", "filter:1:1: the expression names no column"},
      {"1 < qty < 3", "filter:1:9: '<' has a condition on one side and a number on the other"},
      {"paid && qty", "filter:1:6: '&&' has a condition on one side"},
      {"price || qty", "filter:1:7: '||' takes conditions, not numbers"},
      {"paid < paid", "filter:1:6: '<' takes numbers, not conditions"},
      {"paid + paid", "filter:1:6: '+' takes numbers, not conditions"},
      {"!qty == 1", "filter:1:1: '!' takes a condition"},
      {"-paid", "filter:1:1: '-' takes a number"},
      {"qty == 9223372036854775808", "filter:1:8: the number is out of range"},
      {"price == 1e999", "filter:1:10: the number is out of range"},
      {"qty == 12abc", "filter:1:8: not a number"},
      {"price == 1.2.3", "filter:1:10: not a number"},
      {"price == .", "filter:1:10: not a number"},
      {std::string(300, '(') + "paid", "filter:1:257: the expression is nested too deeply"},
      {std::string(300, '!') + "paid", "filter:1:257: the expression is nested too deeply"},
      {std::string(70000, ' ') + "paid", "filter:1:1: the expression is longer than 64 KiB"},
  };
  for (const auto &fault : faults) {
    auto filter = compileFilter(fault.expression, columns);
    ASSERT_FALSE(filter.ok()) << fault.expression;
    EXPECT_EQ(filter.status().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(filter.status().message()), StartsWith(fault.message));
  }
}

TEST(FilterTest, TakesLongExpressions) {
  std::string sum = "qty";
  while (sum.size() < 60000)
    sum += "+qty";
  auto filter = compileFilter(sum + ">0", columns);
  ASSERT_TRUE(filter.ok()) << filter.status().toString();
  EXPECT_TRUE(verifies(filter->module));
}

// A random expression of the wanted kind; parenthesised, so that it is well typed by construction.
std::string randomNumber(std::mt19937 &random, int depth);
std::string randomCondition(std::mt19937 &random, int depth) {
  switch (depth == 0 ? 0 : random() % 5) {
  case 0:
    return "paid";
  case 1:
    return "!" + randomCondition(random, depth - 1);
  case 2:
  case 3: {
    const char *comparisons[] = {"==", "!=", "<", "<=", ">", ">="};
    return "(" + randomNumber(random, depth - 1) + comparisons[random() % 6] +
           randomNumber(random, depth - 1) + ")";
  }
  default: {
    const char *logic[] = {" && ", " || ", " == ", " != "};
    return "(" + randomCondition(random, depth - 1) + logic[random() % 4] +
           randomCondition(random, depth - 1) + ")";
  }
  }
}
std::string randomNumber(std::mt19937 &random, int depth) {
  const char *leaves[] = {"price", "qty", "region", "rate", "7", "0.25", "1e9"};
  const char *arithmetic[] = {" + ", " - ", " * ", " / "};
  if (depth == 0 || random() % 4 == 0)
    return leaves[random() % 7];
  if (random() % 5 == 0)
    return "-" + randomNumber(random, depth - 1);
  return "(" + randomNumber(random, depth - 1) + arithmetic[random() % 4] +
         randomNumber(random, depth - 1) + ")";
}

TEST(FilterTest, RandomExpressionsVerify) {
  unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string expression = "(" + randomCondition(random, 5) + ") && paid";
    auto filter = compileFilter(expression, columns);
    ASSERT_TRUE(filter.ok()) << expression << ": " << filter.status().toString();
    ASSERT_TRUE(verifies(filter->module)) << expression << "\n" << filter->module;
  }
}

// Cut anywhere, an expression is an error or another expression, never a crash.
TEST(FilterTest, TruncatedExpressionsAreHandled) {
  std::string expression = "!(price*-qty >= 1.5e3) && (region == 3 || paid != true)";
  for (size_t length = 0; length < expression.size(); ++length)
    if (auto filter = compileFilter(expression.substr(0, length), columns); filter.ok())
      EXPECT_TRUE(verifies(filter->module));
}

} // namespace
} // namespace plim::filter
