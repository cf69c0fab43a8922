#include "engine/runtime/MemoryPool.h"

#include "engine/abi/plim_abi.h"
#include "engine/runtime/SystemMemory.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <utility>

namespace plim::runtime {
namespace {

constexpr size_t granule = PLIM_BUFFER_ALIGNMENT;
// Beyond any address space in use; keeps all arithmetic below far from overflow.
constexpr size_t maxBlockBytes = size_t{1} << 47;

// Log-linear classes over units of one granule: 1, 2, ..., 8, 10, 12, 14, 16, 20, ... units.
uint64_t sizeClassOf(size_t bytes) {
  size_t last = bytes == 0 ? 0 : (bytes - 1) / granule;
  if (last < 4)
    return last;
  unsigned shift = std::bit_width(last) - 3;
  return 4 * shift + (last >> shift);
}

size_t classCapacity(uint64_t sizeClass) {
  if (sizeClass < 8)
    return (sizeClass + 1) * granule;
  unsigned shift = static_cast<unsigned>(sizeClass / 4 - 1);
  return ((sizeClass % 4 + 5) << shift) * granule;
}

} // namespace

struct alignas(PLIM_BUFFER_ALIGNMENT) MemoryPool::Header {
  BlockLink link;
  size_t capacity;
  uint64_t sizeClass;
  void *system; // what goes back to the system
  void *payload;

  static Header *of(BlockLink *link) { return reinterpret_cast<Header *>(link); }
};

MemoryPool::MemoryPool(MemoryPoolOptions options) : options(std::move(options)) {
  static_assert(sizeof(Header) == granule && offsetof(Header, link) == 0);
  static_assert(sizeof(Header) == GuardedMemory::recordBytes);
  assert(sizeClassOf(maxBlockBytes) < classCount);
}

MemoryPool::Header *MemoryPool::headerOf(const void *block) const {
  if (options.guarded) [[unlikely]]
    return static_cast<Header *>(options.guarded->recordOf(block));
  return static_cast<Header *>(const_cast<void *>(block)) - 1;
}

MemoryPool::~MemoryPool() {
  trim();
  assert(systemBytes.load() == 0 && "a block outlives its pool");
}

void *MemoryPool::allocate(size_t bytes) {
  if (bytes > maxBlockBytes)
    return nullptr;
  uint64_t sizeClass = sizeClassOf(bytes);
  if (options.guarded) // a block without bytes could not be told from its neighbour
    return allocateFromSystem(std::max(bytes, size_t{1}), sizeClass);
  if (!options.reuse)
    return allocateFromSystem((bytes / granule + 1) * granule, sizeClass);

  BlockLink *link;
  {
    SizeClass &from = classes[sizeClass];
    LockGuard lock(from.mutex);
    link = from.free;
    if (link) {
      from.free = link->next;
      ++from.hits;
    }
  }
  if (!link)
    return allocateFromSystem(classCapacity(sizeClass), sizeClass);
  Header *header = Header::of(link);
  keptBytes.fetch_sub(header->capacity, std::memory_order_relaxed);
  notePeak();
  return header->payload;
}

void MemoryPool::release(void *block) {
  if (!block)
    return;
  Header *header = headerOf(block);
  size_t capacity = header->capacity;
  if (options.guarded || !options.reuse || capacity > options.maxKeptBytes)
    return releaseToSystem(header);

  SizeClass &own = classes[header->sizeClass];
  uint64_t kept = keptBytes.fetch_add(capacity, std::memory_order_relaxed) + capacity;
  {
    LockGuard lock(own.mutex);
    header->link.next = own.free;
    own.free = &header->link;
  }
  if (kept <= options.maxKeptBytes)
    return;
  for (size_t i = classCount; i-- > 0;)
    if (&classes[i] != &own)
      evict(classes[i], options.maxKeptBytes);
  evict(own, options.maxKeptBytes);
}

void MemoryPool::trim(size_t keepBytes) {
  for (size_t i = classCount; i-- > 0;)
    evict(classes[i], keepBytes);
}

MemoryPoolStatistics MemoryPool::statistics() const {
  MemoryPoolStatistics result;
  for (const SizeClass &sizeClass : classes) {
    LockGuard lock(sizeClass.mutex);
    result.poolHits += sizeClass.hits;
  }
  result.allocations = result.poolHits + systemAllocations.load(std::memory_order_relaxed);
  result.keptBytes = keptBytes.load(std::memory_order_relaxed);
  result.liveBytes = liveBytes();
  result.peakBytes = peakBytes.load(std::memory_order_relaxed);
  return result;
}

uint64_t MemoryPool::liveBytes() const {
  // Kept may briefly run ahead of system when another thread is between the two.
  uint64_t system = systemBytes.load(std::memory_order_relaxed);
  uint64_t kept = keptBytes.load(std::memory_order_relaxed);
  return system > kept ? system - kept : 0;
}

size_t MemoryPool::capacityOf(const void *block) const { return headerOf(block)->capacity; }

BlockLink *MemoryPool::linkOf(void *block) const { return &headerOf(block)->link; }

void *MemoryPool::blockOf(BlockLink *link) const { return Header::of(link)->payload; }

MemoryPool::Header *MemoryPool::takeFromSystem(size_t capacity) {
  if (options.guarded) {
    void *block = options.guarded->allocate(capacity, granule);
    if (!block)
      return nullptr;
    Header *header = headerOf(block);
    header->payload = header->system = block;
    return header;
  }
  const Allocator &allocator = options.allocator;
  const size_t bytes = sizeof(Header) + capacity;
  void *memory;
  if (allocator.allocate) {
    memory = allocator.allocate(allocator.user, bytes, granule, options.memory.c_str());
    if (reinterpret_cast<uintptr_t>(memory) % granule != 0) {
      allocator.release(allocator.user, memory, bytes);
      return nullptr;
    }
  } else if (options.reuse) {
    memory = allocateBlock(bytes);
  } else {
    memory = std::malloc(bytes + granule);
  }
  if (!memory)
    return nullptr;
  // Plain malloc, aligned by hand, is several times faster than its aligned variants in glibc.
  auto aligned = (reinterpret_cast<uintptr_t>(memory) + granule - 1) / granule * granule;
  auto *header = reinterpret_cast<Header *>(aligned);
  header->system = memory;
  header->payload = header + 1;
  return header;
}

void *MemoryPool::allocateFromSystem(size_t capacity, uint64_t sizeClass) {
  uint64_t system = systemBytes.fetch_add(capacity, std::memory_order_relaxed) + capacity;
  bool overLimit = options.maxSystemBytes != 0 && system > options.maxSystemBytes;
  if (overLimit) {
    trim();
    overLimit = systemBytes.load(std::memory_order_relaxed) > options.maxSystemBytes;
  }
  Header *header = nullptr;
  if (!overLimit) {
    header = takeFromSystem(capacity);
    if (!header) {
      trim();
      header = takeFromSystem(capacity);
    }
  }
  if (!header) {
    systemBytes.fetch_sub(capacity, std::memory_order_relaxed);
    return nullptr;
  }
  systemAllocations.fetch_add(1, std::memory_order_relaxed);
  notePeak();
  header->capacity = capacity;
  header->sizeClass = sizeClass;
  return header->payload;
}

void MemoryPool::releaseToSystem(Header *header) {
  size_t capacity = header->capacity;
  if (options.guarded)
    options.guarded->release(header->system);
  else if (options.allocator.allocate)
    options.allocator.release(options.allocator.user, header->system, sizeof(Header) + capacity);
  else
    std::free(header->system);
  systemBytes.fetch_sub(capacity, std::memory_order_relaxed);
}

void MemoryPool::evict(SizeClass &from, size_t keepBytes) {
  while (keptBytes.load(std::memory_order_relaxed) > keepBytes) {
    BlockLink *link;
    {
      LockGuard lock(from.mutex);
      link = from.free;
      if (!link)
        return;
      from.free = link->next;
    }
    Header *header = Header::of(link);
    size_t capacity = header->capacity;
    // System first: live bytes, their difference, may look too small for a moment, never too large.
    releaseToSystem(header);
    keptBytes.fetch_sub(capacity, std::memory_order_relaxed);
  }
}

void MemoryPool::notePeak() {
  uint64_t live = liveBytes();
  uint64_t peak = peakBytes.load(std::memory_order_relaxed);
  while (live > peak && !peakBytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

} // namespace plim::runtime
