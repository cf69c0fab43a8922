// A CUDA driver for the tests: two devices, one of which an old driver half knows. What it does is
// chosen when it is compiled: FAKE_INIT is the answer of cuInit, FAKE_COUNT the number of devices,
// FAKE_NAME_RESULT the answer of cuDeviceGetName, and FAKE_INCOMPLETE leaves a symbol out.
#include <stddef.h>
#include <string.h>

#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif
#ifndef FAKE_COUNT
#define FAKE_COUNT 2
#endif
#ifndef FAKE_NAME_RESULT
#define FAKE_NAME_RESULT 0
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags) { return FAKE_INIT; }

EXPORT int cuDriverGetVersion(int *version) {
  *version = 12080;
  return 0;
}

EXPORT int cuDeviceGetCount(int *count) {
  *count = FAKE_COUNT;
  return 0;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal + 40;
  return ordinal < FAKE_COUNT ? 0 : 101;
}

EXPORT int cuDeviceGetName(char *name, int length, int device) {
  strncpy(name, device == 40 ? "Fake H100" : "Fake Old", (size_t)length);
  return FAKE_NAME_RESULT;
}

#ifndef FAKE_INCOMPLETE
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = device == 40 ? (size_t)80 << 30 : (size_t)8 << 30;
  return 0;
}
#endif

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  static const int modern[128] = {
      [1] = 1024,     [8] = 49152, [10] = 32,       [13] = 1980000, [16] = 132, [19] = 1,
      [36] = 2619000, [37] = 5120, [38] = 52428800, [39] = 2048,    [41] = 1,   [75] = 9,
      [76] = 0,       [88] = 1,    [89] = 1,        [97] = 232448,
  };
  static const int old[128] = {[1] = 512, [8] = 16384, [10] = 32, [13] = 1000000,
                               [16] = 4,  [75] = 5,    [76] = 2};
  if (attribute < 0 || attribute >= 128)
    return 1;
  *value = (device == 40 ? modern : old)[attribute];
  return device != 40 && attribute == 97 ? 1 : 0;
}

EXPORT int cuGetErrorString(int error, const char **text) {
  *text = error == 999 ? "unknown error" : NULL;
  return *text ? 0 : 1;
}
