/* Buffer: one tensor in memory of the host.
 *
 * Element type, extents, strides, where element 0 lies and whether it may be written are fixed when it is
 * made; only the elements change. The memory is the engine's, or the host's with a callback that takes it
 * back.
 *
 * Threads: any, for all functions. Accesses to the elements are the host's to order.
 */
#ifndef PLIMSOLL_BUFFER_H
#define PLIMSOLL_BUFFER_H

#include "plimsoll/base.h"
#include "plimsoll/value.h"

/* What memory of the library's is aligned to, in bytes, and what lent workspaces and pools must be. Memory
 * that is wrapped needs the alignment of its elements alone. */
#define PLIM_MEMORY_ALIGNMENT 64

PLIM_C_BEGIN

/* Memory of `engine` for a dense tensor, writable, with arbitrary elements. `shape` has `rank` extents,
 * outermost first, none negative; NULL is allowed for rank 0. The caller owns `*out_buffer`, which keeps
 * the memory, not the engine.
 * INVALID_ARGUMENT for a shape that cannot be or whose bytes are more than a size_t or an int64_t can say,
 * RESOURCE_EXHAUSTED without memory. */
PLIM_NODISCARD PLIM_API plim_status *plim_buffer_allocate(const plim_engine *engine,
                                                          plim_element_type element, uint32_t rank,
                                                          const int64_t *shape,
                                                          plim_buffer **out_buffer);

/* The same with a copy of `bytes` bytes at `data`, which must be as many as the shape needs. */
PLIM_NODISCARD PLIM_API plim_status *plim_buffer_copy(const plim_engine *engine,
                                                      plim_element_type element, uint32_t rank,
                                                      const int64_t *shape, const void *data,
                                                      size_t bytes, plim_buffer **out_buffer);

/* For plim_buffer_memory::flags. */
enum {
  /* Nobody may write it: calls that would are refused. */
  PLIM_BUFFER_READ_ONLY = 1u << 0
};

/* Memory of the host's that is a tensor. */
typedef struct plim_buffer_memory {
  uint32_t struct_size; /* sizeof(plim_buffer_memory) */
  uint32_t flags;       /* PLIM_BUFFER_... */
  plim_element_type element;
  uint32_t rank;
  /* `rank` extents, outermost first. NULL for rank 0. */
  const int64_t *shape;
  /* How many elements neighbours of each dimension lie apart: zero and negative ones are allowed, and
   * elements may overlap. NULL: dense, in row-major order. */
  const int64_t *strides;
  /* Element 0, aligned to its size (complex: to its parts). NULL is allowed for a tensor without elements. */
  void *data;
  /* How many bytes from `data` on are the host's to give, and how many before it, which only negative
   * strides reach: a tensor that does not fit in them is refused. */
  size_t bytes;
  size_t bytes_before;
  /* Called once with `user` and `data` when the last owner is gone, on its thread; may be NULL. It must
   * neither throw nor call functions of the library but those that release. */
  void (*release)(void *user, void *data);
  void *user;
} plim_buffer_memory;

/* A buffer in memory of the host's, without a copy. The memory must stay until `release` is called. The
 * caller owns `*out_buffer`. On failure `release` is not called.
 * INVALID_ARGUMENT for memory that is too small, not aligned, or a shape that cannot be. */
PLIM_NODISCARD PLIM_API plim_status *plim_buffer_wrap(const plim_buffer_memory *memory,
                                                      plim_buffer **out_buffer);

/* What it is. 0, NULL and false for what is no buffer. Pointers live as long as the buffer. */
PLIM_API plim_element_type plim_buffer_element_type(const plim_buffer *buffer);
PLIM_API uint32_t plim_buffer_rank(const plim_buffer *buffer);
/* One extent, and one stride in elements, for each dimension, outermost first; of rank 0 not to be read. */
PLIM_API const int64_t *plim_buffer_shape(const plim_buffer *buffer);
PLIM_API const int64_t *plim_buffer_strides(const plim_buffer *buffer);
/* The product of the extents, and the bytes of as many elements. */
PLIM_API size_t plim_buffer_element_count(const plim_buffer *buffer);
PLIM_API size_t plim_buffer_bytes(const plim_buffer *buffer);
/* Do the elements lie next to each other, in row-major order? */
PLIM_API bool plim_buffer_is_dense(const plim_buffer *buffer);
PLIM_API bool plim_buffer_is_read_only(const plim_buffer *buffer);

/* Element 0, to read; a tensor without elements may have none. Lives as long as the buffer. */
PLIM_API const void *plim_buffer_data(const plim_buffer *buffer);
/* The same to write; NULL for a buffer that is read-only. */
PLIM_API void *plim_buffer_mutable_data(plim_buffer *buffer);

/* One more owner; one less, and the last one gives the memory back. NULL is ignored by both. */
PLIM_API void plim_buffer_retain(plim_buffer *buffer);
PLIM_API void plim_buffer_release(plim_buffer *buffer);

PLIM_C_END

#endif /* PLIMSOLL_BUFFER_H */
