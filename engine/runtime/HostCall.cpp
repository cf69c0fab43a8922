#include "engine/runtime/HostCall.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/LockUnless.h"
#include "support/Profiler.h"
#include "support/Status.h"

#include <algorithm>

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
  // What a device runs is measured as the dispatch that it is.
  ProfilerSpan span(external.device.empty() ? call.executor().profiler() : nullptr,
                    Profiler::Kind::Host, external.name.c_str(), location);
  return external.function(context, external.user, arguments, results);
}

} // namespace

plim_code callHost(plim_context *context, const plim_external &external, const char *location,
                   const plim_view *arguments, plim_view *results) {
  const char *what = " failed";
  plim_code code;
  CallFrame &frame = CallFrame::of(context);
  frame.hostCall = {&external, results, location};
  try {
    code = invoke(context, external, arguments, results, location);
  } catch (...) {
    // The contract forbids it, but what can be caught need not end the process.
    code = static_cast<plim_code>(StatusCode::Unknown);
    what = " threw an exception";
  }
  frame.hostCall = {};
  if (code == 0 && statusOf(context) == 0)
    for (const OpenResult &result : external.openResults)
      if (!results[result.index].data)
        return plim_rt_fail(context, static_cast<plim_code>(StatusCode::FailedPrecondition),
                            (std::string(location) + "host function '" + external.name +
                             "' has not made result #" + std::to_string(result.index))
                                .c_str());
  if (code == 0 && !frame.call().failed()) // it may have failed the call without saying so
    return 0;
  // A number of the host's own.
  if (code < 0 || code > static_cast<plim_code>(StatusCode::DataLoss))
    code = static_cast<plim_code>(StatusCode::Unknown);
  CallContext &call = frame.call();
  if (!call.failed())
    call.latch(code, std::string(location) +
                         (external.device.empty() ? "host function '" + external.name
                                                  : "device '" + external.device) +
                         "'" + what);
  setStatus(context, call.failed());
  return call.failed();
}

void *makeResult(plim_context *context, int64_t index, const int64_t *sizes) {
  CallFrame &frame = CallFrame::of(context);
  const auto [external, results, location] = frame.hostCall;
  auto refuse = [&](const std::string &why) -> void * {
    (void)plim_rt_fail(context, static_cast<plim_code>(StatusCode::InvalidArgument),
                       ("result #" + std::to_string(index) + why).c_str());
    return nullptr;
  };
  if (!external)
    return refuse(" is made while no host function runs");
  const std::string of = " of host function '" + external->name + "' ";
  auto open = std::ranges::find(external->openResults, index, &OpenResult::index);
  if (open == external->openResults.end())
    return refuse(of + "is not for it to make");
  plim_view &result = results[index];
  if (result.data)
    return refuse(of + "is made twice");
  if (!sizes)
    return refuse(of + "has no extents");
  const auto rank = static_cast<int64_t>(open->shape.size());
  for (size_t d = 0; d < open->shape.size(); ++d)
    if (sizes[d] < 0 || (open->shape[d] >= 0 && sizes[d] != open->shape[d]))
      return refuse(of + "has extent " + std::to_string(sizes[d]) + " in dimension " +
                    std::to_string(d) + ", declared as " +
                    (open->shape[d] < 0 ? "?" : std::to_string(open->shape[d])));
  void *memory = plim_rt_allocate(context, rank, sizes, open->elementBytes);
  if (memory) {
    std::copy_n(sizes, rank, result.sizes);
    result.data = memory;
  }
  return memory;
}

} // namespace plim::runtime
