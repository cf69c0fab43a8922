#include "engine/session/Specializations.h"

#include "engine/session/State.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace plim {

using jit::DataKind;
using jit::DataSymbol;
using jit::FunctionSignature;
using runtime::Buffer;
using runtime::Value;

namespace {

/// Of extents that calls came with and that have no code yet.
constexpr size_t heatsKept = 32;
/// So many compilations of a function that failed are enough.
constexpr size_t failuresKept = 4;
/// Cache lines on which the calls of a slot count themselves in and out.
constexpr size_t stripeCount = 16;

int64_t extentOf(std::span<const Value> arguments, std::pair<uint32_t, uint32_t> position) {
  return std::get<Buffer>(arguments[position.first]).shape()[position.second];
}

/// Which cache line this thread counts on.
size_t stripeOfThread() {
  static std::atomic<size_t> next{0};
  thread_local const size_t stripe = next.fetch_add(1, std::memory_order_relaxed) % stripeCount;
  return stripe;
}

/// Is this call of the thread one to look at?
bool isSample() {
  static std::atomic<uint32_t> next{1};
  thread_local uint32_t state = next.fetch_add(0x9e3779b9, std::memory_order_relaxed);
  state = state * 1664525 + 1013904223; // the higher bits are as good as random
  return (state >> 16) % Specializations::sampleEvery == 0;
}

std::string textOf(const std::string &name, std::span<const int64_t> extents) {
  std::string text = name;
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i == 0 ? "(" : ", ") + std::to_string(extents[i]);
  return text + ")";
}

bool hasZero(std::span<const int64_t> extents) {
  return std::ranges::find(extents, 0) != extents.end();
}

/// Nothing is gained where there is nothing to compute. One extent may be 0: nothing is kept before the first token.
bool isWorth(std::span<const int64_t> extents) {
  return std::ranges::any_of(extents, [](int64_t extent) { return extent != 0; });
}

/// The position of `name` in `names`.
template <typename NamesT, typename ProjectionT>
std::optional<uint32_t> positionOf(const NamesT &names, std::string_view name, ProjectionT nameOf) {
  auto it = std::ranges::find(names, name, nameOf);
  if (it == names.end())
    return std::nullopt;
  return static_cast<uint32_t>(it - names.begin());
}

} // namespace

/// `entered` - `left` calls are in it. Neither ever falls.
struct alignas(64) Specializations::Stripe {
  std::atomic<uint64_t> entered{0}, left{0};
};

struct Specializations::Slot {
  // Written while nobody can find it and no call is in it; read by calls that are.
  size_t function = 0;
  std::vector<int64_t> extents;
  std::unique_ptr<SpecializedCode> special;

  std::atomic<uint64_t> lastUse{0}; // of `samples`
  std::array<Stripe, stripeCount> stripes;

  /// Once no call can find it: true if none is in it any more.
  bool isLeft() const {
    return std::ranges::all_of(stripes, [](const Stripe &stripe) {
      uint64_t left = stripe.left.load(); // before the others, who may be coming
      return stripe.entered.load() == left;
    });
  }
  uint64_t uses() const {
    uint64_t sum = 0;
    for (const Stripe &stripe : stripes)
      sum += stripe.entered.load(std::memory_order_relaxed);
    return sum;
  }
};

// A call

Specializations::Call::Call(Specializations *table, size_t function,
                            std::span<const Value> arguments)
    : table(table), function(function), arguments(arguments) {
  if (!table || table->functions[function].extents.empty())
    return;
  isSampled = isSample();
  hash = table->hashOf(function, arguments);
  for (size_t i = 0; i < table->slots.size(); ++i) {
    std::atomic<uint64_t> &there = table->hashes[i];
    if (there.load(std::memory_order_acquire) != hash)
      continue;
    Slot &slot = *table->slots[i];
    stripe = &slot.stripes[stripeOfThread()];
    stripe->entered.fetch_add(1);
    if (there.load() == hash && table->matches(slot.extents, slot.function, function, arguments)) {
      special = slot.special.get();
      if (isSampled)
        slot.lastUse.store(table->samples.fetch_add(1, std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
      isSampled = false;
      return;
    }
    leave();
    return;
  }
}

void Specializations::Call::leave() {
  if (stripe)
    stripe->left.fetch_add(1);
  stripe = nullptr;
  special = nullptr;
}

void Specializations::Call::end() {
  if (!isSampled)
    return;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  table->record(function, arguments, hash, time.count());
}

// The table

std::shared_ptr<Specializations> Specializations::create(Module &module, ModuleSource source,
                                                         const SpecializationOptions &options) {
  std::shared_ptr<Specializations> table(new Specializations(module, std::move(source), options));
  bool isOpen = std::ranges::any_of(table->functions,
                                    [](const Positions &each) { return !each.extents.empty(); });
  if (!isOpen)
    return nullptr;
  ModuleSource &kept = table->source;
  // Those of the load alone.
  kept.options.assembly = nullptr;
  kept.options.irAfter.clear();
  kept.options.takeIr = {};
  kept.options.progress = nullptr;
  kept.options.stop = {};
  kept.options.timeout = {};
  if (!kept.options.sourceOwner) {
    auto copy = std::make_shared<const std::string>(kept.text);
    kept.text = *copy;
    kept.options.sourceOwner = std::move(copy);
  }
  return table;
}

Specializations::Specializations(Module &module, ModuleSource source,
                                 const SpecializationOptions &options)
    : source(std::move(source)), options(options), engine(*module.state->engine->state),
      module(&module) {
  for (const FunctionSignature &signature : module.state->artifact.functions) {
    names.push_back(signature.name);
    Positions &positions = functions.emplace_back();
    for (uint32_t i = 0; i < signature.arguments.size(); ++i)
      for (uint32_t d = 0; d < signature.arguments[i].shape.size(); ++d)
        if (signature.arguments[i].shape[d] < 0)
          positions.extents.emplace_back(i, d);
  }
  size_t count = static_cast<size_t>(std::max(options.atMost, 0));
  hashes = std::make_unique<std::atomic<uint64_t>[]>(count);
  for (size_t i = 0; i < count; ++i)
    slots.push_back(std::make_unique<Slot>());
  size_t longest = 0;
  for (const Positions &each : functions)
    longest = std::max(longest, each.extents.size());
  heats.resize(heatsKept);
  for (Heat &heat : heats)
    heat.extents.reserve(longest);
}

Specializations::~Specializations() = default;

uint64_t Specializations::hashOf(size_t function, std::span<const Value> arguments) const {
  constexpr uint64_t factor = 0x9e3779b97f4a7c15;
  uint64_t hash = (function + 1) * factor;
  for (const auto &position : functions[function].extents) {
    hash = (hash ^ static_cast<uint64_t>(extentOf(arguments, position))) * factor;
    hash ^= hash >> 32;
  }
  return hash == 0 ? 1 : hash;
}

bool Specializations::matches(std::span<const int64_t> extents, size_t ofFunction, size_t function,
                              std::span<const Value> arguments) const {
  const auto &positions = functions[function].extents;
  if (ofFunction != function || extents.size() != positions.size())
    return false;
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != extentOf(arguments, positions[i]))
      return false;
  return true;
}

std::vector<int64_t> Specializations::extentsOf(size_t function,
                                                std::span<const Value> arguments) const {
  std::vector<int64_t> extents;
  for (const auto &position : functions[function].extents)
    extents.push_back(extentOf(arguments, position));
  return extents;
}

void Specializations::record(size_t function, std::span<const Value> arguments, uint64_t hash,
                             double seconds) {
  // Whoever comes while another one is in here is not counted.
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock || !module || options.mode != Specialization::Hot)
    return;
  const uint64_t now = samples.fetch_add(1, std::memory_order_relaxed) + 1;
  auto isIt = [&](const Heat &heat) {
    return heat.hash == hash && matches(heat.extents, heat.function, function, arguments);
  };
  auto heat = std::ranges::find_if(heats, isIt);
  if (heat == heats.end()) {
    heat = std::ranges::min_element(heats, {}, &Heat::lastSeen);
    heat->hash = hash;
    heat->function = function;
    heat->seconds = 0;
    heat->extents.clear(); // it has room for all
    for (const auto &position : functions[function].extents)
      heat->extents.push_back(extentOf(arguments, position));
  }
  heat->lastSeen = now;
  heat->seconds += seconds * sampleEvery;
  const auto &failed = functions[function].failed;
  if (heat->seconds < hotSeconds || !isWorth(heat->extents) || counts.inWork != 0 ||
      failed.size() >= failuresKept || std::ranges::find(failed, heat->extents) != failed.end() ||
      !hasRoom())
    return;
  // The code may have come while this call, which found none, was running.
  if (isThere(function, heat->extents, hash))
    return;
  try {
    engine.background.submit([self = weak_from_this(), function, extents = heat->extents,
                              hash](const std::stop_token &stop) {
      if (std::shared_ptr<Specializations> table = self.lock())
        table->makeHot(function, extents, hash, stop);
    });
    ++counts.inWork;
  } catch (const std::exception &) {
    heat->seconds =
        0; // no memory, or no thread: the call is done, and this has to be earned once more
  }
}

void Specializations::makeHot(size_t function, const std::vector<int64_t> &extents, uint64_t hash,
                              const std::stop_token &stop) {
  StatusOr<jit::Artifact> artifact = compile({names[function], extents}, /*onWorkers=*/false, stop);
  // Devices load and release code, and may call back: not while anybody else has to wait.
  StatusOr<Externals> externals = artifact.ok() ? engine.bindExternals(*artifact, source.functions)
                                                : StatusOr<Externals>(artifact.status());
  std::unique_ptr<SpecializedCode> gone;
  std::unique_lock lock(mutex);
  --counts.inWork;
  if (!module || stop.stop_requested())
    return;
  Status status = externals.ok()
                      ? publish(function, extents, hash, *artifact, *externals, idleSamples, gone)
                      : externals.status();
  // Earned once more before it is tried once more.
  for (Heat &heat : heats)
    if (heat.hash == hash)
      heat.hash = heat.lastSeen = 0;
  // What is in the way goes away: calls that run in all slots. A session that links nothing any more stays so.
  if (status.ok() ||
      (status.code() == StatusCode::ResourceExhausted && !engine.session->isBroken()))
    return;
  ++counts.failed;
  functions[function].failed.push_back(extents);
  // The host's logger may ask for the statistics, or wait for who does.
  lock.unlock();
  engine.options.logger.log(LogLevel::Warning, "no code of its own for ",
                            textOf(names[function], extents), " of ", source.name, ": ",
                            status.toString());
}

Status Specializations::make(size_t function, std::span<const Value> arguments) {
  PLIM_RETURN_IF_ERROR(session::checkStack());
  std::vector<int64_t> extents = extentsOf(function, arguments);
  if (!isWorth(extents))
    return okStatus();
  uint64_t hash = hashOf(function, arguments);
  {
    std::lock_guard lock(mutex);
    if (isThere(function, extents, hash))
      return okStatus();
  }
  StatusOr<jit::Artifact> compiled = compile({names[function], extents}, /*onWorkers=*/true, {});
  // Upstream refuses some static shapes without elements, which the code for all extents takes.
  if (compiled.status().code() == StatusCode::InvalidArgument && hasZero(extents))
    return okStatus();
  PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact, std::move(compiled));
  PLIM_ASSIGN_OR_RETURN(Externals externals, engine.bindExternals(artifact, source.functions));
  std::unique_ptr<SpecializedCode> gone;
  std::lock_guard lock(mutex);
  return publish(function, extents, hash, artifact, externals, 0, gone);
}

StatusOr<jit::Artifact> Specializations::compile(const jit::Specialization &specialization,
                                                 bool onWorkers,
                                                 const std::stop_token &stop) const {
  const EngineOptions &ofEngine = engine.options;
  std::string what = "specialise " + textOf(specialization.function, specialization.extents) +
                     " of " + source.name;
  ProfilerSpan span(ofEngine.profiler.get(), Profiler::Kind::Load, what.c_str());
  jit::CompileOptions special = source.options;
  special.specialization = specialization;
  special.stop = stop;
  if (!onWorkers)
    special.parallelFor = nullptr;
  PLIM_ASSIGN_OR_RETURN(Engine::State::Compiled compiled,
                        engine.compileToRun(source.text, source.digest, source.name, special));
  return std::move(compiled.artifact);
}

StatusOr<std::unique_ptr<SpecializedCode>>
Specializations::link(size_t function, const jit::Artifact &artifact, Externals &externals) const {
  const Module::State &general = *module->state;
  auto special = std::make_unique<SpecializedCode>();
  const FunctionSignature &signature = special->signature = artifact.functions.at(0);

  // What calls have bound for the general code has to do, but for what devices give.
  special->devicePools = engine.makeDevicePools(artifact);
  for (size_t i = 0; i < artifact.pools.size(); ++i) {
    std::optional<uint32_t> position =
        positionOf(general.artifact.pools, artifact.pools[i], std::identity());
    const jit::PoolNeed &need = signature.pools[i];
    jit::PoolNeed have;
    if (position)
      have = general.artifact.functions[function].pools[*position];
    bool isOfDevice = !special->devicePools.empty() && special->devicePools[i];
    if (!isOfDevice &&
        (need.bytes > have.bytes || (need.bytes != 0 && need.alignment > have.alignment)))
      return failedPreconditionError("it needs more of pool '" + artifact.pools[i] + "'");
    special->pools.push_back(position.value_or(0));
  }
  std::vector<jit::DataBinding> bindings;
  for (const DataSymbol &symbol : artifact.symbols) {
    const void *address = nullptr;
    if (symbol.kind == DataKind::Variable) {
      std::optional<uint32_t> position =
          positionOf(general.layout->variables, symbol.name, &StateLayout::Variable::name);
      if (!position)
        return internalError("the module has no variable '" + symbol.name + "'");
      special->variables.push_back(*position);
      continue;
    }
    if (symbol.kind == DataKind::Parameter) {
      if (auto it = general.parameters.find(symbol.name); it != general.parameters.end()) {
        runtime::Buffer &buffer = special->parameters.emplace_back(it->second);
        if (!symbol.isSourceOnly) {
          PLIM_ASSIGN_OR_RETURN(buffer, session::aligned(buffer));
        }
        address = buffer.data();
      }
    } else if (symbol.kind == DataKind::Prepared) {
      address = general.linked->prepared(symbol.name);
      if (!address)
        return failedPreconditionError("it needs other constants than the code for all extents");
    } else if (!symbol.pool.empty()) {
      if (auto it = general.pinned.find(symbol.name); it != general.pinned.end())
        address = it->second;
    } else if (symbol.block < 0) {
      // Large ones the session shares by itself.
      if (std::optional<std::string_view> contents = contentsOf(artifact, symbol))
        address = general.linked->find(*contents);
    }
    if (address)
      bindings.emplace_back(symbol.name, address);
  }
  PLIM_ASSIGN_OR_RETURN(special->linked,
                        engine.session->link(artifact, bindings, bindingsOf(externals)));
  special->externals = std::move(externals);

  FunctionCode &code = special->code;
  code.signature = &signature;
  code.entry = special->linked->entry(signature.name);
  if (!signature.plan.buffers.empty()) {
    special->planner = std::make_unique<CallPlanner>(signature);
    code.planner = special->planner.get();
    code.extentsEntry = special->linked->entry(signature.plan.function);
  }
  code.workersFit = signature.workerStackBytes <= engine.executor->workerStackBytes();
  return special;
}

bool Specializations::isThere(size_t function, const std::vector<int64_t> &extents,
                              uint64_t hash) const {
  for (size_t i = 0; i < slots.size(); ++i)
    if (hashes[i].load() == hash && slots[i]->function == function && slots[i]->extents == extents)
      return true;
  return false;
}

bool Specializations::hasRoom() const {
  for (size_t i = 0; i < slots.size(); ++i)
    if (canEmpty(i, idleSamples))
      return true;
  return false;
}

bool Specializations::canEmpty(size_t slot, uint64_t idle) const {
  return !slots[slot]->special ||
         samples.load(std::memory_order_relaxed) - slots[slot]->lastUse.load() >= idle;
}

Status Specializations::publish(size_t function, const std::vector<int64_t> &extents, uint64_t hash,
                                const jit::Artifact &artifact, Externals &externals, uint64_t idle,
                                std::unique_ptr<SpecializedCode> &gone) {
  if (isThere(function, extents, hash))
    return okStatus();
  StatusOr<std::unique_ptr<SpecializedCode>> linked = link(function, artifact, externals);
  PLIM_RETURN_IF_ERROR(linked.status());
  std::unique_ptr<SpecializedCode> &special = gone;
  special = std::move(*linked);
  std::vector<size_t> order(slots.size());
  std::iota(order.begin(), order.end(), size_t(0));
  // Free ones first, then the one that was not used for longest.
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::tuple(slots[i]->special != nullptr, slots[i]->lastUse.load(), i);
  });
  for (size_t i : order) {
    Slot &slot = *slots[i];
    if (!canEmpty(i, idle))
      continue;
    uint64_t before = hashes[i].exchange(0);
    if (!slot.isLeft()) {
      hashes[i].store(before);
      continue;
    }
    counts.evicted += slot.special != nullptr;
    std::swap(slot.special, special);
    slot.function = function;
    slot.extents = extents;
    slot.lastUse.store(samples.fetch_add(1) + 1);
    hashes[i].store(hash);
    ++counts.made;
    return okStatus();
  }
  return resourceExhaustedError("calls run in the code for all of the " +
                                std::to_string(slots.size()) + " extents of " + source.name);
}

SpecializationStatistics Specializations::statistics() const {
  std::lock_guard lock(mutex);
  SpecializationStatistics result = counts;
  for (const std::unique_ptr<Slot> &slot : slots)
    result.calls += static_cast<int64_t>(slot->uses());
  return result;
}

void Specializations::close() {
  // Released without the lock, and without memory for a list of them: there may be none.
  for (size_t i = 0;; ++i) {
    std::unique_ptr<SpecializedCode> gone;
    std::lock_guard lock(mutex);
    module = nullptr;
    if (i == slots.size())
      return;
    hashes[i].store(0);
    gone = std::move(slots[i]->special);
  }
}

} // namespace plim
