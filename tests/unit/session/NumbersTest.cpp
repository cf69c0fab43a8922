// What functions of all kinds do with numbers is a value or a located error: docs/design/calling-convention.md.
#include "tests/unit/session/EngineFixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace plim {
namespace {

using namespace testing;

constexpr int32_t least = std::numeric_limits<int32_t>::min();
constexpr int32_t most = std::numeric_limits<int32_t>::max();

/// `op` of two i32 in a function of each kind; OP stands for it.
constexpr const char *kinds = R"(
func.func @scalars(%a: i32, %b: i32) -> i32 {
  %r = OP %a, %b : i32
  return %r : i32
}
func.func @several(%a: i32, %b: i32) -> (i32, i32) {
  %r = OP %a, %b : i32
  return %r, %a : i32, i32
}
func.func @loop(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%i] : memref<?xi32>
    %r = OP %a, %b : i32
    memref.store %r, %x[%i] : memref<?xi32>
  }
  return
}
#id = affine_map<(i) -> (i)>
func.func @body(%x: memref<?xi32>, %y: memref<?xi32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<?xi32>) outs(%x : memref<?xi32>) {
    ^bb0(%b: i32, %a: i32):
      %r = OP %a, %b : i32
      linalg.yield %r : i32
  }
  return
}
func.func @vectors(%x: memref<8xi32>, %y: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %a = vector.transfer_read %x[%c0], %z {in_bounds = [true]} : memref<8xi32>, vector<8xi32>
  %b = vector.transfer_read %y[%c0], %z {in_bounds = [true]} : memref<8xi32>, vector<8xi32>
  %r = OP %a, %b : vector<8xi32>
  vector.transfer_write %r, %x[%c0] {in_bounds = [true]} : vector<8xi32>, memref<8xi32>
  return
}
func.func @tensors(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = OP %x, %y : tensor<?xi32>
  return %r : tensor<?xi32>
}
)";

class NumbersTest : public ::testing::TestWithParam<bool> {
protected:
  std::shared_ptr<Module> loadKinds(const std::string &op) const {
    std::string source = kinds;
    for (size_t at; (at = source.find("OP")) != std::string::npos;)
      source.replace(at, 2, op);
    return load(*engine, source, {.oracle = GetParam()});
  }
  static Scalar number(int32_t value) { return {ElementType::I32, static_cast<uint32_t>(value)}; }
  static std::vector<Value> arguments(const Function &function, int32_t a, int32_t b) {
    if (!function.signature().arguments[0].isShaped)
      return {number(a), number(b)};
    return {makeBuffer<int32_t>({8}, {9, 9, 9, a, 9, 9, 9, 9}),
            makeBuffer<int32_t>({8}, {1, 1, 1, b, 1, 1, 1, 1})};
  }
  /// In functions of all kinds.
  void expect(const std::string &op, int32_t a, int32_t b, int32_t result) const {
    std::shared_ptr<Module> module = loadKinds(op);
    for (const std::string &name : names) {
      Function function = lookup(module, name);
      std::vector<Value> given = arguments(function, a, b), results = callOk(function, given);
      if (const Scalar *scalar = results.empty() ? nullptr : std::get_if<Scalar>(&results[0]))
        EXPECT_EQ(static_cast<int32_t>(scalar->bits), result) << op << " in " << name;
      else
        EXPECT_EQ(elements<int32_t>(results.empty() ? given[0] : results[0])[3], result)
            << op << " in " << name;
    }
  }
  void expectError(const std::string &op, int32_t a, int32_t b, const std::string &message) const {
    std::shared_ptr<Module> module = loadKinds(op);
    for (const std::string &name : names) {
      Function function = lookup(module, name);
      Status status = callStatus(function, arguments(function, a, b));
      EXPECT_EQ(status.code(), StatusCode::FailedPrecondition) << op << " in " << name;
      EXPECT_TRUE(status.message().starts_with("in.mlir:")) << status.message();
      EXPECT_TRUE(status.message().ends_with(": " + message)) << status.message();
    }
  }

  const std::vector<std::string> names = {"scalars", "several", "loop",
                                          "body",    "vectors", "tensors"};
  std::shared_ptr<Engine> engine = makeEngine();
};

TEST_P(NumbersTest, Divisions) {
  for (const char *op : {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
                         "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"})
    expectError(op, 7, 0, "integer division by zero");
  for (const char *op : {"arith.divsi", "arith.ceildivsi", "arith.floordivsi"})
    expect(op, least, -1, least);
  expect("arith.remsi", least, -1, 0);
  expect("arith.divsi", -7, 2, -3);
  expectError("math.ipowi", 0, -1, "zero to a negative power");
}

TEST_P(NumbersTest, Shifts) {
  for (int32_t amount : {32, 33, 1000, -1, least}) {
    expect("arith.shli", -5, amount, 0);
    expect("arith.shrui", -5, amount, 0);
    expect("arith.shrsi", -5, amount, -1);
    expect("arith.shrsi", 5, amount, 0);
  }
  expect("arith.shli", 5, 31, least);
}

TEST_P(NumbersTest, Conversions) {
  std::shared_ptr<Module> module = load(*engine, R"(
#id = affine_map<(i) -> (i)>
func.func @signed(%x: tensor<?xf32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xi32>) {
    ^bb0(%a: f32, %b: i32):
      %c = arith.fptosi %a : f32 to i32
      linalg.yield %c : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @bytes(%x: tensor<?xf32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xi32>) {
    ^bb0(%a: f32, %b: i32):
      %c = arith.fptoui %a : f32 to i8
      %d = arith.extui %c : i8 to i32
      linalg.yield %d : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
)",
                                        {.oracle = GetParam()});
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> from = {
      0,         -0.9f,         2.5f,   -2.5f, 2147483520.0f,   0x1p31f, -0x1p31f,      infinity,
      -infinity, std::nanf(""), 255.9f, 256,   -0x1.000002p31f, 1e30f,   -std::nanf("")};
  Buffer x = makeBuffer<float>({15}, from), y = makeBuffer<int32_t>({15}, std::vector<int32_t>(15));
  EXPECT_EQ(elements<int32_t>(callOk(lookup(module, "signed"), {x, y})[0]),
            (std::vector<int32_t>{0, 0, 2, -2, 2147483520, most, least, most, least, 0, 255, 256,
                                  least, most, 0}));
  EXPECT_EQ(elements<int32_t>(callOk(lookup(module, "bytes"), {x, y})[0]),
            (std::vector<int32_t>{0, 0, 2, 0, 255, 255, 0, 255, 0, 0, 255, 255, 0, 255, 0}));
}

INSTANTIATE_TEST_SUITE_P(Oracle, NumbersTest, ::testing::Bool());

} // namespace
} // namespace plim
