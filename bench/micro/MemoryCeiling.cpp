// What memory can do at best on this machine: the ceiling that memory-bound kernels are compared
// with.
//
// Two loops over f32, y = 2x ("copy") and y = x + 2z ("triad"), with plain and with non-temporal
// stores, on 1, 2, 4, ... threads up to all that this process may use, at sizes from the
// first-level cache to memory. Threads are std::thread, started once and kept spinning between
// rounds: the figures hold no scheduler of ours and no thread creation.
//
// Bytes are those that the loop asks for: 8 a copied element, 12 a triad element. A plain store to
// memory also reads the line it overwrites, which the figure does not count: that is the difference
// to the non-temporal rows.

#include "bench/harness/Main.h"

#include <algorithm>
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr size_t lineFloats = 16;

using Float16 = float __attribute__((vector_size(64)));

void pauseBriefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Non-temporal stores are ordered by this before another thread may read them.
void storeFence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// One pass over [begin, end) of y; both are multiples of a cache line.
template <bool IsTriad, bool IsNonTemporal>
void runRange(float *y, const float *x, const float *z, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i += lineFloats) {
    Float16 value = 2.0F * *reinterpret_cast<const Float16 *>((IsTriad ? z : x) + i);
    if constexpr (IsTriad)
      value += *reinterpret_cast<const Float16 *>(x + i);
    auto *target = reinterpret_cast<Float16 *>(y + i);
    if constexpr (IsNonTemporal)
      __builtin_nontemporal_store(value, target);
    else
      *target = value;
  }
  if constexpr (IsNonTemporal)
    storeFence();
}

/// Threads that run one function in rounds; they spin between rounds, so that a round costs well
/// under a microsecond to start.
template <typename Work> class Team {
public:
  Team(size_t count, Work work) : work(work), count(count) {
    workers.reserve(count - 1);
    for (size_t index = 1; index < count; ++index)
      workers.emplace_back([this, index] { follow(index); });
  }
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  ~Team() {
    isOver = true;
    round.fetch_add(1, std::memory_order_release);
    for (std::thread &worker : workers)
      worker.join();
  }

  /// Returns when work(index, count) has returned on every thread, the caller being number 0.
  void runRound() {
    finished.store(0, std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    work(0, count);
    while (finished.load(std::memory_order_acquire) != count - 1)
      pauseBriefly();
  }

private:
  void follow(size_t index) {
    for (uint64_t seen = 0;; ++seen) {
      while (round.load(std::memory_order_acquire) == seen)
        pauseBriefly();
      if (isOver)
        return;
      work(index, count);
      finished.fetch_add(1, std::memory_order_release);
    }
  }

  Work work;
  size_t count;
  bool isOver = false; // written before the last release of `round`
  std::atomic<uint64_t> round = 0;
  std::atomic<size_t> finished = 0;
  std::vector<std::thread> workers;
};

struct FreeMemory {
  void operator()(float *memory) const { std::free(memory); }
};
using FloatArray = std::unique_ptr<float, FreeMemory>;

FloatArray makeArray(size_t elements) {
  // Alignment to 2 MiB lets the kernel use huge pages where it does so unasked.
  constexpr size_t alignment = size_t{2} << 20;
  size_t bytes = (elements * sizeof(float) + alignment - 1) / alignment * alignment;
  FloatArray array(static_cast<float *>(std::aligned_alloc(alignment, bytes)));
  if (array)
    std::fill_n(array.get(), elements, 1.0F);
  return array;
}

template <bool IsTriad, bool IsNonTemporal> void memoryCeiling(benchmark::State &state) {
  const auto elements = static_cast<size_t>(state.range(0)) / sizeof(float);
  const auto threads = static_cast<size_t>(state.range(1));
  FloatArray y = makeArray(elements);
  FloatArray x = makeArray(elements);
  FloatArray z = makeArray(IsTriad ? elements : lineFloats);
  if (!y || !x || !z) {
    state.SkipWithError("out of memory");
    return;
  }

  // Small arrays are passed over many times in a round: starting it must not count.
  const size_t passes = std::max<size_t>(1, (size_t{1} << 22) / elements);
  const size_t lines = elements / lineFloats;
  auto work = [&](size_t index, size_t count) {
    size_t begin = lines * index / count * lineFloats;
    size_t end = lines * (index + 1) / count * lineFloats;
    for (size_t pass = 0; pass < passes; ++pass) {
      runRange<IsTriad, IsNonTemporal>(y.get(), x.get(), z.get(), begin, end);
      benchmark::ClobberMemory();
    }
  };
  {
    Team team(threads, work);
    for ([[maybe_unused]] auto _ : state)
      team.runRound();
  }
  constexpr size_t arrays = IsTriad ? 3 : 2;
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(passes * elements * sizeof(float) * arrays));
  const float expected = IsTriad ? 3.0F : 2.0F;
  if (std::any_of(y.get(), y.get() + elements, [&](float v) { return v != expected; }))
    state.SkipWithError("wrong result");
}

int64_t availableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Bytes of one array, by the level that two or three of them fit.
constexpr int64_t arrayBytes[] = {int64_t{8} << 10, int64_t{256} << 10, int64_t{4} << 20,
                                  int64_t{128} << 20};

void registerAll() {
  struct Variant {
    const char *name;
    void (*function)(benchmark::State &);
    bool isNonTemporal;
  };
  const Variant variants[] = {
      {"copy/plain", memoryCeiling<false, false>, false},
      {"copy/nontemporal", memoryCeiling<false, true>, true},
      {"triad/plain", memoryCeiling<true, false>, false},
      {"triad/nontemporal", memoryCeiling<true, true>, true},
  };
  const int64_t most = availableThreads();
  for (const Variant &variant : variants) {
    auto *registered = benchmark::RegisterBenchmark(variant.name, variant.function);
    registered->ArgNames({"bytes", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
    for (int64_t bytes : arrayBytes) {
      // A store past the caches is no ceiling for data that live in them.
      if (variant.isNonTemporal && bytes != *std::rbegin(arrayBytes))
        continue;
      for (int64_t threads = 1; threads < most; threads *= 2)
        registered->Args({bytes, threads});
      registered->Args({bytes, most});
    }
  }
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
