#include "engine/runtime/WorkspaceCache.h"

#include <utility>

namespace plim::runtime {

WorkspaceCache::WorkspaceCache(std::shared_ptr<MemoryPool> pool, size_t slabBytes, size_t maxKept)
    : pool(std::move(pool)), bytes(slabBytes), maxKept(maxKept) {}

WorkspaceCache::~WorkspaceCache() {
  while (free)
    pool->release(MemoryPool::blockOf(std::exchange(free, free->next)));
}

void *WorkspaceCache::take() {
  if (bytes == 0)
    return nullptr;
  {
    LockGuard lock(mutex);
    if (free) {
      --kept;
      return MemoryPool::blockOf(std::exchange(free, free->next));
    }
  }
  return pool->allocate(bytes);
}

void WorkspaceCache::giveBack(void *slab) {
  if (!slab)
    return;
  {
    LockGuard lock(mutex);
    if (kept < maxKept) {
      ++kept;
      BlockLink *link = MemoryPool::linkOf(slab);
      link->next = free;
      free = link;
      return;
    }
  }
  pool->release(slab);
}

} // namespace plim::runtime
