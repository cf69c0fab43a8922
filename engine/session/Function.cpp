#include "engine/runtime/CallContext.h"
#include "engine/runtime/LockUnless.h"
#include "engine/runtime/StackBounds.h"
#include "engine/session/GuardedArguments.h"
#include "engine/session/Overlap.h"
#include "engine/session/SmallArray.h"
#include "engine/session/State.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

namespace plim {

using jit::FunctionSignature;
using jit::ValueType;
using runtime::Buffer;
using runtime::Scalar;
using runtime::Value;
using namespace session;

namespace {

Status tooSmall(const std::string &what, size_t given, size_t needed, const std::string &function) {
  return resourceExhaustedError(what + " has " + std::to_string(given) + " bytes, but '" +
                                function + "' needs " + std::to_string(needed) + ": " +
                                std::to_string(needed - given) + " are missing");
}

/// "argument #1 (%x)", without the name where the source gives it none.
std::string argumentText(const FunctionSignature &signature, size_t index) {
  const std::string &name = signature.arguments[index].name;
  return "argument #" + std::to_string(index) + (name.empty() ? "" : " (%" + name + ")");
}

HostMemory memoryOf(const Buffer &buffer) {
  Interval interval = intervalOf(buffer);
  return {reinterpret_cast<void *>(interval.begin), interval.end - interval.begin};
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

} // namespace

Function::Function(std::shared_ptr<const Module> owner, const FunctionSignature *description)
    : module(std::move(owner)), description(description),
      specializations(module->state->specializations.get()),
      position(static_cast<size_t>(description - module->functions().data())) {
  const Module::State &state = *module->state;
  general.signature = description;
  general.entry = state.linked->entry(description->name);
  if (auto it = state.planners.find(description); it != state.planners.end()) {
    general.planner = it->second.get();
    general.extentsEntry = state.linked->entry(description->plan.function);
  }
  general.workersFit = description->workerStackBytes <= executor().workerStackBytes();
  size_t memrefs = 0, tensors = 0;
  for (const ValueType &type : description->arguments) {
    if (type.isShaped)
      ++(type.isMemref ? memrefs : tensors);
    writesArguments |= type.access != jit::Access::ReadOnly;
  }
  hasVariants = description->isKernel && memrefs > 1;
  mixesTensors = memrefs != 0 && tensors != 0;
  // Import admits only the types of the list.
  donors.resize(description->results.size(), noDonor);
  for (size_t i = 0; i < description->arguments.size(); ++i)
    if (std::optional<uint32_t> result = description->arguments[i].donatedTo)
      donors[*result] = i;
  for (const ValueType &type : description->arguments)
    argumentTypes.push_back(*runtime::elementTypeFromName(type.element));
  for (const ValueType &type : description->results)
    resultTypes.push_back(*runtime::elementTypeFromName(type.element));
}

runtime::Executor &Function::executor() const { return *module->state->engine->state->executor; }

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
      if (fits && types[i].access != jit::Access::ReadOnly && buffer.readOnly())
        return invalidArgumentError(argumentText(*description, i) + " of '" + description->name +
                                    "' is read-only, but the function writes it");
    }
    if (!fits) {
      const auto *buffer = std::get_if<Buffer>(&arguments[i]);
      std::string have = buffer && !*buffer ? "an empty handle" : typeName(arguments[i]);
      return invalidArgumentError(argumentText(*description, i) + " of '" + description->name +
                                  "' is " + have + expected(types[i], buffer) +
                                  (types[i].isShaped == (buffer != nullptr) ? ""
                                   : types[i].isShaped                      ? " as a buffer"
                                                                            : " as a scalar"));
    }
    if (!types[i].bounds.empty())
      PLIM_RETURN_IF_ERROR(checkBounds(i, std::get<Buffer>(arguments[i])));
  }
  return okStatus();
}

Status Function::checkBounds(size_t argument, const Buffer &buffer) const {
  const std::vector<jit::ExtentBounds> &bounds = description->arguments[argument].bounds;
  for (size_t d = 0; d < bounds.size(); ++d)
    if (int64_t extent = buffer.shape()[d]; extent < bounds[d].min || extent > bounds[d].max)
      return errorAtPlace(StatusCode::InvalidArgument,
                          description->location + "extent " + std::to_string(d) + " of " +
                              argumentText(*description, argument) + " of '" + description->name +
                              "' is " + std::to_string(extent) + ", but its bounds are " +
                              toString(bounds[d]));
  return okStatus();
}

runtime::CallMemory Function::workspaceLayout(const FunctionCode &code, size_t slabBytes) const {
  size_t threads = static_cast<size_t>(executor().threads());
  runtime::CallMemory layout;
  layout.slabBytes = roundUp(static_cast<int64_t>(slabBytes));
  layout.scratchBytes = roundUp(code.signature->scratchBytes);
  layout.scratchCount = threads;
  return layout;
}

StatusOr<WorkspaceRequirement> Function::workspaceRequirement() const {
  if (general.planner)
    return failedPreconditionError("the workspace of '" + description->name +
                                   "' depends on the extents of its arguments: ask with them");
  return workspaceRequirement(general, static_cast<size_t>(description->workspaceBytes));
}

StatusOr<WorkspaceRequirement>
Function::workspaceRequirement(std::span<const Value> arguments) const {
  PLIM_RETURN_IF_ERROR(checkArguments(arguments));
  SmallArray<plim_view, 16> views(arguments.size());
  makeViews(arguments, views.data());
  SmallArray<int64_t, 32> offsets(description->plan.buffers.size());
  PLIM_ASSIGN_OR_RETURN(
      size_t slabBytes,
      planSlab(general, views.data(), {offsets.data(), description->plan.buffers.size()}));
  return workspaceRequirement(general, slabBytes);
}

StatusOr<size_t> Function::planSlab(const FunctionCode &code, const plim_view *arguments,
                                    std::span<int64_t> offsets) const {
  if (!code.planner)
    return static_cast<size_t>(code.signature->workspaceBytes);
  auto count = static_cast<size_t>(code.signature->plan.extentCount);
  SmallArray<int64_t, 16> extents(count);
  SmallArray<plim_view, 16> views(count);
  for (size_t i = 0; i < count; ++i)
    views[i] = {&extents[i], nullptr, nullptr};
  // Integers alone, none of which can trap.
  plim_context context{};
  code.extentsEntry(&context, arguments, views.data());
  std::span<const int64_t> needed = {extents.data(), count};
  if (std::optional<size_t> bytes = code.planner->find(needed, offsets))
    return *bytes;

  // New sizes. The search wants more stack than a call without it.
  constexpr int64_t plannerStackBytes = 512 << 10;
  Engine::State &engine = *module->state->engine->state;
  StatusOr<size_t> bytes = internalError("not planned");
  auto job = [&] { bytes = code.planner->plan(needed, offsets); };
  if (runtime::StackBounds::left() >= plannerStackBytes)
    job();
  else
    PLIM_RETURN_IF_ERROR(engine.executor->callThreads().run(plannerStackBytes, job));
  // Slabs of all sizes that ever were would add up.
  if (bytes.ok())
    engine.slabs->trim(std::max(runtime::MemoryPoolOptions().maxKeptBytes, 2 * *bytes));
  return bytes;
}

StatusOr<WorkspaceRequirement> Function::workspaceRequirement(const FunctionCode &code,
                                                              size_t slabBytes) const {
  if (!code.signature->unplanned.empty())
    return failedPreconditionError(
        "'" + description->name +
        "' cannot do with a workspace of the caller's: " + code.signature->unplanned);
  runtime::CallMemory layout = workspaceLayout(code, slabBytes);
  size_t bytes;
  if (__builtin_mul_overflow(layout.scratchBytes, layout.scratchCount, &bytes) ||
      __builtin_add_overflow(bytes, layout.slabBytes, &bytes))
    return resourceExhaustedError("the workspace of '" + description->name +
                                  "' is too large for the address space");
  return WorkspaceRequirement{bytes, PLIM_BUFFER_ALIGNMENT};
}

bool Function::fitsWorkspace(const FunctionCode &code, size_t bytes) const {
  if (code.planner || !code.signature->unplanned.empty())
    return false;
  runtime::CallMemory need =
      workspaceLayout(code, static_cast<size_t>(code.signature->workspaceBytes));
  size_t all;
  return !__builtin_mul_overflow(need.scratchBytes, need.scratchCount, &all) &&
         !__builtin_add_overflow(all, need.slabBytes, &all) && all <= bytes;
}

Status Function::specialize(std::span<const Value> arguments) const {
  PLIM_RETURN_IF_ERROR(checkArguments(arguments));
  if (specializations)
    return specializations->make(position, arguments);
  bool isOpen = std::ranges::any_of(description->arguments, [](const ValueType &type) {
    return std::ranges::any_of(type.shape, [](int64_t extent) { return extent < 0; });
  });
  if (!isOpen)
    return okStatus();
  return failedPreconditionError("'" + description->name +
                                 "' was loaded without leave to specialise it");
}

Status Function::checkWritten(std::span<const Value> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueType &type = description->arguments[i];
    if (type.access == jit::Access::ReadOnly)
      continue;
    const auto &written = std::get<Buffer>(arguments[i]);
    HostMemory memory = memoryOf(written);
    auto refuse = [&](const std::string &what) {
      return invalidArgumentError(
          argumentText(*description, i) + " of '" + description->name + "', which " +
          (type.donatedTo ? "is donated" : "the function writes") + ", overlaps " + what);
    };
    for (size_t j = 0; type.donatedTo && j < arguments.size(); ++j) {
      const auto *other = std::get_if<Buffer>(&arguments[j]);
      if (other && j != i && overlap(written, *other))
        return refuse(argumentText(*description, j));
    }
    for (const auto &[name, parameter] : module->state->parameters)
      if (overlap(memory, memoryOf(parameter)))
        return refuse("parameter '" + name + "'");
    for (const HostMemory &constants : module->state->constants)
      if (overlap(memory, constants))
        return refuse("the constants of the module");
  }
  return okStatus();
}

Status Function::checkLent(std::span<const Value> arguments, std::span<const HostMemory> pools,
                           const HostMemory &workspace, const ModuleState *state) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto *buffer = std::get_if<Buffer>(&arguments[i]);
    if (!buffer)
      continue;
    HostMemory memory = memoryOf(*buffer);
    auto refuse = [&](const std::string &what) {
      return invalidArgumentError(argumentText(*description, i) + " of '" + description->name +
                                  "' overlaps " + what);
    };
    for (size_t j = 0; j < pools.size(); ++j)
      if (overlap(memory, pools[j]))
        return refuse("pool '" + module->state->artifact.pools[j] + "'");
    if (overlap(memory, workspace))
      return refuse("the workspace");
    if (state && state->overlaps(memory.data, memory.bytes))
      return refuse("the variables of the call");
  }
  return okStatus();
}

Status Function::copyTensors(std::span<const Value> arguments, plim_view *views,
                             Buffer *copies) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!description->arguments[i].isShaped || description->arguments[i].isMemref)
      continue;
    const Buffer &tensor = std::get<Buffer>(arguments[i]);
    for (size_t j = 0; j < arguments.size() && !copies[i]; ++j)
      if (j != i && description->arguments[j].access != jit::Access::ReadOnly &&
          overlap(tensor, std::get<Buffer>(arguments[j]))) {
        auto *elements = static_cast<const std::byte *>(tensor.data());
        PLIM_ASSIGN_OR_RETURN(copies[i],
                              Buffer::fromCopy(module->state->pool, tensor.type(), tensor.shape(),
                                               {elements, tensor.bytes()}));
        views[i].data = copies[i].mutableData();
      }
  }
  return okStatus();
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
    if (own == options.pools.end() && loaded == state.pools.end() && !state.devicePools.empty() &&
        state.devicePools[i])
      continue; // the device's
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
                             std::span<const HostMemory> pools, const ModuleState *state,
                             plim_view *views) const {
  std::span<const Buffer> outputs = options.outputs;
  if (size_t count = description->results.size(); outputs.size() != count)
    return invalidArgumentError("'" + description->name + "' has " + std::to_string(count) +
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
    if (donors[i] != noDonor)
      return refuse("is not needed: " + argumentText(*description, donors[i]) +
                    " is donated to it");
    HostMemory memory = memoryOf(buffer);
    bool isApart = true;
    for (size_t j = 0; j < arguments.size(); ++j)
      if (const auto *argument = std::get_if<Buffer>(&arguments[j]);
          argument && overlap(buffer, *argument)) {
        if (description->arguments[j].donatedTo)
          return refuse("overlaps " + argumentText(*description, j) + ", which is donated");
        isApart &= !description->arguments[j].isRead;
      }
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
    if (state && state->overlaps(memory.data, memory.bytes))
      return refuse("overlaps the variables of the call");
    // Over an argument the result is not made but copied in the end, when nothing reads that any more,
    // and in memory without guards as well. An empty tensor of the host's may have no address.
    bool isMadeThere = isApart && memory.bytes != 0 && !module->state->engine->state->guarded;
    views[i] = {isMadeThere ? memory.data : nullptr, const_cast<int64_t *>(buffer.shape().data()),
                nullptr};
  }
  return okStatus();
}

Status Function::bindWorkspace(const FunctionCode &code, const CallOptions &options,
                               std::span<const HostMemory> pools,
                               runtime::CallMemory &memory) const {
  PLIM_ASSIGN_OR_RETURN(WorkspaceRequirement need, workspaceRequirement(code, memory.slabBytes));
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
  runtime::CallMemory layout = workspaceLayout(code, memory.slabBytes);
  memory.slabBytes = layout.slabBytes;
  memory.scratchBytes = layout.scratchBytes;
  memory.scratchCount = layout.scratchCount;
  memory.ownWorkspace = true;
  memory.workspace = static_cast<std::byte *>(options.workspace->data);
  return okStatus();
}

Status Function::callInto(std::span<const Value> arguments, std::span<Value> results,
                          const CallOptions &options) const {
  Profiler *profiler = module->state->engine->state->options.profiler.get();
  ProfilerSpan span(profiler, Profiler::Kind::Call, description->name.c_str(),
                    description->location.c_str());
  PLIM_RETURN_IF_ERROR(checkArguments(arguments));
  const size_t resultCount = description->results.size();
  const bool areWanted = !results.empty();
  if (areWanted && results.size() != resultCount)
    return invalidArgumentError("'" + description->name + "' has " + std::to_string(resultCount) +
                                " results, got room for " + std::to_string(results.size()));
  if (writesArguments)
    PLIM_RETURN_IF_ERROR(checkWritten(arguments));
  const Module::State &moduleState = *module->state;
  Engine::State &engine = *moduleState.engine->state;

  // Views point into these arrays; scalars are passed by address.
  SmallArray<plim_view, 16> argumentViews(arguments.size()), resultViews(resultCount);
  SmallArray<uint64_t, 16> scalars(resultCount);
  makeViews(arguments, argumentViews.data());
  SmallArray<Buffer, 4> copies(mixesTensors ? arguments.size() : 0);
  if (mixesTensors)
    PLIM_RETURN_IF_ERROR(copyTensors(arguments, argumentViews.data(), copies.data()));
  size_t extentCount = 0;
  for (const ValueType &type : description->results)
    extentCount += type.shape.size();
  SmallArray<int64_t, 32> extents(extentCount);
  extentCount = 0;
  for (size_t i = 0; i < resultCount; ++i) {
    scalars[i] = 0;
    resultViews[i] = {&scalars[i], extents.data() + extentCount, nullptr};
    extentCount += description->results[i].shape.size();
  }

  size_t poolCount = moduleState.artifact.pools.size();
  SmallArray<HostMemory, 8> pools(poolCount);
  bool sharesPools = false;
  PLIM_RETURN_IF_ERROR(bindPools(options, {pools.data(), poolCount}, sharesPools));
  runtime::CallMemory memory;
  Specializations::Call specialized(specializations, position, arguments);
  if (options.workspace && specialized.code()) {
    // What is asked of the caller is what the general code needs, whichever runs.
    size_t slots = description->plan.buffers.size();
    SmallArray<int64_t, 32> offsets(slots);
    PLIM_ASSIGN_OR_RETURN(memory.slabBytes,
                          planSlab(general, argumentViews.data(), {offsets.data(), slots}));
    PLIM_RETURN_IF_ERROR(bindWorkspace(general, options, {pools.data(), poolCount}, memory));
    memory = {};
    if (!fitsWorkspace(specialized.code()->code, options.workspace->bytes))
      specialized.leave();
  }
  const SpecializedCode *special = specialized.code();
  const FunctionCode &code = special ? special->code : general;
  size_t slotCount = code.signature->plan.buffers.size();
  SmallArray<int64_t, 32> offsets(slotCount);
  PLIM_ASSIGN_OR_RETURN(memory.slabBytes,
                        planSlab(code, argumentViews.data(), {offsets.data(), slotCount}));
  if (hasVariants && areApart(arguments, description->arguments))
    memory.flags |= PLIM_CALL_APART;
  memory.offsets = slotCount == 0 ? nullptr : offsets.data();
  memory.offsetCount = slotCount;
  if (options.workspace)
    PLIM_RETURN_IF_ERROR(bindWorkspace(code, options, {pools.data(), poolCount}, memory));
  ModuleState *state = nullptr;
  if (options.state && options.state->layout != moduleState.layout)
    return invalidArgumentError("the state for '" + description->name + "' is of another module");
  if (description->usesState) {
    state = options.state ? options.state.get() : moduleState.variables.get();
    memory.variables = state->bases.data();
  }
  SmallArray<void *, 8> variables(special ? special->variables.size() : 0);
  if (special) {
    for (size_t i = 0; i < special->variables.size(); ++i)
      variables[i] = state->bases[special->variables[i]];
    memory.variables = variables.data();
  }
  if (options.workspace || poolCount != 0 || state)
    PLIM_RETURN_IF_ERROR(checkLent(
        arguments, {pools.data(), poolCount},
        {memory.workspace,
         memory.workspace ? memory.slabBytes + memory.scratchBytes * memory.scratchCount : 0},
        state));
  SmallArray<plim_view, 16> outputs(resultCount);
  if (!options.outputs.empty()) {
    PLIM_RETURN_IF_ERROR(
        bindOutputs(options, arguments, {pools.data(), poolCount}, state, outputs.data()));
    memory.outputs = outputs.data();
  }
  const size_t baseCount = special ? special->pools.size() : poolCount;
  SmallArray<void *, 8> poolBases(baseCount);
  memory.pools = baseCount == 0 ? nullptr : poolBases.data();

  std::unique_lock<std::timed_mutex> poolLock, stateLock; // in this order
  if (sharesPools || state) {
    ProfilerSpan wait(profiler, Profiler::Kind::Wait, "wait for another call");
    if (sharesPools)
      poolLock = std::unique_lock(moduleState.poolMutex, std::defer_lock);
    if (state)
      stateLock = std::unique_lock(state->mutex, std::defer_lock);
    for (std::unique_lock<std::timed_mutex> *lock : {&poolLock, &stateLock})
      if (lock->mutex() &&
          !runtime::lockUnless(*lock, [&] { return options.stop.stop_requested(); }))
        return Status(StatusCode::Cancelled, "the call was cancelled");
  }
  // Last, and in the order of the pools: who waits for a block keeps nobody else from giving one back.
  const auto &devicePools = special ? special->devicePools : moduleState.devicePools;
  SmallArray<DevicePool::Block, 4> blocks(devicePools.size());
  for (size_t i = 0; i < baseCount; ++i) {
    DevicePool *own = devicePools.empty() ? nullptr : devicePools[i].get();
    if (!own || (!special && (pools[i].data || description->pools[i].bytes == 0))) {
      poolBases[i] = poolCount == 0 ? nullptr : pools[special ? special->pools[i] : i].data;
      continue;
    }
    blocks[i] = own->take(options.stop);
    poolBases[i] = blocks[i].data();
    if (!poolBases[i] && options.stop.stop_requested())
      return Status(StatusCode::Cancelled, "the call was cancelled");
    if (!poolBases[i])
      return resourceExhaustedError("'" + description->name + "' needs " +
                                    std::to_string(own->bytes()) + " bytes of '" + own->memory() +
                                    "', which its device does not have");
  }
  std::optional<GuardedArguments> guarded;
  std::string name;
  runtime::CheckedCall checked;
  if (engine.guarded) {
    guarded.emplace(*engine.guarded);
    PLIM_RETURN_IF_ERROR(guarded->copyIn(description->arguments, arguments, argumentViews.data()));
    name = description->location + (description->isKernel ? "kernel '" : "function '") +
           description->name + "'";
    checked = {engine.guarded.get(),
               name,
               {argumentViews.data(), arguments.size()},
               {memory.variables, state ? state->bases.size() : 0}};
    memory.checked = &checked;
  }
  runtime::CallContext call(*engine.executor, *moduleState.pool, *engine.slabs, memory);
  struct Canceller {
    runtime::CallContext &call;
    void operator()() const { call.cancel(); }
  };
  std::optional<std::stop_callback<Canceller>> canceller;
  if (options.stop.stop_possible())
    canceller.emplace(options.stop, Canceller{call});
  specialized.begin();
  Status status = call.run(code.entry, argumentViews.data(), resultViews.data(),
                           {code.signature->stackBytes, code.workersFit});
  if (guarded)
    guarded->copyBack();
  PLIM_RETURN_IF_ERROR(status);
  specialized.end();
  for (std::unique_lock<std::timed_mutex> *lock : {&stateLock, &poolLock})
    if (lock->owns_lock())
      lock->unlock();

  SmallArray<Value, 4> fresh(results.size());
  for (size_t i = 0; i < resultCount; ++i) {
    const ValueType &type = description->results[i];
    const bool isGiven = memory.outputs && options.outputs[i];
    if (!areWanted && !isGiven)
      continue; // what was made is of the call, which gives it back
    if (!type.isShaped) {
      fresh[i] = Scalar{resultTypes[i], scalars[i]};
      continue;
    }
    if (donors[i] != noDonor) {
      fresh[i] = arguments[donors[i]];
      continue;
    }
    void *data = resultViews[i].data;
    if (isGiven && data == outputs[i].data) {
      if (areWanted)
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
    if (!isGiven) {
      fresh[i] = std::move(*buffer);
      continue;
    }
    // Made elsewhere: because it overlaps an argument, or is carried around before it is returned.
    const Buffer &result = *buffer, &output = options.outputs[i];
    if (!std::ranges::equal(result.shape(), output.shape()))
      return invalidArgumentError(
          runtime::outputMismatch(static_cast<int64_t>(i), static_cast<int64_t>(type.shape.size()),
                                  output.shape().data(), result.shape().data()));
    if (result.bytes() != 0)
      std::memcpy(output.mutableData(), result.data(), result.bytes());
    if (areWanted)
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
