#include "engine/session/Call.h"

#include "engine/runtime/LockUnless.h"
#include "engine/session/Arguments.h"
#include "engine/session/Overlap.h"
#include "engine/session/State.h"
#include "engine/session/Workspace.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace plim::session {

using jit::ValueType;
using runtime::Buffer;
using runtime::Scalar;
using runtime::Value;

Call::Call(const Function &function, std::span<const Value> arguments, std::span<Value> results,
           const CallOptions &options)
    : function(function), signature(function.signature()), arguments(arguments), results(results),
      options(options), lent(function, options) {}

// bind

Status Call::bind() {
  PLIM_RETURN_IF_ERROR(checkArguments(signature, function.argumentTypes, arguments));
  if (!results.empty() && results.size() != signature.results.size())
    return invalidArgumentError("'" + signature.name + "' has " +
                                std::to_string(signature.results.size()) +
                                " results, got room for " + std::to_string(results.size()));
  if (function.writesArguments)
    PLIM_RETURN_IF_ERROR(checkWritten());
  argumentViews.make(arguments.size());
  makeViews(arguments, argumentViews.span());
  if (function.mixesTensors)
    PLIM_RETURN_IF_ERROR(copyTensors());
  const size_t count = signature.results.size();
  size_t extentCount = 0;
  for (const ValueType &type : signature.results)
    extentCount += type.shape.size();
  extents.make(extentCount);
  resultViews.make(count);
  scalars.make(count);
  int64_t *sizes = extents.data();
  for (size_t i = 0; i < count; ++i) {
    scalars[i] = 0;
    resultViews[i] = {&scalars[i], sizes, nullptr};
    sizes += signature.results[i].shape.size();
  }
  return lent.bind(arguments);
}

/// Is all that the function writes apart from parameters and constants?
Status Call::checkWritten() const {
  const Module::State &module = *function.module->state;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueType &type = signature.arguments[i];
    if (type.access == jit::Access::ReadOnly)
      continue;
    const auto &written = std::get<Buffer>(arguments[i]);
    HostMemory writtenMemory = memoryOf(written);
    auto refuse = [&](const std::string &what) {
      return invalidArgumentError(
          argumentText(signature, i) + " of '" + signature.name + "', which " +
          (type.donatedTo ? "is donated" : "the function writes") + ", overlaps " + what);
    };
    for (size_t j = 0; type.donatedTo && j < arguments.size(); ++j) {
      const auto *other = std::get_if<Buffer>(&arguments[j]);
      if (other && j != i && overlap(written, *other))
        return refuse(argumentText(signature, j));
    }
    for (const auto &[name, parameter] : module.parameters)
      if (overlap(writtenMemory, memoryOf(parameter)))
        return refuse("parameter '" + name + "'");
    for (const HostMemory &constants : module.constants)
      if (overlap(writtenMemory, constants))
        return refuse("the constants of the module");
  }
  return okStatus();
}

/// Tensors are values: one over a memref, which may be written, is copied, and its view is of the copy.
Status Call::copyTensors() {
  copies.make(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!signature.arguments[i].isShaped || signature.arguments[i].isMemref)
      continue;
    const Buffer &tensor = std::get<Buffer>(arguments[i]);
    for (size_t j = 0; j < arguments.size(); ++j)
      if (j != i && signature.arguments[j].access != jit::Access::ReadOnly &&
          overlap(tensor, std::get<Buffer>(arguments[j]))) {
        auto *elements = static_cast<const std::byte *>(tensor.data());
        PLIM_ASSIGN_OR_RETURN(copies[i],
                              Buffer::fromCopy(function.module->state->pool, tensor.type(),
                                               tensor.shape(), {elements, tensor.bytes()}));
        argumentViews[i].data = copies[i].mutableData();
        break;
      }
  }
  return okStatus();
}

// plan

Status Call::plan() {
  const Engine::State &engine = *function.module->state->engine->state;
  specialized.emplace(function.specializations, function.position, arguments);
  if (options.workspace && specialized->code())
    PLIM_RETURN_IF_ERROR(leaveIfTooLarge());
  special = specialized->code();
  code = special ? &special->code : &function.general;
  const size_t offsetCount = code->signature->plan.buffers.size();
  offsets.make(offsetCount);
  PLIM_ASSIGN_OR_RETURN(memory.slabBytes, planSlab(*code, argumentViews.data(), offsets.span(),
                                                   *engine.executor, *engine.slabs));
  memory.offsets = offsetCount == 0 ? nullptr : offsets.data();
  memory.offsetCount = offsetCount;
  if (options.workspace)
    PLIM_RETURN_IF_ERROR(lent.bindWorkspace(*code, memory));
  if (options.workspace || !lent.pools().empty() || lent.state())
    PLIM_RETURN_IF_ERROR(lent.checkApart(arguments, memory));
  if (function.hasVariants && areApart(arguments, signature.arguments))
    memory.flags |= PLIM_CALL_APART;
  memory.outputs = lent.outputViews();
  if (lent.state())
    memory.variables = lent.state()->bases.data();
  if (special) {
    variables.make(special->variables.size());
    for (size_t i = 0; i < special->variables.size(); ++i)
      variables[i] = lent.state()->bases[special->variables[i]];
    memory.variables = variables.data();
  }
  return okStatus();
}

/// Code for certain extents runs where it gets along with the caller's workspace. What is asked of the caller is what the general
/// code needs, whichever runs.
Status Call::leaveIfTooLarge() {
  const Engine::State &engine = *function.module->state->engine->state;
  const FunctionCode &general = function.general;
  SmallArray<int64_t, 32> unused(general.signature->plan.buffers.size());
  runtime::CallMemory asked;
  PLIM_ASSIGN_OR_RETURN(asked.slabBytes, planSlab(general, argumentViews.data(), unused.span(),
                                                  *engine.executor, *engine.slabs));
  PLIM_RETURN_IF_ERROR(lent.bindWorkspace(general, asked));
  if (!fitsWorkspace(specialized->code()->code, options.workspace->bytes, *engine.executor))
    specialized->leave();
  return okStatus();
}

// acquire

Status Call::acquire() {
  if (lent.sharesPools() || lent.state())
    PLIM_RETURN_IF_ERROR(takeTurn());
  if (size_t count = special ? special->pools.size() : lent.pools().size(); count != 0)
    PLIM_RETURN_IF_ERROR(takePools(count));
  if (runtime::GuardedMemory *guards = function.module->state->engine->state->guarded.get())
    PLIM_RETURN_IF_ERROR(guard(*guards));
  return okStatus();
}

/// Pools bound at load, then the variables: always in this order.
Status Call::takeTurn() {
  const Module::State &module = *function.module->state;
  ProfilerSpan wait(module.engine->state->options.profiler.get(), Profiler::Kind::Wait,
                    "wait for another call");
  if (lent.sharesPools())
    poolLock = std::unique_lock(module.poolMutex, std::defer_lock);
  if (lent.state())
    stateLock = std::unique_lock(lent.state()->mutex, std::defer_lock);
  for (std::unique_lock<std::timed_mutex> *lock : {&poolLock, &stateLock})
    if (lock->mutex() && !runtime::lockUnless(*lock, [&] { return options.stop.stop_requested(); }))
      return cancelledError("the call was cancelled");
  return okStatus();
}

/// Last, and in the order of the pools: who waits for a block keeps nobody else from giving one back.
Status Call::takePools(size_t count) {
  const std::span<const HostMemory> pools = lent.pools();
  const auto &devicePools = special ? special->devicePools : function.module->state->devicePools;
  poolBases.make(count);
  memory.pools = poolBases.data();
  blocks.make(devicePools.size());
  for (size_t i = 0; i < count; ++i) {
    DevicePool *own = devicePools.empty() ? nullptr : devicePools[i].get();
    if (!own || (!special && (pools[i].data || signature.pools[i].bytes == 0))) {
      poolBases[i] = pools.empty() ? nullptr : pools[special ? special->pools[i] : i].data;
      continue;
    }
    blocks[i] = own->take(options.stop);
    poolBases[i] = blocks[i].data();
    if (!poolBases[i] && options.stop.stop_requested())
      return cancelledError("the call was cancelled");
    if (!poolBases[i])
      return resourceExhaustedError("'" + signature.name + "' needs " +
                                    std::to_string(own->bytes()) + " bytes of '" + own->memory() +
                                    "', which its device does not have");
  }
  return okStatus();
}

/// In an engine that looks for faults, copies between guards instead of the arguments.
Status Call::guard(runtime::GuardedMemory &guards) {
  guarded.emplace(guards);
  PLIM_RETURN_IF_ERROR(
      guarded->arguments.copyIn(signature.arguments, arguments, argumentViews.data()));
  guarded->name =
      signature.location + (signature.isKernel ? "kernel '" : "function '") + signature.name + "'";
  guarded->checked = {&guards,
                      guarded->name,
                      argumentViews.span(),
                      {memory.variables, lent.state() ? lent.state()->bases.size() : 0}};
  memory.checked = &guarded->checked;
  return okStatus();
}

// run

Status Call::run() {
  const Module::State &module = *function.module->state;
  const Engine::State &engine = *module.engine->state;
  context.emplace(*engine.executor, *module.pool, *engine.slabs, memory);
  auto cancel = [this] { context->cancel(); };
  std::optional<std::stop_callback<decltype(cancel)>> canceller;
  if (options.stop.stop_possible())
    canceller.emplace(options.stop, cancel);
  specialized->begin();
  Status status = context->run(code->entry, argumentViews.data(), resultViews.data(),
                               {code->signature->stackBytes, code->workersFit});
  if (guarded)
    guarded->arguments.copyBack();
  PLIM_RETURN_IF_ERROR(status);
  specialized->end();
  for (std::unique_lock<std::timed_mutex> *lock : {&stateLock, &poolLock})
    if (lock->owns_lock())
      lock->unlock();
  return okStatus();
}

// deliver

Status Call::deliver() {
  const bool areWanted = !results.empty();
  SmallArray<Value, 4> fresh(results.size());
  for (size_t i = 0; i < signature.results.size(); ++i) {
    if (const Buffer *output = lent.output(i)) {
      if (resultViews[i].data != lent.outputViews()[i].data)
        PLIM_RETURN_IF_ERROR(copyTo(*output, i));
      if (areWanted)
        fresh[i] = *output;
    } else if (!areWanted) {
      continue; // what was made is of the call, which gives it back
    } else if (!signature.results[i].isShaped) {
      fresh[i] = Scalar{function.resultTypes[i], scalars[i]};
    } else if (function.donors[i] != Function::noDonor) {
      fresh[i] = arguments[function.donors[i]];
    } else {
      PLIM_ASSIGN_OR_RETURN(fresh[i], detach(i));
    }
  }
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = std::move(fresh[i]);
  return okStatus();
}

StatusOr<Buffer> Call::detach(size_t result) {
  const std::shared_ptr<runtime::MemoryPool> &pool = function.module->state->pool;
  void *data = resultViews[result].data;
  if (!context->detach(data))
    return internalError("result #" + std::to_string(result) + " of '" + signature.name +
                         "' is no memory of the call");
  StatusOr<Buffer> buffer =
      Buffer::adopt(pool, data, function.resultTypes[result],
                    {resultViews[result].sizes, signature.results[result].shape.size()});
  if (!buffer.ok())
    pool->release(data);
  return buffer;
}

/// A result that was made elsewhere: because it overlaps an argument, or is carried around before it is returned.
Status Call::copyTo(const Buffer &output, size_t result) {
  PLIM_ASSIGN_OR_RETURN(const Buffer made, detach(result));
  if (!std::ranges::equal(made.shape(), output.shape()))
    return invalidArgumentError(runtime::outputMismatch(
        static_cast<int64_t>(result), static_cast<int64_t>(output.shape().size()),
        output.shape().data(), made.shape().data()));
  if (made.bytes() != 0)
    std::memcpy(output.mutableData(), made.data(), made.bytes());
  return okStatus();
}

} // namespace plim::session

namespace plim {

/// In one piece: a call of a few dozen nanoseconds would feel its steps.
[[gnu::flatten]] Status Function::callInto(std::span<const runtime::Value> arguments,
                                           std::span<runtime::Value> results,
                                           const CallOptions &options) const {
  if (deferred)
    return callDeferred(arguments, results, options);
  ProfilerSpan span(module->state->engine->state->options.profiler.get(), Profiler::Kind::Call,
                    description->name.c_str(), description->location.c_str());
  session::Call call(*this, arguments, results, options);
  PLIM_RETURN_IF_ERROR(call.bind());
  PLIM_RETURN_IF_ERROR(call.plan());
  PLIM_RETURN_IF_ERROR(call.acquire());
  PLIM_RETURN_IF_ERROR(call.run());
  return call.deliver();
}

} // namespace plim
