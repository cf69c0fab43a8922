// A thread on a stack of a chosen size with a guard page below it, and how deep code really went.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLIM_MEASURES_STACKS 0
#else
#define PLIM_MEASURES_STACKS 1
#endif

namespace plim::testing {

class PaintedStack {
public:
  explicit PaintedStack(size_t bytes) : guard(static_cast<size_t>(getpagesize())), bytes(bytes) {
    void *memory = mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    base = static_cast<char *>(memory);
    EXPECT_EQ(mprotect(base, guard, PROT_NONE), 0);
  }
  ~PaintedStack() { munmap(base, guard + bytes); }
  PaintedStack(const PaintedStack &) = delete;
  PaintedStack &operator=(const PaintedStack &) = delete;

  /// Runs `job` on a thread on this stack to its end.
  void run(const std::function<void()> &job) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstack(&attributes, base + guard, bytes), 0);
    pthread_t thread;
    auto start = [](void *function) -> void * {
      (*static_cast<const std::function<void()> *>(function))();
      return nullptr;
    };
    ASSERT_EQ(
        pthread_create(&thread, &attributes, start, const_cast<std::function<void()> *>(&job)), 0);
    pthread_attr_destroy(&attributes);
    pthread_join(thread, nullptr);
  }

  /// Only inside of run(): the bytes of stack that `call` touches, its return address included.
  template <typename CallT> [[gnu::noinline]] size_t depthOf(CallT call) const {
    auto *top = reinterpret_cast<volatile uint64_t *>(stackPointer());
    auto *bottom = reinterpret_cast<volatile uint64_t *>(base + guard);
    for (volatile uint64_t *word = bottom; word < top; ++word)
      *word = paint;
    call();
    volatile uint64_t *word = bottom;
    while (word < top && *word == paint)
      ++word;
    return static_cast<size_t>(reinterpret_cast<volatile char *>(top) -
                               reinterpret_cast<volatile char *>(word));
  }

private:
  static constexpr uint64_t paint = 0x5ca1ab1e0ddba115;

  [[gnu::always_inline]] static uintptr_t stackPointer() {
    uintptr_t pointer;
#if defined(__x86_64__)
    asm volatile("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    asm volatile("mov %0, sp" : "=r"(pointer));
#else
#error "the stack pointer of this processor"
#endif
    return pointer;
  }

  const size_t guard, bytes;
  char *base;
};

} // namespace plim::testing
