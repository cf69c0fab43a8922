// CallThreads: threads with large stacks, for calls whose own thread has too little left.
//
// A thread is started at the first call that needs one and kept for later ones; there are never more
// than calls that needed one at once, so a job that needs another never waits for it. A caller hands
// its job over and sleeps until it is done. Threads take no signals.
//
//   idle list --take--> caller: posted --> thread: runs --> done --> caller: back to the idle list
//
// In a forked child, where the threads are gone, each job gets a thread that ends with it.
//
// Thread safety: run() from any thread at once; none may be running at the end.
#pragma once

#include "engine/runtime/Mutex.h"
#include "support/Status.h"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace plim::runtime {

class CallThreads {
public:
  /// No job may need more stack.
  static constexpr int64_t maxStackBytes = int64_t(1) << 30;

  CallThreads();
  ~CallThreads();
  CallThreads(const CallThreads &) = delete;
  CallThreads &operator=(const CallThreads &) = delete;

  /// Runs job() on a thread where StackBounds::left() is at least `stackBytes`, and waits for its
  /// end. It must not throw. ResourceExhausted, with the numbers, and nothing ran, if there is no
  /// such thread and none can be started. Allocates only when it starts one.
  template <typename JobT> Status run(int64_t stackBytes, JobT &job) {
    return runErased(stackBytes, [](void *erased) { (*static_cast<JobT *>(erased))(); }, &job);
  }

private:
  struct Thread;
  using Function = void (*)(void *);

  Status runErased(int64_t stackBytes, Function function, void *argument);
  StatusOr<Thread *> start(int64_t stackBytes);
  static void stop(Thread *thread);
  static void *main(void *thread);

  Mutex mutex;
  Thread *idle PLIM_GUARDED_BY(mutex) = nullptr; // a list
  const pid_t process;
};

} // namespace plim::runtime
