#include "plimsoll/stop.h"

#include "capi/Border.h"
#include "capi/Objects.h"

using namespace plim;
using namespace plim::capi;

extern "C" {

plim_status *plim_stop_create(plim_stop **out_stop) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_stop, "out_stop"));
    *out_stop = makeHandle<plim_stop>(nullptr);
    return okStatus();
  });
}

plim_status *plim_stop_request(plim_stop *stop) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(stop));
    stop->source.request_stop();
    return okStatus();
  });
}

bool plim_stop_is_requested(const plim_stop *stop) {
  return isLive(stop) && stop->source.stop_requested();
}

void plim_stop_retain(plim_stop *stop) { retain(stop); }
void plim_stop_release(plim_stop *stop) { release(stop); }

} // extern "C"
