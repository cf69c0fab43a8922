/* What every other header stands on: how functions are declared, and the names of the handles.
 *
 * C11 and C++; nothing but freestanding headers. Start with plimsoll.h, which says what holds
 * everywhere: ownership, threads, errors, versions.
 */
#ifndef PLIMSOLL_BASE_H
#define PLIMSOLL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Around declarations. */
#ifdef __cplusplus
#define PLIM_C_BEGIN extern "C" {
#define PLIM_C_END }
#else
#define PLIM_C_BEGIN
#define PLIM_C_END
#endif

/* In front of every function that the library exports. */
#if defined(__GNUC__)
#define PLIM_API __attribute__((visibility("default")))
#else
#define PLIM_API
#endif

/* Of a function whose status must be looked at, and released. */
#if defined(__GNUC__)
#define PLIM_NODISCARD __attribute__((warn_unused_result))
#else
#define PLIM_NODISCARD
#endif

PLIM_C_BEGIN

/* Handles. What is behind them is the library's; each is described in the header of its name. */
typedef struct plim_status plim_status;
typedef struct plim_target plim_target;
typedef struct plim_engine plim_engine;
typedef struct plim_module plim_module;
typedef struct plim_function plim_function;
typedef struct plim_buffer plim_buffer;
typedef struct plim_parameters plim_parameters;
typedef struct plim_state plim_state;
typedef struct plim_event plim_event;
typedef struct plim_stop plim_stop;
typedef struct plim_host_functions plim_host_functions;
typedef struct plim_device plim_device;
typedef struct plim_report plim_report;
typedef struct plim_bytes plim_bytes;

/* Called once, when the library needs `user` no more: no other callback with it is running then, and
 * none will come. On any thread; it must neither throw nor call functions of the library but those
 * that release. */
typedef void (*plim_user_release)(void *user);

/* Which extents get code of their own, where the source leaves them open. Results are the same but for
 * the order in which sums are taken. */
typedef uint32_t plim_specialization;
enum {
  PLIM_SPECIALIZATION_DEFAULT = 0, /* of a load: as its engine; of an engine: none */
  PLIM_SPECIALIZATION_NONE = 1,
  PLIM_SPECIALIZATION_ON_REQUEST = 2, /* those of plim_function_specialize() */
  /* Those as well that calls keep coming with, compiled in the background by a thread of the engine. */
  PLIM_SPECIALIZATION_HOT = 3
};

/* How far results may be from those of the source, operation by operation. */
typedef uint32_t plim_numerics;
enum {
  PLIM_NUMERICS_UNSPECIFIED = 0, /* of a load: as its engine; of an engine: default */
  /* Products may be contracted with sums, never with differences; sums over many elements be taken in another
   * order, the same for every number of threads, and in f32 where they are of f16 or bf16; functions such as exp
   * have errors of up to four units in the last place. */
  PLIM_NUMERICS_DEFAULT = 1,
  /* None of that: every operation rounds as the source says, in its order, and functions are the C
   * library's. Bit for bit what PLIM_LOAD_ORACLE gives, NaNs counting as equal, unless the source itself has
   * operations with fast-math flags. Sums along rows are slower. */
  PLIM_NUMERICS_STRICT = 2
};

PLIM_C_END

#endif /* PLIMSOLL_BASE_H */
