/* The least of a program for Linux: where it begins, how it prints, how it ends. */
#include "tests/export/support.h"

static long call(long number, long a, long b, long c) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
#elif defined(__riscv)
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
#endif
}

#if defined(__x86_64__)
enum { number_of_write = 1, number_of_exit = 60 };
__asm__(".global _start\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call start\n");
#else
enum { number_of_write = 64, number_of_exit = 93 };
#if defined(__riscv)
__asm__(".global _start\n_start: .option push\n.option norelax\n la gp, __global_pointer$\n.option "
        "pop\n call start\n");
#else
__asm__(".global _start\n_start: bl start\n");
#endif
#endif

void print(const char *text, size_t size) {
  while (size > 0) {
    const long written = call(number_of_write, 1, (long)text, (long)size);
    if (written <= 0)
      return;
    text += written;
    size -= (size_t)written;
  }
}

__attribute__((noreturn, used)) static void start_program(void) {
  const int status = main();
  for (;;)
    call(number_of_exit, status, 0, 0);
}

__attribute__((noreturn, used)) void start(void);
void start(void) { start_program(); }
