#include "bench/harness/Workload.h"

#include "bench/harness/HandLoops.h"
#include "tools/io/Random.h"

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace plim::bench {

using runtime::Buffer;
using runtime::ElementType;
using runtime::Value;

void fail(std::string_view message) {
  std::fprintf(stderr, "error: %.*s\n", static_cast<int>(message.size()), message.data());
  std::exit(1);
}

std::shared_ptr<Engine> makeEngine(int threads, std::string cacheFolder) {
  EngineOptions options;
  options.threads = threads;
  options.cacheFolder = std::move(cacheFolder);
  options.logger = makeStderrLogger(LogLevel::Warning);
  return orFail(Engine::create(std::move(options)));
}

Buffer randomTensor(std::vector<int64_t> shape) {
  static uint64_t seed = [] {
    uint64_t first = std::random_device()();
    std::fprintf(stderr, "seed: %llu\n", static_cast<unsigned long long>(first));
    return first;
  }();
  Buffer buffer = zeroTensor(std::move(shape));
  tools::fillRandom(ElementType::F32, seed++, buffer.elementCount(), buffer.mutableData());
  return buffer;
}

Buffer zeroTensor(std::vector<int64_t> shape) {
  // One pool for all: buffers that a benchmark drops are warm for the next.
  static const auto pool = std::make_shared<runtime::MemoryPool>();
  Buffer buffer = orFail(Buffer::allocate(pool, ElementType::F32, shape));
  std::memset(buffer.mutableData(), 0, buffer.bytes());
  return buffer;
}

float *elements(const Buffer &buffer) {
  return const_cast<float *>(static_cast<const float *>(buffer.data()));
}

CheckedFunction loadChecked(Engine &engine, const std::string &source, const std::string &name,
                            std::span<const Value> arguments, float tolerance) {
  LoadOptions plain;
  plain.oracle = true;
  auto oracleModule = orFail(engine.load(source, "benchmark", plain));
  auto module = orFail(engine.load(source, "benchmark"));
  Function function = orFail(module->lookup(name));
  std::vector<Value> expected = orFail(orFail(oracleModule->lookup(name)).call(arguments));
  std::vector<Value> have = orFail(function.call(arguments));
  CheckedFunction checked{module, function, {}};
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto *reference = std::get_if<Buffer>(&expected[i]);
    if (!reference || reference->type() != ElementType::F32)
      continue;
    std::span<const float> values(elements(*reference),
                                  static_cast<size_t>(reference->elementCount()));
    checkClose(name, elements(std::get<Buffer>(have[i])), values, tolerance);
    if (i == 0)
      checked.expected.assign(values.begin(), values.end());
  }
  return checked;
}

void checkClose(std::string_view what, const float *have, std::span<const float> expected,
                float tolerance) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::fabs(have[i] - expected[i]) <= tolerance * (1 + std::fabs(expected[i]))))
      fail(std::string(what) + ": element " + std::to_string(i) + " is " + std::to_string(have[i]) +
           ", the oracle says " + std::to_string(expected[i]));
}

std::string dispatchChain(int64_t steps) {
  std::string text = R"(
func.func @main(%v0: tensor<16xf32>) -> tensor<16xf32> {
  %scale = arith.constant 0.0625 : f32
  %zero = arith.constant 0.0 : f32
  %one = tensor.empty() : tensor<f32>
  %empty = tensor.empty() : tensor<16xf32>
)";
  constexpr std::string_view step = R"(
  %z$ = linalg.fill ins(%zero : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %s$ = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                        iterator_types = ["reduction"]}
      ins(%v@ : tensor<16xf32>) outs(%z$ : tensor<f32>) {
  ^bb0(%x: f32, %sum: f32):
    %p = arith.addf %x, %sum : f32
    linalg.yield %p : f32
  } -> tensor<f32>
  %v$ = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,
                                         affine_map<(i) -> (i)>],
                        iterator_types = ["parallel"]}
      ins(%v@, %s$ : tensor<16xf32>, tensor<f32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%x: f32, %sum: f32, %out: f32):
    %p = arith.mulf %sum, %scale : f32
    %d = arith.subf %x, %p : f32
    linalg.yield %d : f32
  } -> tensor<16xf32>
)";
  for (int64_t i = 1; i <= steps; ++i)
    for (char c : step)
      text += c == '$' ? std::to_string(i) : c == '@' ? std::to_string(i - 1) : std::string(1, c);
  return text + "  return %v" + std::to_string(steps) + " : tensor<16xf32>\n}\n";
}

namespace {

/// Threads of its own, which sleep while they wait: those of a second arena of oneTBB would be the engine's, which then come back
/// too late for its turn.
class Team {
public:
  using Job = std::function<void(int64_t begin, int64_t end)>;

  explicit Team(int threads) : size(threads) {
    for (int index = 1; index < size; ++index)
      helpers.emplace_back([this, index] { help(index); });
  }
  ~Team() {
    begin(0, nullptr);
    for (std::thread &helper : helpers)
      helper.join();
  }
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  void run(int64_t all, const Job &work) {
    begin(all, &work);
    part(0);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return running == 0; });
  }

private:
  void begin(int64_t all, const Job *work) {
    {
      const std::lock_guard lock(mutex);
      count = all;
      job = work;
      running = size - 1;
      ++turn;
    }
    changed.notify_all();
  }

  void help(int64_t index) {
    for (int64_t seen = 0;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn != seen; });
        seen = turn;
      }
      if (!job)
        return;
      part(index);
      const std::lock_guard lock(mutex);
      if (--running == 0)
        changed.notify_all();
    }
  }

  void part(int64_t index) { (*job)(count *index / size, count * (index + 1) / size); }

  const int64_t size;
  int64_t count = 0, running = 0, turn = 0;
  const Job *job = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::thread> helpers;
};

} // namespace

void parallelRanges(int threads, int64_t count,
                    const std::function<void(int64_t begin, int64_t end)> &job) {
  if (threads <= 1)
    return job(0, count);
  static std::map<int, Team> teams;
  teams.try_emplace(threads, threads).first->second.run(count, job);
}

void addPeak(Contest &contest, int threads) {
  constexpr int64_t rounds =
      1 << 18; // so many that it does not count how long a thread takes to wake
  contest.add(
      "peak",
      [threads] {
        parallelRanges(threads, threads, [](int64_t begin, int64_t end) {
          for (; begin < end; ++begin)
            benchmark::DoNotOptimize(multiplyAdd(rounds));
        });
      },
      multiplyAdd(rounds) * threads);
}

} // namespace plim::bench
