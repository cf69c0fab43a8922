// What it gains to run independent dispatches at once.
//
// A function has `count` products of small matrices, each one workgroup, and runs them as one
// group. Beside it as many calls of a function with one product are made ("in_order"): the same
// dispatches, one after the other, plus a call each, some 100 ns (micro/CallOverhead).
// "vs_in_order" is at most the number of threads, and 1.5 for three products on two. With one
// thread it shows what the group itself costs.

#include "bench/e2e/Modules.h"
#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::Value;

namespace {

constexpr float tolerance = 1e-4F;

/// (a * w0, a * w1, ...), all n x n.
std::string productsModule(int64_t count, int64_t n) {
  const std::string extent = std::to_string(n);
  const std::string type = "tensor<" + extent + "x" + extent + "xf32>";
  std::string arguments = "%a: " + type, body, names, types;
  for (int64_t i = 0; i < count; ++i) {
    const std::string id = std::to_string(i);
    arguments += ", %w" + id + ": " + type;
    body += "  %p" + id + " = linalg.matmul ins(%a, %w" + id + " : " + type + ", " + type +
            ") outs(%z : " + type + ") -> " + type + "\n";
    names += (i ? ", %p" : "%p") + id;
    types += (i ? ", " : "") + type;
  }
  return "func.func @main(" + arguments + ") -> (" + types + ") {\n" +
         "  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : " + type +
         "\n  %z = linalg.fill ins(%zero : f32) outs(%e : " + type + ") -> " + type + "\n" + body +
         "  return " + names + " : " + types + "\n}\n";
}

void products(benchmark::State &state) {
  const int64_t count = state.range(0), n = state.range(1);
  auto engine = makeEngine(static_cast<int>(state.range(2)));
  std::vector<Value> arguments = {randomTensor({n, n})};
  for (int64_t i = 0; i < count; ++i)
    arguments.emplace_back(randomTensor({n, n}));
  std::vector<Value> results(static_cast<size_t>(count)), single(1);
  CheckedFunction group =
      loadChecked(*engine, productsModule(count, n), "main", arguments, tolerance);
  std::vector<std::vector<Value>> pairs;
  for (int64_t i = 1; i <= count; ++i)
    pairs.push_back({arguments[0], arguments[static_cast<size_t>(i)]});
  CheckedFunction one = loadChecked(*engine, matmulModule(n, n, n), "main", pairs[0], tolerance);
  orFail(group.function.callInto(arguments, results));
  for (size_t i = 0; i < pairs.size(); ++i) {
    orFail(one.function.callInto(pairs[i], single));
    const float *expected = elements(std::get<Buffer>(single[0]));
    checkClose("the group", elements(std::get<Buffer>(results[i])),
               {expected, static_cast<size_t>(n * n)}, tolerance);
  }

  constexpr int64_t calls = 200;
  const double operations = 2.0 * static_cast<double>(count * n * n * n);
  Contest contest(state, "GFLOPS");
  contest.add(
      "plimsoll",
      [&] {
        for (int64_t i = 0; i < calls; ++i)
          orFail(group.function.callInto(arguments, results));
      },
      operations, calls);
  contest.add(
      "in_order",
      [&] {
        for (int64_t i = 0; i < calls; ++i)
          for (const std::vector<Value> &pair : pairs)
            orFail(one.function.callInto(pair, single));
      },
      operations, calls);
  contest.run();
}

void registerAll() {
  auto *all = benchmark::RegisterBenchmark("products", products);
  all->ArgNames({"count", "extent", "threads"})->UseManualTime()->Unit(benchmark::kMicrosecond);
  all->Iterations(51);
  for (int64_t count : {2, 3})
    for (int64_t extent : {16, 64, 96})
      for (int64_t threads : {1, 0})
        all->Args({count, extent, threads});
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
