// FramePool: what a launch needs for itself, kept for the next one.
//
//   PLIM_ASSIGN_OR_RETURN(FramePool<Frame>::Lease frame, pool.take([&] { return makeFrame(); }));
//   ... the launch ...                                  // the lease gives the frame back
//
// There are as many frames as there were launches at once; one that comes back is the next to go.
// Must not know what a frame is. Standard library and Status only. Threads: any, for all methods;
// the pool outlives its leases, and no method waits for a launch.
#pragma once

#include "support/Status.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace plim::devices::internal {

/// Frames of any kind, as a device sees them that runs out of memory.
class IdleFrames {
public:
  virtual ~IdleFrames() = default;
  /// Destroys the frames that nobody has.
  virtual void drop() = 0;
};

/// Frames of type T, which are destroyed by drop(), or with the pool.
template <typename T> class FramePool final : public IdleFrames {
public:
  /// Gives its frame back.
  struct GiveBack {
    FramePool *pool = nullptr;
    void operator()(T *frame) const { pool->giveBack(frame); }
  };
  using Lease = std::unique_ptr<T, GiveBack>;

  /// An idle frame, or else what `make` returns, a StatusOr<std::unique_ptr<T>>, with its error.
  /// `make` is called without the pool's mutex.
  template <typename MakeT> StatusOr<Lease> take(MakeT make) {
    if (T *frame = takeIdle())
      return Lease(frame, {this});
    PLIM_ASSIGN_OR_RETURN(std::unique_ptr<T> made, make());
    std::lock_guard lock(mutex);
    idle.reserve(idle.size() + leased + 1); // giveBack() needs no memory
    ++leased;
    return Lease(made.release(), {this});
  }

  void drop() override {
    std::vector<std::unique_ptr<T>> dropped;
    std::lock_guard lock(mutex);
    dropped.reserve(idle.size() + leased);
    dropped.swap(idle);
  }

private:
  T *takeIdle() {
    std::lock_guard lock(mutex);
    if (idle.empty())
      return nullptr;
    T *frame = idle.back().release();
    idle.pop_back();
    ++leased;
    return frame;
  }
  void giveBack(T *frame) {
    std::lock_guard lock(mutex);
    idle.emplace_back(frame);
    --leased;
  }

  std::mutex mutex;
  std::vector<std::unique_ptr<T>> idle;
  size_t leased = 0;
};

/// The pools of a device's programs, borrowed: each program adds its pool and removes it before
/// that goes.
class FramePools {
public:
  void add(IdleFrames *pool) {
    std::lock_guard lock(mutex);
    pools.push_back(pool);
  }
  void remove(IdleFrames *pool) {
    std::lock_guard lock(mutex);
    std::erase(pools, pool);
  }
  void drop() {
    std::lock_guard lock(mutex);
    for (IdleFrames *pool : pools)
      pool->drop();
  }

private:
  std::mutex mutex;
  std::vector<IdleFrames *> pools;
};

} // namespace plim::devices::internal
