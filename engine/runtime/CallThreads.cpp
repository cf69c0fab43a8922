#include "engine/runtime/CallThreads.h"

#include "engine/runtime/StackBounds.h"
#include "support/Profiler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace plim::runtime {
namespace {

// Like a worker of oneTBB. Only what is touched takes memory, so one size serves nearly all calls.
constexpr int64_t usualStackBytes = 4 << 20;
// The C library's own data at the top of a stack, the guard page, the margin of StackBounds.
constexpr int64_t extraBytes = 256 << 10;

Status noThread(int64_t stackBytes, const std::string &why) {
  return resourceExhaustedError("the call needs " + std::to_string(stackBytes) +
                                " bytes of stack, its thread has " +
                                std::to_string(StackBounds::left()) + " left, and " + why);
}

} // namespace

/// Its caller and its thread take turns: each waits for a state that the other one sets.
struct CallThreads::Thread {
  enum State : uint32_t { Idle, Posted, Done, Stopped };

  pthread_t handle;
  std::atomic<uint32_t> state{Idle};
  Thread *next = nullptr;
  size_t capacity = 0; // what StackBounds said there

  // The job, and whether it ran.
  Function function = nullptr;
  void *argument = nullptr;
  size_t stackBytes = 0;
  bool ran = false;

  void set(State value) {
    // Released to the other side: the job, or what it left behind.
    state.store(value, std::memory_order_release);
    state.notify_all();
  }
};

CallThreads::CallThreads() : process(getpid()) {}

CallThreads::~CallThreads() {
  // In a forked child only the memory is left of them.
  if (process != getpid())
    return;
  while (idle) {
    Thread *thread = std::exchange(idle, idle->next);
    stop(thread);
  }
}

Status CallThreads::runErased(int64_t stackBytes, Function function, void *argument) {
  auto needed = static_cast<size_t>(stackBytes);
  bool isChild = process != getpid();
  Thread *thread = nullptr;
  if (!isChild) {
    LockGuard lock(mutex);
    for (Thread **link = &idle; *link; link = &(*link)->next)
      if ((*link)->capacity >= needed) {
        thread = std::exchange(*link, (*link)->next);
        break;
      }
  }
  if (!thread) {
    PLIM_ASSIGN_OR_RETURN(thread, start(stackBytes));
  }
  thread->function = function;
  thread->argument = argument;
  thread->stackBytes = needed;
  thread->set(Thread::Posted);
  thread->state.wait(Thread::Posted, std::memory_order_acquire);
  bool ran = thread->ran;
  if (isChild || !ran) {
    stop(thread);
  } else {
    LockGuard lock(mutex);
    thread->next = std::exchange(idle, thread);
  }
  return ran ? okStatus() : noThread(stackBytes, "a thread started for it has less too");
}

StatusOr<CallThreads::Thread *> CallThreads::start(int64_t stackBytes) {
  if (stackBytes > maxStackBytes)
    return noThread(stackBytes,
                    "no thread is started with more than " + std::to_string(maxStackBytes));
  auto page = static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  int64_t size = std::max(stackBytes + extraBytes, usualStackBytes);
  size = (size + page - 1) / page * page;
  auto *thread = new (std::nothrow) Thread();
  if (!thread)
    return noThread(stackBytes, "there is no memory for a thread");
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, static_cast<size_t>(size));
    // The host's handlers expect the host's threads; faults stay where they happen.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
      sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    if (error == 0)
      error = pthread_create(&thread->handle, &attributes, &CallThreads::main, thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) {
    delete thread;
    return noThread(stackBytes,
                    "no thread with more can be started: " + std::string(std::strerror(error)));
  }
  return thread;
}

void CallThreads::stop(Thread *thread) {
  thread->set(Thread::Stopped);
  pthread_join(thread->handle, nullptr);
  delete thread;
}

void *CallThreads::main(void *argument) {
  auto *self = static_cast<Thread *>(argument);
  Profiler::nameThread("call thread");
  for (;;) {
    uint32_t state = self->state.load(std::memory_order_acquire);
    if (state == Thread::Stopped)
      return nullptr;
    if (state != Thread::Posted) {
      self->state.wait(state, std::memory_order_acquire);
      continue;
    }
    // Thread-local data of the program, however much it is, lies on the stack too.
    self->capacity = StackBounds::left();
    self->ran = self->capacity >= self->stackBytes;
    if (self->ran)
      self->function(self->argument);
    self->set(Thread::Done);
  }
}

} // namespace plim::runtime
