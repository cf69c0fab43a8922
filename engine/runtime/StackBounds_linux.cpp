#include "engine/runtime/StackBounds.h"

#include <algorithm>
#include <elf.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace plim::runtime {
namespace {

// For a signal handler beside the registers that the kernel saves for it, and for our own frames:
// 2.5 KiB from the question to generated code.
constexpr uintptr_t handlerBytes = 12 << 10;

// Of an unlimited main stack, or one whose limit was raised after the start: other mappings keep
// at least 128 MiB away from it.
constexpr uintptr_t maxMainBytes = 64 << 20;

uintptr_t marginBytes() {
  // Registers: 1 KiB to 11 KiB, by processor. Old kernels do not say.
  return handlerBytes + std::max<uintptr_t>(getauxval(AT_MINSIGSTKSZ), 4 << 10);
}

} // namespace

thread_local constinit StackBounds StackBounds::ofThread;

void StackBounds::read() {
  known = true;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void *lowest = nullptr;
  size_t bytes = 0;
  bool told = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!told)
    return;
  // The C library leaves the guard out, and takes the main thread's from its resource limit and
  // the next mapping below.
  low = reinterpret_cast<uintptr_t>(lowest);
  high = low + bytes;
  if (gettid() == getpid())
    low = std::max(low, high - std::min(high, maxMainBytes));
  end = low;
  low += std::min(marginBytes(), high - low);
}

} // namespace plim::runtime
