#include "plimsoll/function.h"

#include "capi/Border.h"
#include "capi/Objects.h"
#include "capi/Values.h"

#include <algorithm>
#include <optional>

using namespace plim;
using namespace plim::capi;
using runtime::Buffer;
using runtime::Value;

static_assert(PLIM_DYNAMIC_STRIDE == jit::dynamicStride);
static_assert(static_cast<int>(jit::Access::ReadOnly) == PLIM_READ_ONLY);
static_assert(static_cast<int>(jit::Access::WriteOnly) == PLIM_WRITE_ONLY);
static_assert(static_cast<int>(jit::Access::ReadWrite) == PLIM_READ_WRITE);

namespace {

const jit::FunctionSignature &signatureOf(const plim_function *function) {
  return function->function.signature();
}

Status describe(const std::vector<jit::ValueType> &types, size_t index, plim_value_type *out) {
  PLIM_RETURN_IF_ERROR(checkOutStruct(out, "out_type"));
  if (index >= types.size())
    return outOfRangeError("no #" + std::to_string(index) + " among " +
                           std::to_string(types.size()));
  const jit::ValueType &type = types[index];
  // Import admits no other elements.
  plim_element_type element = elementType(*runtime::elementTypeFromName(type.element));
  writeStruct(out,
              {.struct_size = 0,
               .kind = !type.isShaped  ? plim_type_kind(PLIM_TYPE_SCALAR)
                       : type.isMemref ? plim_type_kind(PLIM_TYPE_MEMREF)
                                       : plim_type_kind(PLIM_TYPE_TENSOR),
               .element = element,
               .rank = static_cast<uint32_t>(type.shape.size()),
               .shape = type.shape.data(),
               .strides = type.strides.empty() ? nullptr : type.strides.data(),
               .access = static_cast<plim_access>(type.access),
               .donated_to = type.donatedTo ? static_cast<int32_t>(*type.donatedTo) : int32_t(-1)});
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

/// The options of one call, as long as it runs. Outputs are borrowed.
class LentOptions {
public:
  LentOptions() = default;
  ~LentOptions() {
    if (outputs)
      for (size_t i = 0; i < options.outputs.size(); ++i)
        static_cast<void>(std::move((*outputs)[i]).toPointer());
  }
  LentOptions(const LentOptions &) = delete;
  LentOptions &operator=(const LentOptions &) = delete;

  Status read(const plim_function *function, const plim_call_options *given) {
    plim_call_options lent;
    PLIM_RETURN_IF_ERROR(readStruct(given, "options", lent));
    PLIM_RETURN_IF_ERROR(checkFlags(lent.flags, 0, "options"));
    if (lent.output_count != 0)
      PLIM_RETURN_IF_ERROR(readOutputs(function, lent));
    if (lent.pools) {
      PLIM_RETURN_IF_ERROR(checkHandle(lent.pools));
      options.pools = lent.pools->byName;
    }
    if (lent.workspace || lent.workspace_bytes != 0)
      options.workspace = HostMemory{lent.workspace, lent.workspace_bytes};
    if (lent.state) {
      PLIM_RETURN_IF_ERROR(checkHandle(lent.state));
      options.state = lent.state->state;
    }
    if (lent.stop) {
      PLIM_RETURN_IF_ERROR(checkHandle(lent.stop));
      options.stop = lent.stop->source.get_token();
    }
    return okStatus();
  }

  CallOptions options;

private:
  Status readOutputs(const plim_function *function, const plim_call_options &lent) {
    size_t count = lent.output_count;
    PLIM_RETURN_IF_ERROR(
        checkCount(count, signatureOf(function).results.size(), function, "results"));
    PLIM_RETURN_IF_ERROR(checkArray(lent.outputs, count, "outputs"));
    for (size_t i = 0; i < count; ++i)
      if (lent.outputs[i] && !isLive(lent.outputs[i])) [[unlikely]]
        return checkHandle(lent.outputs[i])
            .withContext("the output for result #" + std::to_string(i));
    outputs.emplace(count);
    for (size_t i = 0; i < count; ++i)
      (*outputs)[i] = Buffer::fromPointer(lent.outputs[i]);
    options.outputs = {outputs->data(), count};
    return okStatus();
  }

  std::optional<SmallArray<Buffer, 4>> outputs;
};

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
    return describe(signatureOf(function).arguments, index, out_type);
  });
}

plim_status *plim_function_result_type(const plim_function *function, size_t index,
                                       plim_value_type *out_type) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    return describe(signatureOf(function).results, index, out_type);
  });
}

size_t plim_function_stack_bytes(const plim_function *function) {
  return isLive(function) ? static_cast<size_t>(signatureOf(function).stackBytes) : 0;
}

plim_status *plim_function_call(const plim_function *function, const plim_value *arguments,
                                size_t argument_count, plim_value *results, size_t result_count,
                                const plim_call_options *options) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(function));
    PLIM_RETURN_IF_ERROR(checkArguments(function, arguments, argument_count));
    Arguments values(argument_count);
    PLIM_RETURN_IF_ERROR(values.read(arguments, argument_count));
    size_t count = signatureOf(function).results.size();
    if (result_count != 0) {
      PLIM_RETURN_IF_ERROR(checkCount(result_count, count, function, "results"));
      PLIM_RETURN_IF_ERROR(checkArray(results, result_count, "results"));
    }
    LentOptions lent;
    if (options)
      PLIM_RETURN_IF_ERROR(lent.read(function, options));
    SmallArray<Value, 4> fresh(count);
    PLIM_RETURN_IF_ERROR(
        function->function.callInto(values.get(), {fresh.data(), count}, lent.options));
    for (size_t i = 0; i < result_count; ++i)
      results[i] = toHost(std::move(fresh[i]));
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
    PLIM_RETURN_IF_ERROR(values.read(arguments, argument_count));
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
      PLIM_RETURN_IF_ERROR(lent.read(function, given.call));
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
      PLIM_RETURN_IF_ERROR(values.read(arguments, argument_count));
      need = function->function.workspaceRequirement(values.get());
    }
    if (!need.ok())
      return need.status();
    writeStruct(out_workspace, {0, 0, need->bytes, need->alignment});
    return okStatus();
  });
}

void *plim_function_raw_pointer(const plim_function *function) {
  return isLive(function) ? function->function.rawPointer() : nullptr;
}

void plim_function_retain(plim_function *function) { retain(function); }
void plim_function_release(plim_function *function) { release(function); }

} // extern "C"
