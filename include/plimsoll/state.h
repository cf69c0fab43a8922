/* State: what the variables of a module hold, for one stream of calls.
 *
 * A module has one of its own, for calls that name none. A server with a stream of calls for each client
 * makes a state for each: code and constants are shared, and calls with different states run at the same
 * time. Those with the same state run one after the other.
 *
 * Threads: any, for all functions; plim_state_reset() while no call with the state runs. What
 * plim_state_variable() gives is memory that calls write.
 */
#ifndef PLIMSOLL_STATE_H
#define PLIMSOLL_STATE_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* Variables as they are in the beginning. The caller owns `*out_state`. Modules without variables have
 * states too. RESOURCE_EXHAUSTED without memory. */
PLIM_NODISCARD PLIM_API plim_status *plim_state_create(const plim_module *module,
                                                       plim_state **out_state);

/* The memory of a variable, writable: to look at, to fill, to save. The caller owns `*out_buffer`, which
 * keeps the memory. NOT_FOUND, with the nearest name, if the module has none of that name. */
PLIM_NODISCARD PLIM_API plim_status *plim_state_variable(const plim_state *state, const char *name,
                                                         plim_buffer **out_buffer);

/* Every variable is again what it was in the beginning. */
PLIM_NODISCARD PLIM_API plim_status *plim_state_reset(plim_state *state);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_state_retain(plim_state *state);
PLIM_API void plim_state_release(plim_state *state);

PLIM_C_END

#endif /* PLIMSOLL_STATE_H */
