#include "examples/microcontroller/memory.h"

#include <stdint.h>

/* volatile: or the compiler would make calls of these functions of their own loops. */
void *memset(void *to, int value, size_t bytes) {
  volatile uint8_t *out = to;
  for (size_t i = 0; i < bytes; ++i)
    out[i] = (uint8_t)value;
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  volatile uint8_t *out = to;
  const uint8_t *in = from;
  if (out <= in)
    for (size_t i = 0; i < bytes; ++i)
      out[i] = in[i];
  else
    for (size_t i = bytes; i-- > 0;)
      out[i] = in[i];
  return to;
}

void *memcpy(void *to, const void *from, size_t bytes) { return memmove(to, from, bytes); }

#ifdef __arm__
/* The names that Arm's ABI has for them. */
void __aeabi_memcpy(void *to, const void *from, size_t bytes) { memmove(to, from, bytes); }
void __aeabi_memcpy4(void *to, const void *from, size_t bytes) { memmove(to, from, bytes); }
void __aeabi_memcpy8(void *to, const void *from, size_t bytes) { memmove(to, from, bytes); }
void __aeabi_memmove(void *to, const void *from, size_t bytes) { memmove(to, from, bytes); }
void __aeabi_memset(void *to, size_t bytes, int value) { memset(to, value, bytes); }
void __aeabi_memset4(void *to, size_t bytes, int value) { memset(to, value, bytes); }
void __aeabi_memset8(void *to, size_t bytes, int value) { memset(to, value, bytes); }
void __aeabi_memclr(void *to, size_t bytes) { memset(to, 0, bytes); }
void __aeabi_memclr4(void *to, size_t bytes) { memset(to, 0, bytes); }
void __aeabi_memclr8(void *to, size_t bytes) { memset(to, 0, bytes); }
#endif
