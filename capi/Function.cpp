#include "plimsoll/function.h"

#include "capi/Border.h"
#include "capi/Objects.h"
#include "capi/Pools.h"
#include "capi/Values.h"

using namespace plim;
using namespace plim::capi;
using runtime::Buffer;
using runtime::Value;

static_assert(PLIM_DYNAMIC_STRIDE == jit::dynamicStride);
static_assert(static_cast<int>(jit::Access::ReadOnly) == PLIM_READ_ONLY);
static_assert(static_cast<int>(jit::Access::WriteOnly) == PLIM_WRITE_ONLY);
static_assert(static_cast<int>(jit::Access::ReadWrite) == PLIM_READ_WRITE);

// Bounds are handed out as they are.
static_assert(sizeof(jit::ExtentBounds) == sizeof(plim_extent_bounds));
static_assert(offsetof(jit::ExtentBounds, min) == offsetof(plim_extent_bounds, min));
static_assert(offsetof(jit::ExtentBounds, max) == offsetof(plim_extent_bounds, max));
static_assert(jit::ExtentBounds().max == INT64_MAX);

namespace {

const jit::FunctionSignature &signatureOf(const plim_function *function) {
  return function->function.signature();
}

/// `what` are they: "argument" or "result".
Status describe(const plim_function *function, const std::vector<jit::ValueType> &types,
                const char *what, size_t index, plim_value_type *out) {
  PLIM_RETURN_IF_ERROR(checkOutStruct(out, "out_type"));
  if (index >= types.size())
    return outOfRangeError("'" + signatureOf(function).name + "' has no " + what + " #" +
                           std::to_string(index) + ", but " + std::to_string(types.size()));
  const jit::ValueType &type = types[index];
  // Import admits no other elements.
  plim_element_type element = elementType(*runtime::elementTypeFromName(type.element));
  writeStruct(out,
              {.struct_size = 0,
               .kind = !type.isShaped  ? plim_kind(PLIM_SCALAR)
                       : type.isMemref ? plim_kind(PLIM_MEMREF)
                                       : plim_kind(PLIM_TENSOR),
               .element = element,
               .rank = static_cast<uint32_t>(type.shape.size()),
               .shape = type.shape.data(),
               .strides = type.strides.empty() ? nullptr : type.strides.data(),
               .access = static_cast<plim_access>(type.access),
               .donated_to = type.donatedTo ? static_cast<int32_t>(*type.donatedTo) : int32_t(-1),
               .name = type.name.empty() ? nullptr : type.name.c_str(),
               .bounds = type.bounds.empty()
                             ? nullptr
                             : reinterpret_cast<const plim_extent_bounds *>(type.bounds.data())});
  return okStatus();
}

Status checkCount(size_t have, size_t want, const plim_function *function, const char *what) {
  if (have == want) [[likely]]
    return okStatus();
  return invalidArgumentError("'" + signatureOf(function).name + "' has " + std::to_string(want) +
                              " " + what + ", got " + std::to_string(have));
}

Status checkArguments(const plim_function *function, const plim_value *given, size_t count) {
  PLIM_RETURN_IF_ERROR(
      checkCount(count, signatureOf(function).arguments.size(), function, "arguments"));
  return checkArray(given, count, "arguments");
}

/// Is a call worth a closer look? Tells apart what is right and what is not, for every call.
bool callFits(const plim_function *function, const plim_value *arguments, size_t argumentCount,
              const plim_value *results, size_t resultCount) {
  return isLive(function) && !isOfParent(function) &&
         argumentCount == signatureOf(function).arguments.size() &&
         (arguments || argumentCount == 0) &&
         (resultCount == 0 || (resultCount == signatureOf(function).results.size() && results));
}

/// What is wrong with the others.
Status checkCall(const plim_function *function, const plim_value *arguments, size_t argumentCount,
                 const plim_value *results, size_t resultCount) {
  PLIM_RETURN_IF_ERROR(checkHandle(function));
  PLIM_RETURN_IF_ERROR(checkArguments(function, arguments, argumentCount));
  PLIM_RETURN_IF_ERROR(
      checkCount(resultCount, signatureOf(function).results.size(), function, "results"));
  return checkArray(results, resultCount, "results");
}

/// The options of one call, as long as it runs.
struct LentOptions {
  CallOptions options;
  Borrowed<Buffer, 4> outputs;
};

Status readOutputs(const plim_function *function, const plim_call_options &given,
                   LentOptions &lent) {
  size_t count = given.output_count;
  if (size_t results = signatureOf(function).results.size(); count != results || !given.outputs)
      [[unlikely]] {
    PLIM_RETURN_IF_ERROR(checkCount(count, results, function, "results"));
    return checkArray(given.outputs, count, "outputs");
  }
  lent.outputs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (given.outputs[i] && !isLive(given.outputs[i])) [[unlikely]]
      return checkHandle(given.outputs[i])
          .withContext("the output for result #" + std::to_string(i));
    lent.outputs.add(Buffer::fromPointer(given.outputs[i]));
  }
  lent.options.outputs = lent.outputs.get();
  return okStatus();
}

Status readCallOptions(const plim_function *function, const plim_call_options *options,
                       LentOptions &lent) {
  plim_call_options given;
  PLIM_RETURN_IF_ERROR(readStruct(options, "options", given));
  if (given.flags != 0) [[unlikely]]
    return checkFlags(given.flags, 0, "options");
  if (given.output_count != 0)
    PLIM_RETURN_IF_ERROR(readOutputs(function, given, lent));
  if (given.pools || given.pool_count != 0)
    PLIM_RETURN_IF_ERROR(readPools(given.pools, given.pool_count, lent.options.pools));
  if (given.workspace || given.workspace_bytes != 0)
    lent.options.workspace = HostMemory{given.workspace, given.workspace_bytes};
  if (given.state) {
    PLIM_RETURN_IF_ERROR(checkHandle(given.state));
    lent.options.state = given.state->state;
  }
  if (given.stop) {
    PLIM_RETURN_IF_ERROR(checkHandle(given.stop));
    lent.options.stop = given.stop->source.get_token();
  }
  return okStatus();
}

} // namespace

extern "C" {

const char *plim_function_name(const plim_function *function) {
  return isLive(function) ? signatureOf(function).name.c_str() : nullptr;
}

size_t plim_function_argument_count(const plim_function *function) {
  return isLive(function) ? signatureOf(function).arguments.size() : 0;
}

size_t plim_function_result_count(const plim_function *function) {
  return isLive(function) ? signatureOf(function).results.size() : 0;
}

plim_status *plim_function_argument_type(const plim_function *function, size_t index,
                                         plim_value_type *out_type) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    return describe(function, signatureOf(function).arguments, "argument", index, out_type);
  });
}

plim_status *plim_function_result_type(const plim_function *function, size_t index,
                                       plim_value_type *out_type) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    return describe(function, signatureOf(function).results, "result", index, out_type);
  });
}

size_t plim_function_stack_bytes(const plim_function *function) {
  return isLive(function) ? function->function.stackBytes() : 0;
}

plim_status *plim_function_call(const plim_function *function, const plim_value *arguments,
                                size_t argument_count, plim_value *results, size_t result_count,
                                const plim_call_options *options) {
  return enter([&]() -> Status {
    if (!callFits(function, arguments, argument_count, results, result_count)) [[unlikely]]
      return checkCall(function, arguments, argument_count, results, result_count);
    Arguments values(argument_count);
    if (!readArguments(arguments, argument_count, values)) [[unlikely]]
      return checkValues(arguments, signatureOf(function).arguments);
    LentOptions lent;
    if (options)
      PLIM_RETURN_IF_ERROR(readCallOptions(function, options, lent));
    // What the call makes passes to the host, and what it does not make is nothing to destroy.
    Borrowed<Value, 4> fresh(result_count);
    for (size_t i = 0; i < result_count; ++i)
      fresh.add();
    PLIM_RETURN_IF_ERROR(function->function.callInto(values.get(), fresh.get(), lent.options));
    for (size_t i = 0; i < result_count; ++i)
      results[i] = toHost(fresh[i]);
    return okStatus();
  });
}

plim_status *plim_function_call_async(const plim_function *function, const plim_value *arguments,
                                      size_t argument_count, const plim_async_options *options,
                                      plim_event **out_event) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    PLIM_RETURN_IF_ERROR(checkPointer(out_event, "out_event"));
    PLIM_RETURN_IF_ERROR(checkArguments(function, arguments, argument_count));
    Arguments values(argument_count);
    if (!readArguments(arguments, argument_count, values))
      return checkValues(arguments, signatureOf(function).arguments);
    plim_async_options given;
    PLIM_RETURN_IF_ERROR(readStruct(options, "options", given));
    AsyncOptions asyncOptions;
    switch (given.priority) {
    case PLIM_PRIORITY_LOW:
      asyncOptions.priority = runtime::Priority::Low;
      break;
    case PLIM_PRIORITY_NORMAL:
      break;
    case PLIM_PRIORITY_HIGH:
      asyncOptions.priority = runtime::Priority::High;
      break;
    default:
      return invalidArgumentError(std::to_string(given.priority) + " is no priority");
    }
    PLIM_RETURN_IF_ERROR(checkArray(given.after, given.after_count, "after"));
    std::vector<Event> after;
    for (size_t i = 0; i < given.after_count; ++i) {
      PLIM_RETURN_IF_ERROR(
          checkHandle(given.after[i]).withContext("after[" + std::to_string(i) + "]"));
      after.push_back(given.after[i]->event);
    }
    asyncOptions.after = after;
    LentOptions lent;
    if (given.call)
      PLIM_RETURN_IF_ERROR(readCallOptions(function, given.call, lent));
    asyncOptions.call = lent.options;
    // Nothing may fail when the call has begun.
    auto *event = makeHandle<plim_event>(function->quarantine);
    try {
      event->event = function->function.callAsync(values.get(), asyncOptions);
    } catch (...) {
      release(event);
      throw;
    }
    *out_event = event;
    return okStatus();
  });
}

plim_status *plim_function_workspace(const plim_function *function, const plim_value *arguments,
                                     size_t argument_count, plim_workspace *out_workspace) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    PLIM_RETURN_IF_ERROR(checkOutStruct(out_workspace, "out_workspace"));
    StatusOr<WorkspaceRequirement> need = WorkspaceRequirement();
    if (!arguments && argument_count == 0) {
      need = function->function.workspaceRequirement();
    } else {
      PLIM_RETURN_IF_ERROR(checkArguments(function, arguments, argument_count));
      Arguments values(argument_count);
      if (!readArguments(arguments, argument_count, values))
        return checkValues(arguments, signatureOf(function).arguments);
      need = function->function.workspaceRequirement(values.get());
    }
    if (!need.ok())
      return need.status();
    writeStruct(out_workspace, {0, 0, need->bytes, need->alignment});
    return okStatus();
  });
}

plim_status *plim_function_specialize(const plim_function *function, const plim_value *arguments,
                                      size_t argument_count) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    PLIM_RETURN_IF_ERROR(checkArguments(function, arguments, argument_count));
    Arguments values(argument_count);
    if (!readArguments(arguments, argument_count, values))
      return checkValues(arguments, signatureOf(function).arguments);
    return function->function.specialize(values.get());
  });
}

void *plim_function_raw_pointer(const plim_function *function) {
  return isLive(function) ? function->function.rawPointer() : nullptr;
}

void plim_function_retain(plim_function *function) { retain(function); }
void plim_function_release(plim_function *function) { release(function); }

} // extern "C"
