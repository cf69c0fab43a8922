/* Target: everything the compiler may assume about a machine.
 *
 * Processor, caches, stacks, accelerators, memories and who reaches them. An engine without one
 * reads the machine that it runs on.
 *
 * Threads: a target never changes; any thread may use, retain and release it.
 */
#ifndef PLIMSOLL_TARGET_H
#define PLIMSOLL_TARGET_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* The target called `name`, with `override_count` assignments on top of it, the last one strongest.
 * The caller owns `*out_target`.
 *
 * `name` is one of these; NULL is "host-cpu":
 *
 *   "host-cpu"            this machine without its accelerators
 *   "host"                this machine with them; their drivers take tens of milliseconds to load
 *   a tag                 such as "x86-64-v3"; plim_target_list() has them
 *   a path                of a target in JSON, ending in ".json"
 *
 * GPUs of "host" are "vulkan0", "cuda0"... They run dispatches for loads that ask for one
 * (plim_load_options::device). The environment variable PLIMSOLL_VISIBLE_DEVICES, such as
 * "cuda1,vulkan0", hides all GPUs that it does not name.
 *
 * Where processors have AMX, the first load of code that uses its tile registers asks the kernel
 * for them. From then on the kernel refuses alternate signal stacks that are smaller than
 * AT_MINSIGSTKSZ. If a thread has such a stack already, code is compiled without tiles, and
 * artifacts that need tiles are FAILED_PRECONDITION.
 *
 * `overrides`: each is "path=value", with the paths of the JSON: "vector_bits=256",
 * "devices.host.stack_budget_bytes=65536", "features=-avx512f". NULL where there are none.
 *
 * NOT_FOUND for an unknown name or file, INVALID_ARGUMENT for a malformed file or override. */
PLIM_NODISCARD PLIM_API plim_status *plim_target_create(const char *name,
                                                        const char *const *overrides,
                                                        size_t override_count,
                                                        plim_target **out_target);

/* The names that plim_target_create() knows: [{"name", "about", "aliases": [...], "inherits"},
 * ...], by name. The caller owns `*out_report`. */
PLIM_NODISCARD PLIM_API plim_status *plim_target_list(plim_report **out_report);

/* The target that `size` bytes of JSON describe: what plim_target_describe() wrote, here or on
 * another machine. A key that is absent keeps its default. The text is not kept. The caller owns
 * `*out_target`. INVALID_ARGUMENT, with the path of the key that is wrong. */
PLIM_NODISCARD PLIM_API plim_status *plim_target_create_from_json(const char *json, size_t size,
                                                                  plim_target **out_target);

/* All that is known of it, one key for each field. The caller owns `*out_report`. */
PLIM_NODISCARD PLIM_API plim_status *plim_target_describe(const plim_target *target,
                                                          plim_report **out_report);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_target_retain(plim_target *target);
PLIM_API void plim_target_release(plim_target *target);

PLIM_C_END

#endif /* PLIMSOLL_TARGET_H */
