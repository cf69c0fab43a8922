// ScratchArena: bump allocation for the in-kernel buffers of one running range, and the cache that
// lends arenas to ranges.
//
// An arena is a chain of chunks from the engine's pool. Chunks are kept when it is reset, so a
// range that runs again finds its memory ready. An arena is lent to one range at a time, hence a
// range that starts another on the same thread (a nested call) never disturbs the outer one.
//
// Must not know calls or the scheduler. Thread safety: an arena belongs to one thread at a time;
// the cache may be used from any thread.
#pragma once

#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/Mutex.h"

#include <cstddef>

namespace plim::runtime {

class ScratchArena {
public:
  /// A position to return to.
  struct Mark {
    BlockLink *chunk = nullptr;
    size_t used = 0;
  };

  /// `pool` is borrowed and must outlive the arena.
  explicit ScratchArena(MemoryPool &pool) : pool(pool) {}
  ~ScratchArena();
  ScratchArena(const ScratchArena &) = delete;
  ScratchArena &operator=(const ScratchArena &) = delete;

  /// `bytes` bytes aligned to PLIM_BUFFER_ALIGNMENT, valid until a reset to an earlier mark. Null
  /// without memory.
  void *allocate(size_t bytes);

  Mark mark() const { return position; }
  /// Frees all that was allocated since `mark`, keeping the chunks.
  void reset(Mark mark) { position = mark; }
  /// The chunks together.
  size_t heldBytes() const;

private:
  friend class ScratchCache;

  size_t capacityOf(BlockLink *chunk) const;

  MemoryPool &pool;
  BlockLink *first = nullptr; // the chain, linked through BlockLink::next
  Mark position;              // no chunk: at the very beginning
  ScratchArena *nextFree = nullptr;
};

class ScratchCache {
public:
  /// `pool` is borrowed and must outlive the cache.
  explicit ScratchCache(MemoryPool &pool) : pool(pool) {}
  /// All arenas must have been given back.
  ~ScratchCache();
  ScratchCache(const ScratchCache &) = delete;
  ScratchCache &operator=(const ScratchCache &) = delete;

  /// An empty arena, the one given back last if there is one; null without memory.
  ScratchArena *take();
  void giveBack(ScratchArena *arena);

  /// What the arenas hold that wait for the next range.
  size_t keptBytes() const;
  /// Gives them back to the pool.
  void trim();

private:
  MemoryPool &pool;
  mutable Mutex mutex;
  ScratchArena *free PLIM_GUARDED_BY(mutex) = nullptr;
};

} // namespace plim::runtime
