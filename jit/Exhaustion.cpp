#include "jit/Exhaustion.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <system_error>
#include <utility>

namespace plim::jit {

namespace {

thread_local bool isCaught = false;

void outOfMemoryOfLLVM(void *, const char *reason, bool) {
  if (isCaught)
    throw std::bad_alloc();
  std::fprintf(stderr, "LLVM ERROR: out of memory: %s\n", reason);
  std::abort();
}

void *orThrow(void *memory) {
  if (!memory && isCaught)
    throw std::bad_alloc();
  return memory;
}

struct Start {
  const Status &exhausted;
  llvm::function_ref<Status()> job;
  Status status;
};

void *run(void *argument) {
  auto *start = static_cast<Start *>(argument);
  start->status = catchExhaustion(start->exhausted, start->job);
  return nullptr;
}

} // namespace

// MLIR does not look at what malloc() gives it for the interfaces of operations, nor at what calloc() gives where its
// compiler has made one of both calls. Libraries with MLIR inside are linked with --wrap for the two, so that it asks here;
// elsewhere nobody does, and there is nothing behind the __real ones.
extern "C" {
[[gnu::weak]] void *__real_malloc(size_t bytes);
[[gnu::weak]] void *__real_calloc(size_t count, size_t bytes);

void *__wrap_malloc(size_t bytes) { return orThrow(__real_malloc(bytes)); }
void *__wrap_calloc(size_t count, size_t bytes) { return orThrow(__real_calloc(count, bytes)); }
}

Status outOfMemory(std::string_view what) {
  return resourceExhaustedError("out of memory: " + std::string(what));
}

Status catchExhaustion(const Status &exhausted, llvm::function_ref<Status()> job) {
  [[maybe_unused]] static const bool isInstalled =
      (llvm::install_bad_alloc_error_handler(outOfMemoryOfLLVM), true);
  const bool before = std::exchange(isCaught, true);
  Status status;
  try {
    status = job();
  } catch (const std::bad_alloc &) {
    status = exhausted;
  }
  isCaught = before;
  return status;
}

Status runOnThread(size_t stackBytes, const Status &exhausted, llvm::function_ref<Status()> job) {
  Start start{exhausted, job, okStatus()};
  pthread_attr_t attributes;
  int error = ::pthread_attr_init(&attributes);
  if (error != 0)
    return exhausted;
  error = ::pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_t thread;
  if (error == 0)
    error = ::pthread_create(&thread, &attributes, run, &start);
  ::pthread_attr_destroy(&attributes);
  if (error != 0)
    return resourceExhaustedError("no thread to run on: " + std::generic_category().message(error));
  ::pthread_join(thread, nullptr);
  return std::move(start.status);
}

} // namespace plim::jit
