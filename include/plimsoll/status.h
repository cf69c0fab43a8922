/* Status: why something failed.
 *
 * A function that can fail returns a status: NULL if all went well, otherwise an object that the caller
 * owns and gives back with plim_status_release().
 *
 *   plim_status *status = plim_module_load(engine, source, size, "net.mlir", NULL, &module);
 *   if (status) {
 *     fprintf(stderr, "%s: %s\n", plim_code_name(plim_status_code(status)),
 *             plim_status_message(status));
 *     plim_status_release(status);
 *   }
 *
 * Threads: a status never changes; any thread may read and release it.
 */
#ifndef PLIMSOLL_STATUS_H
#define PLIMSOLL_STATUS_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* What kind of failure, for programs. The numbers never change; new ones may come. */
typedef int32_t plim_code;
enum {
  PLIM_OK = 0,
  /* The call was stopped before its end. */
  PLIM_CANCELLED = 1,
  /* Something failed that has no code: mostly a callback of the host's. */
  PLIM_UNKNOWN = 2,
  /* The caller gave something that can never be right: a null handle, a released one, a buffer of the
   * wrong type, a source that is no module. */
  PLIM_INVALID_ARGUMENT = 3,
  PLIM_DEADLINE_EXCEEDED = 4,
  /* No such file, function, variable, target. The message names the nearest that there is. */
  PLIM_NOT_FOUND = 5,
  PLIM_ALREADY_EXISTS = 6,
  PLIM_PERMISSION_DENIED = 7,
  /* No memory, no stack, or lent memory that is too small: the message says how much is missing. */
  PLIM_RESOURCE_EXHAUSTED = 8,
  /* Right in itself, but not now: a parameter or a pool is not bound, a call has not ended; or a check in the
   * module does not hold, such as an index that it finds out of range. */
  PLIM_FAILED_PRECONDITION = 9,
  /* There is no argument or result of that index; generated code of a checked engine has left a buffer. */
  PLIM_OUT_OF_RANGE = 11,
  /* This library cannot do it. */
  PLIM_UNIMPLEMENTED = 12,
  /* A fault of the library: please report it. */
  PLIM_INTERNAL = 13,
  /* The system refuses for now: no executable memory, a file that cannot be read. */
  PLIM_UNAVAILABLE = 14,
  /* A file is damaged. */
  PLIM_DATA_LOSS = 15
};

/* "invalid argument" for PLIM_INVALID_ARGUMENT, "unknown" for what is no code. Static. */
PLIM_API const char *plim_code_name(plim_code code);

/* PLIM_OK for NULL. */
PLIM_API plim_code plim_status_code(const plim_status *status);

/* One sentence for people, in UTF-8: what is wrong, where, and what was expected. What speaks of a source
 * begins with its place, "net.mlir:3:8: ". "" for NULL. Lives as long as the status. */
PLIM_API const char *plim_status_message(const plim_status *status);

/* The place that the message speaks of: the name of the source as it was given when it was loaded, line
 * and column from 1 on. NULL and 0 where it speaks of none, 0 for bytecode as a whole. The name lives as long
 * as the status. */
PLIM_API const char *plim_status_file(const plim_status *status);
PLIM_API uint32_t plim_status_line(const plim_status *status);
PLIM_API uint32_t plim_status_column(const plim_status *status);

/* A note belongs to what stands before it. */
typedef int32_t plim_severity;
enum {
  PLIM_SEVERITY_ERROR = 0,
  PLIM_SEVERITY_WARNING = 1,
  PLIM_SEVERITY_REMARK = 2,
  PLIM_SEVERITY_NOTE = 3
};

/* What is said of one place of a source. */
typedef struct plim_diagnostic {
  uint32_t struct_size; /* sizeof(plim_diagnostic), set by the caller */
  plim_severity severity;
  const char *message;   /* without the place; lives as long as the status, as does file */
  const char *file;      /* NULL: of no place */
  uint32_t line, column; /* from 1 on, columns count bytes; 0: of the file as a whole */
  /* Behind what it speaks of: a name, a number, a sign. 0: not known. */
  uint32_t end_line, end_column;
} plim_diagnostic;

/* All that was said of a source that does not compile, in its order, at most 100, and the first error in any case;
 * the message of the status is that of the first error. One for a check of compiled code that does not hold, for what a
 * function of the host says where it is called, and for each parameter, function and device that a load lacks. 0 for NULL,
 * and for what speaks of no source. */
PLIM_API size_t plim_status_diagnostic_count(const plim_status *status);

/* Fills in `out_diagnostic`, whose struct_size must be set. OUT_OF_RANGE if there is none of that index. */
PLIM_NODISCARD PLIM_API plim_status *plim_status_diagnostic(const plim_status *status, size_t index,
                                                            plim_diagnostic *out_diagnostic);

/* NULL is ignored. */
PLIM_API void plim_status_release(plim_status *status);

PLIM_C_END

#endif /* PLIMSOLL_STATUS_H */
