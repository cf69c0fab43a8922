/* The binary contract between generated code and the runtime.
 *
 * Plain C, nothing but <stdint.h> and <stddef.h>: generated code is compiled against these offsets
 * (ir/Conversion mirrors them), so a change of any of them is a change of PLIM_ABI_VERSION, which
 * is part of every artifact and of every cache key.
 *
 * Who calls whom:
 *
 *   engine/session --> plim_function_entry   one per public function of a module (host code)
 *   host code      --> plim_rt_*             the runtime symbols below
 *   the runtime    --> plim_dispatch_entry   once per range of workgroups, on any thread
 *   the runtime    --> plim_host_function    where a module calls a function of the host
 *                                            application, or runs a dispatch on one of its devices
 *
 * Generated code never allocates by itself, never prints, never aborts. It reports failure by
 * returning a nonzero plim_code after the runtime latched the message in the context.
 */
#ifndef PLIM_ENGINE_ABI_H
#define PLIM_ENGINE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define PLIM_STATIC_ASSERT(condition, why) static_assert(condition, why)
#else
#define PLIM_STATIC_ASSERT(condition, why) _Static_assert(condition, why)
#endif

#define PLIM_ABI_MAGIC 0x4d494c50u /* "PLIM" */
#define PLIM_ABI_VERSION 15u

/* Every base pointer that the runtime hands to generated code has at least this alignment, unless
 * it belongs to a buffer of the caller's: then element alignment is all that is promised. */
#define PLIM_BUFFER_ALIGNMENT 64

/* The same numbers as plim::StatusCode. */
typedef int32_t plim_code;

/* The device context of one call: the typed first argument of all generated code.
 *
 *   offset  field
 *        0  magic, version      for debuggers; artifacts have the version and are checked when read
 *        8  status              first failure that was seen here; 0 while all is well
 *       12  flags               what is known of this call: PLIM_CALL_...
 *       16  workspace           base of the call's slab: every planned buffer lies in it
 *       24  workspace_bytes
 *       32  call                the runtime's own state of the call; opaque to generated code
 *       40  pools               base of each pool that the module names, in the artifact's order;
 *                               null where it names none
 *       48  offsets             where in the workspace each buffer lies that the call has planned,
 *                               by its slot; negative for one that plim_rt_allocate has to serve.
 *                               Null where all offsets were known at load
 *       56  variables           base of each variable of the module, in the artifact's order; null
 *                               where none is used
 *       64  call_status         first failure of the call on any of its threads; 0 while all is
 *                               well. A failure elsewhere or a stop sets it at any time, so it is
 *                               read atomically: long loops look at it, copy what they find to
 *                               `status`, and end
 *
 * The raw pointer of a kernel runs without a call: with a constant context whose `call` is null,
 * which only plim_rt_fail and plim_rt_dispatch take.
 */
typedef struct plim_context {
  uint32_t magic;
  uint32_t version;
  plim_code status;
  uint32_t flags;
  void *workspace;
  uint64_t workspace_bytes;
  void *call;
  void *const *pools;
  const int64_t *offsets;
  void *const *variables;
  const plim_code *call_status;
} plim_context;
PLIM_STATIC_ASSERT(offsetof(plim_context, status) == 8, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(offsetof(plim_context, flags) == 12, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(offsetof(plim_context, workspace) == 16, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(offsetof(plim_context, pools) == 40, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(offsetof(plim_context, offsets) == 48, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(offsetof(plim_context, variables) == 56, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(offsetof(plim_context, call_status) == 64, "mirrored by ir/Conversion");
PLIM_STATIC_ASSERT(sizeof(plim_context) == 72, "mirrored by ir/Conversion");

/* No two memrefs among the arguments have a byte in common. */
#define PLIM_CALL_APART 1u

/* One argument or result of a function.
 *
 * A tensor or memref: `data` points at element 0, `sizes` holds one extent per dimension. i1
 * elements take one byte each, 0 or 1. index is 64 bits. Elements lie densely in row-major order,
 * except in an argument whose type has a strided layout: there `strides` holds, per dimension, the
 * distance of neighbours in elements. A layout with offset is one with offset 0 at another `data`.
 * A scalar: `data` points at the value (i1 as one byte), `sizes` may be null. For a result, `sizes`
 * has room for the rank and `data` for a scalar; a tensor's `data` and `sizes` are set by the
 * callee, and the memory, taken with plim_rt_allocate, passes to the caller.
 *
 *   offset  field
 *        0  data
 *        8  sizes
 *       16  strides             null where nothing reads them: dense arguments, scalars, results
 */
typedef struct plim_view {
  void *data;
  int64_t *sizes;
  const int64_t *strides;
} plim_view;
PLIM_STATIC_ASSERT(sizeof(plim_view) == 24, "mirrored by ir/Conversion");

/* A public function of a module. It reads the views as long as it runs. On failure no result holds
 * memory. */
typedef plim_code (*plim_function_entry)(plim_context *context, const plim_view *arguments,
                                         const plim_view *results);

/* A function of the host application that a module declares and calls. It always gets the context
 * first, whether or not the declaration shows it, and `user` as it was registered; then a view for
 * each argument and result of the declaration without the context. A tensor result has its memory
 * already: `data` is where to write it, and `sizes` say how large it is; one that an argument is
 * donated to is the same memory as that argument. One whose declaration leaves an extent open, and
 * that no argument is donated to, has none: its `data` is null, and open extents are -1, until
 * plim_rt_make_result makes it, which it must. Results of scalars are zero until they are written.
 * The views, and the memory they point at, are the callee's for the call only. Of the memory of the
 * module it touches only what it gets, and only as the declaration says. Returns 0, or a plim_code
 * that fails the call; plim_rt_fail may say why before that. It must neither throw nor longjmp out,
 * and leave the floating-point environment as it is: the default one. It runs on whatever thread
 * runs the host code of the call, with PLIM_HOST_STACK bytes of stack. */
typedef plim_code (*plim_host_function)(plim_context *context, void *user,
                                        const plim_view *arguments, const plim_view *results);

/* Stack that a host function may use, in bytes. */
#define PLIM_HOST_STACK (16 << 10)

/* What a declaration is bound to when the module is linked; the runtime's, opaque to generated
 * code. */
typedef struct plim_external plim_external;

/* Runs the workgroups [begin, end) of one dispatch. bindings: one base pointer per buffer binding;
 * scalars: one 64-bit word per scalar operand, in order (floats and narrow integers in the low
 * bits), then one per dynamic extent of the bindings. */
typedef plim_code (*plim_dispatch_entry)(plim_context *context, void *const *bindings,
                                         const int64_t *scalars, int64_t begin, int64_t end);

/* How many workgroups the dispatch has for these scalars. Pure; never negative. */
typedef int64_t (*plim_workgroup_count)(const int64_t *scalars);

/* How many bytes the bindings of the dispatch hold for these scalars, both those that it reads and
 * those that it writes. Pure; never negative. */
typedef int64_t (*plim_byte_count)(const int64_t *scalars);

/* What a dispatch does to a binding: bits. */
#define PLIM_ACCESS_READ 1u
#define PLIM_ACCESS_WRITE 2u

/* One dispatch, a constant in the object.
 *
 *   offset  field
 *        0  entry
 *        8  workgroups
 *       16  name                NUL-terminated, for reports
 *       24  cost                estimated work of one workgroup, in scalar operations
 *       32  location            NUL-terminated "file:line:column: " of its source, may be empty
 *       40  binding_count
 *       48  access              PLIM_ACCESS_... of each binding
 *       56  grid                number of workgroups where it is always the same, otherwise 0
 *       64  bytes               null where nobody knows
 */
typedef struct plim_dispatch {
  plim_dispatch_entry entry;
  plim_workgroup_count workgroups;
  const char *name;
  int64_t cost;
  const char *location;
  uint64_t binding_count;
  const uint8_t *access;
  int64_t grid;
  plim_byte_count bytes;
} plim_dispatch;
PLIM_STATIC_ASSERT(sizeof(plim_dispatch) == 72, "mirrored by ir/Conversion");

/* One run of a dispatch, filled in by host code in its own frame.
 *
 *   offset  field
 *        0  dispatch
 *        8  bindings            as its entry gets them
 *       16  scalars             likewise
 */
typedef struct plim_launch {
  const plim_dispatch *dispatch;
  void *const *bindings;
  const int64_t *scalars;
} plim_launch;
PLIM_STATIC_ASSERT(sizeof(plim_launch) == 24, "mirrored by ir/Conversion");

/* Most launches of a schedule: a set of them is one word. */
#define PLIM_SCHEDULE_LIMIT 64

/* What the launches of a schedule wait for: a constant in the object.
 *
 *   offset  field
 *        0  count               of launches, from 1 to PLIM_SCHEDULE_LIMIT
 *        8  predecessors        for each launch those that must have ended before it begins: bit i
 *                               for launch #i, which comes before it. Null if no launch waits for
 *                               another
 */
typedef struct plim_schedule {
  uint64_t count;
  const uint64_t *predecessors;
} plim_schedule;
PLIM_STATIC_ASSERT(sizeof(plim_schedule) == 16, "mirrored by ir/Conversion");

/* The runtime symbols: all that generated code may call besides vector math.
 *
 * Each that can fail latches the first failure in `context` and returns nonzero (or null). */

/* Runs a dispatch to its end. Host code, any thread. Without a call all of it runs on the calling
 * one. */
plim_code plim_rt_dispatch(plim_context *context, const plim_dispatch *dispatch,
                           void *const *bindings, const int64_t *scalars);

/* Runs the launches of a schedule to their end. Those of which none waits for the other, directly
 * or through others, run in any order and at the same time: neither may write what the other one
 * reads or writes. When one fails, those not yet started are dropped. Host code, any thread. */
plim_code plim_rt_schedule(plim_context *context, const plim_schedule *schedule,
                           const plim_launch *launches);

/* Memory for sizes[0] * ... * sizes[rank-1] * element_bytes bytes, aligned to
 * PLIM_BUFFER_ALIGNMENT, uninitialised. Null if an extent is negative, the product overflows, or
 * there is no memory. Zero bytes give a valid, unique pointer. */
void *plim_rt_allocate(plim_context *context, int64_t rank, const int64_t *sizes,
                       int64_t element_bytes);

/* The same for the result at position `index` of the public function that the call is of: where the
 * caller gave a buffer for it, that one. Null, too, if its extents are others than these. */
void *plim_rt_allocate_result(plim_context *context, int64_t index, int64_t rank,
                              const int64_t *sizes, int64_t element_bytes);

/* Gives memory of plim_rt_allocate back; null is ignored. */
void plim_rt_release(plim_context *context, void *memory);

/* Scratch of the executing thread for in-kernel buffers that do not fit on the stack, valid until
 * the workgroup range returns. Null when there is no memory. */
void *plim_rt_scratch(plim_context *context, int64_t bytes);

/* Called by a function that may come back to itself, when it is entered: fails, with the
 * NUL-terminated, located message, unless the stack has room for another turn. */
plim_code plim_rt_recurse(plim_context *context, const char *message);

/* Stack for recursion, in bytes: a call that may recurse asks for so much beside what one turn
 * needs. */
#define PLIM_RECURSION_STACK (1 << 20)

/* Calls a function of the host application from the source at `location`, NUL-terminated
 * "file:line:column: ". Memory of results that the function makes is the caller's, as if it had
 * taken it with plim_rt_allocate. */
plim_code plim_rt_call(plim_context *context, const plim_external *external, const char *location,
                       const plim_view *arguments, plim_view *results);

/* Runs a dispatch on the device of the host application that it is compiled for: the same way, in
 * the entry of the dispatch, on any thread. */
plim_code plim_rt_launch(plim_context *context, const plim_external *external, const char *location,
                         const plim_view *arguments, plim_view *results);

/* Stack that a device may use for a launch, in bytes. */
#define PLIM_DEVICE_STACK (128 << 10)

/* For host functions: memory for the tensor result at position `index`, one that has none yet, with
 * one extent for each dimension in `sizes`. Uninitialised, aligned to PLIM_BUFFER_ALIGNMENT; the
 * result's view has both from then on. Null if it is no such result, if an extent is negative or
 * not the declared one, or without memory; the call has failed then. */
void *plim_rt_make_result(plim_context *context, int64_t index, const int64_t *sizes);

/* Latches a failure with a NUL-terminated, located message. Always returns `code`. Without a call
 * nobody is told. */
plim_code plim_rt_fail(plim_context *context, plim_code code, const char *message);

/* Latches the failure of an assertion, with a message in which {0}, {1}, ... stand
 * for the `count` numbers of `values`. */
void plim_rt_require_failed(plim_context *context, const char *message, const int64_t *values,
                            int64_t count);

#ifdef __cplusplus
}
#endif
#endif /* PLIM_ENGINE_ABI_H */
