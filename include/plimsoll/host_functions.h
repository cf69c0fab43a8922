/* Host functions: functions of the host application that modules declare and call.
 *
 * A module declares `func.func private @log_row(f32, memref<?x4xf32>) -> i32` and calls it by that
 * name. A set of host functions says which function of the host that is. An engine takes a set for
 * all its modules, a load one for its own module; a function of the load comes before one of the
 * engine with the same name.
 *
 * The types here belong to this interface and stay as they are. The layout that generated code uses
 * may change with every version, so no header of this folder includes its header. Today both
 * layouts are the same, and the library converts one to the other by a cast, which is checked when
 * the library is compiled.
 *
 * Threads: functions that take a const handle may be called from any thread at once, the others by
 * one thread while no other uses the set.
 */
#ifndef PLIMSOLL_HOST_FUNCTIONS_H
#define PLIMSOLL_HOST_FUNCTIONS_H

#include "plimsoll/base.h"
#include "plimsoll/status.h"

PLIM_C_BEGIN

/* The call of a module that called the host. Belongs to the engine; valid until the host function
 * returns. */
typedef struct plim_host_call plim_host_call;

/* One argument or result of a host function, as its declaration says: its type, rank and access are
 * not repeated here. Valid until the host function returns.
 *
 * A tensor or memref: `data` is element 0, `shape` has one extent for each dimension. Elements are
 * dense in row-major order, except in a memref whose type has strides: there `strides` has one for
 * each dimension, in elements; elsewhere it is NULL. A scalar: `data` points at it, i1 as one byte;
 * `shape` and `strides` mean nothing. Results: a scalar is zero until it is written. A tensor has
 * its memory already: `data` is where to write it, `shape` how large it is; one that an argument is
 * donated to is the memory of that argument. One whose declaration leaves an extent open, and that
 * no argument is donated to, has `data` NULL and PLIM_DYNAMIC for open extents until
 * plim_host_call_make_result() makes it, which the function must. */
typedef struct plim_host_value {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
} plim_host_value;

/* Returns PLIM_OK, or a code that fails the call of the module, for which plim_host_call_fail() may
 * give the reason before. It touches no memory of the module but what it gets, and that only as the
 * declaration says. It must neither throw nor longjmp out, leave the floating-point environment as
 * it is, and do with PLIM_HOST_FUNCTION_STACK bytes of stack. It may call functions of the library.
 * On the thread that runs the call. */
typedef plim_code (*plim_host_callback)(plim_host_call *call, void *user,
                                        const plim_host_value *arguments,
                                        const plim_host_value *results);

/* Stack that a host function may take, in bytes. */
#define PLIM_HOST_FUNCTION_STACK (16 << 10)

/* When a host function may be called. */
typedef uint32_t plim_host_function_kind;
enum {
  PLIM_HOST_THREAD_SAFE = 0, /* several calls may run it at once */
  PLIM_HOST_SERIAL = 1, /* the library runs it once at a time; it must not come back to itself */
  /* Thread-safe, and does nothing but compute its results from its arguments: equal calls may
   * become one, unused ones none. Needed where the declaration says `plim.pure`. */
  PLIM_HOST_PURE = 2
};

/* A host function. */
typedef struct plim_host_function_options {
  uint32_t struct_size; /* sizeof(plim_host_function_options) */
  plim_host_function_kind kind;
  plim_host_callback function; /* must be set */
  void *user;
  plim_user_release
      release_user; /* called when no set, engine or module has it any more; may be NULL */
  /* What it expects, as plim_module_explain() shows it: "(f32, memref<?x4xf32> readonly) -> i32". A
   * declaration that says otherwise is then refused. NULL: it is not compared. */
  const char *signature;
} plim_host_function_options;

/* An empty set. The caller owns `*out_functions`. */
PLIM_NODISCARD PLIM_API plim_status *
plim_host_functions_create(plim_host_functions **out_functions);

/* Adds a function under the name that modules declare. On failure `release_user` is not called.
 * ALREADY_EXISTS if the name is taken. */
PLIM_NODISCARD PLIM_API plim_status *
plim_host_functions_add(plim_host_functions *functions, const char *name,
                        const plim_host_function_options *options);

/* For host functions: makes the call of the module fail with `code`, which is not PLIM_OK, and
 * `message`, which is copied and gets the place of the call in front; NULL is none. The first
 * failure of a call counts. Returns `code`, to be returned. */
PLIM_API plim_code plim_host_call_fail(plim_host_call *call, plim_code code, const char *message);

/* For host functions: memory for the tensor result at position `index`, one that has none yet, with
 * one extent for each dimension in `shape`. Uninitialised, aligned to PLIM_MEMORY_ALIGNMENT; it
 * belongs to the call, and the result's `data` and `shape` say so too from then on. NULL if it is
 * no such result, if an extent is negative or not the declared one, or without memory; the call has
 * failed then, and the function should return. */
PLIM_API void *plim_host_call_make_result(plim_host_call *call, size_t index, const int64_t *shape);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_host_functions_retain(plim_host_functions *functions);
PLIM_API void plim_host_functions_release(plim_host_functions *functions);

PLIM_C_END

#endif /* PLIMSOLL_HOST_FUNCTIONS_H */
