/* Logger: where an engine says what is no failure of a call: a cache that cannot be used, a target that
 * leaves a device out. Failures are statuses, never log lines. The library writes nowhere else.
 */
#ifndef PLIMSOLL_LOGGER_H
#define PLIMSOLL_LOGGER_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* How much a message matters. */
typedef int32_t plim_log_level;
enum {
  PLIM_LOG_TRACE = 0,
  PLIM_LOG_DEBUG = 1,
  PLIM_LOG_INFO = 2,
  PLIM_LOG_WARNING = 3,
  PLIM_LOG_ERROR = 4
};

/* Receives one message of `size` bytes in UTF-8, without a line end and without a NUL; it is borrowed for
 * the call. On any thread, several at once. It must neither throw nor call the library. */
typedef void (*plim_log_callback)(void *user, plim_log_level level, const char *message,
                                  size_t size);

/* Where the messages of an engine go. */
typedef struct plim_logger {
  uint32_t struct_size; /* sizeof(plim_logger) */
  /* Messages below it are not made. */
  plim_log_level level;
  plim_log_callback log; /* must be set */
  void *user;
  plim_user_release
      release_user; /* called when the last engine with this logger is gone; may be NULL */
} plim_logger;

PLIM_C_END

#endif /* PLIMSOLL_LOGGER_H */
