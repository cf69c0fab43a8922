#include "tests/capi/FailingMemory.h"

#include <cerrno>
#include <cstddef>
#include <dlfcn.h>
#include <pthread.h>

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // which own malloc

namespace {

using namespace failing;

bool fails() {
  if (left.load(std::memory_order_relaxed) == LONG_MAX)
    return false;
  if (left.fetch_sub(1) > 0)
    return false;
  ++failed;
  left = isAlone ? LONG_MAX : 0;
  return true;
}

bool allocationFails() {
  return (kind == Kind::Everywhere || (kind == Kind::Here && isHere)) && fails();
}

} // namespace

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

__attribute__((visibility("default"))) void *malloc(size_t bytes) {
  if (!allocationFails())
    return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes) {
  if (!allocationFails())
    return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes) {
  if (!allocationFails())
    return __libc_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t bytes) {
  if (!allocationFails())
    return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int posix_memalign(void **out, size_t alignment,
                                                          size_t bytes) {
  *out = memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*start)(void *), void *argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return kind == Kind::Threads && fails() ? EAGAIN : real(thread, attributes, start, argument);
}
}

#endif
