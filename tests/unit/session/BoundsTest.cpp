// Indices that come from data: one that is out of range fails the call, and nothing outside is read.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char *gatherSource = R"(
func.func @elements(%t: tensor<?xf32>, %x: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%k: i32, %o: f32):
    %i = arith.index_cast %k : i32 to index
    %v = tensor.extract %t[%i] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @rows(%t: tensor<?x?xf32>, %x: tensor<?xi32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %n = tensor.dim %t, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%k: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %k : i32 to index
    %v = tensor.extract %t[%i, %j] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @total(%t: tensor<8xf32>, %x: tensor<?xi32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<?xi32>) outs(%s : tensor<f32>) {
  ^bb0(%k: i32, %o: f32):
    %i = arith.index_cast %k : i32 to index
    %v = tensor.extract %t[%i] : tensor<8xf32>
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @chase(%next: tensor<?xi32>, %x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?xi32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%k: i32, %o: i32):
    %first = arith.constant 0 : i32
    %end = scf.while (%at = %k) : (i32) -> i32 {
      %more = arith.cmpi ne, %at, %first : i32
      scf.condition(%more) %at : i32
    } do {
    ^bb0(%at: i32):
      %i = arith.index_cast %at : i32 to index
      %then = tensor.extract %next[%i] : tensor<?xi32>
      scf.yield %then : i32
    }
    linalg.yield %end : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @twice(%t: tensor<?xf32>, %y: tensor<?xi32>, %x: tensor<?xi32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%k: i32, %o: f32):
    %i = arith.index_cast %k : i32 to index
    %l = tensor.extract %y[%i] : tensor<?xi32>
    %j = arith.index_cast %l : i32 to index
    %v = tensor.extract %t[%j] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
)";

constexpr const char *hostSource = R"(
func.func @read(%t: tensor<?xf32>, %i: index) -> f32 {
  %v = tensor.extract %t[%i] : tensor<?xf32>
  return %v : f32
}
func.func @write(%t: tensor<?xf32>, %i: index, %x: f32) -> tensor<?xf32> {
  %v = tensor.insert %x into %t[%i] : tensor<?xf32>
  return %v : tensor<?xf32>
}
func.func @mixed(%t: tensor<4xf32>, %b: memref<?xf32>, %i: index, %j: index) {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %t[%c0] : tensor<4xf32>
  %w = memref.load %b[%i] : memref<?xf32>
  %s = arith.addf %v, %w : f32
  memref.store %s, %b[%j] : memref<?xf32>
  return
}
)";

/// `count` floats between two pages that nobody may touch, right at the second.
class GuardedFloats {
public:
  explicit GuardedFloats(size_t count) : page(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void *mapped = mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    base = static_cast<char *>(mapped);
    EXPECT_EQ(mprotect(base + page, page, PROT_READ | PROT_WRITE), 0);
    data = reinterpret_cast<float *>(base + 2 * page) - count;
    for (size_t i = 0; i < count; ++i)
      data[i] = static_cast<float>(i);
    const int64_t shape[] = {static_cast<int64_t>(count)};
    buffer = *Buffer::wrap(data, ElementType::F32, shape, /*readOnly=*/true, nullptr, nullptr);
  }
  ~GuardedFloats() { munmap(base, 3 * page); }
  GuardedFloats(const GuardedFloats &) = delete;
  GuardedFloats &operator=(const GuardedFloats &) = delete;

  Buffer buffer;

private:
  size_t page;
  char *base;
  float *data;
};

Buffer indices(const std::vector<int32_t> &values) {
  return makeBuffer<int32_t>({static_cast<int64_t>(values.size())}, values);
}

Scalar index(int64_t value) { return {ElementType::Index, static_cast<uint64_t>(value)}; }

constexpr int32_t smallest = std::numeric_limits<int32_t>::min();
constexpr int32_t largest = std::numeric_limits<int32_t>::max();

struct Variant {
  int threads;
  bool oracle;
};

class BoundsTest : public ::testing::TestWithParam<Variant> {
protected:
  void SetUp() override {
    engine = makeEngine({.threads = GetParam().threads});
    module = load(*engine, gatherSource, {.oracle = GetParam().oracle});
  }
  void expectFailure(const Function &function, const std::vector<Value> &arguments,
                     const char *message) {
    Status status = callStatus(function, arguments);
    EXPECT_EQ(status.code(), StatusCode::FailedPrecondition) << status.toString();
    EXPECT_EQ(std::string(status.message()), message);
  }
  /// At the place of host code, which is left at once: the message has the name and the numbers.
  void expectFailure(const Function &function, const std::vector<Value> &arguments,
                     const char *place, const char *message) {
    EXPECT_THAT(std::string(callStatus(function, arguments).message()),
                AllOf(StartsWith(place), HasSubstr(message)));
  }
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Module> module;
};

INSTANTIATE_TEST_SUITE_P(Variants, BoundsTest,
                         ::testing::Values(Variant{1, false}, Variant{2, false}, Variant{1, true}),
                         [](const ::testing::TestParamInfo<Variant> &info) {
                           return (info.param.oracle ? "Oracle" : "Threads") +
                                  std::to_string(info.param.threads);
                         });

TEST_P(BoundsTest, ElementsInAndOutOfRange) {
  constexpr const char *message =
      "in.mlir:12:10: index out of range in dimension 0 of tensor<?xf32>";
  Function elements = lookup(module, "elements");
  GuardedFloats table(100);
  for (int32_t bad : {-1, 100, 101, smallest, largest})
    for (size_t count : {1u, 3u, 16u, 61u})
      for (size_t at : {size_t(0), count / 2, count - 1}) {
        std::vector<int32_t> wanted(count, 99);
        wanted[at] = bad;
        expectFailure(elements, {table.buffer, indices(wanted)}, message);
      }
  std::vector<Value> results = callOk(elements, {table.buffer, indices({0, 99, 50})});
  EXPECT_EQ(testing::elements<float>(results.at(0)), (std::vector<float>{0, 99, 50}));
}

TEST_P(BoundsTest, OneWorkgroupOfMany) {
  constexpr const char *message =
      "in.mlir:12:10: index out of range in dimension 0 of tensor<?xf32>";
  Function elements = lookup(module, "elements");
  GuardedFloats table(1000);
  std::vector<int32_t> wanted(1 << 20);
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = static_cast<int32_t>(i * 7 % 1000);
  for (size_t at : {size_t(0), wanted.size() / 2 + 1, wanted.size() - 1}) {
    int32_t old = std::exchange(wanted[at], 1000);
    expectFailure(elements, {table.buffer, indices(wanted)}, message);
    wanted[at] = old;
  }
  std::vector<Value> results = callOk(elements, {table.buffer, indices(wanted)});
  std::vector<float> have = testing::elements<float>(results.at(0));
  EXPECT_TRUE(std::equal(have.begin(), have.end(), wanted.begin(), wanted.end(),
                         [](float a, int32_t b) { return a == static_cast<float>(b); }));
}

TEST_P(BoundsTest, NothingIsInAnEmptyTable) {
  constexpr const char *message =
      "in.mlir:12:10: index out of range in dimension 0 of tensor<?xf32>";
  Function elements = lookup(module, "elements");
  const int64_t shape[] = {0};
  Buffer none = *Buffer::wrap(nullptr, ElementType::F32, shape, true, nullptr, nullptr);
  for (const std::vector<int32_t> &wanted :
       {std::vector<int32_t>{0}, {-1}, std::vector<int32_t>(100, 0)})
    expectFailure(elements, {none, indices(wanted)}, message);
  EXPECT_EQ(shapeOf(callOk(elements, {none, indices({})}).at(0)), std::vector<int64_t>{0});
}

TEST_P(BoundsTest, RowsInAndOutOfRange) {
  constexpr const char *message =
      "in.mlir:30:10: index out of range in dimension 0 of tensor<?x?xf32>";
  Function rows = lookup(module, "rows");
  for (int64_t width : {1, 3, 40}) {
    Buffer table = smallIntegers({5, width});
    for (int32_t bad : {-1, 5, smallest, largest})
      expectFailure(rows, {table, indices({4, bad, 0})}, message);
    EXPECT_EQ(shapeOf(callOk(rows, {table, indices({4, 0})}).at(0)),
              (std::vector<int64_t>{2, width}));
  }
  // Rows without elements are not read.
  EXPECT_EQ(shapeOf(callOk(rows, {smallIntegers({5, 0}), indices({7, -1})}).at(0)),
            (std::vector<int64_t>{2, 0}));
}

TEST_P(BoundsTest, AReductionOverWhatWasPicked) {
  constexpr const char *message =
      "in.mlir:45:10: index out of range in dimension 0 of tensor<8xf32>";
  Function total = lookup(module, "total");
  Buffer table = makeBuffer<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(elements<float>(callOk(total, {table, indices({7, 7, 0})}).at(0)),
            std::vector<float>{17});
  for (int32_t bad : {-1, 8})
    expectFailure(total, {table, indices({1, 2, bad, 3})}, message);
}

TEST_P(BoundsTest, ALoopThatDataEndsDoesNotGoOnForEver) {
  constexpr const char *place = "in.mlir:67:15: 'tensor.extract': ";
  constexpr const char *message =
      "index out of range in dimension 0 of tensor<?xi32>, which has 3: ";
  Function chase = lookup(module, "chase");
  EXPECT_EQ(elements<int32_t>(callOk(chase, {indices({0, 0, 1}), indices({2, 1})}).at(0)),
            (std::vector<int32_t>{0, 0}));
  expectFailure(chase, {indices({1, 3, 1}), indices({2, 1})}, place, message);
  expectFailure(chase, {indices({1, -5, 1}), indices({2, 1})}, place, message);
}

TEST_P(BoundsTest, AnIndexThatIsItselfPicked) {
  Function twice = lookup(module, "twice");
  Buffer table = makeBuffer<float>({3}, {5, 6, 7});
  EXPECT_EQ(elements<float>(callOk(twice, {table, indices({2, 0}), indices({0, 1, 1})}).at(0)),
            (std::vector<float>{7, 5, 5}));
  expectFailure(twice, {table, indices({2, 3}), indices({0, 1, 1})},
                "in.mlir:86:10: index out of range in dimension 0 of tensor<?xf32>");
  expectFailure(twice, {table, indices({2, 0}), indices({0, 2})},
                "in.mlir:84:10: index out of range in dimension 0 of tensor<?xi32>");
}

TEST(HostBoundsTest, SingleElements) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, hostSource);
  Function read = lookup(module, "read"), write = lookup(module, "write"),
           mixed = lookup(module, "mixed");
  Buffer x = makeBuffer<float>({3}, {1, 2, 3}), fixed = makeBuffer<float>({4}, {10, 0, 0, 0});
  EXPECT_EQ(std::get<Scalar>(callOk(read, {x, index(2)}).at(0)), scalarF32(3));
  EXPECT_EQ(elements<float>(callOk(write, {x, index(0), scalarF32(9)}).at(0)),
            (std::vector<float>{9, 2, 3}));
  callOk(mixed, {fixed, x, index(1), index(2)});
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2, 12}));
  for (int64_t bad : {int64_t(-1), int64_t(3), std::numeric_limits<int64_t>::min()}) {
    EXPECT_THAT(
        std::string(callStatus(read, {x, index(bad)}).message()),
        AllOf(StartsWith("in.mlir:3:8: "),
              HasSubstr("index out of range in dimension 0 of tensor<?xf32>, which has 3: ")));
    EXPECT_THAT(
        std::string(callStatus(write, {x, index(bad), scalarF32(9)}).message()),
        AllOf(StartsWith("in.mlir:7:8: "),
              HasSubstr("index out of range in dimension 0 of tensor<?xf32>, which has 3: ")));
    EXPECT_THAT(
        std::string(callStatus(mixed, {fixed, x, index(bad), index(0)}).message()),
        AllOf(StartsWith("in.mlir:13:8: "),
              HasSubstr("index out of range in dimension 0 of memref<?xf32>, which has 3: ")));
    EXPECT_THAT(
        std::string(callStatus(mixed, {fixed, x, index(0), index(bad)}).message()),
        AllOf(StartsWith("in.mlir:15:3: "),
              HasSubstr("index out of range in dimension 0 of memref<?xf32>, which has 3: ")));
  }
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 2, 12}));
}

} // namespace
} // namespace plim
