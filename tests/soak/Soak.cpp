// soak: callers, loads and unloads against each other for as long as is asked for.
//
//   soak [--seconds N] [--seed S] [--threads T] [--rest MS]
//
// T threads make random calls of all kinds (in place, into results, by themselves, in chains, stopped,
// timed out, with memory lent) of the modules of several engines, and compare every result with a loop
// and every failure with the code that it must have, while two more load modules anew and replace
// engines. Callers rest MS milliseconds on average between two calls, loaders a hundred times as long: for
// soaks of hours beside other work (`chrt -r 1`). A third looks at the process. Exit status 1, and what went
// wrong with the seed, for the first wrong result, and for memory, mappings, threads or descriptors that grow.
//
// What grows is looked for in runs of a minute and more, memory only without sanitizers, which keep what was
// freed: by the means of the third and the last quarter of the time. In runs of half an hour and more so is the time
// that calls take: the 99th percentile of the last quarter is at most a tenth above the second's, on a machine at rest.

#include "engine/session/Engine.h"
#include "tests/soak/Modules.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <unistd.h>

using namespace plim;
using namespace plim::soak;
using namespace std::chrono_literals;
using runtime::Buffer;
using runtime::Priority;
using runtime::Scalar;
using runtime::Value;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool isSanitized = true;
#else
constexpr bool isSanitized = false;
#endif

constexpr int64_t forever = int64_t(1) << 60;
constexpr size_t engineCount = 4, checkedEngine = 3;

std::atomic<bool> isOver{false};

/// Milliseconds that a caller rests on average between two calls.
int64_t restMs = 0;

/// The first complaint is printed, and ends the run.
std::atomic<bool> hasFailed{false};
void fail(const std::string &message) {
  if (!hasFailed.exchange(true))
    std::fprintf(stderr, "soak: %s\n", message.c_str());
  isOver = true;
}

/// Requests stops a little later.
class Stopper {
public:
  ~Stopper() { drain(); }
  std::stop_token add() {
    std::lock_guard lock(mutex);
    return sources.emplace_back().get_token();
  }
  void drain() {
    std::vector<std::stop_source> taken;
    {
      std::lock_guard lock(mutex);
      taken.swap(sources);
    }
    for (std::stop_source &source : taken)
      source.request_stop();
  }

private:
  std::mutex mutex;
  std::vector<std::stop_source> sources;
};

/// The engines and modules that callers use just now.
class Stock {
public:
  explicit Stock(std::string cacheFolder) : cacheFolder(std::move(cacheFolder)) {}

  std::shared_ptr<Engine> makeEngine(size_t index) const {
    EngineOptions options;
    options.targetOverrides = {poolMemories};
    options.threads = index % 3 == 0 ? 1 : 2;
    if (index == 1)
      options.cacheFolder = cacheFolder;
    if (index == 2) {
      options.policy = "heap";
      options.profiler = std::make_shared<Profiler>(1000);
    }
    options.checked = index == checkedEngine;
    StatusOr<std::shared_ptr<Engine>> engine = Engine::create(std::move(options));
    if (!engine.ok()) {
      fail("no engine: " + engine.status().toString());
      return nullptr;
    }
    return *engine;
  }

  /// Another engine without modules; null for none.
  void replaceEngine(size_t index, std::shared_ptr<Engine> engine) {
    std::array<std::shared_ptr<Module>, moduleCount> dropped;
    std::lock_guard lock(mutex);
    engines[index].swap(engine);
    modules[index].swap(dropped);
  }
  void replaceModule(size_t index, size_t module, const std::shared_ptr<Engine> &engine,
                     std::shared_ptr<Module> loaded) {
    std::lock_guard lock(mutex);
    if (engines[index] == engine)
      modules[index][module].swap(loaded);
  }
  std::shared_ptr<Engine> engine(size_t index) const {
    std::lock_guard lock(mutex);
    return engines[index];
  }
  std::shared_ptr<Module> module(size_t index, size_t module) const {
    std::lock_guard lock(mutex);
    return modules[index][module];
  }

private:
  const std::string cacheFolder;
  mutable std::mutex mutex;
  std::array<std::shared_ptr<Engine>, engineCount> engines;
  std::array<std::array<std::shared_ptr<Module>, moduleCount>, engineCount> modules;
};

struct Counts {
  std::atomic<int64_t> calls{0}, async{0}, cancelled{0}, refused{0}, loads{0}, engines{0},
      callbacksWanted{0}, callbacksCame{0};
};

/// How long calls took: counts of logarithmic classes, 64 to a doubling, so that a quantile is within 1.1%.
class Latencies {
public:
  void add(std::chrono::nanoseconds time) {
    const double ns = std::max<double>(1, static_cast<double>(time.count()));
    ++counts[std::min(counts.size() - 1, static_cast<size_t>(classes * std::log2(ns)))];
  }
  Latencies &operator+=(const Latencies &other) {
    for (size_t i = 0; i < counts.size(); ++i)
      counts[i] += other.counts[i];
    return *this;
  }
  /// Microseconds that a part of the calls, 0 to 1, did not exceed; 0 without calls.
  double quantile(double part) const {
    const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t(0));
    int64_t seen = 0;
    for (size_t i = 0; i < counts.size() && total != 0; ++i)
      if (seen += counts[i]; static_cast<double>(seen) >= part * static_cast<double>(total))
        return std::exp2(static_cast<double>(i + 1) / classes) / 1000;
    return 0;
  }

private:
  static constexpr double classes = 64;
  std::array<int64_t, 64 * 40> counts{}; // to 2^40 ns, eighteen minutes
};

/// Which quarter of the time it is.
std::atomic<size_t> quarterNow{0};

struct Free {
  void operator()(void *memory) const { std::free(memory); }
};

/// One thread that calls.
class Caller {
public:
  Caller(Stock &stock, Stopper &stopper, Counts &counts, uint64_t seed)
      : stock(stock), stopper(stopper), counts(counts), random(seed) {
    for (auto &pool : pools)
      pool.reset(std::aligned_alloc(64, poolBytes));
  }

  void run() {
    while (!isOver) {
      step();
      if (restMs > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(pick(random, 0, 2000 * restMs)));
    }
  }

  /// Of calls that are waited for in place, by quarters. Read it when run() has returned.
  const std::array<Latencies, 4> &latencies() const { return latenciesOfQuarters; }

private:
  void step() {
    const auto index = static_cast<size_t>(pick(random, 0, engineCount - 1));
    switch (pick(random, 0, 9)) {
    case 0:
      return variables(index);
    case 1:
      return chain(index);
    case 2:
      return stopped(index);
    case 3:
      return afterFailure(index);
    default:
      return call(index, randomCall(random));
    }
  }

  std::optional<Function> find(size_t index, size_t module, const char *name) {
    std::shared_ptr<Module> loaded = stock.module(index, module);
    if (!loaded) {
      std::this_thread::yield(); // not loaded yet
      return std::nullopt;
    }
    StatusOr<Function> function = loaded->lookup(name);
    if (!function.ok()) {
      fail(std::string("no function ") + name);
      return std::nullopt;
    }
    return *function;
  }

  void expect(const Call &call, const char *how, const Status &status,
              std::span<const Value> results) {
    ++counts.calls;
    if (status.code() != call.expected)
      return fail(std::string(call.function) + ", " + how + ": " + status.toString());
    if (!status.ok())
      ++counts.refused;
    else if (!call.check(results))
      fail(std::string(call.function) + ", " + how + ": a wrong result");
  }

  void call(size_t index, const Call &call) {
    std::optional<Function> function = find(index, call.module, call.function);
    if (!function)
      return;
    CallOptions options;
    if (call.module == Pooled)
      options.pools = {{"sram", {pools[0].get(), poolBytes}},
                       {"dram", {pools[1].get(), poolBytes}}};
    std::vector<Buffer> outputs;
    if (pick(random, 0, 1) == 0)
      for (const std::vector<int64_t> &shape : call.outputs)
        outputs.push_back(makeBuffer(shape));
    options.outputs = outputs;
    std::unique_ptr<void, Free> workspace;
    if (pick(random, 0, 2) == 0)
      if (StatusOr<WorkspaceRequirement> need = function->workspaceRequirement(call.arguments);
          need.ok()) {
        const size_t bytes = (need->bytes / need->alignment + 1) * need->alignment;
        workspace.reset(std::aligned_alloc(need->alignment, bytes));
        options.workspace = {workspace.get(), bytes};
      }
    if (pick(random, 0, 2) == 0)
      return async(*function, call, options);
    const bool wantsResults = pick(random, 0, 1) == 0;
    std::vector<Value> into(function->signature().results.size());
    const auto start = std::chrono::steady_clock::now();
    if (wantsResults) {
      StatusOr<std::vector<Value>> results = function->call(call.arguments, options);
      latenciesOfQuarters[quarterNow].add(std::chrono::steady_clock::now() - start);
      expect(call, "called", results.status(), results.ok() ? *results : std::vector<Value>());
    } else {
      Status status = function->callInto(call.arguments, into, options);
      latenciesOfQuarters[quarterNow].add(std::chrono::steady_clock::now() - start);
      expect(call, "called into results", status, into);
    }
  }

  Priority priority() { return static_cast<Priority>(pick(random, 0, 2)); }

  void async(const Function &function, const Call &call, const CallOptions &options) {
    ++counts.async;
    Event event = function.callAsync(call.arguments, {.call = options, .priority = priority()});
    if (pick(random, 0, 1) == 0) {
      ++counts.callbacksWanted;
      event.then([&counts = counts](const Event &) { ++counts.callbacksCame; });
    }
    switch (pick(random, 0, 3)) {
    case 0: // a time-out, after which it is not wanted any more
      if (!event.waitFor(std::chrono::microseconds(pick(random, 0, 500))))
        event.cancel();
      if (event.wait().code() == StatusCode::Cancelled) {
        ++counts.cancelled;
        return;
      }
      break;
    case 1:
      while (!event.waitFor(1ms)) {
      }
      break;
    default:
      (void)event.wait();
    }
    expect(call, "asynchronous", event.status(), event.results());
  }

  /// Each doubles what the one before made; the handles of all but the last go at once.
  void chain(size_t index) {
    std::optional<Function> function = find(index, Vectors, "turns");
    if (!function)
      return;
    const int64_t n = pick(random, 0, 40), length = pick(random, 1, 20);
    Buffer buffer = makeBuffer({{n}}, std::vector<float>(static_cast<size_t>(n), 1.0f));
    Event last;
    for (int64_t i = 0; i < length; ++i) {
      Buffer next = makeBuffer({{n}});
      last = function->callAsync(std::vector<Value>{buffer, makeIndex(1)},
                                 {.call = {.outputs = {&next, 1}},
                                  .priority = priority(),
                                  .after = std::span(&last, last ? 1 : 0)});
      buffer = next;
    }
    Status status = last.wait();
    counts.async += length;
    counts.calls += length;
    const auto expected = static_cast<float>(int64_t(1) << length);
    if (!status.ok() || !equal(buffer, std::vector<float>(static_cast<size_t>(n), expected)))
      fail("a chain: " + status.toString());
  }

  /// What would not end.
  void stopped(size_t index) {
    std::optional<Function> function = find(index, Vectors, "turns");
    if (!function)
      return;
    const Call endless = turns(pick(random, 1, 20), forever, 1);
    Status status;
    // Who cancels an event needs it first: a worker must run its call.
    const bool mayCancel = index % 3 != 0;
    switch (pick(random, mayCancel ? 0 : 1, 2)) {
    case 0: {
      Event event = function->callAsync(endless.arguments, {.priority = priority()});
      Event next = function->callAsync(endless.arguments, {.after = std::span(&event, 1)});
      if (pick(random, 0, 1) == 0)
        (void)event.waitFor(std::chrono::microseconds(pick(random, 0, 300)));
      event.cancel();
      status = event.wait();
      if (next.wait().code() != StatusCode::Cancelled)
        fail("after a cancelled call: " + next.status().toString());
      break;
    }
    case 1:
      status = function->call(endless.arguments, {.stop = stopper.add()}).status();
      break;
    default:
      status = function
                   ->callAsync(endless.arguments,
                               {.call = {.stop = stopper.add()}, .priority = priority()})
                   .wait();
    }
    ++counts.calls;
    ++counts.cancelled;
    if (status.code() != StatusCode::Cancelled)
      fail("a stopped call: " + status.toString());
  }

  void afterFailure(size_t index) {
    std::optional<Function> fails = find(index, Vectors, "at"), good = find(index, Vectors, "sum");
    if (!fails || !good)
      return;
    std::array<Event, 2> before = {
        good->callAsync(std::vector<Value>{makeBuffer({{3}})}),
        fails->callAsync(std::vector<Value>{makeBuffer({{3}}), makeIndex(3)})};
    Event event = good->callAsync(std::vector<Value>{makeBuffer({{3}})}, {.after = before});
    ++counts.callbacksWanted;
    event.then([&counts = counts](const Event &) { ++counts.callbacksCame; });
    counts.calls += 3;
    if (event.wait().code() != StatusCode::FailedPrecondition || !before[0].wait().ok())
      fail("after a failed call: " + event.status().toString());
  }

  /// A stream of calls with variables of its own.
  void variables(size_t index) {
    std::shared_ptr<Module> module = stock.module(index, States);
    if (!module)
      return std::this_thread::yield();
    StatusOr<Function> add = module->lookup("add"), tick = module->lookup("tick");
    StatusOr<std::shared_ptr<ModuleState>> state = module->createState();
    if (!add.ok() || !tick.ok() || !state.ok())
      return fail("no state");
    float total = 10;
    Event last;
    for (int64_t i = 0, n = pick(random, 1, 10); i < n; ++i) {
      const auto x = static_cast<float>(pick(random, -5, 5));
      total += x;
      const std::vector<Value> arguments = {makeBuffer({{2}}, std::array{x, x})};
      last = add->callAsync(arguments, {.call = {.state = *state},
                                        .priority = priority(),
                                        .after = std::span(&last, last ? 1 : 0)});
      ++counts.calls;
    }
    if (!last.wait().ok() || !equal(last.results()[0], std::array{total, total}))
      fail("variables: " + last.status().toString());
    (*state)->reset();
    for (uint64_t i = 1; i <= 3; ++i)
      if (ticks(*tick, *state) != i)
        fail("a state ticks wrong");
    // The module's own is everybody's.
    const uint64_t before = ticks(*tick, nullptr), after = ticks(*tick, nullptr);
    if (after <= before)
      fail("a module ticks wrong");
  }

  uint64_t ticks(const Function &tick, const std::shared_ptr<ModuleState> &state) {
    ++counts.calls;
    StatusOr<std::vector<Value>> results = tick.call({}, {.state = state});
    return results.ok() ? std::get<Scalar>(results->at(0)).bits : 0;
  }

  Stock &stock;
  Stopper &stopper;
  Counts &counts;
  Random random;
  std::array<std::unique_ptr<void, Free>, 2> pools;
  std::array<Latencies, 4> latenciesOfQuarters;
};

/// One thread that loads and unloads. Every engine has one such thread.
class Loader {
public:
  Loader(Stock &stock, Counts &counts, uint64_t seed, std::vector<size_t> engines)
      : stock(stock), counts(counts), random(seed), engines(std::move(engines)) {}

  void fillAll() {
    for (size_t index : engines)
      fill(index);
  }

  void run() {
    while (!isOver) {
      const size_t index =
          engines[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(engines.size()) - 1))];
      const int64_t what = pick(random, 0, 19);
      std::shared_ptr<Engine> engine = stock.engine(index);
      if (!engine || what == 0)
        fill(index);
      else if (what == 1 && index == checkedEngine)
        stock.replaceEngine(index, nullptr); // for a while there is none
      else if (what == 2)
        engine->trimMemory();
      else if (what == 3)
        wrongSource(*engine);
      else if (what == 4)
        stock.replaceModule(index, static_cast<size_t>(pick(random, 0, moduleCount - 1)), engine,
                            nullptr);
      else
        load(index, engine, static_cast<size_t>(pick(random, 0, moduleCount - 1)));
      std::this_thread::sleep_for(std::chrono::milliseconds(pick(random, 0, 100 + 200 * restMs)));
    }
  }

private:
  void fill(size_t index) {
    std::shared_ptr<Engine> engine = stock.makeEngine(index);
    ++counts.engines;
    stock.replaceEngine(index, engine);
    for (size_t module = 0; module < moduleCount && engine && !hasFailed; ++module)
      load(index, engine, module);
  }

  void load(size_t index, const std::shared_ptr<Engine> &engine, size_t module) {
    LoadOptions options;
    if (index != checkedEngine && pick(random, 0, 2) == 0)
      options.policy = pick(random, 0, 1) ? "workspace" : "heap";
    options.oracle = pick(random, 0, 9) == 0;
    StatusOr<std::shared_ptr<Module>> loaded = engine->load(sourceOf(module), "soak.mlir", options);
    ++counts.loads;
    if (!loaded.ok())
      return fail("module " + std::to_string(module) + ": " + loaded.status().toString());
    stock.replaceModule(index, module, engine, *loaded);
  }

  static void wrongSource(Engine &engine) {
    Status status =
        engine.load("func.func @f(%x: tensor<3xf32>) -> f32 { return %x : f32 }", "wrong.mlir")
            .status();
    if (status.code() != StatusCode::InvalidArgument)
      fail("a wrong source: " + status.toString());
  }

  Stock &stock;
  Counts &counts;
  Random random;
  const std::vector<size_t> engines;
};

/// What the process holds.
struct Footprint {
  double residentMiB = 0, mappings = 0, threads = 0, descriptors = 0;

  static Footprint now() {
    Footprint print;
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    print.residentMiB =
        static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
    std::ifstream maps("/proc/self/maps");
    print.mappings = static_cast<double>(
        std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
    print.threads = entries("/proc/self/task");
    print.descriptors = entries("/proc/self/fd");
    return print;
  }
  void print(const char *when) const {
    std::printf("%s: %.0f MiB resident, %.0f mappings, %.0f threads, %.0f descriptors\n", when,
                residentMiB, mappings, threads, descriptors);
    std::fflush(stdout);
  }

private:
  static double entries(const char *folder) {
    std::error_code error; // of a thread that ends while it is listed
    auto begin = std::filesystem::directory_iterator(folder, error);
    return static_cast<double>(std::distance(begin, {}));
  }
};

Footprint mean(std::span<const Footprint> samples) {
  Footprint sum;
  const auto count = static_cast<double>(samples.size());
  for (const Footprint &each : samples) {
    sum.residentMiB += each.residentMiB / count;
    sum.mappings += each.mappings / count;
    sum.threads += each.threads / count;
    sum.descriptors += each.descriptors / count;
  }
  return sum;
}

void expectNoGrowth(const char *what, double before, double after, double allowed) {
  if (after > before + allowed)
    fail(std::string(what) + " grew from " + std::to_string(before) + " to " +
         std::to_string(after));
}

void soakFor(std::chrono::seconds duration, uint64_t seed, int threads, const std::string &folder) {
  Stock stock(folder);
  Stopper stopper;
  Counts counts;
  std::array loaders = {Loader(stock, counts, seed + 1, {0, 1}),
                        Loader(stock, counts, seed + 2, {2, checkedEngine})};
  {
    std::jthread first([&] { loaders[0].fillAll(); });
    loaders[1].fillAll();
  }
  std::vector<Footprint> samples;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < threads; ++i)
    callers.push_back(
        std::make_unique<Caller>(stock, stopper, counts, seed + 100 + static_cast<uint64_t>(i)));
  {
    std::vector<std::jthread> running;
    std::atomic<bool> areDone{false};
    std::jthread stops([&] { // until nobody waits any more
      for (; !areDone; std::this_thread::sleep_for(2ms))
        stopper.drain();
    });
    for (const std::unique_ptr<Caller> &caller : callers)
      running.emplace_back([&] { caller->run(); });
    for (Loader &loader : loaders)
      running.emplace_back([&] { loader.run(); });
    const auto start = std::chrono::steady_clock::now();
    auto nextPrint = start;
    while (!isOver && std::chrono::steady_clock::now() < start + duration) {
      std::this_thread::sleep_for(200ms);
      const auto passed = std::chrono::steady_clock::now() - start;
      quarterNow = std::min<size_t>(3, static_cast<size_t>(4 * passed / duration));
      samples.push_back(Footprint::now());
      if (std::chrono::steady_clock::now() >= nextPrint) {
        nextPrint += duration / 6;
        samples.back().print("running");
      }
    }
    isOver = true;
    running.clear();
    areDone = true;
  }
  // Callbacks come after the calls' ends are seen.
  for (int i = 0; i < 5000 && counts.callbacksCame < counts.callbacksWanted; ++i)
    std::this_thread::sleep_for(1ms);
  if (counts.callbacksCame != counts.callbacksWanted)
    fail("callbacks came " + std::to_string(counts.callbacksCame) + " times of " +
         std::to_string(counts.callbacksWanted));

  std::printf("%lld calls, of them %lld by themselves, %lld cancelled, %lld that must fail; "
              "%lld loads, %lld engines\n",
              static_cast<long long>(counts.calls), static_cast<long long>(counts.async),
              static_cast<long long>(counts.cancelled), static_cast<long long>(counts.refused),
              static_cast<long long>(counts.loads), static_cast<long long>(counts.engines));
  for (size_t i = 0; i < engineCount; ++i)
    if (std::shared_ptr<Engine> engine = stock.engine(i)) {
      const runtime::MemoryPoolStatistics memory = engine->memoryStatistics().total();
      std::printf("engine %zu: %llu bytes live, %llu kept, %llu allocations, %llu reused\n", i,
                  static_cast<unsigned long long>(memory.liveBytes),
                  static_cast<unsigned long long>(memory.keptBytes),
                  static_cast<unsigned long long>(memory.allocations),
                  static_cast<unsigned long long>(memory.poolHits));
      // Results are gone; what is left are workspaces and the variables of modules.
      if (engine->memoryStatistics().buffers.liveBytes > 64 * 1024)
        fail("buffers of calls are left");
    }
  std::array<Latencies, 4> latencies;
  for (const std::unique_ptr<Caller> &caller : callers)
    for (size_t i = 0; i < latencies.size(); ++i)
      latencies[i] += caller->latencies()[i];
  for (const Latencies &quarter : latencies)
    std::printf("calls of a quarter of the time: half within %.1f us, 99%% within %.1f us, 99.9%% "
                "within %.1f us\n",
                quarter.quantile(0.5), quarter.quantile(0.99), quarter.quantile(0.999));
  if (duration >= 30min && !isSanitized && !hasFailed)
    expectNoGrowth("the 99th percentile of the times of calls (us)", latencies[1].quantile(0.99),
                   latencies[3].quantile(0.99), 0.1 * latencies[1].quantile(0.99));
  if (duration >= 60s && !hasFailed) {
    const size_t quarter = samples.size() / 4;
    const Footprint third = mean(std::span(samples).subspan(2 * quarter, quarter)),
                    last = mean(std::span(samples).subspan(3 * quarter, quarter));
    third.print("third quarter");
    last.print("last quarter");
    if (!isSanitized)
      expectNoGrowth("resident memory (MiB)", third.residentMiB, last.residentMiB,
                     0.05 * third.residentMiB);
    expectNoGrowth("the number of mappings", third.mappings, last.mappings,
                   0.1 * third.mappings + 50);
    expectNoGrowth("the number of threads", third.threads, last.threads, 4);
    expectNoGrowth("the number of descriptors", third.descriptors, last.descriptors, 4);
  }
}

} // namespace

int main(int argc, char **argv) {
  long long seconds = 5;
  uint64_t seed = std::random_device{}();
  int threads = 8;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    char *end = nullptr;
    const unsigned long long number = std::strtoull(value, &end, 0);
    if (*value == 0 || *end != 0 ||
        (option != "--seconds" && option != "--seed" && option != "--threads" &&
         option != "--rest")) {
      std::fprintf(stderr, "usage: soak [--seconds N] [--seed S] [--threads T] [--rest MS]\n");
      return 2;
    }
    if (option == "--seconds")
      seconds = static_cast<long long>(number);
    else if (option == "--seed")
      seed = number;
    else if (option == "--threads")
      threads = static_cast<int>(number);
    else
      restMs = static_cast<int64_t>(number);
  }
  std::printf("soak: seed %llu, %lld seconds, %d threads\n", static_cast<unsigned long long>(seed),
              seconds, threads);
  std::fflush(stdout);
  std::string folder = std::filesystem::temp_directory_path() / "plim.soak.XXXXXX";
  if (!mkdtemp(folder.data())) {
    std::perror("soak: no folder for the cache");
    return 1;
  }
  // What the libraries open once is open.
  Stock(folder).makeEngine(1);
  const Footprint before = Footprint::now();
  before.print("before");
  soakFor(std::chrono::seconds(seconds), seed, threads, folder);
  // Threads of oneTBB end when they come to it, and what they or the C library have open then is no leak.
  Footprint after = Footprint::now();
  for (int wait = 0; wait < 100 && after.descriptors > before.descriptors; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    after = Footprint::now();
  }
  after.print("after");
  // A sanitizer that compares a name with its suppressions talks to another process, through two pipes.
  expectNoGrowth("the number of descriptors", before.descriptors, after.descriptors,
                 isSanitized ? 2 : 0);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (hasFailed)
    std::fprintf(stderr, "soak: failed with --seed %llu\n", static_cast<unsigned long long>(seed));
  return hasFailed ? 1 : 0;
}
