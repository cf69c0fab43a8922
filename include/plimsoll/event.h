/* Event: the end of a call, or of a load, that runs by itself (plim_function_call_async(),
 * plim_module_load_async()).
 *
 * What is said of calls holds for loads, unless it speaks of them. Releasing an event neither stops
 * its call nor waits for it.
 *
 * Threads: any, for all functions, at any time.
 */
#ifndef PLIMSOLL_EVENT_H
#define PLIMSOLL_EVENT_H

#include "plimsoll/base.h"
#include "plimsoll/value.h"

PLIM_C_BEGIN

/* Has the call ended? False for what is no event. */
PLIM_API bool plim_event_is_done(const plim_event *event);

/* Blocks until the call has ended and returns its status, each time a new one. A call that could begin and
 * that no thread has come to runs on this one, which must not be inside a callback of plim_event_then(). */
PLIM_NODISCARD PLIM_API plim_status *plim_event_wait(const plim_event *event);

/* Blocks until the call has ended, at most for `nanoseconds`. `*out_done` says whether it has; the status
 * that is returned is not that of the call. */
PLIM_NODISCARD PLIM_API plim_status *plim_event_wait_for(const plim_event *event,
                                                         uint64_t nanoseconds, bool *out_done);

/* The results of a call that has ended well, as many as the function has, which the caller owns. May be
 * asked for more than once. The status of a call that failed; FAILED_PRECONDITION before its end. */
PLIM_NODISCARD PLIM_API plim_status *plim_event_results(const plim_event *event,
                                                        plim_value *results, size_t result_count);

/* The module of a load that has ended well. The caller owns `*out_module`; each call of this makes
 * another handle of the same module, which the event keeps as well. The status of a load that
 * failed, with its place; FAILED_PRECONDITION before its end; INVALID_ARGUMENT for the event of a
 * call. */
PLIM_NODISCARD PLIM_API plim_status *plim_event_module(const plim_event *event,
                                                       plim_module **out_module);

/* Ends the call with CANCELLED: at once if it has not begun, otherwise as a stop does. Of no effect on one
 * that has ended. */
PLIM_NODISCARD PLIM_API plim_status *plim_event_cancel(plim_event *event);

/* `event` is borrowed for the call. It must neither throw nor wait for calls; it may start them. */
typedef void (*plim_event_callback)(void *user, plim_event *event);

/* Calls `callback` once, when the call has ended: on the thread that ended it, or here and now if it has.
 * After that `release_user`, which may be NULL; on failure it is not called. The order among callbacks of
 * one event is not defined. */
PLIM_NODISCARD PLIM_API plim_status *plim_event_then(plim_event *event,
                                                     plim_event_callback callback, void *user,
                                                     plim_user_release release_user);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_event_retain(plim_event *event);
PLIM_API void plim_event_release(plim_event *event);

PLIM_C_END

#endif /* PLIMSOLL_EVENT_H */
