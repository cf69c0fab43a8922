// Memrefs with strided layouts at the border of a function, and buffers with strides.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace plim {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char *stridedSource = R"(
func.func @scale(%a: memref<?x?xf32, strided<[?, 1], offset: ?>>, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
  %n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, 1], offset: ?>>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%i, %j] : memref<?x?xf32, strided<[?, 1], offset: ?>>
      %y = arith.mulf %x, %s : f32
      memref.store %y, %a[%i, %j] : memref<?x?xf32, strided<[?, 1], offset: ?>>
    }
  }
  return
}
func.func @digits(%a: memref<2x?xf32, strided<[?, ?], offset: ?>>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %ten = arith.constant 10.0 : f32
  %n = memref.dim %a, %c1 : memref<2x?xf32, strided<[?, ?], offset: ?>>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %zero) -> f32 {
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%u = %s) -> f32 {
      %x = memref.load %a[%i, %j] : memref<2x?xf32, strided<[?, ?], offset: ?>>
      %v = arith.mulf %u, %ten : f32
      %w = arith.addf %v, %x : f32
      scf.yield %w : f32
    }
    scf.yield %t : f32
  }
  return %r : f32
}
func.func @fixed(%a: memref<2x2xf32, strided<[5, -2]>>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %hundred = arith.constant 100.0 : f32
  %x = memref.load %a[%c0, %c1] : memref<2x2xf32, strided<[5, -2]>>
  %y = memref.load %a[%c1, %c0] : memref<2x2xf32, strided<[5, -2]>>
  %z = arith.mulf %x, %hundred : f32
  %r = arith.addf %z, %y : f32
  return %r : f32
}
func.func @copy(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %b: memref<?x?xf32>) {
  memref.copy %a, %b : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32>
  return
}
func.func @host(%t: tensor<2xf32>, %a: memref<?xf32, strided<[?], offset: ?>>, %i: index)
    -> tensor<2xf32> {
  %x = memref.load %a[%i] : memref<?xf32, strided<[?], offset: ?>>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%t : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %p, %x : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}
)";

/// A writable view of `data`, whose element 0 lies `offset` elements in.
Buffer view(std::vector<float> &data, size_t offset, std::initializer_list<int64_t> shape,
            std::initializer_list<int64_t> strides) {
  StatusOr<Buffer> buffer = Buffer::wrapStrided(
      data.data() + offset, ElementType::F32, std::span(shape.begin(), shape.size()),
      std::span(strides.begin(), strides.size()), false, nullptr, nullptr);
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return *buffer;
}

std::vector<float> counting(size_t count) {
  std::vector<float> data(count);
  std::iota(data.begin(), data.end(), 0.0f);
  return data;
}

class StridedTest : public ::testing::Test {
protected:
  std::string message(const Function &function, const std::vector<Value> &arguments) {
    Status status = callStatus(function, arguments);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << status.toString();
    return std::string(status.message());
  }
  float scalar(const Function &function, const std::vector<Value> &arguments) {
    std::vector<Value> results = callOk(function, arguments);
    uint64_t bits = std::get<Scalar>(results.at(0)).bits;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, stridedSource);
  Function scale = lookup(module, "scale"), digits = lookup(module, "digits"),
           fixed = lookup(module, "fixed"), copy = lookup(module, "copy"),
           host = lookup(module, "host");
};

TEST_F(StridedTest, TheSignatureSaysTheStrides) {
  EXPECT_THAT(scale.signature().arguments[0].strides, ElementsAre(jit::dynamicStride, 1));
  EXPECT_EQ(toString(scale.signature().arguments[0]), "?x?xf32 with strides [?, 1]");
  EXPECT_EQ(toString(fixed.signature().arguments[0]), "2x2xf32 with strides [5, -2]");
  EXPECT_TRUE(copy.signature().arguments[1].strides.empty());
}

TEST_F(StridedTest, AWindowIsWrittenAndNothingBesideIt) {
  std::vector<float> data = counting(12);
  callOk(scale, {view(data, 5, {2, 2}, {4, 1}), scalarF32(10)});
  EXPECT_EQ(data, (std::vector<float>{0, 1, 2, 3, 4, 50, 60, 7, 8, 90, 100, 11}));
  // A dense buffer has strides too.
  Buffer dense = makeBuffer<float>({2, 2}, {1, 2, 3, 4});
  callOk(scale, {dense, scalarF32(2)});
  EXPECT_EQ(elements<float>(dense), (std::vector<float>{2, 4, 6, 8}));
  callOk(scale, {view(data, 0, {0, 3}, {7, 1}), scalarF32(2)});
}

TEST_F(StridedTest, TransposedReversedAndRepeated) {
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(scalar(digits, {makeBuffer<float>({2, 2}, {1, 2, 3, 4})}), 1234);
  EXPECT_EQ(scalar(digits, {view(data, 0, {2, 2}, {1, 3})}), 1425);
  EXPECT_EQ(scalar(digits, {view(data, 5, {2, 3}, {-3, -1})}), 654321);
  EXPECT_EQ(scalar(digits, {view(data, 1, {2, 2}, {0, 0})}), 2222);
  EXPECT_EQ(scalar(digits, {view(data, 0, {2, 1}, {3, 99})}), 14);
}

TEST_F(StridedTest, StaticStridesMustAgree) {
  std::vector<float> data = counting(16);
  EXPECT_EQ(scalar(fixed, {view(data, 4, {2, 2}, {5, -2})}), 209);
  EXPECT_EQ(
      message(fixed, {view(data, 4, {2, 2}, {5, 2})}),
      "argument #0 (%a) of 'fixed' is 2x2xf32 with strides [5, 2], expected 2x2xf32 with strides "
      "[5, -2]");
  EXPECT_EQ(message(fixed, {makeBuffer<float>({2, 2}, {1, 2, 3, 4})}),
            "argument #0 (%a) of 'fixed' is 2x2xf32, expected 2x2xf32 with strides [5, -2]");
  EXPECT_EQ(
      message(scale, {view(data, 0, {2, 2}, {4, 2}), scalarF32(1)}),
      "argument #0 (%a) of 'scale' is 2x2xf32 with strides [4, 2], expected ?x?xf32 with strides "
      "[?, 1]");
  // Nothing steps along an extent of one.
  callOk(scale, {view(data, 0, {2, 1}, {4, 2}), scalarF32(1)});
}

TEST_F(StridedTest, ADenseArgumentRefusesStrides) {
  std::vector<float> data = counting(16);
  Buffer window = view(data, 0, {2, 2}, {4, 1}), dense = makeBuffer<float>({2, 2}, {0, 0, 0, 0});
  EXPECT_EQ(message(copy, {dense, window}),
            "argument #1 (%b) of 'copy' is 2x2xf32 with strides [4, 1], expected ?x?xf32, dense");
  EXPECT_EQ(message(host, {view(data, 0, {2}, {2}), view(data, 0, {2}, {2}),
                           Scalar{ElementType::Index, 0}}),
            "argument #0 (%t) of 'host' is 2xf32 with strides [2], expected 2xf32, dense");
  callOk(copy, {window, dense});
  EXPECT_EQ(elements<float>(dense), (std::vector<float>{0, 1, 4, 5}));
  // Strides that say what density says are none.
  callOk(copy, {dense, view(data, 0, {2, 2}, {2, 1})});
  callOk(copy, {window, view(data, 8, {2, 2}, {2, 1})});
  EXPECT_EQ(std::vector<float>(data.begin() + 8, data.begin() + 12),
            (std::vector<float>{0, 1, 4, 5}));
}

TEST_F(StridedTest, HostCodeKnowsTheStrides) {
  std::vector<float> data = counting(16);
  Buffer t = makeBuffer<float>({2}, {1, 2}), every = view(data, 15, {4}, {-5});
  EXPECT_EQ(elements<float>(callOk(host, {t, every, Scalar{ElementType::Index, 2}}).at(0)),
            (std::vector<float>{6, 7}));
  Status status = callStatus(host, {t, every, Scalar{ElementType::Index, 4}});
  EXPECT_THAT(std::string(status.message()), HasSubstr("index out of range in dimension 0"));
}

TEST_F(StridedTest, RawPointersTakeExtentsThenStrides) {
  std::vector<float> data = counting(12);
  auto rawScale =
      reinterpret_cast<void (*)(float *, int64_t, int64_t, int64_t, float)>(scale.rawPointer());
  ASSERT_NE(rawScale, nullptr);
  rawScale(data.data() + 5, 2, 2, 4, 10);
  EXPECT_EQ(data, (std::vector<float>{0, 1, 2, 3, 4, 50, 60, 7, 8, 90, 100, 11}));
  auto rawDigits =
      reinterpret_cast<float (*)(float *, int64_t, int64_t, int64_t)>(digits.rawPointer());
  ASSERT_NE(rawDigits, nullptr);
  std::array<float, 6> six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(rawDigits(six.data(), 2, 1, 3), 1425);
  auto rawFixed = reinterpret_cast<float (*)(float *)>(fixed.rawPointer());
  ASSERT_NE(rawFixed, nullptr);
  std::vector<float> more = counting(16);
  EXPECT_EQ(rawFixed(more.data() + 4), 209);
}

TEST_F(StridedTest, ParametersAreDense) {
  constexpr const char *source = R"(
ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
func.func @main() -> tensor<2xf32> {
  %w = ml_program.global_load_const @w : tensor<2xf32>
  return %w : tensor<2xf32>
}
)";
  std::vector<float> data = counting(4);
  LoadOptions options;
  options.parameters["w"] = view(data, 0, {2}, {2});
  StatusOr<std::shared_ptr<Module>> loaded = engine->load(source, "in.mlir", options);
  EXPECT_EQ(loaded.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(std::string(loaded.status().message()),
            "in.mlir:2:1: parameter 'w' is 2xf32 with strides [2], expected 2xf32, dense");
}

} // namespace
} // namespace plim
