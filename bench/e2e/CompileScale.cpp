// How the time of a load grows with what is loaded.
//
// Each family of modules is loaded at a quarter, half and all of its largest size, without a cache.
// Counters, medians over the rounds: "quarter_ms", "half_ms" and "ms" of the three; "exponent", the
// binary logarithm of what the last doubling costs (1 is linear, 2 the square); "each_us", the time
// of all of it by its size. "aim" is what the exponent is not to exceed. Time of an iteration is
// the load of the largest.

#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <sstream>

using namespace plim;
using namespace plim::bench;

namespace {

/// `item(i)` for each i below `count`, with `separator` in between.
std::string join(int64_t count, const std::string &separator,
                 const std::function<std::string(int64_t)> &item) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i > 0 ? separator : "") + item(i);
  return text;
}

std::string s(int64_t value) { return std::to_string(value); }
std::string matrix(int64_t rows, int64_t columns) {
  return "tensor<" + s(rows) + "x" + s(columns) + "xf32>";
}

/// A product of [8, depth] by [depth, columns] into a value called `result`, and what it needs;
/// `id` makes its names unique.
std::string product(const std::string &left, const std::string &right, int64_t depth,
                    int64_t columns, const std::string &result, const std::string &id) {
  const std::string type = matrix(8, columns);
  return "%empty" + id + " = tensor.empty() : " + type + "\n%zeros" + id +
         " = linalg.fill ins(%zero : f32) outs(%empty" + id + " : " + type + ") -> " + type + "\n" +
         result + " = linalg.matmul ins(" + left + ", " + right + " : " + matrix(8, depth) + ", " +
         matrix(depth, columns) + ") outs(%zeros" + id + " : " + type + ") -> " + type + "\n";
}

std::string function(const std::string &arguments, const std::string &results,
                     const std::string &body) {
  return "func.func @main(" + arguments + ") -> (" + results +
         ") {\n%zero = arith.constant 0.0 : f32\n" + body + "}\n";
}

std::string manyResults(int64_t n) {
  const std::string type = "tensor<16xf32>";
  auto types = join(n, ", ", [&](int64_t) { return type; });
  return function(
      join(n, ", ", [&](int64_t i) { return "%a" + s(i) + ": " + type; }), types,
      join(n, "",
           [&](int64_t i) { return "%r" + s(i) + " = math.exp %a" + s(i) + " : " + type + "\n"; }) +
          "return " + join(n, ", ", [](int64_t i) { return "%r" + s(i); }) + " : " + types + "\n");
}

std::string equalProducts(int64_t n) {
  return function(
      "%x0: " + matrix(8, 32) + ", %w: " + matrix(32, 32), matrix(8, 32),
      join(n, "",
           [](int64_t i) { return product("%x" + s(i), "%w", 32, 32, "%x" + s(i + 1), s(i)); }) +
          "return %x" + s(n) + " : " + matrix(8, 32) + "\n");
}

/// As many rows as the call has, which each layer asks the one before for.
std::string openExtents(int64_t n) {
  const std::string type = "tensor<?x32xf32>";
  return function(
      "%x0: " + type + ", %w: " + matrix(32, 32), type,
      "%first = arith.constant 0 : index\n" +
          join(n, "",
               [&](int64_t i) {
                 const std::string x = "%x" + s(i), y = "%y" + s(i), rows = "%rows" + s(i);
                 return rows + " = tensor.dim " + x + ", %first : " + type + "\n%empty" + s(i) +
                        " = tensor.empty(" + rows + ") : " + type + "\n%zeros" + s(i) +
                        " = linalg.fill ins(%zero : f32) outs(%empty" + s(i) + " : " + type +
                        ") -> " + type + "\n" + y + " = linalg.matmul ins(" + x + ", %w : " + type +
                        ", " + matrix(32, 32) + ") outs(%zeros" + s(i) + " : " + type + ") -> " +
                        type + "\n%x" + s(i + 1) + " = linalg.exp ins(" + y + " : " + type +
                        ") outs(%empty" + s(i) + " : " + type + ") -> " + type + "\n";
               }) +
          "return %x" + s(n) + " : " + type + "\n");
}

std::string distinctProducts(int64_t n) {
  // No two widths are equal.
  return function(
      "%x0: " + matrix(8, 8) +
          join(n, "", [](int64_t i) { return ", %w" + s(i) + ": " + matrix(8 + i, 9 + i); }),
      matrix(8, 8 + n),
      join(n, "",
           [](int64_t i) {
             return product("%x" + s(i), "%w" + s(i), 8 + i, 9 + i, "%x" + s(i + 1), s(i));
           }) +
          "return %x" + s(n) + " : " + matrix(8, 8 + n) + "\n");
}

std::string distinctSums(int64_t n) {
  const std::string sum = "tensor<4xf32>";
  return function(
      join(n, ", ", [](int64_t i) { return "%a" + s(i) + ": " + matrix(4, 9 + i); }), sum,
      "%e = tensor.empty() : " + sum + "\n%t0 = linalg.fill ins(%zero : f32) outs(%e : " + sum +
          ") -> " + sum + "\n" +
          join(n, "",
               [&](int64_t i) {
                 return "%s" + s(i) + " = linalg.reduce { arith.addf } ins(%a" + s(i) + " : " +
                        matrix(4, 9 + i) + ") outs(%t0 : " + sum + ") dimensions = [1]\n%t" +
                        s(i + 1) + " = arith.addf %t" + s(i) + ", %s" + s(i) + " : " + sum + "\n";
               }) +
          "return %t" + s(n) + " : " + sum + "\n");
}

std::string wideGraph(int64_t n) {
  const std::string type = matrix(8, 16);
  return function(
      "%x: " + type + join(n, "", [](int64_t i) { return ", %w" + s(i) + ": " + matrix(16, 16); }),
      type,
      join(n, "", [](int64_t i) { return product("%x", "%w" + s(i), 16, 16, "%p" + s(i), s(i)); }) +
          "%t0 = arith.addf %p0, %p0 : " + type + "\n" +
          join(n, "",
               [&](int64_t i) {
                 return "%t" + s(i + 1) + " = arith.addf %t" + s(i) + ", %p" + s(i) + " : " + type +
                        "\n";
               }) +
          "return %t" + s(n) + " : " + type + "\n");
}

std::string deepChain(int64_t n) {
  const std::string type = "tensor<64xf32>";
  return function("%x0: " + type + ", %w: " + type, type,
                  join(n, "",
                       [&](int64_t i) {
                         return "%x" + s(i + 1) +
                                (i % 2 ? " = arith.addf %x" : " = arith.mulf %x") + s(i) +
                                ", %w : " + type + "\n";
                       }) +
                      "return %x" + s(n) + " : " + type + "\n");
}

std::string manyFunctions(int64_t n) {
  return join(n, "", [](int64_t i) {
    const std::string type = "tensor<" + s(8 + i) + "xf32>";
    return "func.func @f" + s(i) + "(%x: " + type + ", %y: " + type + ") -> " + type +
           " {\n%r = arith.addf %x, %y : " + type + "\nreturn %r : " + type + "\n}\n";
  });
}

std::string loopsInKernel(int64_t n) {
  return "func.func @main(%a: memref<?xf32>) {\n%c0 = arith.constant 0 : index\n%c1 = "
         "arith.constant 1 : index\n"
         "%n = memref.dim %a, %c0 : memref<?xf32>\n" +
         join(
             n, "",
             [](int64_t) {
               return "scf.for %i = %c0 to %n step %c1 {\n%v = memref.load %a[%i] : memref<?xf32>\n"
                      "%w = arith.mulf %v, %v : f32\nmemref.store %w, %a[%i] : memref<?xf32>\n}\n";
             }) +
         "return\n}\n";
}

std::string nestedLoops(int64_t n) {
  const std::string type = "tensor<16xf32>";
  return "func.func @main(%t0: " + type + ", %n: index) -> " + type +
         " {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n" +
         join(n, "",
              [&](int64_t i) {
                return "%r" + s(i) + " = scf.for %i" + s(i) + " = %c0 to %n step %c1 iter_args(%t" +
                       s(i + 1) + " = %t" + s(i) + ") -> " + type + " {\n";
              }) +
         "%r" + s(n) + " = math.exp %t" + s(n) + " : " + type + "\n" +
         join(n, "",
              [&](int64_t i) { return "scf.yield %r" + s(n - i) + " : " + type + "\n}\n"; }) +
         "return %r0 : " + type + "\n}\n";
}

/// `n` loops one behind the other, in the body of another loop. Each goes on with the result of the
/// loop before it.
std::string loopsInLoop(int64_t n) {
  const std::string type = "tensor<16xf32>";
  return "func.func @main(%x: " + type + ", %n: index) -> " + type +
         " {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
         "%r = scf.for %j = %c0 to %n step %c1 iter_args(%r0 = %x) -> " +
         type + " {\n" +
         join(n, "",
              [&](int64_t i) {
                return "%r" + s(i + 1) + " = scf.for %i = %c0 to %n step %c1 iter_args(%t = %r" +
                       s(i) + ") -> " + type + " {\n%v = tensor.extract %t[%i] : " + type +
                       "\n%w = arith.mulf %v, %v : f32\n%u = tensor.insert %w into %t[%i] : " +
                       type + "\nscf.yield %u : " + type + "\n}\n";
              }) +
         "scf.yield %r" + s(n) + " : " + type + "\n}\nreturn %r : " + type + "\n}\n";
}

std::string concatenation(int64_t n) {
  const std::string whole = matrix(8, 3 * n), part = matrix(8, 3);
  return function("%x: " + whole, whole,
                  join(n, "",
                       [&](int64_t i) {
                         return "%s" + s(i) + " = tensor.extract_slice %x[0, " + s(3 * i) +
                                "] [8, 3] [1, 1] : " + whole + " to " + part + "\n%m" + s(i) +
                                " = math.exp %s" + s(i) + " : " + part + "\n";
                       }) +
                      "%r = tensor.concat dim(1) " +
                      join(n, ", ", [&](int64_t i) { return "%m" + s(n - 1 - i); }) + " : (" +
                      join(n, ", ", [&](int64_t) { return part; }) + ") -> " + whole +
                      "\nreturn %r : " + whole + "\n");
}

std::string largeConstant(int64_t n) {
  const std::string type = "tensor<" + s(n) + "xf32>";
  return function("%x: " + type, type,
                  "%c = arith.constant dense<[" +
                      join(n, ", ", [](int64_t i) { return s(i % 1000) + ".5"; }) + "]> : " + type +
                      "\n%r = arith.addf %x, %c : " + type + "\nreturn %r : " + type + "\n");
}

void measure(benchmark::State &state, std::string (*source)(int64_t), int64_t size) {
  auto engine = makeEngine(0);
  const std::array<int64_t, 3> sizes = {size / 4, size / 2, size};
  std::array<std::vector<double>, 3> milliseconds;
  for ([[maybe_unused]] auto _ : state)
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string text = source(sizes[i]);
      const auto start = std::chrono::steady_clock::now();
      orFail(engine->load(text, "benchmark", {}));
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      milliseconds[i].push_back(time.count());
      if (i + 1 == sizes.size())
        state.SetIterationTime(time.count() * 1e-3);
    }
  const double half = quantile(milliseconds[1], 0.5), all = quantile(milliseconds[2], 0.5);
  state.counters["quarter_ms"] = quantile(milliseconds[0], 0.5);
  state.counters["half_ms"] = half;
  state.counters["ms"] = all;
  state.counters["each_us"] = all * 1e3 / double(size);
  state.counters["exponent"] = std::log2(all / half);
  state.counters["aim"] = 1.1;
}

void registerAll() {
  struct Family {
    const char *name;
    std::string (*source)(int64_t);
    int64_t size;
  };
  for (const Family &family : {Family{"results", manyResults, 800},
                               {"equal_products", equalProducts, 1600},
                               {"open_extents", openExtents, 400},
                               {"distinct_products", distinctProducts, 200},
                               {"distinct_sums", distinctSums, 800},
                               {"wide_graph", wideGraph, 800},
                               {"deep_chain", deepChain, 6400},
                               {"functions", manyFunctions, 400},
                               {"loops_in_kernel", loopsInKernel, 200},
                               {"nested_loops", nestedLoops, 16},
                               {"loops_in_loop", loopsInLoop, 200},
                               {"concatenation", concatenation, 200},
                               {"large_constant", largeConstant, 1000000}})
    benchmark::RegisterBenchmark(
        (std::string(family.name) + "/" + s(family.size)).c_str(),
        [=](benchmark::State &state) { measure(state, family.source, family.size); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
