// WorkspaceCache: the workspace slabs of one module, lent to its calls.
//
// The memory plan gives every function of a module the size of its slab; the cache lends slabs of
// the largest of them, so that any call can use any slab and the module keeps no more slabs than
// the most calls that ran at once, up to a bound.
//
// Must not know the plan. Thread safety: any thread.
#pragma once

#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/Mutex.h"

#include <cstddef>
#include <memory>

namespace plim::runtime {

class WorkspaceCache {
public:
  /// Slabs of `slabBytes` bytes; 0 when nothing of the module is planned (policy `heap`). At most
  /// `maxKept` idle slabs are kept. Keeps `pool` alive.
  WorkspaceCache(std::shared_ptr<MemoryPool> pool, size_t slabBytes, size_t maxKept = 8);
  /// All slabs must have been given back.
  ~WorkspaceCache();
  WorkspaceCache(const WorkspaceCache &) = delete;
  WorkspaceCache &operator=(const WorkspaceCache &) = delete;

  size_t slabBytes() const { return bytes; }

  /// A slab with arbitrary contents, aligned to PLIM_BUFFER_ALIGNMENT; allocates only when no idle
  /// one is kept. Null without memory, and when slabBytes() is 0.
  void *take();
  /// Null is ignored.
  void giveBack(void *slab);

private:
  const std::shared_ptr<MemoryPool> pool;
  const size_t bytes;
  const size_t maxKept;
  Mutex mutex;
  BlockLink *free PLIM_GUARDED_BY(mutex) = nullptr;
  size_t kept PLIM_GUARDED_BY(mutex) = 0;
};

} // namespace plim::runtime
