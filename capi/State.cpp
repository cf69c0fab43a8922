#include "plimsoll/state.h"

#include "capi/Border.h"
#include "capi/Objects.h"

using namespace plim;
using namespace plim::capi;

extern "C" {

plim_status *plim_state_create(const plim_module *module, plim_state **out_state) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(module));
    PLIM_RETURN_IF_ERROR(checkPointer(out_state, "out_state"));
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<ModuleState> state, module->module->createState());
    *out_state = makeHandle<plim_state>(module->quarantine, std::move(state));
    return okStatus();
  });
}

plim_status *plim_state_variable(const plim_state *state, const char *name,
                                 plim_buffer **out_buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(state));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_buffer, "out_buffer"));
    PLIM_ASSIGN_OR_RETURN(runtime::Buffer buffer, state->state->variable(name));
    *out_buffer = toHandle(std::move(buffer));
    return okStatus();
  });
}

plim_status *plim_state_reset(plim_state *state) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(state));
    state->state->reset();
    return okStatus();
  });
}

void plim_state_retain(plim_state *state) { retain(state); }
void plim_state_release(plim_state *state) { release(state); }

} // extern "C"
