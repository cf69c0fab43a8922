#include "engine/session/Engine.h"

#include "engine/runtime/RuntimeSymbols.h"
#include "engine/session/EngineDevices.h"
#include "engine/session/State.h"
#include "jit/CompilerIdentity.h"
#include "targets/AllocationOptions.h"
#include "targets/Resolve.h"
#include "targets/host/Host.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace plim {

using runtime::Buffer;
using namespace session;

namespace {

/// More than machines have, and what each takes in memory adds up.
constexpr int maxThreads = 1024;

targets::TargetDescription withoutTiles(targets::TargetDescription target) {
  targets::DeviceDescription &device = target.devices[0];
  for (const std::string &feature : std::vector(device.features))
    if (feature.starts_with("+amx-"))
      device.setFeature(feature.substr(1), false);
  return target;
}

runtime::MemoryPoolStatistics sumOf(runtime::MemoryPoolStatistics a,
                                    const runtime::MemoryPoolStatistics &b) {
  a.liveBytes += b.liveBytes;
  a.peakBytes += b.peakBytes;
  a.keptBytes += b.keptBytes;
  a.allocations += b.allocations;
  a.poolHits += b.poolHits;
  return a;
}

} // namespace

runtime::MemoryPoolStatistics EngineMemoryStatistics::total() const {
  return sumOf(sumOf(buffers, workspaces), scratch);
}

Engine::Engine() : state(std::make_unique<State>()) {}
Engine::~Engine() = default;

StatusOr<std::shared_ptr<Engine>> Engine::create(EngineOptions options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  PLIM_RETURN_IF_ERROR(targets::checkPolicy(options.policy));
  for (const std::string &limit : options.limits)
    PLIM_RETURN_IF_ERROR(targets::parseLimit(limit).status());
  std::shared_ptr<Engine> engine(new Engine());
  State &state = *engine->state;
  std::vector<Status> warnings;
  if (options.description) {
    PLIM_RETURN_IF_ERROR(targets::verify(*options.description));
    state.target = *options.description;
  } else {
    PLIM_ASSIGN_OR_RETURN(
        state.target, targets::resolveTarget(options.target, options.targetOverrides, &warnings));
  }
  PLIM_RETURN_IF_ERROR(session::addDevices(options.devices, state.target));
  state.gpus = session::addGpus(options.devices, state.target);
  bool isHost = !options.description && (options.target == "host" || options.target == "host-cpu");
  if (isHost && options.targetOverrides.empty() && options.devices.empty() && state.gpus.empty()) {
    state.host = state.target;
  } else {
    PLIM_ASSIGN_OR_RETURN(state.host, targets::resolveTarget("host-cpu", {}, &warnings));
  }
  for (const Status &warning : warnings)
    options.logger.log(LogLevel::Warning, warning.toString());
  if (state.host.devices[0].hasFeature("amx-tile") &&
      state.target.devices[0].hasFeature("amx-tile")) {
    state.tiles.emplace(targets::requestTiles);
    state.targetWithoutTiles = withoutTiles(state.target);
  }
  if (!options.allocator.allocate != !options.allocator.release)
    return invalidArgumentError("an allocator needs both allocate and release");
  runtime::MemoryPoolOptions pool;
  pool.allocator = options.allocator;
  if (options.checked) {
    state.guarded = pool.guarded = std::make_shared<runtime::GuardedMemory>();
    state.handlers.emplace();
  }
  for (const targets::MemoryDescription &memory : state.target.memories)
    if (memory.kind == targets::MemoryKind::Host && pool.memory.empty())
      pool.memory = memory.name;
  state.pool = std::make_shared<runtime::MemoryPool>(pool);
  pool.maxKeptBytes = std::numeric_limits<size_t>::max();
  state.slabs = std::make_unique<runtime::MemoryPool>(pool);
  state.scratch = std::make_shared<runtime::MemoryPool>(pool);
  pool.reuse = false;
  state.heap = std::make_shared<runtime::MemoryPool>(pool);
  PLIM_RETURN_IF_ERROR(runtime::Executor::check(options.workers));
  if (options.threads > maxThreads)
    return invalidArgumentError(std::to_string(options.threads) + " threads, more than " +
                                std::to_string(maxThreads));
  // The description of this machine knows of quotas that oneTBB does not; the target may be another one.
  int threads = options.threads > 0 ? options.threads
                                    : static_cast<int>(state.host.devices[0].hardwareThreads);
  auto memoryUse = [&state] {
    auto live = [](const runtime::MemoryPool &pool) {
      return static_cast<int64_t>(pool.liveBytes());
    };
    return Profiler::MemoryUse{live(*state.pool) + live(*state.heap), live(*state.slabs),
                               live(*state.scratch)};
  };
  state.executor = std::make_unique<runtime::Executor>(
      state.scratch, runtime::ExecutorOptions{.threads = threads,
                                              .workers = options.workers,
                                              .profiler = options.profiler.get(),
                                              .memoryUse = memoryUse});
  state.loads.emplace(size_t(state.executor->threads()));
  std::vector<jit::HostSymbol> symbols;
  for (const runtime::RuntimeSymbol &symbol : runtime::runtimeSymbols())
    symbols.push_back({symbol.name, symbol.address});
  PLIM_ASSIGN_OR_RETURN(state.session, jit::Session::create(symbols, {.debugger = options.debugger,
                                                                      .perfMap = options.perfMap}));
  if (options.compileWorkers) {
    for (unsigned count : {options.compileWorkers->processes, options.compileWorkers->threads})
      if (count > unsigned(maxThreads))
        return invalidArgumentError(std::to_string(count) + " compile workers, more than " +
                                    std::to_string(maxThreads));
    jit::WorkerOptions workers = *options.compileWorkers;
    for (unsigned *count : {&workers.processes, &workers.threads})
      if (*count == 0)
        *count = unsigned(state.executor->threads());
    state.compileWorkers.emplace(std::move(workers));
  }
  if (!options.cacheFolder.empty()) {
    state.compiledTarget = State::keyOf(state.target);
    if (state.tiles)
      state.compiledTargetWithoutTiles = State::keyOf(state.targetWithoutTiles);
    // Without a program nothing is compiled.
    if (state.compileWorkers && state.compileWorkers->program().ok())
      state.workerIdentity = jit::identityOfFile(*state.compileWorkers->program());
    StatusOr<jit::ArtifactCache> cache =
        jit::ArtifactCache::open(options.cacheFolder, options.cacheBytes);
    if (jit::compilerIdentity().empty())
      cache = unavailableError("the cache is not used: which build this is cannot be found out");
    if (cache.ok())
      state.cache = std::move(*cache);
    else
      options.logger.log(LogLevel::Warning, cache.status().toString());
  }
  state.options = std::move(options);
  return engine;
}

const targets::TargetDescription &Engine::target() const { return state->target; }
const EngineOptions &Engine::options() const { return state->options; }
int Engine::threads() const { return state->executor->threads(); }

StatusOr<Buffer> Engine::allocate(runtime::ElementType type, std::span<const int64_t> shape) const {
  return Buffer::allocate(state->pool, type, shape);
}

EngineMemoryStatistics Engine::memoryStatistics() const {
  EngineMemoryStatistics result = {sumOf(state->pool->statistics(), state->heap->statistics()),
                                   state->slabs->statistics(), state->scratch->statistics()};
  // Arenas that wait hold their chunks.
  uint64_t kept =
      std::min<uint64_t>(state->executor->scratchCache().keptBytes(), result.scratch.liveBytes);
  result.scratch.liveBytes -= kept;
  result.scratch.keptBytes += kept;
  return result;
}

void Engine::trimMemory() {
  state->executor->scratchCache().trim();
  for (runtime::MemoryPool *pool : {state->pool.get(), state->slabs.get(), state->scratch.get()})
    pool->trim();
}

} // namespace plim
