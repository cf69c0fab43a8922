#include "plimsoll/event.h"

#include "capi/Border.h"
#include "capi/Objects.h"
#include "capi/Values.h"

#include <algorithm>

using namespace plim;
using namespace plim::capi;
using runtime::Value;

extern "C" {

bool plim_event_is_done(const plim_event *event) { return isLive(event) && event->event.done(); }

plim_status *plim_event_wait(const plim_event *event) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(event));
    return event->event.wait();
  });
}

plim_status *plim_event_wait_for(const plim_event *event, uint64_t nanoseconds, bool *out_done) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(event));
    PLIM_RETURN_IF_ERROR(checkPointer(out_done, "out_done"));
    // Clocks add it to the time of day: centuries would overflow.
    constexpr uint64_t longest = uint64_t(1) << 60;
    std::chrono::nanoseconds timeout(static_cast<int64_t>(std::min(nanoseconds, longest)));
    *out_done = event->event.waitFor(timeout);
    return okStatus();
  });
}

plim_status *plim_event_results(const plim_event *event, plim_value *results, size_t result_count) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(event));
    PLIM_RETURN_IF_ERROR(event->event.status());
    std::span<const Value> values = event->event.results();
    if (result_count != values.size())
      return invalidArgumentError("the call has " + std::to_string(values.size()) +
                                  " results, got room for " + std::to_string(result_count));
    PLIM_RETURN_IF_ERROR(checkArray(results, result_count, "results"));
    for (size_t i = 0; i < result_count; ++i) {
      Value shared = values[i];
      results[i] = toHost(shared);
    }
    return okStatus();
  });
}

plim_status *plim_event_module(const plim_event *event, plim_module **out_module) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(event));
    PLIM_RETURN_IF_ERROR(checkPointer(out_module, "out_module"));
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, event->event.module());
    *out_module = makeHandle<plim_module>(event->quarantine, std::move(module));
    return okStatus();
  });
}

plim_status *plim_event_cancel(plim_event *event) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(event));
    event->event.cancel();
    return okStatus();
  });
}

plim_status *plim_event_then(plim_event *event, plim_event_callback callback, void *user,
                             plim_user_release release_user) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(event));
    if (!callback)
      return invalidArgumentError("callback is null");
    struct Callback {
      plim_event_callback function;
      UserData user;
      plim_event *handle; // of no event until it ends: an event would keep itself
      ~Callback() { release(handle); }
    };
    std::shared_ptr<Callback> kept(
        new Callback{callback, {user, release_user}, makeHandle<plim_event>(event->quarantine)});
    event->event.then([kept](const Event &ended) {
      kept->handle->event = ended;
      kept->user.take();
      kept->function(kept->user.user, kept->handle);
    });
    return okStatus();
  });
}

void plim_event_retain(plim_event *event) { retain(event); }
void plim_event_release(plim_event *event) { release(event); }

} // extern "C"
