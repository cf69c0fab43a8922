/* Plimsoll: compiles MLIR for the machine that is here and runs it. The C interface.
 *
 *   plim_engine *engine;      plim_engine_create(NULL, &engine)
 *   plim_module *module;      plim_module_load(engine, source, size, "saxpy.mlir", NULL, &module)
 *   plim_function *saxpy;     plim_module_function(module, "saxpy", &saxpy)
 *   plim_buffer *x;           plim_buffer_wrap(&memory, &x)
 *   plim_value result;        plim_function_call(saxpy, arguments, 3, &result, 1, NULL)
 *
 * examples/saxpy is that as a program, in C and in C++ (plimsoll.hpp). Each header describes one object;
 * what follows holds for all of them.
 *
 * Ownership
 *   Objects are handles with a count of owners. plim_X_create(), and every function that hands an object
 *   out through an `out_` parameter, makes the caller an owner; plim_X_retain() makes one more;
 *   plim_X_release() gives one up, and the last frees the object. Releasing NULL does nothing.
 *   A handle that is passed to a function is borrowed for the call; where the library goes on using it,
 *   the comment says "retained", and the caller may release its own at once. Objects keep what they need:
 *   a function its module, a module its engine. Handles may be released in any order.
 *   Pointers that getters return belong to the object and live as long as it, if nothing else is said.
 *   Strings that go in are UTF-8 with a NUL at the end, and are copied. Sources, which may contain zeros,
 *   have a size.
 *
 * Threads
 *   Functions may be called from any thread. Those that take an object as `const plim_X *` may run at the
 *   same time as any other of it; the header of the object says what holds for the rest. Releasing the last
 *   owner while another thread uses the object is a fault of the caller's.
 *   Callbacks come from any thread, several at once; `user` is theirs. After `release_user` no callback
 *   comes. Unless it is said otherwise they must not call the library.
 *   There is no global state, and no thread runs that is not an engine's.
 *
 * Errors
 *   A function that can fail returns a plim_status: NULL if all went well (status.h). What has failed has
 *   changed nothing, and its `out_` parameters are untouched; the comment says where it is otherwise.
 *   Getters do not fail: for NULL, or what is no such object, they return 0, NULL or false.
 *   Any function that returns a status may return INVALID_ARGUMENT for NULL, for a handle of another kind,
 *   and for options that cannot be; RESOURCE_EXHAUSTED when there is no memory. A handle that was released
 *   is found for sure while it is among the last 4096 of an engine with PLIM_ENGINE_CHECKED of which anything
 *   is left, and mostly otherwise.
 *   A function that fails has taken nothing over: no `release` of what it was given is called.
 *   Nothing throws, aborts, exits or prints.
 *
 * Versioning
 *   Versions are MAJOR.MINOR.PATCH (version.h). Before 1.0 a minor version may change anything; from then
 *   on a major one. The name of the shared library has what must agree: libplimsoll.so.0.
 *   Structs that pass the border begin with struct_size, which the caller sets to sizeof of the struct that
 *   it was compiled with: `plim_load_options options = {.struct_size = sizeof options};`. New versions add
 *   fields at the end, and zero means what was before. A library that is older than the host's headers
 *   accepts their structs as long as all that it does not know is zero. Flags and fields that are reserved
 *   must be zero. plim_value, plim_host_value, plim_pool and the structs of DLPack never change.
 */
#ifndef PLIMSOLL_PLIMSOLL_H
#define PLIMSOLL_PLIMSOLL_H

#include "plimsoll/allocator.h"
#include "plimsoll/base.h"
#include "plimsoll/buffer.h"
#include "plimsoll/bytes.h"
#include "plimsoll/device.h"
#include "plimsoll/dlpack.h"
#include "plimsoll/engine.h"
#include "plimsoll/event.h"
#include "plimsoll/function.h"
#include "plimsoll/host_functions.h"
#include "plimsoll/limits.h"
#include "plimsoll/logger.h"
#include "plimsoll/module.h"
#include "plimsoll/parameters.h"
#include "plimsoll/pools.h"
#include "plimsoll/report.h"
#include "plimsoll/state.h"
#include "plimsoll/status.h"
#include "plimsoll/stop.h"
#include "plimsoll/target.h"
#include "plimsoll/value.h"
#include "plimsoll/version.h"

#endif /* PLIMSOLL_PLIMSOLL_H */
