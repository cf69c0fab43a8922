/* Bytes: what the library wrote for a file or another program: a compiled module, an object, a header.
 *
 * Threads: bytes never change; any thread may read, retain and release them.
 */
#ifndef PLIMSOLL_BYTES_H
#define PLIMSOLL_BYTES_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* The first of them, and how many there are. A zero stands behind the last one, which does not count: what is text may be
 * read as a string. Lives as long as the object. NULL and 0 for what is none. */
PLIM_API const void *plim_bytes_data(const plim_bytes *bytes);
PLIM_API size_t plim_bytes_size(const plim_bytes *bytes);

/* One more owner; one less, and the last one frees them. NULL is ignored by both. */
PLIM_API void plim_bytes_retain(plim_bytes *bytes);
PLIM_API void plim_bytes_release(plim_bytes *bytes);

PLIM_C_END

#endif /* PLIMSOLL_BYTES_H */
