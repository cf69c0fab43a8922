// EngineOptions::numerics: what strict and default code may do to floating-point numbers; and that nothing of the
// caller's floating-point mode gets into code.
#include "tests/unit/session/EngineFixture.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace plim {
namespace {

using namespace testing;
using jit::Numerics;

constexpr const char *source = R"(
#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = arith.constant 0.1 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                     outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @functions(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c2 = arith.constant 2.0 : f32
    %half = arith.constant 0.5 : f32
    %1 = math.exp %a : f32
    %2 = math.tanh %b : f32
    %3 = math.powf %a, %c2 : f32
    %4 = math.powf %c2, %b : f32
    %5 = math.sin %a : f32
    %6 = math.log1p %1 : f32
    %7 = arith.mulf %2, %3 : f32
    %8 = arith.addf %1, %7 : f32
    %9 = arith.mulf %4, %5 : f32
    %10 = arith.subf %8, %9 : f32
    %11 = math.absf %a : f32
    %12 = math.powf %11, %half : f32
    %13 = math.erf %b : f32
    %14 = arith.addf %12, %13 : f32
    %15 = arith.divf %10, %6 : f32
    %16 = arith.addf %15, %14 : f32
    linalg.yield %16 : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @rows(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.empty(%n) : tensor<?xf32>
  %h = linalg.fill ins(%z : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  %rows = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %columns = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%h : tensor<?xf32>) dimensions = [0]
    (%a: f32, %o: f32) {
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
  return %rows, %columns : tensor<?xf32>, tensor<?xf32>
}
func.func @normalised(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %g = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%g : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %d = arith.divf %a, %t : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
)";

Buffer randomMatrix(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-2, 2);
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (float &value : values)
    value = distribution(generator);
  return makeBuffer({rows, columns}, values);
}

std::vector<uint32_t> bitsOf(const std::vector<Value> &values) {
  std::vector<uint32_t> bits;
  for (const Value &value : values)
    for (float element : elements<float>(value))
      bits.push_back(std::isnan(element) ? 0x7fc00000u : std::bit_cast<uint32_t>(element));
  return bits;
}

TEST(Numerics, StrictIsTheOracleBitForBit) {
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads, .numerics = Numerics::Strict});
    auto strict = load(*engine, source);
    auto oracle = load(*engine, source, {.oracle = true});
    for (auto [m, n, k] :
         {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 7}, {17, 33, 65}, {64, 128, 300}}) {
      Buffer x = randomMatrix(m, k, 1), y = randomMatrix(m, k, 2), b = randomMatrix(k, n, 3);
      for (const auto &[name, arguments] : {std::pair("matmul", std::vector<Value>{x, b}),
                                            {"softmax", {x}},
                                            {"functions", {x, y}},
                                            {"rows", {x, y}},
                                            {"normalised", {x}}})
        EXPECT_EQ(bitsOf(callOk(lookup(strict, name), arguments)),
                  bitsOf(callOk(lookup(oracle, name), arguments)))
            << name << ' ' << m << 'x' << k << 'x' << n << ", " << threads << " threads";
    }
  }
}

/// Each power alone: in a sum with others a unit in its last place may be lost.
TEST(Numerics, StrictPowersAreTheLibrarys) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Buffer x = randomMatrix(100, 333, 1);
  for (const char *exponent : {"-1.0", "0.5", "2.0", "3.0"}) {
    std::string text = R"(
#all = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<100x333xf32>) -> tensor<100x333xf32> {
  %e = tensor.empty() : tensor<100x333xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<100x333xf32>) outs(%e : tensor<100x333xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.constant EXPONENT : f32
    %p = math.powf %a, %c : f32
    linalg.yield %p : f32
  } -> tensor<100x333xf32>
  return %r : tensor<100x333xf32>
}
)";
    text.replace(text.find("EXPONENT"), 8, exponent);
    auto strict = load(*engine, text, {.numerics = Numerics::Strict});
    auto oracle = load(*engine, text, {.oracle = true});
    EXPECT_EQ(bitsOf(callOk(lookup(strict, "main"), {x})),
              bitsOf(callOk(lookup(oracle, "main"), {x})))
        << exponent;
  }
}

/// The rows above would be the same in default code if nothing in them could differ.
TEST(Numerics, DefaultIsNot) {
  std::shared_ptr<Engine> engine = makeEngine();
  auto fast = load(*engine, source);
  auto strict = load(*engine, source, {.numerics = Numerics::Strict});
  Buffer x = randomMatrix(64, 300, 1), y = randomMatrix(64, 300, 2);
  for (const char *name : {"functions", "rows"})
    EXPECT_NE(bitsOf(callOk(lookup(fast, name), {x, y})),
              bitsOf(callOk(lookup(strict, name), {x, y})))
        << name;
}

TEST(Numerics, IsPartOfTheKeyOfTheCache) {
  TemporaryFolder folder;
  auto cached = [&](std::optional<Numerics> numerics) {
    LoadOptions options;
    options.numerics = numerics;
    std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
    return load(*engine, source, options)->statistics().fromCache;
  };
  EXPECT_FALSE(cached({}));
  EXPECT_FALSE(cached(Numerics::Strict));
  EXPECT_TRUE(cached(Numerics::Default));
  EXPECT_TRUE(cached(Numerics::Strict));
}

/// The sum of `initial` and 4096 times `value` in a type of 16 bits, as f32.
float narrowSum(const std::string &type, float value, Numerics numerics,
                const std::string &initial = "0.0") {
  std::string text = R"(
!t = TYPE
func.func @main(%v: f32, %n: index) -> f32 {
  %x = arith.truncf %v : f32 to !t
  %e = tensor.empty(%n) : tensor<?x!t>
  %f = linalg.fill ins(%x : !t) outs(%e : tensor<?x!t>) -> tensor<?x!t>
  %i = arith.constant dense<INITIAL> : tensor<!t>
  %s = linalg.reduce { arith.addf } ins(%f : tensor<?x!t>) outs(%i : tensor<!t>) dimensions = [0]
  %r = tensor.extract %s[] : tensor<!t>
  %w = arith.extf %r : !t to f32
  return %w : f32
})";
  text.replace(text.find("TYPE"), 4, type);
  text.replace(text.find("INITIAL"), 7, initial);
  auto module = load(*makeEngine(), text, {.numerics = numerics});
  auto results =
      callOk(lookup(module, "main"), {scalarF32(value), Scalar{ElementType::Index, 4096}});
  return std::bit_cast<float>(static_cast<uint32_t>(std::get<Scalar>(results[0]).bits));
}

TEST(Numerics, SumsOf16BitsAreTakenInF32) {
  // 0.001 is 0.0010004044 in f16 and 0.00099945068 in bf16; the sums are rounded once.
  EXPECT_EQ(narrowSum("f16", 0.001f, Numerics::Default), 4.09765625f);
  EXPECT_EQ(narrowSum("bf16", 0.001f, Numerics::Default), 4.09375f);
  EXPECT_EQ(narrowSum("f16", 0.001f, Numerics::Default, "2.0"), 6.09765625f);
  // Each step rounded, as the source says: bf16 stops where a step is below half of the last digit.
  EXPECT_NE(narrowSum("f16", 0.001f, Numerics::Strict), 4.09765625f);
  EXPECT_EQ(narrowSum("bf16", 0.001f, Numerics::Strict), 0.5f);
}

TEST(Numerics, TheRoundingOfTheCallerStaysOutOfCode) {
  constexpr const char *constants = R"(
func.func @scalar() -> f32 {
  %c = arith.constant 0.333 : f32
  %r = math.exp %c : f32
  return %r : f32
}
func.func @tensor() -> tensor<4xf32> {
  %c = arith.constant dense<[0.333, 0.1, 3.7, -1.3]> : tensor<4xf32>
  %d = arith.constant dense<3.0> : tensor<4xf32>
  %e = math.exp %c : tensor<4xf32>
  %r = arith.divf %e, %d : tensor<4xf32>
  return %r : tensor<4xf32>
})";
  auto answers = [&](const LoadOptions &options) {
    auto module = load(*makeEngine(), constants, options);
    std::vector<uint32_t> bits = bitsOf(callOk(lookup(module, "tensor"), {}));
    bits.push_back(
        static_cast<uint32_t>(std::get<Scalar>(callOk(lookup(module, "scalar"), {})[0]).bits));
    return bits;
  };
  for (bool oracle : {false, true}) {
    std::vector<uint32_t> nearest = answers({.oracle = oracle});
    for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      std::vector<uint32_t> got = answers({.oracle = oracle});
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(got, nearest) << "mode " << mode << (oracle ? ", oracle" : "");
    }
  }
}

} // namespace
} // namespace plim
