/* Report: what the library tells of itself: what it decided, what it counted.
 *
 * All of them are JSON in UTF-8, whose keys may become more with a minor version.
 *
 * Threads: a report never changes; any thread may read, retain and release it.
 */
#ifndef PLIMSOLL_REPORT_H
#define PLIMSOLL_REPORT_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* The text, with a NUL behind its end, and its bytes without that. Lives as long as the report. NULL and 0
 * for what is no report. */
PLIM_API const char *plim_report_text(const plim_report *report);
PLIM_API size_t plim_report_size(const plim_report *report);

/* One more owner; one less, and the last one frees it. NULL is ignored by both. */
PLIM_API void plim_report_retain(plim_report *report);
PLIM_API void plim_report_release(plim_report *report);

PLIM_C_END

#endif /* PLIMSOLL_REPORT_H */
