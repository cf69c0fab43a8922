/* The least of a program for a Cortex-M board under an emulator: vectors, memory as C expects it, and semihosting of Arm. */
#include "examples/microcontroller/board.h"
#include "examples/microcontroller/memory.h"

#include <stdint.h>

extern uint8_t stack_top[];
extern uint8_t data_begin[], data_end[], data_image[], bss_begin[], bss_end[];

enum { sys_write0 = 0x04, sys_exit_extended = 0x20, application_exit = 0x20026 };

static int semihosting(int operation, const void *argument) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void print(const char *text, size_t size) {
  static char line[600];
  while (size > 0) {
    const size_t part = size < sizeof line - 1 ? size : sizeof line - 1;
    memcpy(line, text, part);
    line[part] = 0;
    semihosting(sys_write0, line);
    text += part;
    size -= part;
  }
}

void say(const char *text) {
  size_t size = 0;
  while (text[size] != 0)
    ++size;
  print(text, size);
}

void say_number(int32_t number) {
  char digits[12];
  size_t at = sizeof digits;
  uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
  do
    digits[--at] = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (number < 0)
    digits[--at] = '-';
  print(digits + at, sizeof digits - at);
}

static __attribute__((noreturn)) void end(int status) {
  const uint32_t how[2] = {application_exit, (uint32_t)status};
  for (;;)
    semihosting(sys_exit_extended, how);
}

static void fault(void) {
  print("fault\n", 6);
  end(1);
}

void reset(void);
void reset(void) {
  /* Floating point and vectors. */
  *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20;
  __asm__ volatile("dsb\n isb");
  memcpy(data_begin, data_image, (size_t)(data_end - data_begin));
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  end(main());
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) static const handler vectors[] = {(handler)stack_top,
                                                                             reset,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault,
                                                                             fault};
