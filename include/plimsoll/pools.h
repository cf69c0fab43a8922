/* Pools: memories of the host's that the target names, "sram", and that modules put allocations into.
 *
 * They are lent to a load or to one call, as an array (plim_load_options::pools, plim_call_options::pools). The module
 * says how much it needs of each: plim_module_explain().
 */
#ifndef PLIMSOLL_POOLS_H
#define PLIMSOLL_POOLS_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* One memory. It never gets other fields. Arrays of them are read before the function that gets them returns, and not
 * kept. INVALID_ARGUMENT for a name that is NULL or stands twice in an array, and for memory that is NULL, not aligned or
 * reaches beyond the address space. */
typedef struct plim_pool {
  const char *name; /* as the target names it */
  /* Aligned to PLIM_MEMORY_ALIGNMENT, or to what an allocation in the pool asks for. Stays the host's, and must outlive
   * the module or the call that it is lent to. */
  void *memory;
  size_t bytes; /* at `memory` */
} plim_pool;

PLIM_C_END

#endif /* PLIMSOLL_POOLS_H */
