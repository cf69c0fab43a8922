// Mutex and LockGuard: std::mutex with the annotations that -Wthread-safety reads.
//
// Everything in engine/runtime that several threads share names its lock with PLIM_GUARDED_BY, and
// the compiler checks that the lock is held. This header must know nothing else of the project.
#pragma once

#include <mutex>

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
  void lock() PLIM_THREAD_ANNOTATION(acquire_capability()) { inner.lock(); }
  void unlock() PLIM_THREAD_ANNOTATION(release_capability()) { inner.unlock(); }

private:
  std::mutex inner;
};

/// Holds a mutex for a scope.
class PLIM_THREAD_ANNOTATION(scoped_lockable) LockGuard {
public:
  explicit LockGuard(Mutex &mutex) PLIM_THREAD_ANNOTATION(acquire_capability(mutex)) : held(mutex) {
    held.lock();
  }
  ~LockGuard() PLIM_THREAD_ANNOTATION(release_capability()) { held.unlock(); }
  LockGuard(const LockGuard &) = delete;
  LockGuard &operator=(const LockGuard &) = delete;

private:
  Mutex &held;
};

} // namespace plim::runtime
