#include "engine/runtime/RuntimeSymbols.h"

#include "engine/abi/plim_abi.h"
#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/HostCall.h"
#include "engine/runtime/Launch.h"

#include <array>
#include <string>
#include <type_traits>

using plim::runtime::CallFrame;

namespace {

/// Nothing is thrown into generated code: without memory, for a message as well, the call fails, and the result is null, or
/// the code.
template <typename BodyT> auto withoutThrowing(plim_context *context, BodyT body) noexcept {
  using ResultT = decltype(body());
  try {
    return body();
  } catch (...) {
    // Of so few characters that they take no memory.
    plim_code code = plim_rt_fail(
        context, static_cast<plim_code>(plim::StatusCode::ResourceExhausted), "no memory");
    if constexpr (std::is_same_v<ResultT, plim_code>)
      return code;
    else
      return ResultT();
  }
}

} // namespace

// Here a thread is out of generated code: FaultPause. A failure is visible in the context it happened in at once; in the call's it is latched.
extern "C" {

plim_code plim_rt_dispatch(plim_context *context, const plim_dispatch *dispatch,
                           void *const *bindings, const int64_t *scalars) {
  plim::runtime::FaultPause pause;
  const plim_launch launch = {dispatch, bindings, scalars};
  if (!context->call) { // a raw kernel
    plim_context own = *context;
    own.call_status = &own.status;
    const int64_t count = plim::runtime::Launch(launch).count;
    return count == 0 ? 0 : dispatch->entry(&own, bindings, scalars, 0, count);
  }
  return withoutThrowing(
      context, [&] { return CallFrame::of(context).call().executor().run(context, {&launch, 1}); });
}

plim_code plim_rt_schedule(plim_context *context, const plim_schedule *schedule,
                           const plim_launch *launches) {
  plim::runtime::FaultPause pause;
  return withoutThrowing(context, [&] {
    return CallFrame::of(context).call().executor().run(context, {launches, schedule->count},
                                                        schedule->predecessors);
  });
}

void *plim_rt_allocate(plim_context *context, int64_t rank, const int64_t *sizes,
                       int64_t elementBytes) {
  plim::runtime::FaultPause pause;
  plim::runtime::CallContext &call = CallFrame::of(context).call();
  void *block = withoutThrowing(context, [&] { return call.allocate(rank, sizes, elementBytes); });
  if (!block)
    plim::runtime::setStatus(context, call.failed());
  return block;
}

void *plim_rt_allocate_result(plim_context *context, int64_t index, int64_t rank,
                              const int64_t *sizes, int64_t elementBytes) {
  plim::runtime::FaultPause pause;
  plim::runtime::CallContext &call = CallFrame::of(context).call();
  void *block = withoutThrowing(
      context, [&] { return call.allocateResult(index, rank, sizes, elementBytes); });
  if (!block)
    plim::runtime::setStatus(context, call.failed());
  return block;
}

void plim_rt_release(plim_context *context, void *memory) {
  plim::runtime::FaultPause pause;
  withoutThrowing(context, [&] { return CallFrame::of(context).call().release(memory); });
}

void *plim_rt_scratch(plim_context *context, int64_t bytes) {
  plim::runtime::FaultPause pause;
  return withoutThrowing(context, [&] { return CallFrame::of(context).scratch(bytes); });
}

plim_code plim_rt_recurse(plim_context *context, const char *message) {
  plim::runtime::FaultPause pause;
  plim::runtime::CallContext &call = CallFrame::of(context).call();
  if (plim_code failed = call.failed()) [[unlikely]] {
    plim::runtime::setStatus(context, failed); // stopped
    return failed;
  }
  if (call.hasStackForRecursion()) [[likely]]
    return 0;
  return plim_rt_fail(context, static_cast<plim_code>(plim::StatusCode::ResourceExhausted),
                      message);
}

plim_code plim_rt_call(plim_context *context, const plim_external *external, const char *location,
                       const plim_view *arguments, plim_view *results) {
  plim::runtime::FaultPause pause;
  return withoutThrowing(context, [&] {
    return plim::runtime::callHost(context, *external, location, arguments, results);
  });
}

plim_code plim_rt_launch(plim_context *context, const plim_external *external, const char *location,
                         const plim_view *arguments, plim_view *results) {
  return plim_rt_call(context, external, location, arguments, results);
}

void *plim_rt_make_result(plim_context *context, int64_t index, const int64_t *sizes) {
  return withoutThrowing(context, [&] { return plim::runtime::makeResult(context, index, sizes); });
}

plim_code plim_rt_fail(plim_context *context, plim_code code, const char *message) {
  plim::runtime::FaultPause pause;
  if (code == 0)
    return code;
  if (!context->call) { // a raw kernel, of which only a loop's own context can be written
    if (context->call_status == &context->status)
      context->status = code;
    return code;
  }
  CallFrame &frame = CallFrame::of(context);
  plim::runtime::CallContext &call = frame.call();
  // A host function does not know where it is called.
  try {
    call.latch(code, message && *frame.hostCall.location
                         ? std::string(frame.hostCall.location) + message
                         : std::string(message ? message : ""));
  } catch (...) {
    call.latch(code, {});
  }
  plim::runtime::setStatus(context, call.failed());
  return code;
}

void plim_rt_require_failed(plim_context *context, const char *message, const int64_t *values,
                            int64_t count) {
  plim::runtime::FaultPause pause;
  withoutThrowing(context, [&] {
    std::string text(message);
    for (int64_t i = count; i-- > 0;) {
      const std::string name = "{" + std::to_string(i) + "}";
      // From the end: the name of a file at the beginning may look like one.
      if (const size_t at = text.rfind(name); at != std::string::npos)
        text.replace(at, name.size(), std::to_string(values[i]));
    }
    plim_rt_fail(context, static_cast<plim_code>(plim::StatusCode::FailedPrecondition),
                 text.c_str());
  });
}

} // extern "C"

namespace plim::runtime {
namespace {

template <typename Function> RuntimeSymbol symbol(const char *name, Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

} // namespace

std::span<const RuntimeSymbol> runtimeSymbols() {
  static const std::array<RuntimeSymbol, 11> table = {
      symbol("plim_rt_dispatch", &plim_rt_dispatch),
      symbol("plim_rt_schedule", &plim_rt_schedule),
      symbol("plim_rt_allocate", &plim_rt_allocate),
      symbol("plim_rt_allocate_result", &plim_rt_allocate_result),
      symbol("plim_rt_release", &plim_rt_release),
      symbol("plim_rt_scratch", &plim_rt_scratch),
      symbol("plim_rt_recurse", &plim_rt_recurse),
      symbol("plim_rt_call", &plim_rt_call),
      symbol("plim_rt_launch", &plim_rt_launch),
      symbol("plim_rt_fail", &plim_rt_fail),
      symbol("plim_rt_require_failed", &plim_rt_require_failed),
  };
  return table;
}

} // namespace plim::runtime
