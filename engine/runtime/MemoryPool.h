// MemoryPool: the engine's allocator for results, unplanned buffers, workspaces and scratch chunks.
//
// A block is PLIM_BUFFER_ALIGNMENT-aligned memory behind a header of the same size, which remembers
// the block's size class and holds two links for whoever owns the block now:
//
//   | next | prev | capacity | class | padding to 64 | payload, capacity bytes ... |
//   ^ from the system allocator                       ^ what allocate() returns
//
// Released blocks wait in a free list per size class (four classes per power of two, so at most a
// fifth of a block is slack), hence an allocation that repeats an earlier size costs a lock and a
// pop. Blocks kept that way are bounded in bytes; when a release would exceed the bound, blocks of
// other classes are given back to the system first, so a pool does not stay full of sizes that no
// one asks for any more.
//
// Callers on several processors would fight for one lock, so there are several *shards*, each with
// a lock and lists of its own. All threads begin with the first one; one that had to wait for a
// shard goes on to the next. A released block goes back to the shard it was taken from, whoever
// releases it: memory that one thread takes and another releases comes back to the first. Large
// blocks are looked for in all shards before the system is asked.
//
// With guarded memory every block has pages of its own (GuardedMemory.h), the header is kept with
// what that knows of the block, and nothing is reused.
//
// Must not know calls, buffers or threads of the executor. Thread safety: every member may be
// called from any thread. Nothing here throws.
#pragma once

#include "engine/runtime/GuardedMemory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace plim::runtime {

/// Takes the place of the system's allocator. Called from any thread, several at once; `user` must
/// outlive the pool and all of its blocks.
struct Allocator {
  void *user = nullptr;
  /// At least `bytes` bytes of the memory that the target calls `memory` ("" if it does not say),
  /// aligned to `alignment`, uninitialised; null if there is none. Null: the system's allocator.
  void *(*allocate)(void *user, size_t bytes, size_t alignment,
                    const char *memory) noexcept = nullptr;
  /// Takes back what allocate() gave for `bytes`.
  void (*release)(void *user, void *pointer, size_t bytes) noexcept = nullptr;
  /// Kept as long as a pool may call them. May be null.
  std::shared_ptr<const void> owner = nullptr;
};

struct MemoryPoolOptions {
  /// Free blocks kept for reuse, in bytes of payload; those of threads that allocate at the same
  /// time are counted in steps (MemoryPoolStatistics::peakBytes).
  size_t maxKeptBytes = size_t{256} << 20;
  /// Payload bytes taken from the system, in use and kept together; 0: no limit of our own.
  size_t maxSystemBytes = 0;
  /// False: every allocation and release goes to malloc and free, the baseline of policy `heap`.
  bool reuse = true;
  Allocator allocator = {};
  /// If not null, where all blocks come from: `allocator` and `reuse` are then of no account.
  std::shared_ptr<GuardedMemory> guarded = nullptr;
  /// The name for `allocator`.
  std::string memory = {};
};

/// A snapshot; under concurrent use the fields need not be of one instant. Bytes of payload,
/// rounded up to the size class.
struct MemoryPoolStatistics {
  uint64_t liveBytes = 0; // handed out now
  /// The most that was handed out. Threads that allocate at the same time tell each other in steps:
  /// then it may be wrong by 128 KiB for each of them.
  uint64_t peakBytes = 0;
  uint64_t keptBytes = 0;   // free, waiting for reuse
  uint64_t allocations = 0; // successful ones
  uint64_t poolHits = 0;    // those served from a free list
};

/// The links of a block, for intrusive lists of whoever holds the block.
struct BlockLink {
  BlockLink *next;
  BlockLink *prev;
};

class MemoryPool {
public:
  /// Takes no memory from the options' allocator yet.
  explicit MemoryPool(MemoryPoolOptions options = {});
  /// Gives the kept blocks back. What blocks that are still handed out need to be released stays
  /// until the last of them is: see storage().
  ~MemoryPool();
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;

  /// At least `bytes` bytes, uninitialised, aligned to PLIM_BUFFER_ALIGNMENT; zero bytes give a
  /// unique pointer. Null when the limit is reached or the system has no memory, after the kept
  /// blocks have been given up to make room. The caller owns the block until release().
  void *allocate(size_t bytes);

  /// Takes a block of this pool's allocate() back; null is ignored.
  void release(void *block);

  /// Gives free blocks back to the system until at most `keepBytes` are kept.
  void trim(size_t keepBytes = 0);

  /// A snapshot: while others allocate, its numbers need not be of one instant.
  MemoryPoolStatistics statistics() const;
  /// The same as there, without the rest: takes no lock.
  uint64_t liveBytes() const;

  /// Bytes usable in a block of this pool's allocate().
  size_t capacityOf(const void *block) const;

  /// The links of such a block in use; their contents are the holder's.
  BlockLink *linkOf(void *block) const;
  void *blockOf(BlockLink *link) const;

  /// Where a block goes back to. It lives until the pool is gone and all blocks have been released,
  /// so that who holds a block need not hold the pool: a reference count that all results share
  /// would be the one thing that callers fight for.
  class Storage;
  Storage &storage() const { return *blocks; }
  /// As release(), for who has the storage and perhaps no pool any more.
  static void releaseTo(Storage &storage, void *block);
  /// Where all its blocks come from; null unless misuse is looked for.
  static GuardedMemory *guardedOf(const Storage &storage);

private:
  Storage *const blocks;
};

} // namespace plim::runtime
