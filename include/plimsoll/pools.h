/* Pools: memories of the host's that the target names, "sram", and that modules put allocations into.
 *
 * A set of memories by name, lent when a module is loaded or for one call (plim_load_options::pools,
 * plim_call_options::pools). The module says how much it needs of each: plim_module_explain().
 *
 * Threads: functions that take a const handle may be called from any thread at once, the others by one
 * thread while no other uses the set.
 */
#ifndef PLIMSOLL_POOLS_H
#define PLIMSOLL_POOLS_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* An empty set. The caller owns `*out_pools`. */
PLIM_NODISCARD PLIM_API plim_status *plim_pools_create(plim_pools **out_pools);

/* Gives `name` `bytes` bytes at `memory`, in place of what it had. The memory is aligned to
 * PLIM_MEMORY_ALIGNMENT, or to what an allocation in the pool asks for, stays the host's, and must outlive
 * the modules and calls that it is lent to. INVALID_ARGUMENT if it is NULL or not aligned. */
PLIM_NODISCARD PLIM_API plim_status *plim_pools_set(plim_pools *pools, const char *name,
                                                    void *memory, size_t bytes);

/* One more owner; one less, and the last one frees the set, not the memories. NULL is ignored by both. */
PLIM_API void plim_pools_retain(plim_pools *pools);
PLIM_API void plim_pools_release(plim_pools *pools);

PLIM_C_END

#endif /* PLIMSOLL_POOLS_H */
