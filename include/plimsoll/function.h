/* Function: a public function of a module, and how it is called.
 *
 *   plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x), plim_value_buffer(y)};
 *   plim_value result;
 *   plim_status *status = plim_function_call(saxpy, arguments, 3, &result, 1, NULL);
 *   ...
 *   plim_value_release(&result);
 *
 * Threads: any, for all functions, at any time: calls run concurrently, each with memory of its own. Calls
 * that use the same variables (state.h), or pools that were lent to the load, run one after the other.
 */
#ifndef PLIMSOLL_FUNCTION_H
#define PLIMSOLL_FUNCTION_H

#include "plimsoll/base.h"
#include "plimsoll/pools.h"
#include "plimsoll/value.h"

PLIM_C_BEGIN

/* The name in the source. Lives as long as the function; NULL for what is none. */
PLIM_API const char *plim_function_name(const plim_function *function);

/* How many arguments and results it has; 0 for what is no function. */
PLIM_API size_t plim_function_argument_count(const plim_function *function);
PLIM_API size_t plim_function_result_count(const plim_function *function);

/* What it expects, and what it gives. Fills in `out_type`, whose struct_size must be set. OUT_OF_RANGE for
 * an index that is none. */
PLIM_NODISCARD PLIM_API plim_status *
plim_function_argument_type(const plim_function *function, size_t index, plim_value_type *out_type);
PLIM_NODISCARD PLIM_API plim_status *
plim_function_result_type(const plim_function *function, size_t index, plim_value_type *out_type);

/* Stack that a call needs on the thread that runs it, in bytes: a proven bound. One that has less left
 * has the call run on a thread of the engine. 0 for what is no function. */
PLIM_API size_t plim_function_stack_bytes(const plim_function *function);

/* What one call is lent. Calls that run at once must not share any of it but `stop`. A field of zero, or
 * NULL, lends nothing. */
typedef struct plim_call_options {
  uint32_t struct_size; /* sizeof(plim_call_options) */
  uint32_t flags;       /* 0 */
  /* Buffers to write the results into: one for each result, NULL where the call shall make one. Dense,
   * writable, of the result's type and extents, apart from parameters, pools, donated arguments and each
   * other; none for a result that an argument is donated to. They may overlap arguments: the result is
   * then what it would be if all arguments had been copied before. What a failed call leaves in them is
   * not defined. */
  plim_buffer *const *outputs;
  size_t output_count; /* 0, or the number of results */
  /* Memory for all temporaries, as large as plim_function_workspace() says, aligned to
   * PLIM_MEMORY_ALIGNMENT. */
  void *workspace;
  size_t workspace_bytes;
  /* Stronger than those of the load. */
  const plim_pool *pools;
  size_t pool_count;
  /* The variables of the call, made by the same module; NULL: those of the module. */
  plim_state *state;
  /* Ends the call with CANCELLED when it is requested. */
  const plim_stop *stop;
} plim_call_options;

/* Calls it. `arguments` are borrowed: buffers must not be released while the call runs. On success
 * `results` has the results, which the caller owns: plim_value_release() for each; one whose buffer was
 * among the outputs is that buffer, with one owner more. On failure `results` are untouched.
 * `result_count` is the number of results, or 0 to drop them all. `options` may be NULL. Blocks until the
 * call is over.
 *
 * A buffer must be dense unless the argument's type has strides. Arguments may overlap: a tensor is the
 * value that it had before the call. A donated tensor comes back as the result; its buffer must be writable
 * and apart from all else, and is the caller's once for each.
 *
 * INVALID_ARGUMENT names the argument that does not fit, and how; RESOURCE_EXHAUSTED says what memory or
 * stack is missing; FAILED_PRECONDITION which pool nobody bound. A failure inside the function comes back
 * with its place. Nothing has run when an argument or an option is refused.
 *
 * A call that repeats the sizes of an earlier one takes no memory from the system. */
PLIM_NODISCARD PLIM_API plim_status *plim_function_call(const plim_function *function,
                                                        const plim_value *arguments,
                                                        size_t argument_count, plim_value *results,
                                                        size_t result_count,
                                                        const plim_call_options *options);

/* Which call a free thread begins first. */
typedef int32_t plim_priority;
enum { PLIM_PRIORITY_NORMAL = 0, PLIM_PRIORITY_LOW = -1, PLIM_PRIORITY_HIGH = 1 };

/* How a call that runs by itself begins. */
typedef struct plim_async_options {
  uint32_t struct_size; /* sizeof(plim_async_options) */
  plim_priority priority;
  /* What the call is lent; NULL: nothing. Memory and buffers must stay until it has ended, the structs and
   * arrays need not. */
  const plim_call_options *call;
  /* Calls and loads, of any engine, that must have ended before this one begins. If one fails this
   * one does not run and has the same code. Results get from one to the other in buffers that are
   * outputs of the first and arguments of the second. */
  plim_event *const *after;
  size_t after_count;
} plim_async_options;

/* The same, without waiting for it: on a thread of the engine, or on one that waits for the event; without
 * threads of its own before this returns. The engine, the arguments and the outputs are kept until it has
 * ended; nobody may write them in between. Errors of the call are the event's; what is returned is about
 * the handles and options alone. The caller owns `*out_event`. `options` may be NULL. */
PLIM_NODISCARD PLIM_API plim_status *plim_function_call_async(const plim_function *function,
                                                              const plim_value *arguments,
                                                              size_t argument_count,
                                                              const plim_async_options *options,
                                                              plim_event **out_event);

/* What plim_call_options::workspace needs. */
typedef struct plim_workspace {
  uint32_t struct_size; /* sizeof(plim_workspace), set by the caller */
  uint32_t reserved;    /* 0 */
  size_t bytes;
  size_t alignment; /* a power of two */
} plim_workspace;

/* For a call with these arguments, of which the extents alone count; with NULL and 0, for any call. Fills
 * in `out_workspace`, whose struct_size must be set. FAILED_PRECONDITION, with the reason, if the function
 * cannot do with lent memory, or if without arguments no size is enough. Errors of arguments as those of
 * plim_function_call(). */
PLIM_NODISCARD PLIM_API plim_status *plim_function_workspace(const plim_function *function,
                                                             const plim_value *arguments,
                                                             size_t argument_count,
                                                             plim_workspace *out_workspace);

/* Makes code for the extents of these arguments, of which nothing else counts, before it returns; calls with
 * these extents use it from then on, as long as it is not evicted. Ok if there is such code already.
 * FAILED_PRECONDITION if the module may have none (`specialization` of the load and the engine). Errors of
 * arguments as those of plim_function_call(), others as those of a load. */
PLIM_NODISCARD PLIM_API plim_status *plim_function_specialize(const plim_function *function,
                                                              const plim_value *arguments,
                                                              size_t argument_count);

/* A pointer to the code of a kernel: a function without tensors and with at most one result, a scalar, that
 * needs nothing of the engine. NULL for others. It has C's calling convention: scalars by value (index as
 * int64_t), a memref as a pointer to element 0, one int64_t for each dynamic extent, and one for each
 * dynamic stride. Nothing is checked, not even that plim_function_stack_bytes() are left. All of it runs on
 * the thread that calls, parallel loops too. What fails a call, such as a division by zero, ends it silently,
 * with a result of zero; no stop ends it. Valid as long as the function. */
PLIM_API void *plim_function_raw_pointer(const plim_function *function);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_function_retain(plim_function *function);
PLIM_API void plim_function_release(plim_function *function);

PLIM_C_END

#endif /* PLIMSOLL_FUNCTION_H */
