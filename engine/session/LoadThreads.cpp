#include "engine/session/LoadThreads.h"

#include "jit/Patience.h"
#include "support/Profiler.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace plim {

namespace {

/// For importers and the linker; the compiler has a stack of its own. Only what is touched takes
/// memory.
constexpr size_t stackBytes = 8 << 20;

/// Of which engine this thread is; null: of none.
thread_local const void *current = nullptr;

} // namespace

struct LoadThreads::Shared {
  std::mutex mutex;
  std::condition_variable_any changed;
  size_t threads = 0; // that have not ended
  size_t turns = 0;   // that may still be taken
};

/// What a thread begins with.
struct LoadThreads::Start {
  runtime::TaskRef<runtime::Task> task;
  std::shared_ptr<Shared> shared;
};

LoadThreads::LoadThreads(size_t atOnce) : process(getpid()), shared(std::make_shared<Shared>()) {
  shared->turns = atOnce;
}

LoadThreads::~LoadThreads() {
  if (process != getpid())
    return;
  const size_t own = current == shared.get() ? 1 : 0;
  std::unique_lock lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->threads == own; });
}

Status LoadThreads::start(runtime::TaskRef<runtime::Task> task) {
  if (process != getpid())
    return failedPreconditionError("a load that runs by itself cannot begin in an engine of the "
                                   "parent of a forked process");
  auto start = std::make_unique<Start>(std::move(task), shared);
  {
    std::lock_guard lock(shared->mutex);
    ++shared->threads;
  }
  Start *const given = start.release(); // to the thread, if there will be one
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, stackBytes);
    if (error == 0)
      error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The host's handlers expect the host's threads; faults stay where they happen.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
      sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread;
    if (error == 0)
      error = pthread_create(&thread, &attributes, main, given);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }
  if (error == 0)
    return okStatus();
  start.reset(given);
  std::lock_guard lock(shared->mutex);
  --shared->threads;
  return resourceExhaustedError("no thread to load on: " + std::generic_category().message(error));
}

void *LoadThreads::main(void *argument) {
  std::unique_ptr<Start> start(static_cast<Start *>(argument));
  const std::shared_ptr<Shared> shared = std::move(start->shared);
  current = shared.get();
  Profiler::nameThread("load");
  if (start->task->take())
    start->task->run();
  start.reset(); // which may be the last that the engine was kept by
  std::lock_guard lock(shared->mutex);
  --shared->threads;
  shared->changed.notify_all();
  return nullptr;
}

LoadThreads::Turn::~Turn() {
  if (!shared)
    return;
  std::lock_guard lock(shared->mutex);
  ++shared->turns;
  shared->changed.notify_all();
}

StatusOr<LoadThreads::Turn> LoadThreads::takeTurn(const std::stop_token &stop,
                                                  Clock::time_point begin,
                                                  std::chrono::nanoseconds timeout) {
  const jit::Patience patience(stop, timeout, begin);
  // The longest that any clock can wait from now on.
  const auto most = std::min<std::chrono::nanoseconds>(patience.left(), std::chrono::years(1));
  std::unique_lock lock(shared->mutex);
  if (!shared->changed.wait_for(lock, stop, most, [&] { return shared->turns != 0; }))
    return stop.stop_requested() || !patience.isOver() ? cancelledError("the load was stopped")
                                                       : patience.status();
  --shared->turns;
  return Turn(shared);
}

} // namespace plim
