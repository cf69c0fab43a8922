/* Stop: asks calls to end before their time (plim_call_options::stop).
 *
 * One stop serves any number of calls. Those that have begun end when the pieces of work that run have
 * ended; those that have not do not begin. A loop of scalar code runs to its end.
 *
 * Threads: any, for all functions.
 */
#ifndef PLIMSOLL_STOP_H
#define PLIMSOLL_STOP_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* The caller owns `*out_stop`. */
PLIM_NODISCARD PLIM_API plim_status *plim_stop_create(plim_stop **out_stop);

/* Asks all calls that have it, and all that come, to end. It cannot be taken back. */
PLIM_NODISCARD PLIM_API plim_status *plim_stop_request(plim_stop *stop);

/* Has that been asked? */
PLIM_API bool plim_stop_is_requested(const plim_stop *stop);

/* One more owner; one less, and the last one frees it, which stops nothing. NULL is ignored by both. */
PLIM_API void plim_stop_retain(plim_stop *stop);
PLIM_API void plim_stop_release(plim_stop *stop);

PLIM_C_END

#endif /* PLIMSOLL_STOP_H */
