/* What the tests of the C interface share: checks, an engine, and sources. C11; only public headers.
 *
 * A test is a function that checks; the program runs the one that its command line names, or all of them.
 * A check that fails says where and why, and the test goes on unless it cannot. One thread, except where a
 * test makes others; those check nothing.
 */
#ifndef PLIM_TESTS_CAPI_CHECK_H
#define PLIM_TESTS_CAPI_CHECK_H

#include "plimsoll/plimsoll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      checkFailed(__FILE__, __LINE__, #condition);                                                 \
  } while (0)

/* Of a status: ok, and the test cannot go on otherwise. */
#define CHECK_OK(call) checkOk(__FILE__, __LINE__, #call, (call))

/* Of a status: of this code, with this text in its message. */
#define CHECK_FAILS(call, code, text) checkFails(__FILE__, __LINE__, #call, (call), code, text)

/* How many have failed in this process. */
int failedChecks(void);
void checkFailed(const char *file, int line, const char *what);
void checkOk(const char *file, int line, const char *what, plim_status *status);
void checkFails(const char *file, int line, const char *what, plim_status *status, plim_code code,
                const char *text);

/* An engine with two threads, and flags of PLIM_ENGINE_.... */
plim_engine *makeEngine(uint32_t flags);
/* A module of the source, called "test.mlir". */
plim_module *load(plim_engine *engine, const char *source, const plim_load_options *options);
plim_function *lookup(const plim_module *module, const char *name);
/* Source, module and function with nothing but the function left to release. */
plim_function *loadFunction(plim_engine *engine, const char *source, const char *name);

/* f32 of rank 1, a copy in memory of the engine. */
plim_buffer *makeVector(const plim_engine *engine, const float *elements, int64_t count);
/* The f32 of a buffer, to read. */
const float *floats(const plim_buffer *buffer);
/* Are these the f32 of the buffer, all of them? */
bool holds(const plim_buffer *buffer, const float *elements, size_t count);

/* %r = %a * %x, for any size; and the sum of two i64. */
extern const char *const scaleSource;

typedef struct Test {
  const char *name;
  void (*run)(void);
} Test;

/* The tests of each file, ended by one without a name. */
extern const Test statusTests[], engineTests[], moduleTests[], functionTests[], bufferTests[],
    deviceTests[], dlpackTests[], eventTests[], stateTests[], handleTests[];

#endif
