#include "bench/policies/Race.h"

#include "bench/harness/Contest.h"
#include "bench/policies/Rounding.h"
#include "tools/Text.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <pthread.h>
#include <span>
#include <sys/mman.h>
#include <sys/resource.h>

namespace plim::bench {

using runtime::Buffer;
using runtime::Value;
using tools::PoolPtr;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Arguments

/// "2x3xf32=rnd:7" for an argument that nobody gave.
StatusOr<std::string> randomText(const jit::FunctionSignature &signature, size_t index) {
  const jit::ValueType &type = signature.arguments[index];
  auto isDynamic = [](int64_t extent) { return extent < 0; };
  if (!type.isShaped || std::ranges::any_of(type.shape, isDynamic))
    return invalidArgumentError("argument #" + std::to_string(index) + " is " + toString(type) +
                                ": give it, and those before it, with --input");
  return toString(type) + "=rnd:" + std::to_string(index + 1);
}

/// The arguments of a call, made anew: what one call leaves in them another does not see.
StatusOr<std::vector<Value>>
makeInputs(const Workload &workload, const jit::FunctionSignature &signature, const PoolPtr &pool) {
  tools::CallText call = workload.call;
  for (size_t i = call.inputs.size(); i < signature.arguments.size(); ++i) {
    PLIM_ASSIGN_OR_RETURN(std::string text, randomText(signature, i));
    call.inputs.push_back(std::move(text));
  }
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> inputs, tools::readInputs(call, pool));
  PLIM_RETURN_IF_ERROR(tools::adaptScalars(signature, pool, inputs));
  return inputs;
}

// The stack

/// Runs job() on a thread with a stack of its own and tells how deep it was used below the job.
template <typename JobT> class StackGauge {
public:
  static constexpr size_t stackBytes = size_t(8) << 20;

  explicit StackGauge(JobT job) : job(std::move(job)) {}

  /// -1 if there is no such thread.
  int64_t measure() {
    void *memory = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
      return -1;
    bottom = static_cast<unsigned char *>(memory);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    if (pthread_attr_setstack(&attributes, memory, stackBytes) == 0 &&
        pthread_create(&thread, &attributes, &StackGauge::main, this) == 0)
      pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    munmap(memory, stackBytes);
    return used;
  }

private:
  static constexpr unsigned char paint = 0xA7;

  static void *main(void *self) {
    static_cast<StackGauge *>(self)->run();
    return nullptr;
  }

  [[gnu::noinline]] void run() {
    job(); // whatever a thread does once
    auto *top = static_cast<unsigned char *>(__builtin_frame_address(0)) - 1024;
    std::memset(bottom, paint, static_cast<size_t>(top - bottom));
    job();
    const unsigned char *lowest =
        std::find_if(bottom, top, [](auto byte) { return byte != paint; });
    used = top - lowest + 1024;
  }

  JobT job;
  unsigned char *bottom = nullptr;
  int64_t used = -1;
};

// The race

class Runner {
public:
  /// No policy: the oracle.
  static StatusOr<Runner> create(const Workload &workload, const std::string &policy, int threads,
                                 const Parameters &parameters, const PoolPtr &pool) {
    tools::ModuleOptions options;
    options.threads = threads;
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, tools::makeEngine(options));
    LoadOptions load;
    load.policy = policy;
    load.oracle = policy.empty();
    load.parameters = parameters;
    std::vector<Buffer> memories;
    PLIM_ASSIGN_OR_RETURN(load.pools, tools::makePools(workload.call, pool, memories));
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                          engine->load(workload.source, workload.name, load));
    PLIM_ASSIGN_OR_RETURN(Function function, tools::chooseFunction(*module, workload.call));
    Lap lap;
    lap.policy = policy;
    std::vector<Value> results(function.signature().results.size());
    return Runner{std::move(engine),
                  std::move(memories),
                  std::move(module),
                  std::move(function),
                  std::move(results),
                  std::move(lap),
                  {},
                  {}};
  }

  Status call(std::span<const Value> inputs) { return function.callInto(inputs, results); }

  Status burst(std::span<const Value> inputs, int64_t calls) {
    // Touched already: page faults shall be those of the calls.
    std::vector<double> seconds(static_cast<size_t>(calls), 0.0);
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uint64_t allocations = engine->memoryStatistics().total().allocations;
    for (double &each : seconds) {
      auto start = Clock::now();
      PLIM_RETURN_IF_ERROR(call(inputs));
      each = secondsSince(start);
    }
    lap.allocations +=
        static_cast<double>(engine->memoryStatistics().total().allocations - allocations);
    getrusage(RUSAGE_SELF, &after);
    lap.pageFaults += static_cast<double>(after.ru_minflt - before.ru_minflt + after.ru_majflt -
                                          before.ru_majflt);
    times.insert(times.end(), seconds.begin(), seconds.end());
    medians.push_back(quantile(std::move(seconds), 0.5));
    return okStatus();
  }

  /// Adds up the bursts.
  Lap finish(const Runner &first) {
    lap.calls = static_cast<int64_t>(times.size());
    lap.medianSeconds = quantile(times, 0.5);
    lap.p99Seconds = quantile(times, 0.99);
    lap.pageFaults /= static_cast<double>(lap.calls);
    lap.allocations /= static_cast<double>(lap.calls);
    std::vector<double> ratios;
    for (size_t i = 0; i < medians.size(); ++i)
      ratios.push_back(medians[i] / first.medians[i]);
    lap.versusFirst = quantile(ratios, 0.5);
    lap.versusSpread = quantile(ratios, 0.75) - quantile(ratios, 0.25);
    EngineMemoryStatistics memory = engine->memoryStatistics();
    lap.workspaceBytes = memory.workspaces.peakBytes + memory.scratch.peakBytes;
    lap.heapBytes = memory.buffers.peakBytes;
    return lap;
  }

  std::shared_ptr<Engine> engine;
  std::vector<Buffer> memories; // of the pools
  std::shared_ptr<Module> module;
  Function function;
  std::vector<Value> results;
  Lap lap;
  std::vector<double> times;   // of calls
  std::vector<double> medians; // of bursts
};

// The check

/// Extents of the arguments that the source may leave open.
int64_t largestExtent(std::span<const Value> inputs) {
  int64_t largest = 1;
  for (const Value &input : inputs)
    if (const auto *buffer = std::get_if<Buffer>(&input); buffer && !buffer->shape().empty())
      largest = std::max(largest, std::ranges::max(buffer->shape()));
  return largest;
}

/// What the oracle makes of a call, and how far from that rounding may bring it.
struct Reference {
  std::vector<Value> values; // arguments, then results
  std::vector<double> bounds;
};

/// The arguments, and what the call makes of them.
StatusOr<std::vector<Value>> valuesOf(Runner &runner, std::vector<Value> inputs) {
  CallOptions options;
  PLIM_ASSIGN_OR_RETURN(options.state, runner.module->createState());
  std::vector<Value> results(runner.results.size());
  PLIM_RETURN_IF_ERROR(runner.function.callInto(inputs, results, options));
  std::ranges::move(results, std::back_inserter(inputs));
  return inputs;
}

std::string nameOf(const jit::FunctionSignature &signature, size_t value) {
  const size_t arguments = signature.arguments.size();
  return value < arguments ? "argument #" + std::to_string(value)
                           : "result #" + std::to_string(value - arguments);
}

StatusOr<Reference> makeReference(const Workload &workload, const Parameters &parameters,
                                  const PoolPtr &pool) {
  PLIM_ASSIGN_OR_RETURN(Runner oracle, Runner::create(workload, "", 1, parameters, pool));
  const jit::FunctionSignature &signature = oracle.function.signature();
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> inputs, makeInputs(workload, signature, pool));
  PLIM_ASSIGN_OR_RETURN(double rounding,
                        relativeRounding(workload.source, workload.name, largestExtent(inputs)));
  // Twice what is expected.
  rounding *= 2;
  Reference reference;
  PLIM_ASSIGN_OR_RETURN(reference.values, valuesOf(oracle, std::move(inputs)));
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> shaken, makeInputs(workload, signature, pool));
  PLIM_RETURN_IF_ERROR(shake(shaken, rounding));
  PLIM_ASSIGN_OR_RETURN(shaken, valuesOf(oracle, std::move(shaken)));
  for (size_t i = 0; i < reference.values.size(); ++i) {
    StatusOr<Distance> moved = distanceOf(shaken[i], reference.values[i]);
    // Extents that depend on values.
    if (!moved.ok())
      return moved.status().withContext(nameOf(signature, i));
    reference.bounds.push_back(moved->isOfIntegers ? 0 : moved->most + rounding * moved->magnitude);
  }
  return reference;
}

/// Notes how far the policy's values are from the oracle's. Internal, if that is more than rounding explains.
Status check(Runner &runner, const Workload &workload, const Reference &reference,
             const PoolPtr &pool) {
  const jit::FunctionSignature &signature = runner.function.signature();
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> values, makeInputs(workload, signature, pool));
  PLIM_ASSIGN_OR_RETURN(values, valuesOf(runner, std::move(values)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < signature.arguments.size() && !signature.arguments[i].isMemref)
      continue;
    StatusOr<Distance> distance = distanceOf(values[i], reference.values[i]);
    if (!distance.ok())
      return distance.status().withContext(nameOf(signature, i));
    const double bound = reference.bounds[i];
    if (distance->most > bound)
      return internalError(nameOf(signature, i) + " is not the oracle's: element " +
                           std::to_string(distance->element) + " is " +
                           tools::formatNumber(distance->have) + " instead of " +
                           tools::formatNumber(distance->want) + ", " +
                           tools::formatNumber(distance->most) + " away; rounding explains " +
                           tools::formatNumber(bound));
    // The one nearest to its bound.
    if (distance->most * runner.lap.differenceBound >= runner.lap.difference * bound) {
      runner.lap.difference = distance->most;
      runner.lap.differenceBound = bound;
    }
  }
  return okStatus();
}

} // namespace

StatusOr<std::vector<Lap>> race(const Workload &workload, const RaceOptions &options) {
  auto pool = std::make_shared<runtime::MemoryPool>();
  PLIM_ASSIGN_OR_RETURN(Parameters parameters, tools::readParameters(workload.call, pool));

  PLIM_ASSIGN_OR_RETURN(Reference reference, makeReference(workload, parameters, pool));

  std::vector<Runner> runners;
  for (const std::string &policy : options.policies) {
    StatusOr<Runner> runner = Runner::create(workload, policy, options.threads, parameters, pool);
    if (!runner.ok())
      return runner.status().withContext("policy " + policy);
    if (Status status = check(*runner, workload, reference, pool); !status.ok())
      return status.withContext("policy " + policy);
    runners.push_back(std::move(*runner));
  }

  // One set of arguments for all: where they lie in memory must not favour anyone.
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> inputs,
                        makeInputs(workload, runners.front().function.signature(), pool));
  double slowest = 0;
  for (Runner &runner : runners) {
    Status status;
    StackGauge gauge([&] {
      if (status.ok())
        status = runner.call(inputs);
    });
    runner.lap.stackBytes = gauge.measure();
    PLIM_RETURN_IF_ERROR(status);
    PLIM_RETURN_IF_ERROR(runner.call(inputs));
    auto start = Clock::now();
    PLIM_RETURN_IF_ERROR(runner.call(inputs));
    slowest = std::max(slowest, secondsSince(start));
  }

  // Long enough bursts that the caches are the policy's own, short enough for many rounds.
  constexpr double burstSeconds = 2e-3;
  constexpr int minRounds = 9;
  auto calls = static_cast<int64_t>(std::clamp(burstSeconds / slowest, 3.0, 5000.0));
  auto start = Clock::now();
  for (size_t round = 0; round < minRounds || secondsSince(start) < options.seconds; ++round)
    for (size_t i = 0; i < runners.size(); ++i)
      PLIM_RETURN_IF_ERROR(runners[(round + i) % runners.size()].burst(inputs, calls));
  std::vector<Lap> laps;
  for (Runner &runner : runners)
    laps.push_back(runner.finish(runners[0]));
  return laps;
}

} // namespace plim::bench
