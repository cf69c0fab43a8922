// Replaces malloc and its kin by ones that count. Included by the one source of a program that is a
// test of its own. Under a sanitizer, which owns malloc, nothing counts.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLIM_COUNTS_ALLOCATIONS 0
#else
#define PLIM_COUNTS_ALLOCATIONS 1
#endif

static std::atomic<int64_t> allocationCount{0};
static std::atomic<int64_t> releaseCount{0}; // of what was allocated

#if PLIM_COUNTS_ALLOCATIONS
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

__attribute__((visibility("default"))) void *malloc(size_t bytes) {
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes) {
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes) {
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  if (memory)
    releaseCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t bytes) {
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) void free(void *memory) {
  if (memory)
    releaseCount.fetch_add(1, std::memory_order_relaxed);
  __libc_free(memory);
}
__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int posix_memalign(void **out, size_t alignment,
                                                          size_t bytes) {
  *out = memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
}
#endif
