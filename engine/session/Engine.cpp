#include "engine/session/Engine.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/RuntimeSymbols.h"
#include "engine/runtime/StackBounds.h"
#include "engine/session/CallPlanner.h"
#include "engine/session/SmallArray.h"
#include "jit/ArtifactCache.h"
#include "jit/Session.h"
#include "support/Hash.h"
#include "targets/Resolve.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <sys/stat.h>

namespace plim {

using jit::DataKind;
using jit::DataSymbol;
using jit::FunctionSignature;
using jit::ValueType;
using runtime::Buffer;
using runtime::Scalar;
using runtime::Value;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string typeName(const Value &value) {
  if (const auto *scalar = std::get_if<Scalar>(&value))
    return std::string(elementTypeName(scalar->type));
  const Buffer &buffer = std::get<Buffer>(value);
  std::string text;
  for (int64_t extent : buffer.shape())
    text += std::to_string(extent) + "x";
  text += elementTypeName(buffer.type());
  if (buffer.isDense())
    return text;
  for (size_t i = 0; i < buffer.strides().size(); ++i)
    text += (i == 0 ? " with strides [" : ", ") + std::to_string(buffer.strides()[i]);
  return text + "]";
}

bool shapeFits(const ValueType &type, std::span<const int64_t> shape) {
  return std::equal(shape.begin(), shape.end(), type.shape.begin(), type.shape.end(),
                    [](int64_t have, int64_t want) { return want < 0 || have == want; });
}

bool stridesFit(const ValueType &type, const Buffer &buffer) {
  if (type.strides.empty())
    return buffer.isDense();
  for (size_t i = 0; i < type.strides.size(); ++i)
    // The code never steps along an extent of one.
    if (buffer.shape()[i] > 1 && type.strides[i] != jit::dynamicStride &&
        type.strides[i] != buffer.strides()[i])
      return false;
  return true;
}

/// What a buffer that does not fit should have been.
std::string expected(const ValueType &type, const Buffer *buffer) {
  bool isStrided = buffer && *buffer && !buffer->isDense();
  return ", expected " + toString(type) + (isStrided && type.strides.empty() ? ", dense" : "");
}

/// The part of a triple that decides whether code can run at all.
std::string_view architectureOf(std::string_view triple) {
  return triple.substr(0, triple.find('-'));
}

/// Tells one build of the compiler from the next: the size and time of the file that holds it.
std::string buildIdentity() {
  Dl_info info;
  struct stat status;
  if (!dladdr(reinterpret_cast<const void *>(&buildIdentity), &info) || !info.dli_fname ||
      stat(info.dli_fname, &status) != 0)
    return "";
  return std::to_string(status.st_size) + "." + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

/// How many single-character edits turn one name into the other.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitution = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row.back();
}

/// "; did you mean 'x'?" with the nearest of `names`, if there are any.
template <typename NamesT> std::string suggestion(std::string_view name, const NamesT &names) {
  const std::string *nearest = nullptr;
  for (const std::string &each : names)
    if (!nearest || editDistance(name, each) < editDistance(name, *nearest))
      nearest = &each;
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

bool isAligned(const void *memory, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(alignment) == 0;
}

bool overlap(const HostMemory &a, const HostMemory &b) {
  auto beginOf = [](const HostMemory &memory) { return reinterpret_cast<uintptr_t>(memory.data); };
  return a.bytes != 0 && b.bytes != 0 && beginOf(a) < beginOf(b) + b.bytes &&
         beginOf(b) < beginOf(a) + a.bytes;
}

/// Are these pools of the module, in memory that may hold one?
Status checkPools(const Pools &pools, const jit::Artifact &artifact) {
  for (const auto &[name, memory] : pools) {
    if (std::find(artifact.pools.begin(), artifact.pools.end(), name) == artifact.pools.end())
      return invalidArgumentError("the module has no pool '" + name + "'" +
                                  suggestion(name, artifact.pools));
    if (!memory.data)
      return invalidArgumentError("the memory of pool '" + name + "' is null");
    if (!isAligned(memory.data, PLIM_BUFFER_ALIGNMENT))
      return invalidArgumentError("the memory of pool '" + name + "' is not aligned to " +
                                  std::to_string(PLIM_BUFFER_ALIGNMENT) + " bytes");
  }
  return okStatus();
}

Status tooSmall(const std::string &what, size_t given, size_t needed, const std::string &function) {
  return resourceExhaustedError(what + " has " + std::to_string(given) + " bytes, but '" +
                                function + "' needs " + std::to_string(needed) + ": " +
                                std::to_string(needed - given) + " are missing");
}

/// Where the elements of a buffer lie.
HostMemory memoryOf(const Buffer &buffer) {
  if (buffer.elementCount() == 0)
    return {};
  int64_t each = elementBytes(buffer.type()), before = 0, after = each;
  for (size_t i = 0; i < buffer.shape().size(); ++i) {
    int64_t reach = (buffer.shape()[i] - 1) * buffer.strides()[i] * each;
    (reach < 0 ? before : after) += reach;
  }
  auto *first = static_cast<std::byte *>(const_cast<void *>(buffer.data()));
  return {first + before, static_cast<size_t>(after - before)};
}

/// Views of the arguments; those of scalars point into `arguments`.
void makeViews(std::span<const Value> arguments, plim_view *views) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto *scalar = std::get_if<Scalar>(&arguments[i])) {
      views[i] = {const_cast<uint64_t *>(&scalar->bits), nullptr, nullptr};
    } else {
      const Buffer &buffer = std::get<Buffer>(arguments[i]);
      views[i] = {const_cast<void *>(buffer.data()), const_cast<int64_t *>(buffer.shape().data()),
                  buffer.strides().data()};
    }
  }
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

size_t roundUp(int64_t bytes) {
  constexpr size_t alignment = PLIM_BUFFER_ALIGNMENT;
  return (static_cast<size_t>(bytes) + alignment - 1) / alignment * alignment;
}

/// Gives the constants that live in pools the ends of those, which become as much smaller, and binds
/// their symbols to where they will be. `taken` receives those ends.
Status reserveConstants(const jit::Artifact &artifact, Pools &pools, std::vector<HostMemory> &taken,
                        std::vector<jit::DataBinding> &bindings) {
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
    taken.push_back({next[name], need});
  }
  for (const DataSymbol &symbol : artifact.symbols) {
    if (symbol.pool.empty())
      continue;
    std::byte *&address = next[symbol.pool];
    bindings.emplace_back(symbol.name, address);
    address += roundUp(symbol.bytes);
  }
  return okStatus();
}

void copyConstants(const jit::Artifact &artifact, const std::vector<jit::DataBinding> &bindings) {
  for (const DataSymbol &symbol : artifact.symbols)
    if (!symbol.pool.empty())
      for (const auto &[name, address] : bindings)
        if (name == symbol.name)
          std::memcpy(const_cast<void *>(address), artifact.data.data() + symbol.offset,
                      static_cast<size_t>(symbol.bytes));
}

} // namespace

runtime::MemoryPoolStatistics EngineMemoryStatistics::total() const {
  return sumOf(sumOf(buffers, workspaces), scratch);
}

struct Engine::State {
  EngineOptions options;
  targets::TargetDescription target;
  /// What this machine really is; `target` may be another one, or have been overridden.
  targets::TargetDescription host;
  std::shared_ptr<runtime::MemoryPool> pool;
  /// Of workspaces. Keeps what calls ran with at once, whatever its size: see ~Module.
  std::unique_ptr<runtime::MemoryPool> slabs;
  /// Of scratch; kept by the executor's cache.
  std::shared_ptr<runtime::MemoryPool> scratch;
  /// Of modules with policy heap: one malloc for each buffer.
  std::shared_ptr<runtime::MemoryPool> heap;
  std::unique_ptr<runtime::Executor> executor;
  std::shared_ptr<jit::Session> session;
  std::optional<jit::ArtifactCache> cache;

  /// Notes that constants of a module are in these memories, which no other module's may be.
  Status claim(const std::vector<HostMemory> &memories) {
    std::lock_guard lock(claimsMutex);
    for (const HostMemory &memory : memories)
      for (const HostMemory &other : claims)
        if (overlap(memory, other))
          return invalidArgumentError("a pool holds the constants of another module: give this one "
                                      "other memory");
    claims.insert(claims.end(), memories.begin(), memories.end());
    return okStatus();
  }
  void release(const std::vector<HostMemory> &memories) {
    std::lock_guard lock(claimsMutex);
    for (const HostMemory &memory : memories)
      std::erase_if(claims, [&](const HostMemory &other) { return other.data == memory.data; });
  }

private:
  std::mutex claimsMutex;
  std::vector<HostMemory> claims;
};

struct Module::State {
  std::shared_ptr<Engine> engine;
  jit::Artifact artifact; // its objects and data are dropped after linking
  Parameters parameters;
  Pools pools;                       // bound at load, without what constants take of them
  std::vector<HostMemory> constants; // in the pools
  bool claimed = false;              // with the engine
  std::unique_ptr<jit::LinkedModule> linked;
  std::shared_ptr<runtime::MemoryPool> pool; // of results and unplanned buffers
  LoadStatistics statistics;
  /// Of the functions whose temporaries have sizes that only a call knows.
  std::map<const FunctionSignature *, std::unique_ptr<CallPlanner>> planners;
  /// Held by calls that write globals of the module or use pools bound at load.
  std::mutex stateMutex;
};

// Engine

Engine::Engine() : state(std::make_unique<State>()) {}
Engine::~Engine() = default;

StatusOr<std::shared_ptr<Engine>> Engine::create(EngineOptions options) {
  std::shared_ptr<Engine> engine(new Engine());
  State &state = *engine->state;
  std::vector<Status> warnings;
  PLIM_ASSIGN_OR_RETURN(state.target,
                        targets::resolveTarget(options.target, options.targetOverrides, &warnings));
  bool isHost = options.target == "host" || options.target == "host-cpu";
  if (isHost && options.targetOverrides.empty()) {
    state.host = state.target;
  } else {
    PLIM_ASSIGN_OR_RETURN(state.host, targets::resolveTarget("host-cpu", {}, &warnings));
  }
  for (const Status &warning : warnings)
    options.logger.log(LogLevel::Warning, warning.toString());
  if (!options.allocator.allocate != !options.allocator.release)
    return invalidArgumentError("an allocator needs both allocate and release");
  runtime::MemoryPoolOptions pool;
  pool.allocator = options.allocator;
  for (const targets::MemoryDescription &memory : state.target.memories)
    if (memory.kind == targets::MemoryKind::Host && pool.memory.empty())
      pool.memory = memory.name;
  state.pool = std::make_shared<runtime::MemoryPool>(pool);
  pool.maxKeptBytes = std::numeric_limits<size_t>::max();
  state.slabs = std::make_unique<runtime::MemoryPool>(pool);
  state.scratch = std::make_shared<runtime::MemoryPool>(pool);
  pool.reuse = false;
  state.heap = std::make_shared<runtime::MemoryPool>(pool);
  // The target knows of quotas that oneTBB does not.
  int threads = options.threads > 0 ? options.threads
                                    : static_cast<int>(state.target.devices[0].hardwareThreads);
  state.executor = std::make_unique<runtime::Executor>(
      state.scratch, runtime::ExecutorOptions{.threads = threads});
  std::vector<jit::HostSymbol> symbols;
  for (const runtime::RuntimeSymbol &symbol : runtime::runtimeSymbols())
    symbols.push_back({symbol.name, symbol.address});
  PLIM_ASSIGN_OR_RETURN(state.session, jit::Session::create(symbols, {.debugger = options.debugger,
                                                                      .perfMap = options.perfMap}));
  if (!options.cacheFolder.empty()) {
    StatusOr<jit::ArtifactCache> cache =
        jit::ArtifactCache::open(options.cacheFolder, options.cacheBytes);
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
                                        const LoadOptions &options, jit::CompileTimes *times) {
  jit::CompileOptions compileOptions;
  compileOptions.policy = options.policy.empty() ? state->options.policy : options.policy;
  compileOptions.engineLimits = state->options.limits;
  compileOptions.loadLimits = options.limits;
  compileOptions.oracle = options.oracle;
  compileOptions.assembly = options.assembly;
  compileOptions.parallelFor = [this](size_t count, const std::function<void(size_t)> &job) {
    state->executor->parallelFor(count, job);
  };
  return jit::compile(source, sourceName, state->target, compileOptions, times);
}

std::string Engine::cacheKey(std::string_view source, std::string_view sourceName,
                             const LoadOptions &options) const {
  Hasher hasher;
  hasher.updateInteger(jit::artifactVersion);
  // Locations in messages and reports carry the name.
  hasher.updateField(source).updateField(sourceName);
  hasher.updateField(options.policy.empty() ? state->options.policy : options.policy);
  const std::vector<std::string> &engineLimits = state->options.limits;
  for (const std::vector<std::string> *limits : {&engineLimits, &options.limits}) {
    hasher.updateInteger(limits->size());
    for (const std::string &limit : *limits)
      hasher.updateField(limit);
  }
  hasher.updateInteger(options.oracle);
  hasher.updateField(buildIdentity());
  // Only what changes the artifact.
  const targets::DeviceDescription &device = state->target.devices[0];
  hasher.updateField(device.triple).updateField(device.cpu).updateField(device.tuneCpu);
  for (const targets::DeviceDescription &each : state->target.devices) {
    hasher.updateField(each.name);
    hasher.updateInteger(static_cast<uint64_t>(each.kind));
  }
  for (const std::string &feature : device.features)
    hasher.updateField(feature);
  for (int64_t value : {device.vectorBits, device.maxStackAllocaBytes, device.stackBudgetBytes,
                        device.workspaceAlignment, int64_t(device.externalWorkspaceOnly),
                        int64_t(device.stackAddressable)})
    hasher.updateInteger(static_cast<uint64_t>(value));
  for (const targets::MemoryDescription &memory : state->target.memories) {
    hasher.updateField(memory.name);
    hasher.updateInteger(static_cast<uint64_t>(memory.kind));
    hasher.updateInteger(static_cast<uint64_t>(memory.bytes));
    hasher.updateInteger(memory.accessibleBy.size());
    for (const std::string &user : memory.accessibleBy)
      hasher.updateField(user);
  }
  return hasher.digest().hex();
}

StatusOr<std::shared_ptr<Module>> Engine::load(std::string_view source, std::string_view sourceName,
                                               const LoadOptions &options) {
  auto start = std::chrono::steady_clock::now();
  LoadStatistics statistics;
  std::optional<jit::Artifact> artifact;
  std::string key;
  if (state->cache) {
    key = cacheKey(source, sourceName, options);
    if (!options.assembly)
      artifact = state->cache->load(key);
    statistics.fromCache = artifact.has_value();
  }
  if (!artifact) {
    PLIM_ASSIGN_OR_RETURN(artifact, compile(source, sourceName, options, &statistics.compile));
    if (state->cache)
      if (Status stored = state->cache->store(key, *artifact); !stored.ok())
        state->options.logger.log(LogLevel::Warning, stored.toString());
  }
  auto linkStart = std::chrono::steady_clock::now();
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        link(std::move(*artifact), options.parameters, options.pools));
  statistics.linkSeconds = secondsSince(linkStart);
  statistics.totalSeconds = secondsSince(start);
  module->state->statistics = statistics;
  return module;
}

StatusOr<std::string> Engine::readSource(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(errno == EACCES ? StatusCode::PermissionDenied : StatusCode::NotFound,
                  "cannot read '" + path + "': " + std::strerror(errno));
  // A folder opens like a file, but reading it throws.
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    return unavailableError("cannot read '" + path + "': " + std::strerror(EISDIR));
  std::string contents{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad())
    return unavailableError("cannot read '" + path + "': " + std::strerror(errno));
  return contents;
}

StatusOr<std::shared_ptr<Module>> Engine::loadFile(const std::string &path,
                                                   const LoadOptions &options) {
  PLIM_ASSIGN_OR_RETURN(std::string source, readSource(path));
  return load(source, path, options);
}

StatusOr<std::shared_ptr<Module>> Engine::link(jit::Artifact artifact, const Parameters &parameters,
                                               const Pools &pools) {
  const targets::DeviceDescription &host = state->host.devices[0];
  if (architectureOf(artifact.triple) != architectureOf(host.triple))
    return failedPreconditionError("the code of " + artifact.source + " is for '" +
                                   artifact.triple + "' and cannot run on this machine, '" +
                                   host.triple + "'");
  for (const std::string &feature : artifact.requiredFeatures)
    if (!host.hasFeature(feature))
      return failedPreconditionError("the code of " + artifact.source + " needs '" + feature +
                                     "', which this machine does not have");
  std::vector<jit::DataBinding> bindings;
  for (const DataSymbol &symbol : artifact.symbols) {
    if (symbol.kind != DataKind::Parameter)
      continue;
    auto it = parameters.find(symbol.name);
    if (it == parameters.end())
      return failedPreconditionError("parameter '" + symbol.name + "' of type " +
                                     toString(symbol.type) + " is not bound");
    const Buffer &buffer = it->second;
    if (elementTypeName(buffer.type()) != symbol.type.element ||
        !shapeFits(symbol.type, buffer.shape()) || !stridesFit(symbol.type, buffer))
      return invalidArgumentError("parameter '" + symbol.name + "' is " + typeName(buffer) +
                                  expected(symbol.type, &buffer));
    bindings.emplace_back(symbol.name, buffer.data());
  }
  for (const auto &[name, buffer] : parameters)
    if (std::none_of(artifact.symbols.begin(), artifact.symbols.end(), [&](const DataSymbol &s) {
          return s.kind == DataKind::Parameter && s.name == name;
        }))
      return invalidArgumentError("the module has no parameter '" + name + "'");
  PLIM_RETURN_IF_ERROR(checkPools(pools, artifact));

  std::shared_ptr<Module> module(new Module());
  Module::State &moduleState = *module->state;
  moduleState.engine = shared_from_this();
  moduleState.parameters = parameters;
  moduleState.pools = pools;
  PLIM_RETURN_IF_ERROR(
      reserveConstants(artifact, moduleState.pools, moduleState.constants, bindings));
  PLIM_RETURN_IF_ERROR(state->claim(moduleState.constants));
  moduleState.claimed = true;
  PLIM_ASSIGN_OR_RETURN(moduleState.linked, state->session->link(artifact, bindings));
  copyConstants(artifact, bindings);
  for (const jit::StackProof &proof : artifact.stack)
    if (proof.proven > proof.budget)
      state->options.logger.log(LogLevel::Warning, "'", proof.function, "' of ", artifact.source,
                                " needs ", proof.proven,
                                " bytes of stack, more than the budget of ", proof.budget,
                                "; calls run where a stack has them");
  moduleState.pool = artifact.policy == "heap" ? state->heap : state->pool;
  artifact.objects.clear();
  artifact.data.clear();
  artifact.data.shrink_to_fit();
  moduleState.artifact = std::move(artifact);
  for (const FunctionSignature &function : moduleState.artifact.functions)
    if (!function.plan.buffers.empty())
      moduleState.planners[&function] = std::make_unique<CallPlanner>(function);
  return module;
}

// Module

Module::Module() : state(std::make_unique<State>()) {}
Module::~Module() {
  if (state->claimed)
    state->engine->state->release(state->constants);
  // The slabs may have been this module's alone.
  if (state->engine)
    state->engine->state->slabs->trim(runtime::MemoryPoolOptions().maxKeptBytes);
}

const std::vector<FunctionSignature> &Module::functions() const {
  return state->artifact.functions;
}
const std::string &Module::report() const { return state->artifact.report; }
const LoadStatistics &Module::statistics() const { return state->statistics; }

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

// Function

Function::Function(std::shared_ptr<const Module> owner, const FunctionSignature *description)
    : module(std::move(owner)), description(description),
      entry(module->state->linked->entry(description->name)) {
  if (auto it = module->state->planners.find(description); it != module->state->planners.end()) {
    planner = it->second.get();
    extentsEntry = module->state->linked->entry(description->plan.function);
  }
  const runtime::Executor &executor = *this->module->state->engine->state->executor;
  workersFit = description->workerStackBytes <= executor.workerStackBytes();
  // Import admits only the types of the list.
  for (const ValueType &type : description->arguments)
    argumentTypes.push_back(*runtime::elementTypeFromName(type.element));
  for (const ValueType &type : description->results)
    resultTypes.push_back(*runtime::elementTypeFromName(type.element));
}

Status Function::checkArguments(std::span<const Value> arguments) const {
  const std::vector<ValueType> &types = description->arguments;
  if (arguments.size() != types.size())
    return invalidArgumentError("'" + description->name + "' takes " +
                                std::to_string(types.size()) + " arguments, got " +
                                std::to_string(arguments.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    bool fits = false;
    if (const auto *scalar = std::get_if<Scalar>(&arguments[i])) {
      fits = !types[i].isShaped && scalar->type == argumentTypes[i];
    } else {
      const Buffer &buffer = std::get<Buffer>(arguments[i]);
      fits = buffer && types[i].isShaped && buffer.type() == argumentTypes[i] &&
             shapeFits(types[i], buffer.shape()) && stridesFit(types[i], buffer);
      if (fits && types[i].isMemref && buffer.readOnly())
        return invalidArgumentError("argument #" + std::to_string(i) + " of '" + description->name +
                                    "' is read-only, but a memref may be written");
    }
    if (!fits) {
      const auto *buffer = std::get_if<Buffer>(&arguments[i]);
      std::string have = buffer && !*buffer ? "an empty handle" : typeName(arguments[i]);
      return invalidArgumentError("argument #" + std::to_string(i) + " of '" + description->name +
                                  "' is " + have + expected(types[i], buffer) +
                                  (types[i].isShaped == (buffer != nullptr) ? ""
                                   : types[i].isShaped                      ? " as a buffer"
                                                                            : " as a scalar"));
    }
  }
  return okStatus();
}

runtime::CallMemory Function::workspaceLayout(size_t slabBytes) const {
  size_t threads = static_cast<size_t>(module->state->engine->state->executor->threads());
  runtime::CallMemory layout;
  layout.slabBytes = roundUp(static_cast<int64_t>(slabBytes));
  layout.scratchBytes = roundUp(description->scratchBytes);
  // With workers, host code keeps what it ran dispatches with while all of them run others.
  layout.scratchCount = threads == 1 ? 1 : threads + 1;
  return layout;
}

StatusOr<WorkspaceRequirement> Function::workspaceRequirement() const {
  if (planner)
    return failedPreconditionError("the workspace of '" + description->name +
                                   "' depends on the extents of its arguments: ask with them");
  return workspaceRequirement(static_cast<size_t>(description->workspaceBytes));
}

StatusOr<WorkspaceRequirement>
Function::workspaceRequirement(std::span<const Value> arguments) const {
  PLIM_RETURN_IF_ERROR(checkArguments(arguments));
  SmallArray<plim_view, 16> views(arguments.size());
  makeViews(arguments, views.data());
  SmallArray<int64_t, 32> offsets(description->plan.buffers.size());
  PLIM_ASSIGN_OR_RETURN(size_t slabBytes,
                        planSlab(views.data(), {offsets.data(), description->plan.buffers.size()}));
  return workspaceRequirement(slabBytes);
}

StatusOr<size_t> Function::planSlab(const plim_view *arguments, std::span<int64_t> offsets) const {
  if (!planner)
    return static_cast<size_t>(description->workspaceBytes);
  auto count = static_cast<size_t>(description->plan.extentCount);
  SmallArray<int64_t, 16> extents(count);
  SmallArray<plim_view, 16> views(count);
  for (size_t i = 0; i < count; ++i)
    views[i] = {&extents[i], nullptr, nullptr};
  // Integers alone, none of which can trap.
  plim_context context{};
  extentsEntry(&context, arguments, views.data());
  std::span<const int64_t> needed = {extents.data(), count};
  if (std::optional<size_t> bytes = planner->find(needed, offsets))
    return *bytes;

  // New sizes. The search wants more stack than a call without it.
  constexpr int64_t plannerStackBytes = 512 << 10;
  Engine::State &engine = *module->state->engine->state;
  StatusOr<size_t> bytes = internalError("not planned");
  auto job = [&] { bytes = planner->plan(needed, offsets); };
  if (runtime::StackBounds::left() >= plannerStackBytes)
    job();
  else
    PLIM_RETURN_IF_ERROR(engine.executor->callThreads().run(plannerStackBytes, job));
  // Slabs of all sizes that ever were would add up.
  if (bytes.ok())
    engine.slabs->trim(std::max(runtime::MemoryPoolOptions().maxKeptBytes, 2 * *bytes));
  return bytes;
}

StatusOr<WorkspaceRequirement> Function::workspaceRequirement(size_t slabBytes) const {
  if (!description->unplanned.empty())
    return failedPreconditionError(
        "'" + description->name +
        "' cannot do with a workspace of the caller's: " + description->unplanned);
  runtime::CallMemory layout = workspaceLayout(slabBytes);
  size_t bytes;
  if (__builtin_mul_overflow(layout.scratchBytes, layout.scratchCount, &bytes) ||
      __builtin_add_overflow(bytes, layout.slabBytes, &bytes))
    return resourceExhaustedError("the workspace of '" + description->name +
                                  "' is too large for the address space");
  return WorkspaceRequirement{bytes, PLIM_BUFFER_ALIGNMENT};
}

Status Function::bindPools(const CallOptions &options, std::span<HostMemory> memories,
                           bool &isShared) const {
  const Module::State &state = *module->state;
  PLIM_RETURN_IF_ERROR(checkPools(options.pools, state.artifact));
  for (size_t i = 0; i < memories.size(); ++i) {
    const std::string &name = state.artifact.pools[i];
    const jit::PoolNeed &need = description->pools[i];
    memories[i] = {};
    if (need.bytes == 0)
      continue;
    auto own = options.pools.find(name), loaded = state.pools.find(name);
    if (own == options.pools.end() && loaded == state.pools.end())
      return failedPreconditionError("'" + description->name + "' needs pool '" + name + "' with " +
                                     std::to_string(need.bytes) +
                                     " bytes, which is bound neither at load nor at the call");
    isShared |= own == options.pools.end();
    const HostMemory &memory = own != options.pools.end() ? own->second : loaded->second;
    size_t bytes = static_cast<size_t>(need.bytes);
    if (memory.bytes < bytes)
      return tooSmall("pool '" + name + "'", memory.bytes, bytes, description->name);
    if (!isAligned(memory.data, need.alignment))
      return invalidArgumentError("the memory of pool '" + name + "' is not aligned to " +
                                  std::to_string(need.alignment) + " bytes, as '" +
                                  description->name + "' needs it");
    memories[i] = {memory.data, bytes};
    for (const HostMemory &constants : state.constants)
      if (overlap(memories[i], constants))
        return invalidArgumentError("pool '" + name + "' overlaps the constants of the module");
    for (size_t j = 0; j < i; ++j)
      if (overlap(memories[i], memories[j]))
        return invalidArgumentError("pools '" + state.artifact.pools[j] + "' and '" + name +
                                    "' overlap");
  }
  return okStatus();
}

Status Function::bindOutputs(const CallOptions &options, std::span<const Value> arguments,
                             std::span<const HostMemory> pools, std::span<plim_view> views) const {
  std::span<const Buffer> outputs = options.outputs;
  if (outputs.size() != views.size())
    return invalidArgumentError("'" + description->name + "' has " + std::to_string(views.size()) +
                                " results, got buffers for " + std::to_string(outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    views[i] = {nullptr, nullptr, nullptr};
    const Buffer &buffer = outputs[i];
    if (!buffer)
      continue;
    auto refuse = [&](const std::string &why) {
      return invalidArgumentError("the buffer given for result #" + std::to_string(i) + " of '" +
                                  description->name + "' " + why);
    };
    const ValueType &type = description->results[i];
    if (!type.isShaped || buffer.type() != resultTypes[i] || !buffer.isDense() ||
        !shapeFits(type, buffer.shape()))
      return refuse("is " + typeName(buffer) + ", expected " + toString(type) +
                    (buffer.isDense() ? "" : ", dense"));
    if (buffer.readOnly())
      return refuse("is read-only");
    HostMemory memory = memoryOf(buffer);
    for (size_t j = 0; j < arguments.size(); ++j)
      if (const auto *argument = std::get_if<Buffer>(&arguments[j]);
          argument && overlap(memory, memoryOf(*argument)))
        return refuse("overlaps argument #" + std::to_string(j));
    for (const auto &[name, parameter] : module->state->parameters)
      if (overlap(memory, memoryOf(parameter)))
        return refuse("overlaps parameter '" + name + "'");
    for (size_t j = 0; j < i; ++j)
      if (outputs[j] && overlap(memory, memoryOf(outputs[j])))
        return refuse("overlaps that for result #" + std::to_string(j));
    for (const HostMemory &pool : pools)
      if (overlap(memory, pool))
        return refuse("overlaps a pool");
    for (const HostMemory &constants : module->state->constants)
      if (overlap(memory, constants))
        return refuse("overlaps the constants of the module");
    if (options.workspace && overlap(memory, *options.workspace))
      return refuse("overlaps the workspace");
    // An empty tensor of the host's may have no address.
    views[i] = {memory.bytes == 0 ? nullptr : memory.data,
                const_cast<int64_t *>(buffer.shape().data()), nullptr};
  }
  return okStatus();
}

Status Function::bindWorkspace(const CallOptions &options, std::span<const HostMemory> pools,
                               runtime::CallMemory &memory) const {
  PLIM_ASSIGN_OR_RETURN(WorkspaceRequirement need, workspaceRequirement(memory.slabBytes));
  if (options.workspace->bytes < need.bytes)
    return tooSmall("the workspace", options.workspace->bytes, need.bytes, description->name);
  if (!isAligned(options.workspace->data, PLIM_BUFFER_ALIGNMENT))
    return invalidArgumentError("the workspace is not aligned to " +
                                std::to_string(need.alignment) + " bytes");
  if (!options.workspace->data && need.bytes != 0)
    return invalidArgumentError("the workspace is null");
  HostMemory used = {options.workspace->data, need.bytes};
  for (const HostMemory &constants : module->state->constants)
    if (overlap(constants, used))
      return invalidArgumentError("the workspace overlaps the constants of the module");
  for (size_t i = 0; i < pools.size(); ++i)
    if (overlap(pools[i], used))
      return invalidArgumentError("pool '" + module->state->artifact.pools[i] +
                                  "' and the workspace overlap");
  int64_t *offsets = memory.offsets;
  size_t offsetCount = memory.offsetCount;
  memory = workspaceLayout(memory.slabBytes);
  memory.offsets = offsets;
  memory.offsetCount = offsetCount;
  memory.ownWorkspace = true;
  memory.workspace = static_cast<std::byte *>(options.workspace->data);
  return okStatus();
}

Status Function::callInto(std::span<const Value> arguments, std::span<Value> results,
                          const CallOptions &options) const {
  PLIM_RETURN_IF_ERROR(checkArguments(arguments));
  if (results.size() != description->results.size())
    return invalidArgumentError("'" + description->name + "' has " +
                                std::to_string(description->results.size()) +
                                " results, got room for " + std::to_string(results.size()));
  const Module::State &moduleState = *module->state;
  Engine::State &engine = *moduleState.engine->state;

  // Views point into these arrays; scalars are passed by address.
  SmallArray<plim_view, 16> argumentViews(arguments.size()), resultViews(results.size());
  SmallArray<uint64_t, 16> scalars(results.size());
  makeViews(arguments, argumentViews.data());
  size_t extentCount = 0;
  for (const ValueType &type : description->results)
    extentCount += type.shape.size();
  SmallArray<int64_t, 32> extents(extentCount);
  extentCount = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    scalars[i] = 0;
    resultViews[i] = {&scalars[i], extents.data() + extentCount, nullptr};
    extentCount += description->results[i].shape.size();
  }

  size_t poolCount = moduleState.artifact.pools.size();
  SmallArray<HostMemory, 8> pools(poolCount);
  SmallArray<void *, 8> poolBases(poolCount);
  bool isExclusive = moduleState.artifact.mutatesState;
  PLIM_RETURN_IF_ERROR(bindPools(options, {pools.data(), poolCount}, isExclusive));
  runtime::CallMemory memory;
  size_t slotCount = description->plan.buffers.size();
  SmallArray<int64_t, 32> offsets(slotCount);
  PLIM_ASSIGN_OR_RETURN(memory.slabBytes,
                        planSlab(argumentViews.data(), {offsets.data(), slotCount}));
  memory.offsets = slotCount == 0 ? nullptr : offsets.data();
  memory.offsetCount = slotCount;
  if (options.workspace)
    PLIM_RETURN_IF_ERROR(bindWorkspace(options, {pools.data(), poolCount}, memory));
  SmallArray<plim_view, 16> outputs(results.size());
  if (!options.outputs.empty()) {
    PLIM_RETURN_IF_ERROR(bindOutputs(options, arguments, {pools.data(), poolCount},
                                     {outputs.data(), results.size()}));
    memory.outputs = outputs.data();
  }
  for (size_t i = 0; i < poolCount; ++i)
    poolBases[i] = pools[i].data;
  memory.pools = poolCount == 0 ? nullptr : poolBases.data();

  std::unique_lock<std::mutex> lock;
  if (isExclusive)
    lock = std::unique_lock<std::mutex>(const_cast<std::mutex &>(moduleState.stateMutex));
  runtime::CallContext call(*engine.executor, *moduleState.pool, *engine.slabs, memory);
  PLIM_RETURN_IF_ERROR(call.run(entry, argumentViews.data(), resultViews.data(),
                                {description->stackBytes, workersFit}));
  lock = {};

  SmallArray<Value, 4> fresh(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueType &type = description->results[i];
    if (!type.isShaped) {
      fresh[i] = Scalar{resultTypes[i], scalars[i]};
      continue;
    }
    void *data = resultViews[i].data;
    bool isGiven = memory.outputs && options.outputs[i];
    if (isGiven && data == outputs[i].data) {
      fresh[i] = options.outputs[i];
      continue;
    }
    if (!call.detach(data))
      return internalError("result #" + std::to_string(i) + " of '" + description->name +
                           "' is no memory of the call");
    StatusOr<Buffer> buffer = Buffer::adopt(moduleState.pool, data, resultTypes[i],
                                            {resultViews[i].sizes, type.shape.size()});
    if (!buffer.ok()) {
      moduleState.pool->release(data);
      return buffer.status();
    }
    fresh[i] = std::move(*buffer);
    if (!isGiven)
      continue;
    // What is carried around before it is returned has memory of its own.
    const Buffer &result = std::get<Buffer>(fresh[i]), &output = options.outputs[i];
    if (!std::ranges::equal(result.shape(), output.shape()))
      return invalidArgumentError(
          runtime::outputMismatch(static_cast<int64_t>(i), static_cast<int64_t>(type.shape.size()),
                                  output.shape().data(), result.shape().data()));
    if (result.bytes() != 0)
      std::memcpy(output.mutableData(), result.data(), result.bytes());
    fresh[i] = output;
  }
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = std::move(fresh[i]);
  return okStatus();
}

StatusOr<std::vector<Value>> Function::call(std::span<const Value> arguments,
                                            const CallOptions &options) const {
  std::vector<Value> results(description->results.size());
  PLIM_RETURN_IF_ERROR(callInto(arguments, results, options));
  return results;
}

void *Function::rawPointer() const {
  if (!description->isKernel || description->rawTakesContext)
    return nullptr;
  return module->state->linked->raw(description->name);
}

} // namespace plim
