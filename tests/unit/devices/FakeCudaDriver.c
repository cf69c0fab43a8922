// A driver of CUDA that simulates one device of sm_90 on the host: addresses are those of malloc, and launches run the
// kernels of Kernels.h at once. It writes down the calls, counts what is not given back, and fails when told to.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char journal[1 << 16];
static char failing[64];
static int failure, failureCount, faults, contexts, streams, blocks, modules, takesAll;
static __thread int depth;

EXPORT const char *fakeJournal(void) { return journal; }
EXPORT void fakeClear(void) { journal[0] = 0; }
/// The next `count` calls of this name answer `result`.
EXPORT void fakeFail(const char *call, int result, int count) {
  snprintf(failing, sizeof failing, "%s", call);
  failure = result;
  failureCount = count;
}
/// From now on modules have kernels of every name: those that Kernels.h lacks do nothing.
EXPORT void fakeTakeAll(void) { takesAll = 1; }
/// Uses without a context, and objects that nobody gave back.
EXPORT int fakeFaults(void) { return faults; }
EXPORT int fakeLive(void) { return contexts + streams + blocks + modules; }
EXPORT int fakeDepth(void) { return depth; }

/// What the call answers.
static int enter(int needsContext, const char *call, const char *format, ...) {
  pthread_mutex_lock(&mutex);
  size_t size = strlen(journal);
  if (size + 256 < sizeof journal) {
    size += (size_t)snprintf(journal + size, 64, "%s", call);
    va_list arguments;
    va_start(arguments, format);
    size += (size_t)vsnprintf(journal + size, 128, format, arguments);
    va_end(arguments);
    snprintf(journal + size, 8, "\n");
  }
  int result = 0;
  if (failureCount > 0 && !strcmp(failing, call)) {
    --failureCount;
    result = failure;
  } else if (needsContext && depth == 0) {
    ++faults;
    result = 201;
  }
  pthread_mutex_unlock(&mutex);
  return result;
}

static void add(int *counter, int value) { __atomic_add_fetch(counter, value, __ATOMIC_SEQ_CST); }

EXPORT int cuInit(unsigned flags) { return 0; }

EXPORT int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
  *device = 40;
  return ordinal == 0 ? 0 : 101;
}

EXPORT int cuDeviceGetName(char *name, int length, int device) {
  snprintf(name, (size_t)length, "Fake H100");
  return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  static const int values[128] = {[1] = 1024, [2] = 1024, [3] = 1024,
                                  [4] = 64,   [75] = 9,   [97] = 232448};
  *value = values[attribute];
  return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  int result = enter(0, "cuDevicePrimaryCtxRetain", "");
  if (result == 0) {
    *context = &contexts;
    add(&contexts, 1);
  }
  return result;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  add(&contexts, -1);
  return enter(0, "cuDevicePrimaryCtxRelease", "");
}

EXPORT int cuCtxPushCurrent_v2(void *context) {
  int result = enter(0, "cuCtxPushCurrent", "");
  depth += result == 0;
  return result;
}

EXPORT int cuCtxPopCurrent_v2(void **context) {
  int result = enter(1, "cuCtxPopCurrent", "");
  --depth;
  return result;
}

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                              void **values) {
  int result = enter(1, "cuModuleLoadDataEx", "");
  if (result == 0) {
    *module = malloc(1);
    add(&modules, 1);
  } else if (count == 2 && options[0] == 5 && options[1] == 6) {
    snprintf(values[0], (size_t)values[1], "line 7: syntax error");
  }
  return result;
}

EXPORT int cuModuleUnload(void *module) {
  free(module);
  add(&modules, -1);
  return enter(1, "cuModuleUnload", "");
}

struct function {
  const char *name;
};
static const struct function axpy = {"axpy"}, scale = {"scale"}, nothing = {"nothing"};

EXPORT int cuModuleGetFunction(const void **function, void *module, const char *name) {
  *function = !strcmp(name, "axpy")    ? &axpy
              : !strcmp(name, "scale") ? &scale
              : takesAll               ? &nothing
                                       : NULL;
  int result = enter(1, "cuModuleGetFunction", " %s", name);
  return result == 0 && !*function ? 500 : result;
}

EXPORT int cuFuncSetAttribute(const struct function *function, int attribute, int value) {
  return enter(1, "cuFuncSetAttribute", " %s %d %d", function->name, attribute, value);
}

EXPORT int cuLaunchKernel(const struct function *function, unsigned gridX, unsigned gridY,
                          unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                          unsigned sharedBytes, void *stream, void **parameters, void **extra) {
  int result = enter(1, "cuLaunchKernel", " %s %u %u %u %u %u %u %u", function->name, gridX, gridY,
                     gridZ, blockX, blockY, blockZ, sharedBytes);
  if (result != 0 || function == &nothing)
    return result;
  const float *x = *(const float **)parameters[0];
  float *y = *(float **)parameters[1];
  long long n = function == &axpy ? *(int *)parameters[2] : *(long long *)parameters[2];
  float a = *(float *)parameters[3];
  for (long long i = 0; i < n; ++i)
    y[i] = a * x[i] + (function == &axpy ? y[i] : 0);
  return 0;
}

EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  int result = enter(1, "cuStreamCreate", " %u", flags);
  if (result == 0) {
    *stream = malloc(1);
    add(&streams, 1);
  }
  return result;
}

EXPORT int cuStreamDestroy_v2(void *stream) {
  free(stream);
  add(&streams, -1);
  return enter(1, "cuStreamDestroy", "");
}

EXPORT int cuStreamSynchronize(void *stream) { return enter(1, "cuStreamSynchronize", ""); }

EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  int result = enter(1, "cuMemAlloc", " %zu", bytes);
  if (result != 0)
    return result;
  void *memory = bytes < (size_t)1 << 40 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
  if (!memory)
    return 2;
  *address = (unsigned long long)(size_t)memory;
  add(&blocks, 1);
  return 0;
}

EXPORT int cuMemFree_v2(unsigned long long address) {
  free((void *)(size_t)address);
  add(&blocks, -1);
  return enter(1, "cuMemFree", "");
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                                void *stream) {
  int result = enter(1, "cuMemcpyHtoDAsync", " %zu", bytes);
  if (result == 0)
    memcpy((void *)(size_t)to, from, bytes);
  return result;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  int result = enter(1, "cuMemcpyDtoHAsync", " %zu", bytes);
  if (result == 0)
    memcpy(to, (void *)(size_t)from, bytes);
  return result;
}

EXPORT int cuGetErrorName(int error, const char **name) {
  *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
  return *name ? 0 : 1;
}

EXPORT int cuGetErrorString(int error, const char **text) {
  *text = error == 700 ? "an illegal memory access was encountered" : NULL;
  return *text ? 0 : 1;
}
