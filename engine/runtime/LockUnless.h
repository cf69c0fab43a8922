// A wait for a lock that can be given up: calls that exclude each other can be stopped while they
// wait.
//
// A wait looks every millisecond. One that a stop wakes would cost every call that waits for
// nothing, too.
#pragma once

#include <chrono>
#include <mutex>

namespace plim::runtime {

/// Locks, and returns true, unless `isStopped()` holds before the lock can be had; then false, and
/// nothing is locked. Blocks until either. `lock` holds nothing yet. Allocates nothing.
template <typename IsStoppedT>
bool lockUnless(std::unique_lock<std::timed_mutex> &lock, IsStoppedT isStopped) {
  if (lock.try_lock()) // which reads no clock
    return true;
  while (!lock.try_lock_for(std::chrono::milliseconds(1)))
    if (isStopped())
      return false;
  return true;
}

} // namespace plim::runtime
