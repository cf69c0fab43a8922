#include "engine/runtime/HostCall.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/LockUnless.h"
#include "support/Profiler.h"
#include "support/Status.h"

namespace plim::runtime {

namespace {

plim_code invoke(plim_context *context, const plim_external &external, const plim_view *arguments,
                 const plim_view *results, const char *location) {
  CallContext &call = CallFrame::of(context).call();
  std::unique_lock<std::timed_mutex> turn;
  if (external.serial) {
    turn = std::unique_lock(*external.serial, std::defer_lock);
    if (!lockUnless(turn, [&] { return call.failed() != 0; }))
      return call.failed();
  }
  ProfilerSpan span(call.executor().profiler(), Profiler::Kind::Host, external.name.c_str(),
                    location);
  return external.function(context, external.user, arguments, results);
}

} // namespace

plim_code callHost(plim_context *context, const plim_external &external, const char *location,
                   const plim_view *arguments, const plim_view *results) {
  const char *what = "' failed";
  plim_code code;
  try {
    code = invoke(context, external, arguments, results, location);
  } catch (...) {
    // The contract forbids it, but what can be caught need not end the process.
    code = static_cast<plim_code>(StatusCode::Unknown);
    what = "' threw an exception";
  }
  if (code == 0)
    return statusOf(context); // it may have failed the call without saying so
  // A number of the host's own.
  if (code < 0 || code > static_cast<plim_code>(StatusCode::DataLoss))
    code = static_cast<plim_code>(StatusCode::Unknown);
  CallContext &call = CallFrame::of(context).call();
  if (!call.failed())
    call.latch(code, std::string(location) + "host function '" + external.name + what);
  setStatus(context, call.failed());
  return call.failed();
}

} // namespace plim::runtime
