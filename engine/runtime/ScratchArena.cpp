#include "engine/runtime/ScratchArena.h"

#include "engine/abi/plim_abi.h"

#include <algorithm>
#include <new>
#include <utility>

namespace plim::runtime {
namespace {

// Large enough that most kernels never leave it, small enough to stay in a second-level cache.
constexpr size_t firstChunkBytes = size_t{64} << 10;

} // namespace

ScratchArena::~ScratchArena() {
  while (first) {
    BlockLink *next = first->next;
    pool.release(pool.blockOf(first));
    first = next;
  }
}

size_t ScratchArena::capacityOf(BlockLink *chunk) const {
  return pool.capacityOf(pool.blockOf(chunk));
}

void *ScratchArena::allocate(size_t bytes) {
  constexpr size_t alignment = PLIM_BUFFER_ALIGNMENT;
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  bytes = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);

  BlockLink *chunk = position.chunk;
  size_t used = position.used;
  if (!chunk || capacityOf(chunk) - used < bytes) {
    BlockLink *&next = chunk ? chunk->next : first;
    if (!next || capacityOf(next) < bytes) {
      // Doubling bounds the number of chunks; one that is too small stays behind the new one.
      size_t wanted = std::max(bytes, chunk ? 2 * capacityOf(chunk) : firstChunkBytes);
      void *block = pool.allocate(wanted);
      if (!block)
        block = pool.allocate(bytes);
      if (!block)
        return nullptr;
      BlockLink *fresh = pool.linkOf(block);
      fresh->next = next;
      next = fresh;
    }
    chunk = next;
    used = 0;
  }
  position = {chunk, used + bytes};
  return static_cast<std::byte *>(pool.blockOf(chunk)) + used;
}

size_t ScratchArena::heldBytes() const {
  size_t bytes = 0;
  for (BlockLink *chunk = first; chunk; chunk = chunk->next)
    bytes += capacityOf(chunk);
  return bytes;
}

ScratchCache::~ScratchCache() { trim(); }

ScratchArena *ScratchCache::take() {
  {
    LockGuard lock(mutex);
    if (ScratchArena *arena = free) {
      free = arena->nextFree;
      return arena;
    }
  }
  return new (std::nothrow) ScratchArena(pool);
}

size_t ScratchCache::keptBytes() const {
  LockGuard lock(mutex);
  size_t bytes = 0;
  for (ScratchArena *arena = free; arena; arena = arena->nextFree)
    bytes += arena->heldBytes();
  return bytes;
}

void ScratchCache::trim() {
  ScratchArena *arena;
  {
    LockGuard lock(mutex);
    arena = std::exchange(free, nullptr);
  }
  while (arena)
    delete std::exchange(arena, arena->nextFree);
}

void ScratchCache::giveBack(ScratchArena *arena) {
  arena->reset({});
  LockGuard lock(mutex);
  arena->nextFree = free;
  free = arena;
}

} // namespace plim::runtime
