#include "tests/soak/Modules.h"

#include "engine/runtime/MemoryPool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

using plim::runtime::Buffer;
using plim::runtime::ElementType;
using plim::runtime::MemoryPool;
using plim::runtime::Scalar;
using plim::runtime::Value;

namespace plim::soak {
namespace {

constexpr const char *vectors = R"(
!t = tensor<?xf32>
func.func @axpy(%x: !t, %y: !t) -> !t {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3.0 : f32
  %n = tensor.dim %x, %c0 : !t
  %s = tensor.splat %three[%n] : !t
  %p = arith.mulf %x, %s : !t
  %r = arith.addf %p, %y : !t
  return %r : !t
}
func.func @sum(%x: !t) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : !t) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @turns(%x: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> !t {
    %z = arith.addf %y, %x : !t
    scf.yield %z : !t
  }
  return %r : !t
}
func.func @gather(%t: !t, %x: tensor<?xi32>) -> !t {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : !t
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : !t) {
  ^bb0(%k: i32, %o: f32):
    %i = arith.index_cast %k : i32 to index
    %v = tensor.extract %t[%i] : !t
    linalg.yield %v : f32
  } -> !t
  return %r : !t
}
func.func @at(%x: !t, %i: index) -> f32 {
  %v = tensor.extract %x[%i] : !t
  return %v : f32
}
func.func @give(%x: !t {plim.donate = 0}, %y: !t) -> !t {
  %r = arith.addf %x, %y : !t
  return %r : !t
}
func.func @choose(%x: !t, %flag: i1) -> !t {
  %r = scf.if %flag -> !t {
    %s = arith.addf %x, %x : !t
    scf.yield %s : !t
  } else {
    %p = arith.mulf %x, %x : !t
    scf.yield %p : !t
  }
  return %r : !t
}
func.func @fill(%n: index, %v: f32) -> !t {
  %r = tensor.splat %v[%n] : !t
  return %r : !t
}
func.func private @product(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %stop = arith.cmpi sle, %n, %one : i64
  %r = scf.if %stop -> (i64) {
    scf.yield %one : i64
  } else {
    %m = arith.subi %n, %one : i64
    %f = func.call @product(%m) : (i64) -> i64
    %p = arith.muli %f, %n : i64
    scf.yield %p : i64
  }
  return %r : i64
}
func.func @factorial(%n: i64) -> i64 {
  %r = call @product(%n) : (i64) -> i64
  return %r : i64
}
)";

constexpr const char *products = R"(
!m = tensor<?x?xf32>
func.func @multiply(%a: !m, %b: !m) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : !m
  %n = tensor.dim %b, %c1 : !m
  %e = tensor.empty(%m, %n) : !m
  %z = linalg.fill ins(%zero : f32) outs(%e : !m) -> !m
  %r = linalg.matmul ins(%a, %b : !m, !m) outs(%z : !m) -> !m
  return %r : !m
}
// Two products that may run at once, then their difference: zero if the matrices are equal.
func.func @commute(%a: !m, %b: !m) -> !m {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : !m
  %e = tensor.empty(%n, %n) : !m
  %z = linalg.fill ins(%zero : f32) outs(%e : !m) -> !m
  %p = linalg.matmul ins(%a, %b : !m, !m) outs(%z : !m) -> !m
  %q = linalg.matmul ins(%b, %a : !m, !m) outs(%z : !m) -> !m
  %r = arith.subf %p, %q : !m
  return %r : !m
}
func.func @rows(%a: !m) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : !m
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce ins(%a : !m) outs(%z : tensor<?xf32>) dimensions = [1]
    (%x: f32, %sum: f32) {
      %s = arith.addf %x, %sum : f32
      linalg.yield %s : f32
    }
  return %r : tensor<?xf32>
}
func.func @transpose(%a: !m) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : !m
  %n = tensor.dim %a, %c1 : !m
  %e = tensor.empty(%n, %m) : !m
  %r = linalg.transpose ins(%a : !m) outs(%e : !m) permutation = [1, 0]
  return %r : !m
}
)";

constexpr const char *kernels = R"(
!s = memref<?x?xf32, strided<[?, ?], offset: ?>>
func.func @scale(%a: !s, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !s
  %n = memref.dim %a, %c1 : !s
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%i, %j] : !s
      %y = arith.mulf %x, %s : f32
      memref.store %y, %a[%i, %j] : !s
    }
  }
  return
}
func.func @copy(%a: !s, %b: memref<?x?xf32>) {
  memref.copy %a, %b : !s to memref<?x?xf32>
  return
}
func.func @running(%a: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %a, %c0 : memref<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
    %x = memref.load %a[%i] : memref<?xf32>
    %s = arith.addf %sum, %x : f32
    memref.store %s, %a[%i] : memref<?xf32>
    scf.yield %s : f32
  }
  return %r : f32
}
func.func @at(%a: memref<?xf32>, %i: index) -> f32 {
  %x = memref.load %a[%i] : memref<?xf32>
  return %x : f32
}
)";

constexpr const char *states = R"(
ml_program.global private mutable @total(dense<10.0> : tensor<2xf32>) : tensor<2xf32>
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %old = ml_program.global_load @total : tensor<2xf32>
  %new = arith.addf %old, %x : tensor<2xf32>
  ml_program.global_store @total = %new : tensor<2xf32>
  return %new : tensor<2xf32>
}
memref.global "private" @ticks : memref<i64> = dense<0>
func.func @tick() -> i64 {
  %one = arith.constant 1 : i64
  %ticks = memref.get_global @ticks : memref<i64>
  %old = memref.load %ticks[] : memref<i64>
  %new = arith.addi %old, %one : i64
  memref.store %new, %ticks[] : memref<i64>
  return %new : i64
}
)";

constexpr const char *pooled = R"(
!t = tensor<64x64xf32>
// a * b * a
func.func @sandwich(%a: !t, %b: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() {plim.scope = "global.sram"} : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %f = tensor.empty() {plim.candidate_pools = ["dram", "sram"]} : !t
  %y = linalg.fill ins(%zero : f32) outs(%f : !t) -> !t
  %q = linalg.matmul ins(%p, %a : !t, !t) outs(%y : !t) -> !t
  %g = tensor.empty() : !t
  %r = linalg.add ins(%q, %q : !t, !t) outs(%g : !t) -> !t
  return %r : !t
}
)";

float element(int64_t i, int64_t salt) { return static_cast<float>((i * 5 + salt) % 7 - 3); }

/// A table of four pages, which modules of one engine share.
constexpr int64_t tableExtent = 64;
std::vector<float> table() {
  std::vector<float> values;
  for (int64_t i = 0; i < tableExtent * tableExtent; ++i)
    values.push_back(element(i, i / tableExtent));
  return values;
}

std::string constants() {
  std::string text = "!t = tensor<64x64xf32>\n"
                     "func.func @lookup(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {\n"
                     "  %c0 = arith.constant 0 : index\n  %zero = arith.constant 0.0 : f32\n"
                     "  %table = arith.constant dense<[";
  const std::vector<float> values = table();
  for (size_t i = 0; i < values.size(); ++i) {
    text += i % tableExtent == 0 ? (i == 0 ? "[" : "], [") : ", ";
    text += std::to_string(static_cast<int>(values[i])) + ".0";
  }
  return text + R"(]]> : !t
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul ins(%x, %table : tensor<?x64xf32>, !t) outs(%z : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
)";
}

template <typename T> Value makeScalar(ElementType type, T value) {
  Scalar scalar{type, 0};
  std::memcpy(&scalar.bits, &value, sizeof value);
  return scalar;
}

std::vector<float> numbers(Random &random, int64_t count) {
  const int64_t salt = pick(random, 0, 6);
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = element(i, salt);
  return values;
}

/// None, one, primes, and what is shared among threads.
int64_t length(Random &random) {
  constexpr std::array<int64_t, 11> lengths = {0, 1, 2, 3, 16, 17, 127, 1000, 1031, 8192, 65537};
  return lengths[static_cast<size_t>(pick(random, 0, lengths.size() - 1))];
}
int64_t extent(Random &random) {
  if (pick(random, 0, 24) == 0)
    return pick(random, 120, 180);
  constexpr std::array<int64_t, 9> extents = {0, 1, 2, 5, 8, 16, 31, 32, 47};
  return extents[static_cast<size_t>(pick(random, 0, extents.size() - 1))];
}

std::vector<float> multiply(std::span<const float> a, std::span<const float> b, int64_t m,
                            int64_t k, int64_t n) {
  std::vector<float> c(static_cast<size_t>(m * n), 0.0f);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      const float factor = a[static_cast<size_t>(i * k + l)];
      for (int64_t j = 0; j < n; ++j)
        c[static_cast<size_t>(i * n + j)] += factor * b[static_cast<size_t>(l * n + j)];
    }
  return c;
}

/// A call whose result is one f32 tensor.
Call tensorCall(size_t module, const char *function, std::vector<Value> arguments,
                std::vector<int64_t> shape, std::vector<float> expected) {
  return {.module = module,
          .function = function,
          .arguments = std::move(arguments),
          .check =
              [shape, expected = std::move(expected)](std::span<const Value> results) {
                const auto *buffer = std::get_if<Buffer>(&results[0]);
                return results.size() == 1 && buffer &&
                       std::ranges::equal(buffer->shape(), shape) && equal(results[0], expected);
              },
          .outputs = {shape}};
}

Call scalarCall(size_t module, const char *function, std::vector<Value> arguments, Value expected) {
  return {.module = module,
          .function = function,
          .arguments = std::move(arguments),
          .check = [expected](std::span<const Value> results) {
            return results.size() == 1 && std::get_if<Scalar>(&results[0]) &&
                   std::get<Scalar>(results[0]) == std::get<Scalar>(expected);
          }};
}

Call failing(size_t module, const char *function, std::vector<Value> arguments, StatusCode code) {
  return {.module = module,
          .function = function,
          .arguments = std::move(arguments),
          .expected = code,
          .check = nullptr};
}

Call axpy(Random &random) {
  const int64_t n = length(random);
  std::vector<float> x = numbers(random, n), y = numbers(random, n), r = y;
  for (size_t i = 0; i < r.size(); ++i)
    r[i] += 3 * x[i];
  return tensorCall(Vectors, "axpy", {makeBuffer({{n}}, x), makeBuffer({{n}}, y)}, {n}, r);
}

Call sum(Random &random) {
  const int64_t n = length(random);
  std::vector<float> x = numbers(random, n);
  float total = 0;
  for (float each : x)
    total += each;
  return tensorCall(Vectors, "sum", {makeBuffer({{n}}, x)}, {}, {total});
}

Call someTurns(Random &random) {
  return turns(length(random) % 1000, pick(random, 0, 20), static_cast<float>(pick(random, -3, 3)));
}

Call gather(Random &random) {
  const int64_t n = length(random), m = length(random) % 2000;
  std::vector<float> from = numbers(random, n), r;
  std::vector<int32_t> indices;
  bool isGood = true;
  for (int64_t i = 0; i < m; ++i) {
    int64_t at = pick(random, 0, std::max<int64_t>(n - 1, 0));
    if (pick(random, 0, 3999) == 0)
      at = n + pick(random, 0, 1000) - (pick(random, 0, 1) ? 2 * n + 1001 : 0);
    if (at < 0 || at >= n)
      isGood = false;
    else
      r.push_back(from[static_cast<size_t>(at)]);
    indices.push_back(static_cast<int32_t>(at));
  }
  static const auto pool = std::make_shared<MemoryPool>();
  std::vector<Value> arguments = {
      makeBuffer({{n}}, from),
      *Buffer::fromCopy(pool, ElementType::I32, std::array{m}, std::as_bytes(std::span(indices)))};
  if (!isGood)
    return failing(Vectors, "gather", std::move(arguments), StatusCode::FailedPrecondition);
  return tensorCall(Vectors, "gather", std::move(arguments), {m}, r);
}

Call at(Random &random) {
  const int64_t n = length(random), i = pick(random, -1, 20);
  std::vector<float> x = numbers(random, n);
  const size_t module = pick(random, 0, 1) ? Kernels : Vectors;
  std::vector<Value> arguments = {makeBuffer({{n}}, x), makeIndex(i)};
  if (i >= 0 && i < n)
    return scalarCall(module, "at", std::move(arguments),
                      makeScalar(ElementType::F32, x[static_cast<size_t>(i)]));
  return failing(Vectors, "at", std::move(arguments), StatusCode::FailedPrecondition);
}

Call give(Random &random) {
  const int64_t n = length(random);
  std::vector<float> x = numbers(random, n), y = numbers(random, n), r = y;
  for (size_t i = 0; i < r.size(); ++i)
    r[i] += x[i];
  Buffer donated = makeBuffer({{n}}, x);
  Call call = tensorCall(Vectors, "give", {donated, makeBuffer({{n}}, y)}, {n}, r);
  call.outputs.clear();
  call.check = [check = std::move(call.check), donated](std::span<const Value> results) {
    return check(results) && std::get<Buffer>(results[0]).data() == donated.data();
  };
  return call;
}

Call choose(Random &random) {
  const int64_t n = length(random);
  const bool flag = pick(random, 0, 1) == 1;
  std::vector<float> x = numbers(random, n), r;
  for (float each : x)
    r.push_back(flag ? each + each : each * each);
  return tensorCall(Vectors, "choose",
                    {makeBuffer({{n}}, x), makeScalar(ElementType::I1, uint8_t(flag))}, {n}, r);
}

Call fill(Random &random) {
  const int64_t n = length(random);
  const float v = static_cast<float>(pick(random, -9, 9));
  return tensorCall(Vectors, "fill", {makeIndex(n), makeScalar(ElementType::F32, v)}, {n},
                    std::vector<float>(static_cast<size_t>(n), v));
}

Call factorial(Random &random) {
  const int64_t n = pick(random, 0, 20);
  int64_t r = 1;
  for (int64_t i = 2; i <= n; ++i)
    r *= i;
  return scalarCall(Vectors, "factorial", {makeScalar(ElementType::I64, n)},
                    makeScalar(ElementType::I64, r));
}

Call product(Random &random) {
  const int64_t m = extent(random), k = extent(random), n = extent(random);
  std::vector<float> a = numbers(random, m * k), b = numbers(random, k * n);
  return tensorCall(Products, "multiply", {makeBuffer({{m, k}}, a), makeBuffer({{k, n}}, b)},
                    {m, n}, multiply(a, b, m, k, n));
}

Call commute(Random &random) {
  const int64_t n = extent(random);
  std::vector<float> a = numbers(random, n * n), b = numbers(random, n * n);
  std::vector<float> r = multiply(a, b, n, n, n), q = multiply(b, a, n, n, n);
  for (size_t i = 0; i < r.size(); ++i)
    r[i] -= q[i];
  return tensorCall(Products, "commute", {makeBuffer({{n, n}}, a), makeBuffer({{n, n}}, b)}, {n, n},
                    r);
}

Call rows(Random &random) {
  const int64_t m = extent(random), n = length(random) % 2000;
  std::vector<float> a = numbers(random, m * n), r(static_cast<size_t>(m), 0.0f);
  for (size_t i = 0; i < a.size(); ++i)
    r[i / static_cast<size_t>(n)] += a[i];
  return tensorCall(Products, "rows", {makeBuffer({{m, n}}, a)}, {m}, r);
}

Call transpose(Random &random) {
  const int64_t m = extent(random), n = extent(random);
  std::vector<float> a = numbers(random, m * n), r;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      r.push_back(a[static_cast<size_t>(i * n + j)]);
  return tensorCall(Products, "transpose", {makeBuffer({{m, n}}, a)}, {n, m}, r);
}

/// Every other column of a matrix, last row first; `whole` keeps the memory.
Buffer strided(const Buffer &whole, int64_t m, int64_t n) {
  auto *data = static_cast<float *>(whole.mutableData());
  return *Buffer::wrapStrided(data + std::max<int64_t>(m - 1, 0) * 2 * n, ElementType::F32,
                              std::array{m, n}, std::array<int64_t, 2>{-2 * n, 2}, false, nullptr,
                              nullptr);
}

Call scale(Random &random) {
  const int64_t m = extent(random), n = extent(random);
  std::vector<float> r = numbers(random, m * 2 * n);
  Buffer whole = makeBuffer({{m, 2 * n}}, r);
  for (size_t i = 0; i < r.size(); i += 2)
    r[i] *= 2;
  return {.module = Kernels,
          .function = "scale",
          .arguments = {strided(whole, m, n), makeScalar(ElementType::F32, 2.0f)},
          .check = [whole, r](std::span<const Value>) { return equal(whole, r); }};
}

Call copy(Random &random) {
  const int64_t m = extent(random), n = extent(random);
  std::vector<float> from = numbers(random, m * 2 * n), r;
  Buffer whole = makeBuffer({{m, 2 * n}}, from), to = makeBuffer({{m, n}});
  for (int64_t i = m; i-- > 0;)
    for (int64_t j = 0; j < n; ++j)
      r.push_back(from[static_cast<size_t>(i * 2 * n + 2 * j)]);
  return {.module = Kernels,
          .function = "copy",
          .arguments = {strided(whole, m, n), to},
          .check = [whole, to, r](std::span<const Value>) { return equal(to, r); }};
}

Call running(Random &random) {
  const int64_t n = length(random);
  std::vector<float> r = numbers(random, n);
  Buffer x = makeBuffer({{n}}, r);
  float total = 0;
  for (float &each : r)
    each = total += each;
  Call call = scalarCall(Kernels, "running", {x}, makeScalar(ElementType::F32, total));
  call.check = [check = std::move(call.check), x, r](std::span<const Value> results) {
    return check(results) && equal(x, r);
  };
  return call;
}

Call sandwich(Random &random) {
  std::vector<float> a = numbers(random, 64 * 64), b = numbers(random, 64 * 64);
  std::vector<float> r = multiply(multiply(a, b, 64, 64, 64), a, 64, 64, 64);
  for (float &each : r)
    each *= 2;
  return tensorCall(Pooled, "sandwich", {makeBuffer({{64, 64}}, a), makeBuffer({{64, 64}}, b)},
                    {64, 64}, r);
}

Call lookup(Random &random) {
  const int64_t n = extent(random);
  static const std::vector<float> right = table();
  std::vector<float> x = numbers(random, n * tableExtent);
  return tensorCall(Constants, "lookup", {makeBuffer({{n, tableExtent}}, x)}, {n, tableExtent},
                    multiply(x, right, n, tableExtent, tableExtent));
}

Call wrongArgument(Random &random) {
  std::vector<Value> arguments = {makeIndex(pick(random, 0, 9)), makeIndex(0)};
  return failing(Vectors, "axpy", std::move(arguments), StatusCode::InvalidArgument);
}

} // namespace

const char *const poolMemories = R"(memories=[
    {"name": "dram", "kind": "host", "accessible_by": ["host"]},
    {"name": "sram", "kind": "host", "bytes": 65536, "accessible_by": ["host"]}])";

int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

const std::string &sourceOf(size_t module) {
  static const std::array<std::string, moduleCount> sources = {vectors, products, kernels,
                                                               states,  pooled,   constants()};
  return sources[module];
}

Buffer makeBuffer(std::span<const int64_t> shape, std::span<const float> values) {
  static const auto pool = std::make_shared<MemoryPool>();
  StatusOr<Buffer> buffer = Buffer::allocate(pool, ElementType::F32, shape);
  if (!buffer.ok())
    std::abort();
  if (!values.empty())
    std::memcpy(buffer->mutableData(), values.data(), values.size_bytes());
  else
    std::memset(buffer->mutableData(), 0, buffer->bytes());
  return *buffer;
}

Scalar makeIndex(int64_t value) { return {ElementType::Index, static_cast<uint64_t>(value)}; }

Call turns(int64_t count, int64_t turns, float x) {
  const auto size = static_cast<size_t>(count);
  return tensorCall(Vectors, "turns",
                    {makeBuffer({{count}}, std::vector<float>(size, x)), makeIndex(turns)}, {count},
                    std::vector<float>(size, x * static_cast<float>(turns + 1)));
}

Call randomCall(Random &random) {
  using Maker = Call (*)(Random &);
  constexpr std::array<Maker, 18> makers = {axpy,      sum,   someTurns, gather,  at,       give,
                                            choose,    fill,  factorial, product, rows,     commute,
                                            transpose, scale, copy,      running, sandwich, lookup};
  if (pick(random, 0, 199) == 0)
    return wrongArgument(random);
  return makers[static_cast<size_t>(pick(random, 0, makers.size() - 1))](random);
}

bool equal(const Value &value, std::span<const float> expected) {
  const auto *buffer = std::get_if<Buffer>(&value);
  return buffer && buffer->elementCount() == static_cast<int64_t>(expected.size()) &&
         std::equal(expected.begin(), expected.end(), static_cast<const float *>(buffer->data()));
}

} // namespace plim::soak
