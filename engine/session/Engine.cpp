#include "engine/session/Engine.h"

#include "engine/io/File.h"
#include "engine/runtime/RuntimeSymbols.h"
#include "engine/session/Arrange.h"
#include "engine/session/State.h"
#include "jit/ArtifactFile.h"
#include "jit/CompilerIdentity.h"
#include "jit/WorkerRequest.h"
#include "support/Hash.h"
#include "support/Nearest.h"
#include "targets/AllocationOptions.h"
#include "targets/Resolve.h"
#include "targets/host/Host.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

namespace plim {

using jit::DataKind;
using jit::DataSymbol;
using jit::FunctionSignature;
using runtime::Buffer;
using namespace session;

namespace {

/// More than machines have, and what each takes in memory adds up.
constexpr int maxThreads = 1024;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

targets::TargetDescription withoutTiles(targets::TargetDescription target) {
  targets::DeviceDescription &device = target.devices[0];
  for (const std::string &feature : std::vector(device.features))
    if (feature.starts_with("+amx-"))
      device.setFeature(feature.substr(1), false);
  return target;
}

/// The part of a triple that decides whether code can run at all.
std::string_view architectureOf(std::string_view triple) {
  return triple.substr(0, triple.find('-'));
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

/// What the module's parameters are bound to: copies, which `parameters` then has instead, where code reads what is not
/// aligned, and without those that nothing reads. One that the module does not have is told of first: mostly it is the misspelt
/// name of one that then is missing.
StatusOr<std::vector<jit::DataBinding>> bindParameters(const jit::Artifact &artifact,
                                                       Parameters &parameters) {
  std::vector<std::string> names;
  for (const DataSymbol &symbol : artifact.symbols)
    if (symbol.kind == DataKind::Parameter)
      names.push_back(symbol.name);
  for (const std::string &name : artifact.unreadParameters) {
    names.push_back(name);
    parameters.erase(name);
  }
  for (const auto &[name, buffer] : parameters)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return invalidArgumentError(artifact.source + ": the module has no parameter '" + name + "'" +
                                  suggestion(name, names));
  std::vector<jit::DataBinding> bindings;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (symbol.kind != DataKind::Parameter)
      continue;
    const std::string what = symbol.location + "parameter '" + symbol.name + "'";
    auto it = parameters.find(symbol.name);
    if (it == parameters.end() || !it->second)
      return errorAtPlace(StatusCode::FailedPrecondition,
                          what + " of type " + toString(symbol.type) + " is not bound");
    Buffer &buffer = it->second;
    if (elementTypeName(buffer.type()) != symbol.type.element ||
        !shapeFits(symbol.type, buffer.shape()) || !stridesFit(symbol.type, buffer))
      return errorAtPlace(StatusCode::InvalidArgument,
                          what + " is " + typeName(buffer) + expected(symbol.type, &buffer));
    if (!symbol.isSourceOnly) {
      PLIM_ASSIGN_OR_RETURN(buffer, session::aligned(buffer));
    }
    bindings.emplace_back(symbol.name, buffer.data());
  }
  return bindings;
}

/// Constants that live in pools, by the symbol, and where each will be.
using PinnedConstants = std::vector<std::pair<const DataSymbol *, std::byte *>>;

/// Gives them the ends of the pools, which become as much smaller. `taken` receives those ends.
StatusOr<PinnedConstants> reserveConstants(const jit::Artifact &artifact, Pools &pools,
                                           std::vector<HostMemory> &taken) {
  std::map<std::string, size_t> needs;
  for (const DataSymbol &symbol : artifact.symbols)
    if (!symbol.pool.empty())
      needs[symbol.pool] += roundUp(symbol.bytes);
  std::map<std::string, std::byte *> next;
  for (const auto &[name, need] : needs) {
    auto pool = pools.find(name);
    if (pool == pools.end())
      return failedPreconditionError("pool '" + name + "' holds " + std::to_string(need) +
                                     " bytes of constants of " + artifact.source +
                                     ": bind it when the module is loaded");
    constexpr size_t alignment = PLIM_BUFFER_ALIGNMENT;
    HostMemory &memory = pool->second;
    if (memory.bytes < need)
      return resourceExhaustedError("pool '" + name + "' has " + std::to_string(memory.bytes) +
                                    " bytes, but the constants of " + artifact.source +
                                    " there need " + std::to_string(need) + ": " +
                                    std::to_string(need - memory.bytes) + " are missing");
    memory.bytes = (memory.bytes - need) / alignment * alignment;
    next[name] = static_cast<std::byte *>(memory.data) + memory.bytes;
    for (const HostMemory &other : taken)
      if (overlap(other, {next[name], need}))
        return invalidArgumentError("pool '" + name +
                                    "' overlaps another one that holds constants");
    if (need != 0)
      taken.push_back({next[name], need});
  }
  PinnedConstants pinned;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (symbol.pool.empty())
      continue;
    std::byte *&address = next[symbol.pool];
    pinned.emplace_back(&symbol, address);
    address += roundUp(symbol.bytes);
  }
  return pinned;
}

/// That of an element.
size_t alignmentOf(const DataSymbol &symbol) {
  int64_t count = 1;
  for (int64_t extent : symbol.type.shape)
    count *= extent;
  auto element = static_cast<size_t>(count == 0 ? 1 : symbol.bytes / count);
  return std::min(std::bit_floor(std::max(element, size_t{1})), roundUp(1));
}

/// Binds constants and parameters, but for those in pools, to copies between guards, which `data` comes to
/// own. Nothing can write to them.
Status guardData(const jit::Artifact &artifact, std::vector<jit::DataBinding> &bindings,
                 GuardedData &data) {
  const std::vector<jit::DataBinding> bound = std::exchange(bindings, {});
  const std::map<std::string_view, const void *> parameters(bound.begin(), bound.end());
  for (const DataSymbol &symbol : artifact.symbols) {
    if (!symbol.pool.empty() || symbol.kind == DataKind::Variable)
      continue;
    const auto bytes = static_cast<size_t>(symbol.bytes);
    const void *contents = nullptr;
    if (symbol.kind == DataKind::Parameter)
      contents = parameters.at(symbol.name);
    else if (std::optional<std::string_view> initial = contentsOf(artifact, symbol))
      contents = initial->data();
    const char *kind = symbol.kind == DataKind::Parameter ? "parameter '" : "constant '";
    std::string name = kind + symbol.name + "'";
    void *block = data.add(contents, bytes, alignmentOf(symbol), name);
    if (!block)
      return resourceExhaustedError("no memory for a guarded copy of " + name);
    bindings.emplace_back(symbol.name, block);
  }
  return okStatus();
}

/// Arranges in parts, after each of which the pages of files that it read go: at no time is all of a file in memory that
/// was arranged.
void arrangeInParts(std::span<const ArrangedData> data, const Parameters &parameters,
                    const jit::ParallelFor &parallelFor) {
  constexpr int64_t partBytes = int64_t(64) << 20;
  while (!data.empty()) {
    size_t count = 0;
    for (int64_t bytes = 0; count < data.size() && bytes < partBytes; ++count)
      bytes += data[count].symbol->bytes;
    arrange(data.first(count), parallelFor);
    for (const ArrangedData &each : data.first(count))
      if (auto it = parameters.find(each.source->name);
          each.source->kind == DataKind::Parameter && it != parameters.end())
        io::dropPages(it->second);
    data = data.subspan(count);
  }
}

/// What there is to arrange in the memory of a module.
std::vector<ArrangedData> arrangedData(const jit::Artifact &artifact,
                                       const std::vector<jit::DataBinding> &bindings,
                                       const jit::LinkedModule &module) {
  std::map<std::string_view, const DataSymbol *> symbols;
  for (const DataSymbol &symbol : artifact.symbols)
    symbols[symbol.name] = &symbol;
  const std::map<std::string_view, const void *> bound(bindings.begin(), bindings.end());
  std::vector<ArrangedData> data;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (!symbol.arrangement)
      continue;
    const DataSymbol &source = *symbols.at(symbol.arrangement->source);
    ArrangedData &each = data.emplace_back();
    each = {&symbol, &source, nullptr, module.prepared(symbol.name)};
    if (auto binding = bound.find(source.name); binding != bound.end())
      each.from = binding->second;
    else if (std::optional<std::string_view> contents = contentsOf(artifact, source))
      each.from = contents->data();
  }
  return data;
}

/// Lets go of parameters that no code reads as they are: they lie arranged in the module. Code for certain extents may read
/// what the code for all does not.
void releaseArranged(const jit::Artifact &artifact, Parameters &parameters) {
  for (const DataSymbol &symbol : artifact.symbols)
    if (symbol.kind == DataKind::Parameter && symbol.isSourceOnly)
      parameters.erase(symbol.name);
}

} // namespace

runtime::MemoryPoolStatistics EngineMemoryStatistics::total() const {
  return sumOf(sumOf(buffers, workspaces), scratch);
}

// Engine

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

StatusOr<jit::Artifact> Engine::compile(std::string_view source, std::string_view sourceName,
                                        const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  if (jit::isArtifact(source))
    return invalidArgumentError(std::string(sourceName) + " is compiled already");
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled, state->compile(source, state->digestOf(source),
                                                                 sourceName, compileOptions));
  return std::move(compiled.artifact);
}

StatusOr<ExportedCode> Engine::exportCode(std::string_view source, std::string_view sourceName,
                                          std::string_view exportName, const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  if (jit::isArtifact(source))
    return invalidArgumentError(std::string(sourceName) + " is compiled already");
  if (state->options.checked)
    return invalidArgumentError("an engine that looks for faults exports no code");
  if (exportName.empty())
    return invalidArgumentError("the export has no name");
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  compileOptions.exportName = exportName;
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled, state->compile(source, state->digestOf(source),
                                                                 sourceName, compileOptions));
  return ExportedCode{std::move(compiled.artifact.objects[0]), std::move(compiled.artifact.header)};
}

StatusOr<jit::CompileOptions> Engine::compileOptionsOf(const LoadOptions &options) const {
  PLIM_RETURN_IF_ERROR(state->checkDevice(options.device));
  jit::CompileOptions result;
  result.policy = policyOf(options);
  result.engineLimits = state->options.limits;
  result.loadLimits = options.limits;
  result.oracle = options.oracle;
  result.numerics = options.numerics.value_or(state->options.numerics);
  result.guarded = state->options.checked;
  result.devices = state->deviceCompilers();
  for (const std::shared_ptr<const Device> &device : state->options.devices)
    if (!device->compile)
      result.devicesWithoutCompiler.push_back(device->name);
  result.preferredDevice = options.device;
  result.deviceMemories = state->deviceMemories();
  result.cache = state->cache ? &*state->cache : nullptr;
  result.assembly = options.assembly;
  result.irAfter = options.irAfter;
  result.takeIr = options.takeIr;
  result.sourceOwner = options.sourceOwner;
  result.progress = options.progress;
  result.stop = options.stop;
  result.timeout = options.timeout;
  result.profiler = state->options.profiler.get();
  result.parallelFor = state->parallelFor();
  return result;
}

const std::string &Engine::policyOf(const LoadOptions &options) const {
  // Planned buffers share pages.
  static const std::string checked = "heap";
  return state->options.checked   ? checked
         : options.policy.empty() ? state->options.policy
                                  : options.policy;
}

Digest Engine::State::digestOf(std::string_view source) const {
  return cache ? hashBytes(source) : Digest();
}

std::string Engine::State::keyOf(const targets::TargetDescription &target) {
  return targets::toJson(targets::compiledPart(target));
}

StatusOr<Engine::State::Compiled>
Engine::State::compile(std::string_view source, const Digest &digest, std::string_view sourceName,
                       const jit::CompileOptions &compileOptions) {
  return compileFor(target, compiledTarget, source, digest, sourceName, compileOptions);
}

StatusOr<Engine::State::Compiled>
Engine::State::compileToRun(std::string_view source, const Digest &digest,
                            std::string_view sourceName,
                            const jit::CompileOptions &compileOptions) {
  if (!tiles)
    return compile(source, digest, sourceName, compileOptions);
  return tiles->compile(
      compileOptions, [&](bool mayUseTiles, const jit::CompileOptions &itsOptions) {
        if (mayUseTiles)
          return compile(source, digest, sourceName, itsOptions);
        options.logger.log(LogLevel::Info,
                           "the kernel refuses tile registers to this process: ", sourceName,
                           " is compiled without");
        return compileFor(targetWithoutTiles, compiledTargetWithoutTiles, source, digest,
                          sourceName, itsOptions);
      });
}

StatusOr<Engine::State::Compiled>
Engine::State::compileFor(const targets::TargetDescription &codeTarget,
                          const std::string &targetKey, std::string_view source,
                          const Digest &digest, std::string_view sourceName,
                          const jit::CompileOptions &compileOptions) {
  using enum Profiler::Kind;
  Profiler *profiler = options.profiler.get();
  Compiled result;
  std::string key;
  if (cache) {
    Hasher hasher;
    const bool isOfWorker = compileWorkers && !jit::isBytecode(source);
    hasher.updateInteger(jit::artifactVersion).updateField(jit::compilerIdentity());
    hasher.updateField(isOfWorker ? workerIdentity : "");
    hasher.update(digest.bytes.data(), Digest::byteCount);
    hasher.updateField(targetKey).updateField(jit::inputsOf(sourceName, compileOptions));
    for (const std::shared_ptr<const Device> &device : options.devices)
      hasher.updateField(device->name).updateField(device->version);
    key = hasher.digest().hex();
    if (!compileOptions.assembly && compileOptions.irAfter.empty()) {
      ProfilerSpan lookup(profiler, Load, "cache miss");
      if (std::optional<jit::Artifact> found = cache->load(key)) {
        lookup.rename("cache hit");
        result.artifact = std::move(*found);
        result.fromCache = true;
        return result;
      }
    }
  }
  // Text in a process of its own, if the engine has such. Bytecode is trusted, and large constants of its file are used
  // where they are mapped: here.
  PLIM_ASSIGN_OR_RETURN(
      result.artifact,
      compileWorkers && !jit::isBytecode(source)
          ? compileWorkers->compile(source, sourceName, codeTarget, compileOptions, &result.times)
          : jit::compile(source, sourceName, codeTarget, compileOptions, &result.times));
  if (cache) {
    ProfilerSpan store(profiler, Load, "store in cache");
    if (Status stored = cache->store(key, result.artifact); !stored.ok())
      options.logger.log(LogLevel::Warning, stored.toString());
  }
  return result;
}

StatusOr<std::shared_ptr<Module>> Engine::load(std::string_view source, std::string_view sourceName,
                                               const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  auto start = std::chrono::steady_clock::now();
  if (jit::isArtifact(source)) {
    StatusOr<jit::Artifact> artifact = jit::deserialize(source);
    if (!artifact.ok())
      return artifact.status().withContext(sourceName);
    return loadCompiled(std::move(*artifact), sourceName, options, start);
  }
  return load(source, state->digestOf(source), sourceName, options, start);
}

StatusOr<std::shared_ptr<Module>> Engine::load(std::string_view source, const Digest &digest,
                                               std::string_view sourceName,
                                               const LoadOptions &options,
                                               std::chrono::steady_clock::time_point start) {
  const std::string what = "load " + std::string(sourceName);
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, what.c_str());
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled,
                        state->compileToRun(source, digest, sourceName, compileOptions));
  LoadStatistics statistics;
  statistics.fromCache = compiled.fromCache;
  statistics.compile = compiled.times;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        linkTimed(std::move(compiled.artifact), options, statistics, start));
  SpecializationOptions specialization =
      options.specialization.value_or(state->options.specialization);
  bool mayHaveSome = specialization.mode != Specialization::None && specialization.atMost > 0;
  if (mayHaveSome && !options.oracle && !state->options.checked)
    module->state->specializations = Specializations::create(
        *module,
        {source, digest, std::string(sourceName), std::move(compileOptions), options.functions},
        specialization);
  if (!module->state->specializations)
    releaseArranged(module->state->artifact, module->state->parameters);
  return module;
}

StatusOr<std::shared_ptr<Module>>
Engine::loadCompiled(jit::Artifact artifact, std::string_view name, const LoadOptions &options,
                     std::chrono::steady_clock::time_point start) {
  const std::string what = "load " + std::string(name);
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, what.c_str());
  const bool isSpecialized =
      options.specialization && options.specialization->mode != Specialization::None;
  std::string late;
  for (auto [isGiven, what] : {std::pair(!options.policy.empty(), "policy"),
                               {!options.limits.empty(), "limits"},
                               {options.oracle, "oracle"},
                               {options.numerics.has_value(), "numerics"},
                               {options.assembly != nullptr, "assembly"},
                               {!options.irAfter.empty(), "IR"},
                               {!options.device.empty(), "device"},
                               {isSpecialized, "specialization"}})
    if (isGiven)
      late += (late.empty() ? "" : ", ") + std::string(what);
  if (!late.empty())
    return invalidArgumentError(std::string(name) + " is compiled already, too late for: " + late);
  LoadStatistics statistics;
  statistics.precompiled = true;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        linkTimed(std::move(artifact), options, statistics, start));
  releaseArranged(module->state->artifact, module->state->parameters);
  return module;
}

StatusOr<std::shared_ptr<Module>> Engine::linkTimed(jit::Artifact artifact,
                                                    const LoadOptions &options,
                                                    LoadStatistics statistics,
                                                    std::chrono::steady_clock::time_point start) {
  auto linkStart = std::chrono::steady_clock::now();
  PLIM_ASSIGN_OR_RETURN(
      std::shared_ptr<Module> module,
      link(std::move(artifact), options.parameters, options.pools, options.functions));
  statistics.sharedConstantBytes = module->state->linked->sharedConstantBytes();
  statistics.linkSeconds = secondsSince(linkStart);
  statistics.totalSeconds = secondsSince(start);
  module->state->statistics = statistics;
  return module;
}

/// Refuses what the compiler would, in the same words, before it is read.
static Status checkTextSize(const std::string &path, uint64_t bytes,
                            std::initializer_list<std::span<const std::string>> given) {
  targets::SourceLimits limits;
  for (std::span<const std::string> each : given)
    PLIM_RETURN_IF_ERROR(targets::setSourceLimits(each, limits));
  if (bytes <= static_cast<uint64_t>(std::max<int64_t>(0, limits.textBytes)))
    return okStatus();
  return errorAtPlace(StatusCode::InvalidArgument,
                      path + ":1:1: a text of " + std::to_string(bytes) +
                          " bytes, more than max_text_bytes = " + std::to_string(limits.textBytes));
}

StatusOr<std::string> Engine::readSource(const std::string &path) { return io::readWhole(path); }

StatusOr<std::shared_ptr<Module>> Engine::loadFile(const std::string &path,
                                                   const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  auto start = std::chrono::steady_clock::now();
  // A pipe cannot be mapped, and text would be copied all the same.
  StatusOr<io::File> file = io::File::open(path);
  std::array<std::byte, 8> magic = {};
  const std::string_view begin(reinterpret_cast<const char *>(magic.data()), magic.size());
  const bool hasMagic = file.ok() && file->size() >= magic.size() && file->read(0, magic).ok();
  if (hasMagic && jit::isArtifact(begin)) {
    PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact, jit::readArtifact(path));
    return loadCompiled(std::move(artifact), path, options, start);
  }
  if (!hasMagic || !jit::isBytecode(begin)) {
    if (file.ok())
      PLIM_RETURN_IF_ERROR(
          checkTextSize(path, file->size(), {state->options.limits, options.limits}));
    PLIM_ASSIGN_OR_RETURN(std::string source, readSource(path));
    auto kept = std::make_shared<const std::string>(std::move(source));
    LoadOptions owned = options;
    owned.sourceOwner = kept;
    return load(*kept, path, owned);
  }
  PLIM_ASSIGN_OR_RETURN(io::Mapping mapping, file->map());
  Digest digest;
  if (state->cache) {
    // Read, not touched where it is mapped: what comes from the cache takes no memory of the process.
    Hasher hasher;
    std::vector<std::byte> piece(size_t(1) << 18);
    for (uint64_t done = 0; done < file->size(); done += piece.size()) {
      piece.resize(std::min<uint64_t>(piece.size(), file->size() - done));
      PLIM_RETURN_IF_ERROR(file->read(done, piece));
      hasher.update(piece.data(), piece.size());
    }
    digest = hasher.digest();
  }
  LoadOptions mapped = options;
  mapped.sourceOwner = mapping;
  std::string_view source(reinterpret_cast<const char *>(mapping->data()), mapping->size());
  return load(source, digest, path, mapped, start);
}

StatusOr<std::shared_ptr<Module>> Engine::link(jit::Artifact artifact, Parameters parameters,
                                               const Pools &pools, const HostFunctions &functions) {
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, "link");
  if (!artifact.header.empty())
    return failedPreconditionError("the code of " + artifact.source +
                                   " was exported for a program without an engine");
  if (artifact.isGuarded != (state->guarded != nullptr))
    return failedPreconditionError(
        "the code of " + artifact.source + " is " + (artifact.isGuarded ? "" : "not ") +
        "made for looking for faults, and this engine does" + (artifact.isGuarded ? " not" : ""));
  const targets::DeviceDescription &host = state->host.devices[0];
  if (architectureOf(artifact.triple) != architectureOf(host.triple))
    return failedPreconditionError("the code of " + artifact.source + " is for '" +
                                   artifact.triple + "' and cannot run on this machine, '" +
                                   host.triple + "'");
  for (const std::string &feature : artifact.requiredFeatures)
    if (!host.hasFeature(feature) && feature != host.scalableVectorFeature())
      return failedPreconditionError("the code of " + artifact.source + " needs '" + feature +
                                     "', which this machine does not have");
  if (jit::usesTiles(artifact) && !targets::requestTiles())
    return failedPreconditionError("the code of " + artifact.source +
                                   " needs tile registers (AMX), which the kernel refuses to this "
                                   "process: an alternate signal "
                                   "stack of one of its threads is too small for them");
  PLIM_ASSIGN_OR_RETURN(std::vector<jit::DataBinding> bindings,
                        bindParameters(artifact, parameters));
  PLIM_RETURN_IF_ERROR(checkPools(pools, artifact));

  std::shared_ptr<Module> module(new Module());
  Module::State &moduleState = *module->state;
  moduleState.engine = shared_from_this();
  moduleState.parameters = std::move(parameters);
  moduleState.pools = pools;
  std::vector<HostMemory> constants;
  PLIM_ASSIGN_OR_RETURN(PinnedConstants pinned,
                        reserveConstants(artifact, moduleState.pools, constants));
  PLIM_RETURN_IF_ERROR(state->claim(constants));
  moduleState.constants = std::move(constants);
  if (state->guarded)
    PLIM_RETURN_IF_ERROR(
        guardData(artifact, bindings, moduleState.guarded.emplace(*state->guarded)));
  for (const auto &[symbol, address] : pinned) {
    bindings.emplace_back(symbol->name, address);
    moduleState.pinned[symbol->name] = address;
  }
  PLIM_ASSIGN_OR_RETURN(moduleState.externals, state->bindExternals(artifact, functions));
  PLIM_ASSIGN_OR_RETURN(
      moduleState.linked,
      state->session->link(artifact, bindings, bindingsOf(moduleState.externals)));
  moduleState.devicePools = state->makeDevicePools(artifact);
  for (const auto &[symbol, address] : pinned)
    std::memcpy(address, contentsOf(artifact, *symbol)->data(), static_cast<size_t>(symbol->bytes));
  for (const jit::StackProof &proof : artifact.stack)
    if (proof.proven > proof.budget)
      state->options.logger.log(LogLevel::Warning, "'", proof.function, "' of ", artifact.source,
                                " needs ", proof.proven,
                                " bytes of stack, more than the budget of ", proof.budget,
                                "; calls run where a stack has them");
  moduleState.pool = artifact.policy == "heap" ? state->heap : state->pool;
  moduleState.layout = std::make_shared<const StateLayout>(artifact);
  PLIM_ASSIGN_OR_RETURN(moduleState.variables, module->createState());
  if (const std::vector<ArrangedData> data = arrangedData(artifact, bindings, *moduleState.linked);
      !data.empty()) {
    ProfilerSpan arranging(state->options.profiler.get(), Profiler::Kind::Load,
                           "arrange constants");
    arrangeInParts(data, moduleState.parameters, state->parallelFor());
  }
  artifact.objects.clear();
  artifact.data.clear();
  artifact.data.shrink_to_fit();
  // The linked module has those that it uses.
  artifact.blocks.clear();
  moduleState.artifact = std::move(artifact);
  std::vector<FunctionSignature> &signatures = moduleState.artifact.functions;
  if (!signatures.empty() && signatures.back().prepares) {
    const FunctionSignature preparing = std::move(signatures.back());
    signatures.pop_back();
    PLIM_RETURN_IF_ERROR(module->prepareConstants(preparing));
  }
  if (!moduleState.linked->protectPrepared())
    return unavailableError("cannot protect the constants of " + moduleState.artifact.source);
  moduleState.keptConstants = state->keepConstants(moduleState.externals, *moduleState.linked);
  for (const FunctionSignature &function : moduleState.artifact.functions)
    if (!function.plan.buffers.empty())
      moduleState.planners[&function] = std::make_unique<CallPlanner>(function);
  return module;
}

// Module

Module::Module() : state(std::make_unique<State>()) {}
Module::~Module() {
  if (!state->engine)
    return;
  if (state->specializations)
    state->specializations->close();
  Engine::State &engine = *state->engine->state;
  state->keptConstants.clear(); // before another module may have the pools
  engine.release(state->constants);
  // The slabs may have been this module's alone.
  engine.slabs->trim(runtime::MemoryPoolOptions().maxKeptBytes);
}

StatusOr<std::shared_ptr<ModuleState>> Module::createState() const {
  const Engine::State &engine = *state->engine->state;
  return ModuleState::create(state->layout, engine.pool, engine.guarded);
}

Status Module::prepareConstants(const FunctionSignature &preparing) const {
  StatusOr<std::vector<runtime::Value>> called = Function(shared_from_this(), &preparing).call({});
  if (!called.ok())
    return called.status().withContext("preparing the constants of " + state->artifact.source);
  return okStatus();
}

const std::vector<FunctionSignature> &Module::functions() const {
  return state->artifact.functions;
}
const std::string &Module::report() const { return state->artifact.report; }
const LoadStatistics &Module::statistics() const { return state->statistics; }
SpecializationStatistics Module::specializationStatistics() const {
  return state->specializations ? state->specializations->statistics() : SpecializationStatistics();
}

StatusOr<Function> Module::lookup(std::string_view name) const {
  std::vector<std::string> names;
  for (const FunctionSignature &function : state->artifact.functions) {
    if (function.name == name)
      return Function(shared_from_this(), &function);
    names.push_back(function.name);
  }
  return notFoundError("no public function '" + std::string(name) + "' in " +
                       state->artifact.source + suggestion(name, names));
}

} // namespace plim
