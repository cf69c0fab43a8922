/* Stop: asks calls and loads to end before their time (plim_call_options::stop, plim_load_options::stop).
 *
 * One stop serves any number of both. Those that have not begun do not begin. Calls that have end within a few
 * milliseconds: long loops of every function, recursion and waits look for it. Host functions and code of
 * devices run to their end, and so do raw pointers. Loads end between two passes of the compiler.
 *
 * Threads: any, for all functions.
 */
#ifndef PLIMSOLL_STOP_H
#define PLIMSOLL_STOP_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* The caller owns `*out_stop`. */
PLIM_NODISCARD PLIM_API plim_status *plim_stop_create(plim_stop **out_stop);

/* Asks all calls and loads that have it, and all that come, to end. It cannot be taken back. */
PLIM_NODISCARD PLIM_API plim_status *plim_stop_request(plim_stop *stop);

/* Has that been asked? */
PLIM_API bool plim_stop_is_requested(const plim_stop *stop);

/* One more owner; one less, and the last one frees it, which stops nothing. NULL is ignored by both. */
PLIM_API void plim_stop_retain(plim_stop *stop);
PLIM_API void plim_stop_release(plim_stop *stop);

PLIM_C_END

#endif /* PLIMSOLL_STOP_H */
