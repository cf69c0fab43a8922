// Engines in checked mode: faults of generated code become statuses.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sys/mman.h>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The index comes from the caller, and a kernel does not check it.
constexpr const char *kernelSource = R"(
func.func @store(%m: memref<?xf32>, %i: index, %v: f32) {
  memref.store %v, %m[%i] : memref<?xf32>
  return
}
func.func @load(%m: memref<?xf32>, %n: memref<?xf32>, %i: index) -> f32 {
  %v = memref.load %n[%i] : memref<?xf32>
  return %v : f32
}
func.func @shift(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<?xf32>
  }
  return
}
func.func @strided(%m: memref<?x?xf32, strided<[?, ?], offset: ?>>, %i: index) {
  %c0 = arith.constant 0 : index
  %v = arith.constant 5.0 : f32
  memref.store %v, %m[%i, %c0] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  return
}
)";

class CheckedTest : public ::testing::Test {
protected:
  void expectFault(const Function &function, const std::vector<Value> &arguments,
                   const char *text) {
    Status status = callStatus(function, arguments);
    EXPECT_EQ(status.code(), StatusCode::OutOfRange) << status.toString();
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
  static Scalar index(int64_t value) { return {ElementType::Index, static_cast<uint64_t>(value)}; }

  std::shared_ptr<Engine> engine = makeEngine({.checked = true});
};

TEST_F(CheckedTest, AKernelOutOfRangeIsNamed) {
  std::shared_ptr<Module> module = load(*engine, kernelSource);
  Function store = lookup(module, "store"), read = lookup(module, "load");
  for (int64_t count : {1, 5, 1024, 1025}) {
    Buffer buffer = smallIntegers({count});
    expectFault(store, {buffer, index(count), scalarF32(1)},
                "in.mlir:2:1: kernel 'store' accesses byte 1 behind the end of argument #0");
    expectFault(store, {buffer, index(count + 3), scalarF32(1)}, "byte 13 behind the end");
    expectFault(store, {buffer, index(-2000), scalarF32(1)}, "of argument #0");
    expectFault(store, {buffer, index(int64_t(1) << 40), scalarF32(1)}, "kernel 'store' accesses");
    expectFault(read, {smallIntegers({7}), buffer, index(count)}, "argument #1");
    EXPECT_EQ(elements<float>(buffer), elements<float>(smallIntegers({count})));
    EXPECT_TRUE(callStatus(store, {buffer, index(count - 1), scalarF32(77)}).ok());
    EXPECT_EQ(elements<float>(buffer).back(), 77);
  }
  expectFault(store, {smallIntegers({0}), index(0), scalarF32(1)}, "argument #0");
  // Vectorised code, of which a part is out of range.
  expectFault(lookup(module, "shift"), {smallIntegers({100}), smallIntegers({99})}, "argument #1");
  std::vector<Value> fitting = {smallIntegers({100}), smallIntegers({100})};
  EXPECT_TRUE(callStatus(lookup(module, "shift"), fitting).ok());
}

TEST_F(CheckedTest, ArgumentsAreWrittenAsTheyAreWithout) {
  std::shared_ptr<Engine> plain = makeEngine();
  for (auto [x, y] : {std::pair<size_t, size_t>{0, 40}, {0, 1}, {1, 0}, {0, 0}, {5, 23}}) {
    std::vector<std::vector<float>> memories;
    for (Engine *each : {engine.get(), plain.get()}) {
      std::vector<float> memory(100);
      std::iota(memory.begin(), memory.end(), 1.0f);
      int64_t shape[] = {31};
      auto at = [&](size_t offset) -> Value {
        return *Buffer::wrap(memory.data() + offset, ElementType::F32, shape, false, nullptr,
                             nullptr);
      };
      EXPECT_TRUE(callStatus(lookup(load(*each, kernelSource), "shift"), {at(x), at(y)}).ok());
      memories.push_back(memory);
    }
    EXPECT_EQ(memories[0], memories[1]) << x << " " << y;
  }
  // With strides, backwards; what lies between the elements stays as it is.
  std::vector<float> memory(40, 1);
  int64_t shape[] = {3, 2}, strides[] = {-8, 3};
  Value view = *Buffer::wrapStrided(memory.data() + 30, ElementType::F32, shape, strides, false,
                                    nullptr, nullptr);
  Function strided = lookup(load(*engine, kernelSource), "strided");
  EXPECT_TRUE(callStatus(strided, {view, index(2)}).ok());
  std::vector<float> expected(40, 1);
  expected[14] = 5;
  EXPECT_EQ(memory, expected);
  expectFault(strided, {view, index(900)}, "before the begin of argument #0");
}

TEST_F(CheckedTest, AnArgumentThatCannotBeCopiedIsAnError) {
#if !defined(__x86_64__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "another address space";
#endif
  // Of 128 TiB, so that there is no place for a second one. What is only read takes no memory.
  constexpr size_t bytes = size_t(64) << 40;
  void *memory =
      ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    GTEST_SKIP() << "no address space for the argument";
  {
    std::shared_ptr<Module> module = load(*engine, kernelSource);
    const int64_t count = bytes / sizeof(float);
    StatusOr<Buffer> large =
        Buffer::wrap(memory, ElementType::F32, {&count, 1}, /*readOnly=*/true, nullptr, nullptr);
    ASSERT_TRUE(large.ok()) << large.status().toString();
    Status status = callStatus(lookup(module, "load"), {smallIntegers({1}), *large, index(0)});
    EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.toString();
    EXPECT_THAT(std::string(status.message()), HasSubstr("guarded copy of argument #1"));
  }
  ::munmap(memory, bytes);
}

TEST_F(CheckedTest, WhatIsOnlyReadMayBeReadOnly) {
  std::shared_ptr<Module> module = load(*engine, kernelSource);
  static const float data[] = {1, 2, 3}; // in pages that cannot be written
  const int64_t shape[] = {3};
  Buffer constant = *Buffer::wrap(const_cast<float *>(data), ElementType::F32, shape,
                                  /*readOnly=*/true, nullptr, nullptr);
  Buffer y = makeBuffer<float>({3}, {0, 0, 0});
  callOk(lookup(module, "shift"), {constant, y});
  EXPECT_EQ(elements<float>(y), (std::vector<float>{2, 4, 6}));
  // Beside memory that is written, and twice.
  callOk(lookup(module, "load"), {constant, constant, index(2)});
  expectFault(lookup(module, "load"), {y, constant, index(3)}, "argument #1");
}

TEST_F(CheckedTest, ProgramsComputeTheSame) {
  std::shared_ptr<Engine> plain = makeEngine();
  for (auto [source, name, arguments] :
       std::vector<std::tuple<const char *, const char *, std::vector<Value>>>{
           {matmulSource, "matmul", {smallIntegers({31, 40}), smallIntegers({40, 33})}},
           {matmulSource, "matmul", {smallIntegers({128, 128}), smallIntegers({128, 128})}},
           {temporariesSource, "main", {smallIntegers({8, 16}), smallIntegers({16, 16})}},
           {dynamicProductsSource, "main", {smallIntegers({9, 16}), smallIntegers({16, 16})}}}) {
    std::vector<Value> have = callOk(lookup(load(*engine, source), name), arguments);
    std::vector<Value> want = callOk(lookup(load(*plain, source), name), arguments);
    ASSERT_EQ(have.size(), want.size());
    for (size_t i = 0; i < have.size(); ++i)
      EXPECT_EQ(elements<float>(have[i]), elements<float>(want[i])) << name;
  }
  Buffer a = smallIntegers({16, 16}), b = smallIntegers({16, 16});
  std::vector<float> want =
      elements<float>(callOk(lookup(load(*plain, matmulSource), "matmul"), {a, b}).at(0));
  std::vector<Buffer> outputs = {a};
  std::vector<Value> arguments = {a, b};
  StatusOr<std::vector<Value>> results =
      lookup(load(*engine, matmulSource), "matmul").call(arguments, {.outputs = outputs});
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(elements<float>(a), want);
}

TEST_F(CheckedTest, ParametersAreBound) {
  Parameters parameters = {{"w", smallIntegers({4})}};
  std::shared_ptr<Engine> plain = makeEngine();
  std::vector<Value> x = {smallIntegers({4})};
  std::vector<Value> have =
      callOk(lookup(load(*engine, parameterSource, {.parameters = parameters}), "main"), x);
  std::vector<Value> want =
      callOk(lookup(load(*plain, parameterSource, {.parameters = parameters}), "main"), x);
  EXPECT_EQ(elements<float>(have.at(0)), elements<float>(want.at(0)));
}

// Data of the module, which no argument names.
TEST_F(CheckedTest, ConstantsAndParametersAreBound) {
  auto module = load(*engine, R"(
ml_program.global private @w(#ml_program.extern<tensor<2x20xf32>>) : tensor<2x20xf32>
func.func @main(%x: tensor<2x20xf32>) -> tensor<2x20xf32> {
  %c = arith.constant dense<[
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
    [0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
  ]> : tensor<2x20xf32>
  %w = ml_program.global_load_const @w : tensor<2x20xf32>
  %a = arith.addf %x, %c : tensor<2x20xf32>
  %b = arith.addf %a, %w : tensor<2x20xf32>
  return %b : tensor<2x20xf32>
}
)",
                     {.parameters = {{"w", smallIntegers({2, 20})}}});
  std::vector<float> sum =
      elements<float>(callOk(lookup(module, "main"), {smallIntegers({2, 20})})[0]);
  EXPECT_EQ(sum[19], 10 + 2 * elements<float>(smallIntegers({2, 20}))[19]);
}

TEST_F(CheckedTest, DataHasGuards) {
  std::string first = "dense<\"0x";
  for (int i = 0; i < 2000; ++i)
    first += i == 0 ? "0000803f" : "00000040";
  std::string source = "memref.global \"private\" constant @small : memref<5xf32> = "
                       "dense<[1.0, 2.0, 3.0, 4.0, 5.0]> {alignment = 64}\n"
                       "memref.global \"private\" constant @large : memref<2000xf32> = " +
                       first + "\">\n" + R"(
memref.global "private" @variable : memref<7xf32> = dense<3.0>
func.func @readSmall(%i: index) -> f32 {
  %g = memref.get_global @small : memref<5xf32>
  %v = memref.load %g[%i] : memref<5xf32>
  return %v : f32
}
func.func @readLarge(%i: index) -> f32 {
  %g = memref.get_global @large : memref<2000xf32>
  %v = memref.load %g[%i] : memref<2000xf32>
  return %v : f32
}
func.func @update(%i: index, %v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %g = memref.get_global @variable : memref<7xf32>
  %old = memref.load %g[%c0] : memref<7xf32>
  memref.store %v, %g[%i] : memref<7xf32>
  return %old : f32
}
)";
  std::shared_ptr<Module> module = load(*engine, source);
  ASSERT_TRUE(module);
  auto valueAt = [&](const char *function, int64_t i) {
    return std::get<Scalar>(callOk(lookup(module, function), {index(i)}).at(0)).bits;
  };
  EXPECT_EQ(valueAt("readSmall", 4), scalarF32(5).bits);
  EXPECT_EQ(valueAt("readLarge", 0), scalarF32(1).bits);
  EXPECT_EQ(valueAt("readLarge", 1999), scalarF32(2).bits);
  expectFault(
      lookup(module, "readSmall"), {index(5)},
      "kernel 'readSmall' accesses byte 1 behind the end of constant 'small', which has 20 bytes");
  expectFault(lookup(module, "readLarge"), {index(2001)},
              "accesses byte 5 behind the end of constant 'large', which has 8000 bytes");
  Function variable = lookup(module, "update");
  expectFault(variable, {index(7), scalarF32(1)},
              "kernel 'update' accesses byte 1 behind the end of variable 'variable'");
  expectFault(
      variable, {index(-2), scalarF32(1)},
      "kernel 'update' writes byte 5 before the begin of variable 'variable', which has 28");
  callOk(variable, {index(0), scalarF32(7)});
  Value last = callOk(variable, {index(6), scalarF32(8)}).at(0);
  EXPECT_EQ(std::get<Scalar>(last).bits, scalarF32(7).bits);
}

// What lies between a buffer and the page that it is in.
TEST_F(CheckedTest, WritesBeforeABufferAreFoundAfterwards) {
  std::shared_ptr<Module> module = load(*engine, kernelSource);
  Function store = lookup(module, "store");
  for (int64_t count : {1, 5, 1023, 1025}) {
    Buffer buffer = smallIntegers({count});
    expectFault(
        store, {buffer, index(-1), scalarF32(1)},
        "in.mlir:2:1: kernel 'store' writes byte 1 before the begin of argument #0, which has");
    expectFault(store, {buffer, index(-1 - 1023 + count % 1024), scalarF32(1)},
                "before the begin of argument #0");
    EXPECT_EQ(elements<float>(buffer), elements<float>(smallIntegers({count})));
    EXPECT_TRUE(callStatus(store, {buffer, index(0), scalarF32(1)}).ok());
  }
  // Memory of the call's, which it gives back itself.
  Function temporary = lookup(load(*engine, R"(
func.func @temporary(%i: index, %j: index) -> f32 {
  %v = arith.constant 5.0 : f32
  %m = memref.alloc() : memref<7xf32>
  memref.store %v, %m[%i] : memref<7xf32>
  %r = memref.load %m[%j] : memref<7xf32>
  memref.dealloc %m : memref<7xf32>
  return %r : f32
})"),
                              "temporary");
  EXPECT_TRUE(callStatus(temporary, {index(6), index(6)}).ok());
  expectFault(temporary, {index(-3), index(0)},
              "kernel 'temporary' writes byte 9 before the begin of a buffer that is no argument, "
              "which has 28 bytes");
  // Less than the alignment behind it.
  expectFault(temporary, {index(7), index(0)}, "writes byte 1 behind the end of a buffer");
}

TEST_F(CheckedTest, ADivisionThatWouldTrapIsAnError) {
  std::shared_ptr<Module> divides = load(*engine, R"(
func.func @quotient(%a: i32, %b: i32) -> i32 {
  %r = arith.divsi %a, %b : i32
  return %r : i32
}
)");
  auto number = [](int32_t value) {
    return Scalar{ElementType::I32, static_cast<uint32_t>(value)};
  };
  Function quotient = lookup(divides, "quotient");
  Status status = callStatus(quotient, {number(3), number(0)});
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_EQ(status.message(), "in.mlir:3:8: integer division by zero");
  const Scalar least = number(std::numeric_limits<int32_t>::min());
  EXPECT_EQ(std::get<Scalar>(callOk(quotient, {least, number(-1)})[0]), least);
  EXPECT_EQ(std::get<Scalar>(callOk(quotient, {number(7), number(-2)})[0]), number(-3));
}

TEST_F(CheckedTest, OneThreadsFaultIsNoneOfAnothers) {
  std::shared_ptr<Module> module = load(*engine, kernelSource);
  Function matmul = lookup(load(*engine, matmulSource), "matmul");
  std::vector<Value> factors = {smallIntegers({64, 64}), smallIntegers({64, 64})};
  std::vector<float> expected = elements<float>(callOk(matmul, factors).at(0));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) {
        expectFault(lookup(module, "store"), {smallIntegers({5}), index(5), scalarF32(1)},
                    "kernel 'store'");
        EXPECT_EQ(elements<float>(callOk(matmul, factors).at(0)), expected);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(CheckedTest, TheSizeThatAGuardSeesIsThatOfTheCall) {
  // A result of the engine's is an argument like any other.
  Function matmul = lookup(load(*engine, matmulSource), "matmul");
  Value square = callOk(matmul, {smallIntegers({16, 16}), smallIntegers({16, 16})}).at(0);
  EXPECT_EQ(callOk(matmul, {square, square}).size(), 1u);
  engine.reset();
  EXPECT_EQ(elements<float>(square).size(), 256u); // and outlives it
}

} // namespace
} // namespace plim
