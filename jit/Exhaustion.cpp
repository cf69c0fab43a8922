#include "jit/Exhaustion.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <new>
#include <pthread.h>
#include <system_error>
#include <unwind.h>
#include <utility>

namespace plim::jit {

namespace {

/// Of the innermost catchExhaustion() of the thread; null outside of all.
thread_local std::jmp_buf *wayOut = nullptr;

_Unwind_Reason_Code isCatch(_Unwind_Context *context, void *found) {
  if (_Unwind_GetRegionStart(context) != reinterpret_cast<_Unwind_Ptr>(&catchExhaustion))
    return _URC_NO_REASON;
  *static_cast<bool *>(found) = true;
  return _URC_END_OF_STACK;
}

/// Leaves the job of the innermost catchExhaustion(), by an exception, so that our own frames
/// release what they own. But some functions put arguments of calls on the stack, and as upstream's
/// libraries are compiled their unwind tables do not say so. An unwinder sees nothing beyond such a
/// frame, and an exception would end the process. These frames are jumped over, and all between
/// with them.
[[noreturn]] void leave() {
  bool canUnwind = false;
  _Unwind_Backtrace(isCatch, &canUnwind);
  if (canUnwind)
    throw std::bad_alloc();
  std::longjmp(*wayOut, 1);
}

void outOfMemoryOfLLVM(void *, const char *reason, bool) {
  if (wayOut)
    leave();
  std::fprintf(stderr, "LLVM ERROR: out of memory: %s\n", reason);
  std::abort();
}

/// That of the process before ours.
std::new_handler newHandler = nullptr;

/// What operator new does without a handler, but for threads with a way out.
void outOfMemoryOfNew() {
  if (wayOut)
    leave();
  if (!newHandler)
    throw std::bad_alloc();
  newHandler();
}

void *orLeave(void *memory) {
  if (!memory && wayOut)
    leave();
  return memory;
}

/// glibc opens the unwinder when its own frames, as that of pthread_once(), are first unwound, and
/// ends the process if it has no memory for that. So it is made to before; false if it cannot.
bool canUnwindGlibc() {
  static std::atomic<bool> isOpen = false;
  void *frame = nullptr;
  if (!isOpen && ::backtrace(&frame, 1) == 1)
    isOpen = true;
  return isOpen;
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

// MLIR does not check whether malloc() gave it memory for the interfaces of operations, nor
// calloc(), which its compiler makes of a malloc() and a memset(). Libraries with MLIR inside are
// linked with --wrap for the two, so that MLIR asks here. In other libraries nobody asks here, and
// there is nothing behind the __real ones.
extern "C" {
[[gnu::weak]] void *__real_malloc(size_t bytes);
[[gnu::weak]] void *__real_calloc(size_t count, size_t bytes);

void *__wrap_malloc(size_t bytes) { return orLeave(__real_malloc(bytes)); }
void *__wrap_calloc(size_t count, size_t bytes) { return orLeave(__real_calloc(count, bytes)); }
}

Status outOfMemory(std::string_view what) {
  return resourceExhaustedError("out of memory: " + std::string(what));
}

[[gnu::noinline]] Status catchExhaustion(const Status &exhausted,
                                         llvm::function_ref<Status()> job) {
  [[maybe_unused]] static const bool isInstalled =
      (llvm::install_bad_alloc_error_handler(outOfMemoryOfLLVM),
       newHandler = std::set_new_handler(outOfMemoryOfNew), true);
  if (!canUnwindGlibc())
    return exhausted;
  std::jmp_buf here;
  std::jmp_buf *const before = std::exchange(wayOut, &here);
  if (setjmp(here) != 0) {
    wayOut = before;
    return exhausted;
  }
  try {
    Status status = job();
    wayOut = before;
    return status;
  } catch (const std::bad_alloc &) {
    wayOut = before;
    return exhausted;
  }
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
