/* Allocator: takes the place of the system's allocator for all memory that holds tensors: results,
 * workspaces, scratch, variables. What the library keeps books with comes from the system all the same.
 *
 * An engine keeps what it has released for the next call; plim_engine_trim() gives that back.
 */
#ifndef PLIMSOLL_ALLOCATOR_H
#define PLIMSOLL_ALLOCATOR_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* Callbacks run on any thread, several at once, and must neither throw nor call the library. */
typedef struct plim_allocator {
  uint32_t struct_size; /* sizeof(plim_allocator) */
  uint32_t flags;       /* 0 */
  void *user;
  /* At least `bytes` bytes, uninitialised, aligned to `alignment`, a power of two; NULL if there are none,
   * which fails the call with RESOURCE_EXHAUSTED. `memory` is the name that the target gives the memory
   * that is meant, "" if it gives none. Must be set. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment, const char *memory);
  /* Takes back what allocate() gave for `bytes`. Must be set. */
  void (*release)(void *user, void *pointer, size_t bytes);
  /* Called when the engine and all buffers that it made are gone; may be NULL. */
  plim_user_release release_user;
} plim_allocator;

PLIM_C_END

#endif /* PLIMSOLL_ALLOCATOR_H */
