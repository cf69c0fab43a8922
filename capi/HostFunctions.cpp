#include "plimsoll/host_functions.h"

#include "capi/Border.h"
#include "capi/Objects.h"
#include "capi/RegisteredFunction.h"
#include "engine/abi/plim_abi.h"

using namespace plim;
using namespace plim::capi;

// What the runtime hands to a host function is what the interface promises, byte for byte.
static_assert(sizeof(plim_view) == sizeof(plim_host_value));
static_assert(offsetof(plim_view, data) == offsetof(plim_host_value, data));
static_assert(offsetof(plim_view, sizes) == offsetof(plim_host_value, shape));
static_assert(offsetof(plim_view, strides) == offsetof(plim_host_value, strides));
static_assert(PLIM_HOST_STACK == PLIM_HOST_FUNCTION_STACK);

namespace {

/// What is called in its place.
plim_code call(plim_context *context, void *registered, const plim_view *arguments,
               const plim_view *results) {
  const auto &host = *static_cast<const RegisteredFunction *>(registered);
  return host.function(reinterpret_cast<plim_host_call *>(context), host.user.user,
                       reinterpret_cast<const plim_host_value *>(arguments),
                       reinterpret_cast<const plim_host_value *>(results));
}

StatusOr<HostFunctionKind> readKind(plim_host_function_kind kind) {
  switch (kind) {
  case PLIM_HOST_THREAD_SAFE:
    return HostFunctionKind::ThreadSafe;
  case PLIM_HOST_SERIAL:
    return HostFunctionKind::Serial;
  case PLIM_HOST_PURE:
    return HostFunctionKind::Pure;
  default:
    return invalidArgumentError(std::to_string(kind) + " is no kind of host function");
  }
}

} // namespace

StatusOr<HostFunction> capi::toHostFunction(const plim_host_function_options &options,
                                            const std::shared_ptr<RegisteredFunction> &registered,
                                            const std::string &what) {
  if (!options.function)
    return invalidArgumentError(what + " has no function");
  PLIM_ASSIGN_OR_RETURN(HostFunctionKind kind, readKind(options.kind));
  return HostFunction{.function = &call,
                      .user = registered.get(),
                      .kind = kind,
                      .signature = options.signature ? options.signature : "",
                      .owner = registered};
}

extern "C" {

plim_status *plim_host_functions_create(plim_host_functions **out_functions) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_functions, "out_functions"));
    *out_functions = makeHandle<plim_host_functions>(nullptr);
    return okStatus();
  });
}

plim_status *plim_host_functions_add(plim_host_functions *functions, const char *name,
                                     const plim_host_function_options *options) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(functions));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkPointer(options, "options"));
    plim_host_function_options given;
    PLIM_RETURN_IF_ERROR(readStruct(options, "options", given));
    auto registered = std::make_shared<RegisteredFunction>(given);
    PLIM_ASSIGN_OR_RETURN(
        HostFunction function,
        toHostFunction(given, registered, std::string("host function '") + name + "'"));
    auto [place, isNew] = functions->byName.try_emplace(name, std::move(function));
    if (!isNew)
      return alreadyExistsError(std::string("there is a host function '") + name + "' already");
    registered->user.take();
    return okStatus();
  });
}

plim_code plim_host_call_fail(plim_host_call *call, plim_code code, const char *message) {
  auto *context = reinterpret_cast<plim_context *>(call);
  if (!context || context->magic != PLIM_ABI_MAGIC)
    return code;
  if (code <= PLIM_OK || code > PLIM_DATA_LOSS)
    code = PLIM_UNKNOWN;
  return plim_rt_fail(context, code, message && *message ? message : "the host function failed");
}

void *plim_host_call_make_result(plim_host_call *call, size_t index, const int64_t *shape) {
  auto *context = reinterpret_cast<plim_context *>(call);
  if (!context || context->magic != PLIM_ABI_MAGIC)
    return nullptr;
  return plim_rt_make_result(context, static_cast<int64_t>(index), shape);
}

void plim_host_functions_retain(plim_host_functions *functions) { retain(functions); }
void plim_host_functions_release(plim_host_functions *functions) { release(functions); }

} // extern "C"
