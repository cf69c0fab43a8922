#include "engine/runtime/HostCall.h"

#include "engine/runtime/CallContext.h"
#include "support/Status.h"

namespace plim::runtime {

namespace {

plim_code invoke(plim_context *context, const plim_external &external, const plim_view *arguments,
                 const plim_view *results) {
  if (!external.serial)
    return external.function(context, external.user, arguments, results);
  std::lock_guard lock(*external.serial);
  return external.function(context, external.user, arguments, results);
}

} // namespace

plim_code callHost(plim_context *context, const plim_external &external, const char *location,
                   const plim_view *arguments, const plim_view *results) {
  const char *what = "' failed";
  plim_code code;
  try {
    code = invoke(context, external, arguments, results);
  } catch (...) {
    // The contract forbids it, but what can be caught need not end the process.
    code = static_cast<plim_code>(StatusCode::Unknown);
    what = "' threw an exception";
  }
  if (code == 0)
    return context->status; // it may have failed the call without saying so
  // A number of the host's own.
  if (code < 0 || code > static_cast<plim_code>(StatusCode::DataLoss))
    code = static_cast<plim_code>(StatusCode::Unknown);
  CallContext &call = CallFrame::of(context).call();
  if (!call.failed())
    call.latch(code, std::string(location) + "host function '" + external.name + what);
  context->status = call.failed();
  return context->status;
}

} // namespace plim::runtime
