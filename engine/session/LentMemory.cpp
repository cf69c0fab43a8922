#include "engine/session/LentMemory.h"

#include "engine/session/Arguments.h"
#include "engine/session/Overlap.h"
#include "engine/session/State.h"
#include "engine/session/Workspace.h"

namespace plim::session {

using jit::FunctionSignature;
using jit::ValueType;
using runtime::Buffer;
using runtime::Value;

namespace {

Status tooSmall(const std::string &what, size_t given, size_t needed, const std::string &function) {
  return resourceExhaustedError(what + " has " + std::to_string(given) + " bytes, but '" +
                                function + "' needs " + std::to_string(needed) + ": " +
                                std::to_string(needed - given) + " are missing");
}

} // namespace

HostMemory memoryOf(const Buffer &buffer) {
  const Interval interval = intervalOf(buffer);
  // Strides below zero have bytes in front of the first element.
  auto *first = static_cast<std::byte *>(const_cast<void *>(buffer.data()));
  auto before = static_cast<ptrdiff_t>(interval.begin - reinterpret_cast<uintptr_t>(first));
  return {first + before, interval.end - interval.begin};
}

Status LentMemory::bind(std::span<const Value> arguments) {
  if (!options.pools.empty() || !function.module->state->artifact.pools.empty())
    PLIM_RETURN_IF_ERROR(bindPools());
  if (options.state || function.signature().usesState)
    PLIM_RETURN_IF_ERROR(bindState());
  if (!options.outputs.empty())
    PLIM_RETURN_IF_ERROR(bindOutputs(arguments));
  return okStatus();
}

Status LentMemory::bindPools() {
  const FunctionSignature &signature = function.signature();
  const Module::State &module = *function.module->state;
  PLIM_RETURN_IF_ERROR(checkPools(options.pools, module.artifact));
  poolMemories.make(module.artifact.pools.size());
  std::span<HostMemory> memories = poolMemories.span();
  for (size_t i = 0; i < memories.size(); ++i) {
    const std::string &name = module.artifact.pools[i];
    const jit::PoolNeed &need = signature.pools[i];
    memories[i] = {};
    if (need.bytes == 0)
      continue;
    auto own = options.pools.find(name), loaded = module.pools.find(name);
    if (own == options.pools.end() && loaded == module.pools.end() && !module.devicePools.empty() &&
        module.devicePools[i])
      continue; // the device's
    if (own == options.pools.end() && loaded == module.pools.end())
      return failedPreconditionError("'" + signature.name + "' needs pool '" + name + "' with " +
                                     std::to_string(need.bytes) +
                                     " bytes, which is bound neither at load nor at the call");
    isPoolShared |= own == options.pools.end();
    const HostMemory &memory = own != options.pools.end() ? own->second : loaded->second;
    size_t bytes = static_cast<size_t>(need.bytes);
    if (memory.bytes < bytes)
      return tooSmall("pool '" + name + "'", memory.bytes, bytes, signature.name);
    if (!isAligned(memory.data, need.alignment))
      return invalidArgumentError("the memory of pool '" + name + "' is not aligned to " +
                                  std::to_string(need.alignment) + " bytes, as '" + signature.name +
                                  "' needs it");
    memories[i] = {memory.data, bytes};
    for (const HostMemory &constants : module.constants)
      if (overlap(memories[i], constants))
        return invalidArgumentError("pool '" + name + "' overlaps the constants of the module");
    for (size_t j = 0; j < i; ++j)
      if (overlap(memories[i], memories[j]))
        return invalidArgumentError("pools '" + module.artifact.pools[j] + "' and '" + name +
                                    "' overlap");
  }
  return okStatus();
}

Status LentMemory::bindState() {
  const FunctionSignature &signature = function.signature();
  const Module::State &module = *function.module->state;
  if (options.state && options.state->layout != module.layout)
    return invalidArgumentError("the state for '" + signature.name + "' is of another module");
  if (signature.usesState)
    variables = options.state ? options.state.get() : module.variables.get();
  return okStatus();
}

Status LentMemory::bindOutputs(std::span<const Value> arguments) {
  const FunctionSignature &signature = function.signature();
  const size_t count = signature.results.size();
  if (options.outputs.size() != count)
    return invalidArgumentError("'" + signature.name + "' has " + std::to_string(count) +
                                " results, got buffers for " +
                                std::to_string(options.outputs.size()));
  outputs.make(count);
  for (size_t i = 0; i < count; ++i) {
    outputs[i] = {nullptr, nullptr, nullptr};
    if (options.outputs[i])
      PLIM_RETURN_IF_ERROR(bindOutput(i, arguments));
  }
  return okStatus();
}

Status LentMemory::bindOutput(size_t result, std::span<const Value> arguments) {
  const FunctionSignature &signature = function.signature();
  const Module::State &module = *function.module->state;
  const Buffer &buffer = options.outputs[result];
  auto refuse = [&](const std::string &why) {
    return invalidArgumentError("the buffer given for result #" + std::to_string(result) + " of '" +
                                signature.name + "' " + why);
  };
  const ValueType &type = signature.results[result];
  if (!type.isShaped || buffer.type() != function.resultTypes[result] || !buffer.isDense() ||
      !shapeFits(type, buffer.shape()))
    return refuse("is " + typeName(buffer) + ", expected " + toString(type) +
                  (buffer.isDense() ? "" : ", dense"));
  if (buffer.readOnly())
    return refuse("is read-only");
  if (size_t donor = function.donors[result]; donor != Function::noDonor)
    return refuse("is not needed: " + argumentText(signature, donor) + " is donated to it");
  HostMemory memory = memoryOf(buffer);
  bool isApart = true;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto *argument = std::get_if<Buffer>(&arguments[i]);
        argument && overlap(buffer, *argument)) {
      if (signature.arguments[i].donatedTo)
        return refuse("overlaps " + argumentText(signature, i) + ", which is donated");
      isApart &= !signature.arguments[i].isRead;
    }
  for (const auto &[name, parameter] : module.parameters)
    if (overlap(memory, memoryOf(parameter)))
      return refuse("overlaps parameter '" + name + "'");
  for (size_t i = 0; i < result; ++i)
    if (options.outputs[i] && overlap(memory, memoryOf(options.outputs[i])))
      return refuse("overlaps that for result #" + std::to_string(i));
  for (const HostMemory &pool : pools())
    if (overlap(memory, pool))
      return refuse("overlaps a pool");
  for (const HostMemory &constants : module.constants)
    if (overlap(memory, constants))
      return refuse("overlaps the constants of the module");
  if (options.workspace && overlap(memory, *options.workspace))
    return refuse("overlaps the workspace");
  if (variables && variables->overlaps(memory.data, memory.bytes))
    return refuse("overlaps the variables of the call");
  // Over an argument the result is not made but copied in the end, when nothing reads that any more,
  // and in memory without guards as well. An empty tensor of the host's may have no address.
  bool isMadeThere = isApart && memory.bytes != 0 && !module.engine->state->guarded;
  outputs[result] = {isMadeThere ? memory.data : nullptr,
                     const_cast<int64_t *>(buffer.shape().data()), nullptr};
  return okStatus();
}

Status LentMemory::bindWorkspace(const FunctionCode &code, runtime::CallMemory &memory) const {
  const std::string &name = function.signature().name;
  const Module::State &module = *function.module->state;
  const HostMemory &given = *options.workspace;
  PLIM_ASSIGN_OR_RETURN(WorkspaceRequirement need,
                        workspaceRequirement(code, memory.slabBytes, function.executor()));
  if (given.bytes < need.bytes)
    return tooSmall("the workspace", given.bytes, need.bytes, name);
  if (!isAligned(given.data, PLIM_BUFFER_ALIGNMENT))
    return invalidArgumentError("the workspace is not aligned to " +
                                std::to_string(need.alignment) + " bytes");
  if (!given.data && need.bytes != 0)
    return invalidArgumentError("the workspace is null");
  HostMemory used = {given.data, need.bytes};
  for (const HostMemory &constants : module.constants)
    if (overlap(constants, used))
      return invalidArgumentError("the workspace overlaps the constants of the module");
  for (size_t i = 0; i < pools().size(); ++i)
    if (overlap(pools()[i], used))
      return invalidArgumentError("pool '" + module.artifact.pools[i] +
                                  "' and the workspace overlap");
  runtime::CallMemory layout = workspaceLayout(code, memory.slabBytes, function.executor());
  memory.slabBytes = layout.slabBytes;
  memory.scratchBytes = layout.scratchBytes;
  memory.scratchCount = layout.scratchCount;
  memory.ownWorkspace = true;
  memory.workspace = static_cast<std::byte *>(given.data);
  return okStatus();
}

Status LentMemory::checkApart(std::span<const Value> arguments,
                              const runtime::CallMemory &memory) const {
  const HostMemory workspace = {
      memory.workspace,
      memory.workspace ? memory.slabBytes + memory.scratchBytes * memory.scratchCount : 0};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto *buffer = std::get_if<Buffer>(&arguments[i]);
    if (!buffer)
      continue;
    HostMemory argument = memoryOf(*buffer);
    auto refuse = [&](const std::string &what) {
      return invalidArgumentError(argumentText(function.signature(), i) + " of '" +
                                  function.signature().name + "' overlaps " + what);
    };
    for (size_t j = 0; j < pools().size(); ++j)
      if (overlap(argument, pools()[j]))
        return refuse("pool '" + function.module->state->artifact.pools[j] + "'");
    if (overlap(argument, workspace))
      return refuse("the workspace");
    if (variables && variables->overlaps(argument.data, argument.bytes))
      return refuse("the variables of the call");
  }
  return okStatus();
}

} // namespace plim::session
