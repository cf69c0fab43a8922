// Memory-bound work: element-wise functions and softmax over rows.
//
// Beside each: a loop written by hand in C++ for this machine, and copies of as many bytes, plain and
// with non-temporal stores, which are the ceiling. All on the same number of threads, in turns. Bytes
// are what the function must read and write at least. A call includes the engine's whole overhead:
// binding, dispatch, a result from the pool. Sizes: the first and second cache level, and memory.
//
// The hand-written loops write into one buffer that is warm. The engine's results come from its pool,
// whose blocks are warm after the first two calls.

#include "bench/e2e/Modules.h"
#include "bench/harness/Contest.h"
#include "bench/harness/HandLoops.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include <algorithm>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::Value;

namespace {

struct Work {
  const char *name;
  std::string (*module)(int64_t rows, int64_t columns);
  bool hasRow; // takes w and b
  void (*byHand)(float *y, const std::vector<Buffer> &in, int64_t columns, int64_t rowBegin,
                 int64_t rowEnd);
  float tolerance;
};

void reluByHand(float *y, const std::vector<Buffer> &in, int64_t columns, int64_t rowBegin,
                int64_t rowEnd) {
  scaleShiftRelu(y, elements(in[0]), elements(in[1]), elements(in[2]), columns, rowBegin, rowEnd);
}
void geluByHand(float *y, const std::vector<Buffer> &in, int64_t columns, int64_t rowBegin,
                int64_t rowEnd) {
  gelu(y, elements(in[0]), rowBegin * columns, rowEnd * columns);
}
void softmaxByHand(float *y, const std::vector<Buffer> &in, int64_t columns, int64_t rowBegin,
                   int64_t rowEnd) {
  softmax(y, elements(in[0]), columns, rowBegin, rowEnd);
}

const Work relu = {"relu", scaleShiftReluModule, true, reluByHand, 1e-5F};
const Work geluWork = {"gelu", geluModule, false, geluByHand, 1e-5F};
const Work softmaxWork = {"softmax", softmaxModule, false, softmaxByHand, 1e-5F};

void memoryBound(benchmark::State &state, const Work &work) {
  const int64_t rows = state.range(0), columns = state.range(1);
  auto engine = makeEngine(static_cast<int>(state.range(2)));
  const int threads = engine->threads();

  std::vector<Buffer> in = {randomTensor({rows, columns})};
  if (work.hasRow) {
    in.push_back(randomTensor({columns}));
    in.push_back(randomTensor({columns}));
  }
  std::vector<Value> arguments(in.begin(), in.end());
  CheckedFunction checked =
      loadChecked(*engine, work.module(rows, columns), "main", arguments, work.tolerance);

  Buffer out = zeroTensor({rows, columns});
  float *y = elements(out);
  const float *x = elements(in[0]);
  auto byHand = [&] {
    parallelRanges(threads, rows,
                   [&](int64_t begin, int64_t end) { work.byHand(y, in, columns, begin, end); });
  };
  byHand();
  checkClose("the loop by hand", y, checked.expected, work.tolerance);

  std::vector<Value> results(1);
  // Small work is repeated within a turn: a clock is read in tens of nanoseconds.
  const int64_t calls = std::clamp<int64_t>((int64_t{1} << 22) / (rows * columns), 1, 1000);
  auto repeated = [calls](auto once) {
    return [calls, once] {
      for (int64_t i = 0; i < calls; ++i) {
        once();
        benchmark::ClobberMemory();
      }
    };
  };
  const double bytes = static_cast<double>(rows * columns) * sizeof(float) * 2;
  Contest contest(state, "GBps");
  contest.add("plimsoll", repeated([&] { orFail(checked.function.callInto(arguments, results)); }),
              bytes, calls);
  contest.add("hand", repeated(byHand), bytes, calls);
  auto copyWith = [&](void (*pass)(float *, const float *, int64_t, int64_t)) {
    return [&, pass] {
      parallelRanges(threads, rows, [&](int64_t begin, int64_t end) {
        pass(y, x, begin * columns, end * columns);
      });
    };
  };
  contest.add("copy", repeated(copyWith(copy)), bytes, calls);
  contest.add("copy_nt", repeated(copyWith(copyNonTemporal)), bytes, calls);
  contest.run();
}

void registerAll() {
  auto add = [](const Work &work, std::vector<int64_t> arguments, int64_t rounds) {
    benchmark::RegisterBenchmark(work.name,
                                 [&work](benchmark::State &state) { memoryBound(state, work); })
        ->ArgNames({"rows", "columns", "threads"})
        ->Args(arguments)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(rounds);
  };
  for (const Work *work : {&relu, &geluWork}) {
    add(*work, {8, 256, 1}, 41);
    add(*work, {64, 1024, 1}, 41);
    add(*work, {4096, 4096, 1}, 15);
    add(*work, {4096, 4096, 0}, 25);
  }
  add(softmaxWork, {64, 1024, 1}, 41);
  add(softmaxWork, {4096, 1024, 1}, 21);
  add(softmaxWork, {4096, 1024, 0}, 31);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
