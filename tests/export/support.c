/* main(): the one call of a case, on a painted stack, with what it may write between guards.
 * What comes of it is printed as text: status, bytes of stack used, result. */
#include "tests/export/support.h"

#include "examples/microcontroller/memory.h"

/* Of the compiler's runtime, where processors have no such instruction. */
__bf16 __truncsfbf2(float value);
__bf16 __truncsfbf2(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t rounded = (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  __bf16 result;
  memcpy(&result, &rounded, sizeof result);
  return result;
}

void print_text(const char *text) {
  size_t size = 0;
  while (text[size] != 0)
    ++size;
  print(text, size);
}

void print_number(size_t number) {
  char digits[24];
  size_t at = sizeof digits;
  do
    digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  print(digits + at, sizeof digits - at);
}

void print_bytes(const uint8_t *bytes, size_t count) {
  static char line[512];
  while (count > 0) {
    size_t used = 0;
    for (; count > 0 && used < sizeof line; --count, ++bytes) {
      line[used++] = "0123456789abcdef"[*bytes >> 4];
      line[used++] = "0123456789abcdef"[*bytes & 15];
    }
    print(line, used);
  }
}

enum { painted = 48 << 10, clear = 256, paint = 0xa5 };

/* Where the stack is, about. */
static __attribute__((noinline)) uint8_t *stack_pointer(void) {
  return (uint8_t *)__builtin_frame_address(0);
}

int main(void) {
  uint8_t *const top = stack_pointer();
  /* Below what this function and those that paint have of it. */
  for (volatile uint8_t *at = top - painted; at < top - clear; ++at)
    *at = paint;
  const int status = run_case();
  const volatile uint8_t *lowest = top - painted;
  while (lowest < top - clear && *lowest == paint)
    ++lowest;
  print_text("status ");
  print_number((size_t)status);
  print_text("\nstack ");
  print_number((size_t)(top - lowest));
  print_text("\n");
  print_results();
  return 0;
}
