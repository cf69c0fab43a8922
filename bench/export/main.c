/* Counts the instructions of each kernel, ours and those in plain C, and compares what they compute. The emulator's clock goes by
 * instructions (-icount shift=0: one each nanosecond), and SysTick by that clock. */
#include "bench/export/plain.h"
#include "examples/microcontroller/board.h"
#include "examples/microcontroller/memory.h"
#include "kernels.h"

/* SysTick of Arm's M profile: counts down, 31 or 40 nanoseconds a tick, by the board. */
static volatile uint32_t *const systick = (volatile uint32_t *)0xe000e010;

static uint32_t now(void) { return systick[2]; }

enum { repeats = 100 };

static _Alignas(64) uint8_t a[4096], b[4096], ours[8192], theirs[8192];
#ifdef KERNELS_WORKSPACE_BYTES
static _Alignas(64) uint8_t workspace[KERNELS_WORKSPACE_BYTES];
static const struct kernels_workspaces workspaces = {workspace};
#endif

#define MEASURE(name, call, plain, bytes)                                                          \
  do {                                                                                             \
    memset(ours, 1, sizeof ours);                                                                  \
    memset(theirs, 2, sizeof theirs);                                                              \
    const uint32_t t0 = now();                                                                     \
    for (int i = 0; i < repeats; ++i)                                                              \
      (void)call;                                                                                  \
    const uint32_t t1 = now();                                                                     \
    for (int i = 0; i < repeats; ++i)                                                              \
      plain;                                                                                       \
    const uint32_t t2 = now();                                                                     \
    int wrong = 0;                                                                                 \
    for (int i = 0; i < (bytes); ++i)                                                              \
      wrong += ours[i] != theirs[i];                                                               \
    say(name);                                                                                     \
    say(" ");                                                                                      \
    say_number((t0 - t1) & 0xffffff);                                                              \
    say(" ");                                                                                      \
    say_number((t1 - t2) & 0xffffff);                                                              \
    say(wrong ? " different\n" : " equal\n");                                                      \
  } while (0)

#include "calls.h"

int main(void) {
  for (int i = 0; i < 4096; ++i) {
    a[i] = (uint8_t)((i * 37) % 256);
    b[i] = (uint8_t)((i * 11) % 128);
  }
  systick[1] = 0xffffff;
  systick[2] = 0;
  systick[0] = 5;
  measure_integers();
  for (int i = 0; i < 1024; ++i) {
    ((float *)(void *)a)[i] = (float)(i % 7);
    ((float *)(void *)b)[i] = (float)(i % 5);
  }
  measure_floats();
  return 0;
}
