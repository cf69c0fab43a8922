/* Which library this is.
 *
 * Threads: any, for all of it. Nothing here fails but plim_version_check().
 */
#ifndef PLIMSOLL_VERSION_H
#define PLIMSOLL_VERSION_H

#include "plimsoll/base.h"

/* The version of these headers. */
#define PLIM_VERSION_MAJOR 0
#define PLIM_VERSION_MINOR 1
#define PLIM_VERSION_PATCH 0

/* One number that grows with the version: 16 bits for the major, 8 each for the minor and the patch. */
#define PLIM_MAKE_VERSION(major, minor, patch)                                                     \
  (((uint32_t)(major) << 16) | ((uint32_t)(minor) << 8) | (uint32_t)(patch))
#define PLIM_VERSION PLIM_MAKE_VERSION(PLIM_VERSION_MAJOR, PLIM_VERSION_MINOR, PLIM_VERSION_PATCH)

PLIM_C_BEGIN

/* The version of the library that is loaded, as PLIM_MAKE_VERSION() makes it. This function will never
 * change. */
PLIM_API uint32_t plim_version(void);

/* The same for people, "0.1.0". Static: never released. */
PLIM_API const char *plim_version_string(void);

/* May a host that was compiled with headers of `version` (PLIM_VERSION) use this library? The linker has
 * seen to that where the host is linked to it; one that opens it with dlopen() asks first.
 * FAILED_PRECONDITION, with both versions, if it may not. */
PLIM_NODISCARD PLIM_API plim_status *plim_version_check(uint32_t version);

PLIM_C_END

#endif /* PLIMSOLL_VERSION_H */
