// Mutex and LockGuard: a lock for sections of a few instructions, with the annotations that
// -Wthread-safety reads.
//
// It spins, then yields, then sleeps a little at a time. A small call takes half a dozen uncontended
// locks; giving one of these back is a plain store, where std::mutex has a second locked instruction
// and a call. Nothing that blocks or takes memory from the system may happen under it.
//
// Everything in engine/runtime that several threads share names its lock with PLIM_GUARDED_BY, and
// the compiler checks that the lock is held. This header must know nothing else of the project.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#if defined(__clang__)
#define PLIM_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PLIM_THREAD_ANNOTATION(x)
#endif
#define PLIM_GUARDED_BY(mutex) PLIM_THREAD_ANNOTATION(guarded_by(mutex))
#define PLIM_REQUIRES(mutex) PLIM_THREAD_ANNOTATION(requires_capability(mutex))

namespace plim::runtime {

class PLIM_THREAD_ANNOTATION(capability("mutex")) Mutex {
public:
  /// Returns whether another thread held it.
  bool lock() PLIM_THREAD_ANNOTATION(acquire_capability()) {
    int turns = 0;
    while (isHeld.exchange(true, std::memory_order_acquire)) {
      ++turns;
      while (isHeld.load(std::memory_order_relaxed))
        if (++turns > 1000) // the holder may have a lower priority than this thread
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        else if (turns > 100)
          std::this_thread::yield();
    }
    return turns != 0;
  }
  void unlock() PLIM_THREAD_ANNOTATION(release_capability()) {
    isHeld.store(false, std::memory_order_release);
  }

private:
  std::atomic<bool> isHeld{false};
};

/// Holds a mutex for a scope.
class PLIM_THREAD_ANNOTATION(scoped_lockable) LockGuard {
public:
  explicit LockGuard(Mutex &mutex) PLIM_THREAD_ANNOTATION(acquire_capability(mutex))
      : held(mutex), waited(held.lock()) {}
  ~LockGuard() PLIM_THREAD_ANNOTATION(release_capability()) { held.unlock(); }
  LockGuard(const LockGuard &) = delete;
  LockGuard &operator=(const LockGuard &) = delete;

  /// Did another thread hold it?
  bool hadToWait() const { return waited; }

private:
  Mutex &held;
  const bool waited;
};

} // namespace plim::runtime
