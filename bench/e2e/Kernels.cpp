// Kernels over buffers, as programs bring them that do not start from tensors: parallel loops, and linalg on memrefs. And steps of
// time over a tensor, each of which reads neighbours of what it updates.
//
// Beside a loop: the loop by hand in C++ for this machine, on the same number of threads; beside a
// product: the same one on tensors. In turns; buffers are warm. A call includes the engine's whole overhead.

#include "bench/e2e/Modules.h"
#include "bench/harness/Contest.h"
#include "bench/harness/HandLoops.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include <algorithm>
#include <cmath>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::Value;

namespace {

constexpr float loopTolerance = 1e-5F, productTolerance = 1e-3F;

/// What a kernel makes of %y from %x, and the same by hand.
struct Work {
  const char *name;
  const char *body; // of a loop over %i and %j: %r is the new element
  int64_t border;   // rows and columns that are left out on each side
  void (*byHand)(float *y, const float *x, int64_t columns, int64_t rowBegin, int64_t rowEnd);
};

void axpyByHand(float *y, const float *x, int64_t columns, int64_t rowBegin, int64_t rowEnd) {
  axpy(y, 0.25F, x, rowBegin * columns, rowEnd * columns);
}
void geluByHand(float *y, const float *x, int64_t columns, int64_t rowBegin, int64_t rowEnd) {
  gelu(y, x, rowBegin * columns, rowEnd * columns);
}

const Work axpyWork = {"axpy", R"(
    %a = arith.constant 0.25 : f32
    %u = memref.load %x[%i, %j] : TYPE
    %v = memref.load %y[%i, %j] : TYPE
    %p = arith.mulf %a, %u : f32
    %r = arith.addf %v, %p : f32)",
                       0, axpyByHand};
const Work geluWork = {"gelu", R"(
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %f = arith.constant 0.70710678 : f32
    %u = memref.load %x[%i, %j] : TYPE
    %t = arith.mulf %u, %f : f32
    %e = math.erf %t : f32
    %o = arith.addf %e, %one : f32
    %h = arith.mulf %u, %half : f32
    %r = arith.mulf %h, %o : f32)",
                       0, geluByHand};
const Work stencilWork = {"five_points", R"(
    %c1 = arith.constant 1 : index
    %f = arith.constant 0.2 : f32
    %im = arith.subi %i, %c1 : index
    %ip = arith.addi %i, %c1 : index
    %jm = arith.subi %j, %c1 : index
    %jp = arith.addi %j, %c1 : index
    %0 = memref.load %x[%i, %j] : TYPE
    %1 = memref.load %x[%im, %j] : TYPE
    %2 = memref.load %x[%ip, %j] : TYPE
    %3 = memref.load %x[%i, %jm] : TYPE
    %4 = memref.load %x[%i, %jp] : TYPE
    %s0 = arith.addf %0, %1 : f32
    %s1 = arith.addf %s0, %2 : f32
    %s2 = arith.addf %s1, %3 : f32
    %s3 = arith.addf %s2, %4 : f32
    %r = arith.mulf %s3, %f : f32)",
                          1, fivePoints};

std::string withType(std::string text, int64_t rows, int64_t columns) {
  const std::string type =
      "memref<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  for (size_t at = 0; (at = text.find("TYPE", at)) != std::string::npos;)
    text.replace(at, 4, type);
  return text;
}

std::string sourceOf(const Work &work, int64_t rows, int64_t columns) {
  auto pair = [](int64_t a, int64_t b) {
    return "(" + std::to_string(a) + ", " + std::to_string(b) + ")";
  };
  return withType("func.func @main(%x: TYPE, %y: TYPE) {\n  affine.parallel (%i, %j) = " +
                      pair(work.border, work.border) + " to " +
                      pair(rows - work.border, columns - work.border) + " {" + work.body + R"(
    memref.store %r, %y[%i, %j] : TYPE
  }
  return
})",
                  rows, columns);
}

constexpr int64_t steps = 10;

/// The mean of five points of all but the border, `steps` times.
std::string stepsSource(int64_t rows, int64_t columns) {
  const std::string part = std::to_string(rows - 2) + "x" + std::to_string(columns - 2),
                    sizes = std::to_string(rows - 2) + ", " + std::to_string(columns - 2);
  auto slice = [&](const std::string &name, int row, int column) {
    return "    %" + name + " = tensor.extract_slice %a[" + std::to_string(row) + ", " +
           std::to_string(column) + "] [" + sizes + "] [1, 1] : TYPE to tensor<" + part + "xf32>\n";
  };
  std::string text = "#id = affine_map<(i, j) -> (i, j)>\n"
                     "func.func @main(%x: TYPE) -> TYPE {\n"
                     "  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n"
                     "  %f = arith.constant 0.2 : f32\n  %steps = arith.constant " +
                     std::to_string(steps) +
                     " : index\n  %r = scf.for %t = %zero to %steps step %one iter_args(%a = %x) "
                     "-> TYPE {\n" +
                     slice("0", 1, 1) + slice("1", 0, 1) + slice("2", 2, 1) + slice("3", 1, 0) +
                     slice("4", 1, 2) + "    %e = tensor.empty() : tensor<" + part + R"(xf32>
    %g = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%0, %1, %2, %3, %4 : PART, PART, PART, PART, PART) outs(%e : PART) {
    ^bb0(%b0: f32, %b1: f32, %b2: f32, %b3: f32, %b4: f32, %out: f32):
      %s0 = arith.addf %b0, %b1 : f32
      %s1 = arith.addf %s0, %b2 : f32
      %s2 = arith.addf %s1, %b3 : f32
      %s3 = arith.addf %s2, %b4 : f32
      %y = arith.mulf %s3, %f : f32
      linalg.yield %y : f32
    } -> PART
    %b = tensor.insert_slice %g into %a[1, 1] [)" +
                     sizes + R"(] [1, 1] : PART into TYPE
    scf.yield %b : TYPE
  }
  return %r : TYPE
})";
  auto replaced = [&](const std::string &what, const std::string &by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
      text.replace(at, what.size(), by);
  };
  replaced("PART", "tensor<" + part + "xf32>");
  replaced("TYPE", "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>");
  return text;
}

std::string productSource(int64_t n) {
  return withType(R"(
func.func @main(%a: TYPE, %b: TYPE, %c: TYPE) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : TYPE)
  linalg.matmul ins(%a, %b : TYPE, TYPE) outs(%c : TYPE)
  return
})",
                  n, n);
}

Function load(Engine &engine, const std::string &source) {
  return orFail(orFail(engine.load(source, "kernel.mlir"))->lookup("main"));
}

/// Small work is repeated within a turn: a clock is read in tens of nanoseconds.
int64_t callsOf(int64_t elements) {
  return std::clamp<int64_t>((int64_t{1} << 22) / elements, 1, 1000);
}

template <typename OnceT> std::function<void()> repeated(int64_t calls, OnceT once) {
  return [calls, once] {
    for (int64_t i = 0; i < calls; ++i) {
      once();
      benchmark::ClobberMemory();
    }
  };
}

void loops(benchmark::State &state, const Work &work) {
  const int64_t rows = state.range(0), columns = state.range(1);
  auto engine = makeEngine(static_cast<int>(state.range(2)));
  const int threads = engine->threads();
  Function kernel = load(*engine, sourceOf(work, rows, columns));
  Buffer x = randomTensor({rows, columns}), ours = zeroTensor({rows, columns}),
         theirs = zeroTensor({rows, columns});
  const std::vector<Value> arguments = {x, ours};
  std::vector<Value> results;
  auto call = [&] { orFail(kernel.callInto(arguments, results)); };
  auto byHand = [&] {
    parallelRanges(threads, rows - 2 * work.border, [&](int64_t begin, int64_t end) {
      work.byHand(elements(theirs), elements(x), columns, begin + work.border, end + work.border);
    });
  };
  call();
  byHand();
  checkClose("the kernel", elements(ours), {elements(theirs), static_cast<size_t>(rows * columns)},
             loopTolerance);

  const double bytes = static_cast<double>(rows * columns) * sizeof(float) * 2;
  const int64_t calls = callsOf(rows * columns);
  Contest contest(state, "GBps");
  contest.add("plimsoll", repeated(calls, call), bytes, calls);
  contest.add("hand", repeated(calls, byHand), bytes, calls);
  contest.run();
}

void timeSteps(benchmark::State &state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  auto engine = makeEngine(static_cast<int>(state.range(2)));
  const int threads = engine->threads();
  Function function = load(*engine, stepsSource(rows, columns));
  Buffer x = randomTensor({rows, columns}), one = zeroTensor({rows, columns}),
         other = zeroTensor({rows, columns});
  const std::vector<Value> arguments = {x};
  std::vector<Value> results(1);
  const auto count = static_cast<size_t>(rows * columns);
  auto call = [&] { orFail(function.callInto(arguments, results)); };
  auto byHand = [&] {
    float *from = elements(one), *to = elements(other);
    std::copy_n(elements(x), count, from);
    std::copy_n(elements(x), count, to);
    for (int64_t step = 0; step < steps; ++step, std::swap(from, to))
      parallelRanges(threads, rows - 2, [&](int64_t begin, int64_t end) {
        fivePoints(to, from, columns, begin + 1, end + 1);
      });
  };
  call();
  byHand();
  checkClose("the steps", elements(std::get<Buffer>(results[0])), {elements(one), count},
             loopTolerance);

  const double bytes = static_cast<double>(rows * columns) * sizeof(float) * 2 * steps;
  const int64_t calls = callsOf(rows * columns * steps);
  Contest contest(state, "GBps");
  contest.add("plimsoll", repeated(calls, call), bytes, calls);
  contest.add("hand", repeated(calls, byHand), bytes, calls);
  contest.run();
}

void products(benchmark::State &state) {
  const int64_t n = state.range(0);
  auto engine = makeEngine(static_cast<int>(state.range(1)));
  Function kernel = load(*engine, productSource(n));
  Buffer a = randomTensor({n, n}), b = randomTensor({n, n}), c = zeroTensor({n, n});
  const std::vector<Value> factors = {a, b}, arguments = {a, b, c};
  CheckedFunction tensors =
      loadChecked(*engine, matmulModule(n, n, n), "main", factors, productTolerance);
  std::vector<Value> none, results(1);
  auto onBuffers = [&] { orFail(kernel.callInto(arguments, none)); };
  auto onTensors = [&] { orFail(tensors.function.callInto(factors, results)); };
  onBuffers();
  checkClose("the kernel", elements(c), tensors.expected, productTolerance);

  const double operations = 2 * std::pow(static_cast<double>(n), 3);
  const int64_t calls = callsOf(n * n * n / 16);
  Contest contest(state, "GFLOPS");
  contest.add("plimsoll", repeated(calls, onBuffers), operations, calls);
  contest.add("tensors", repeated(calls, onTensors), operations, calls);
  addPeak(contest, engine->threads());
  contest.run();
}

void registerAll() {
  auto add = [](const char *name, auto run, const std::vector<std::string> &names,
                const std::vector<int64_t> &arguments) {
    benchmark::RegisterBenchmark(name, run)
        ->ArgNames(names)
        ->Args(arguments)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(25);
  };
  for (const Work *work : {&axpyWork, &geluWork, &stencilWork})
    for (const std::vector<int64_t> &arguments : std::vector<std::vector<int64_t>>{
             {64, 256, 1}, {1024, 1024, 1}, {1024, 1024, 0}, {4096, 4096, 1}, {4096, 4096, 0}})
      add(
          work->name, [work](benchmark::State &state) { loops(state, *work); },
          {"rows", "columns", "threads"}, arguments);
  for (const std::vector<int64_t> &arguments : std::vector<std::vector<int64_t>>{
           {64, 256, 1}, {1000, 1000, 1}, {1000, 1000, 0}, {4000, 4000, 1}, {4000, 4000, 0}})
    add("steps", timeSteps, {"rows", "columns", "threads"}, arguments);
  for (const std::vector<int64_t> &arguments :
       std::vector<std::vector<int64_t>>{{64, 1}, {512, 1}, {512, 0}, {1000, 1}, {1000, 0}})
    add("matmul", products, {"n", "threads"}, arguments);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
