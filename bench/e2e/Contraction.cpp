// Compute-bound work: matrix products and a convolution in f32.
//
// Beside each: a loop written by hand in C++ for this machine (8x32 tiles in registers, columns
// packed, which is timed with it), the machine's multiply-add peak, and OpenBLAS where CMake found
// it. All on the same number of threads, in turns. A call includes the engine's whole overhead.

#include "bench/e2e/Modules.h"
#include "bench/harness/Contest.h"
#include "bench/harness/HandLoops.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include <algorithm>

#ifdef PLIM_HAVE_OPENBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int count);
#endif

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::Value;

namespace {

constexpr float tolerance = 1e-4F;

void matmulSquare(benchmark::State &state) {
  const int64_t n = state.range(0);
  auto engine = makeEngine(static_cast<int>(state.range(1)));
  const int threads = engine->threads();
  Buffer a = randomTensor({n, n}), b = randomTensor({n, n});
  std::vector<Value> arguments = {a, b}, results(1);
  CheckedFunction checked =
      loadChecked(*engine, matmulModule(n, n, n), "main", arguments, tolerance);

  Buffer c = zeroTensor({n, n}), packed = zeroTensor({n, n});
  auto byHand = [&] {
    parallelRanges(threads, n / 32, [&](int64_t begin, int64_t end) {
      packColumns(elements(packed), elements(b), n, n, begin, end);
    });
    parallelRanges(threads, n / 8, [&](int64_t begin, int64_t end) {
      matmul(elements(c), elements(a), elements(packed), n, n, begin * 8, end * 8);
    });
  };
  byHand();
  checkClose("the loop by hand", elements(c), checked.expected, tolerance);

  const double operations = 2.0 * static_cast<double>(n * n * n);
  const int64_t calls = std::clamp<int64_t>((int64_t{1} << 27) / (n * n * n), 1, 100);
  auto repeated = [calls](auto once) {
    return [calls, once] {
      for (int64_t i = 0; i < calls; ++i)
        once();
    };
  };
  Contest contest(state, "GFLOPS");
  contest.add("plimsoll", repeated([&] { orFail(checked.function.callInto(arguments, results)); }),
              operations, calls);
  contest.add("hand", repeated(byHand), operations, calls);
#ifdef PLIM_HAVE_OPENBLAS
  openblas_set_num_threads(threads);
  auto extent = static_cast<int>(n);
  contest.add("openblas", repeated([&] {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, extent, extent, extent, 1.0F,
                            elements(a), extent, elements(b), extent, 0.0F, elements(c), extent);
              }),
              operations, calls);
#endif
  addPeak(contest, threads);
  contest.run();
}

void convolution(benchmark::State &state) {
  const int64_t side = state.range(0), channels = state.range(1);
  auto engine = makeEngine(static_cast<int>(state.range(2)));
  const int threads = engine->threads();
  Buffer x = randomTensor({1, side + 2, side + 2, channels});
  Buffer w = randomTensor({3, 3, channels, channels});
  std::vector<Value> arguments = {x, w}, results(1);
  CheckedFunction checked =
      loadChecked(*engine, convolutionModule(side, channels), "main", arguments, tolerance);

  Buffer y = zeroTensor({1, side, side, channels});
  auto byHand = [&] {
    parallelRanges(threads, side, [&](int64_t begin, int64_t end) {
      convolve3x3(elements(y), elements(x), elements(w), side, channels, channels, begin, end);
    });
  };
  byHand();
  checkClose("the loop by hand", elements(y), checked.expected, tolerance);

  const double operations = 2.0 * 9 * static_cast<double>(side * side * channels * channels);
  Contest contest(state, "GFLOPS");
  contest.add(
      "plimsoll", [&] { orFail(checked.function.callInto(arguments, results)); }, operations);
  contest.add("hand", byHand, operations);
  addPeak(contest, threads);
  contest.run();
}

void registerAll() {
  auto *products = benchmark::RegisterBenchmark("matmul", matmulSquare);
  products->ArgNames({"extent", "threads"})->UseManualTime()->Unit(benchmark::kMicrosecond);
  products->Iterations(15);
  for (int64_t extent : {64, 256, 512, 1024})
    for (int64_t threads : {1, 0})
      products->Args({extent, threads});
  benchmark::RegisterBenchmark("convolution", convolution)
      ->ArgNames({"side", "channels", "threads"})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(21)
      ->Args({56, 64, 1})
      ->Args({56, 64, 0});
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
