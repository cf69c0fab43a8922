#include "engine/runtime/MemoryPool.h"

#include "engine/abi/plim_abi.h"
#include "engine/runtime/Mutex.h"
#include "engine/runtime/SystemMemory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <thread>
#include <utility>

namespace plim::runtime {
namespace {

constexpr size_t granule = PLIM_BUFFER_ALIGNMENT;
// Beyond any address space in use; keeps all arithmetic below far from overflow.
constexpr size_t maxBlockBytes = size_t{1} << 47;
constexpr size_t classCount = 160;

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

// Live bytes may differ by this much, up or down, from what the other shards know of.
constexpr int64_t maxStepBytes = 64 << 10;
// A block that costs more to make than a lock of another shard.
constexpr size_t largeBytes = 32 << 10;

// The shard that this thread takes from, modulo their number. As in StackBounds.
[[gnu::tls_model("initial-exec")]] thread_local size_t preferredShard = 0;

size_t chooseShardCount() {
  // Some to spare: a thread that finds a shard taken soon finds one for itself.
  return std::bit_ceil(std::clamp<size_t>(2 * std::thread::hardware_concurrency(), 1, 64));
}

/// What all shards have handed out, and the most that was ever.
struct Live {
  std::atomic<int64_t> bytes{0}, peak{0};

  /// Adds a difference that on the way was as much as `most`.
  void add(int64_t difference, int64_t most) {
    int64_t high = bytes.fetch_add(difference, std::memory_order_relaxed) + most;
    int64_t known = peak.load(std::memory_order_relaxed);
    while (high > known && !peak.compare_exchange_weak(known, high, std::memory_order_relaxed)) {
    }
  }
};

} // namespace

class MemoryPool::Storage {
public:
  explicit Storage(MemoryPoolOptions given);
  ~Storage();
  /// The pool is gone: no allocations will come. Goes with the last block.
  void retire();

  void *allocate(size_t bytes);
  void release(void *block);
  /// Gives kept blocks back to the system, those of one class last, until at most `keepBytes` are
  /// left.
  void evict(int64_t keepBytes, uint64_t lastClass);
  MemoryPoolStatistics statistics();
  uint64_t liveBytes() const;
  GuardedMemory *guarded() const { return options.guarded.get(); }

  struct Header;
  Header *headerOf(const void *block) const;

private:
  struct Shard;

  Header *reuse(uint64_t sizeClass, Shard &shard);
  Header *reuseOfOthers(uint64_t sizeClass, Shard &shard);
  Header *takeFromSystem(size_t capacity);
  Header *allocateFromSystem(size_t capacity, uint64_t sizeClass, Shard &shard);
  void releaseToSystem(Header *header);
  /// What shards have not told `live` yet is not in it.
  int64_t keptBytes() const;

  const MemoryPoolOptions options;
  const int64_t maxKept;
  const size_t shardCount;
  const int64_t maxStep;
  const std::unique_ptr<Shard[]> shards;
  // Kept bytes are system bytes minus live bytes: to reuse a block touches nothing that shards
  // share.
  std::atomic<int64_t> systemBytes{0};
  std::atomic<uint64_t> systemAllocations{0};
  Live live;
};

struct alignas(PLIM_BUFFER_ALIGNMENT) MemoryPool::Storage::Header {
  BlockLink link;
  size_t capacity;
  uint64_t sizeClass;
  void *system; // what goes back to the system
  void *payload;
  Shard *home;

  static Header *of(BlockLink *link) { return reinterpret_cast<Header *>(link); }
};

/// On lines of its own.
struct alignas(128) MemoryPool::Storage::Shard {
  Mutex mutex;
  // Bytes handed out since the shard last added them to `live`, and the most that this number was.
  // Written under the lock.
  std::atomic<int64_t> step{0}, peakStep{0};
  uint64_t hits PLIM_GUARDED_BY(mutex) = 0;
  bool isRetired PLIM_GUARDED_BY(mutex) = false;
  std::array<BlockLink *, classCount> free PLIM_GUARDED_BY(mutex) = {};

  Header *pop(uint64_t sizeClass) PLIM_REQUIRES(mutex) {
    BlockLink *link = free[sizeClass];
    if (!link)
      return nullptr;
    free[sizeClass] = link->next;
    return Header::of(link);
  }
  Header *popLargest(uint64_t exceptClass) PLIM_REQUIRES(mutex) {
    for (uint64_t sizeClass = classCount; sizeClass-- > 0;)
      if (free[sizeClass] && sizeClass != exceptClass)
        return pop(sizeClass);
    return nullptr;
  }
  void push(Header *header) PLIM_REQUIRES(mutex) {
    header->link.next = free[header->sizeClass];
    free[header->sizeClass] = &header->link;
  }

  /// Notes that so much was handed out, or, negative, released.
  void count(int64_t bytes, int64_t maxStep, Live &live) PLIM_REQUIRES(mutex) {
    constexpr auto relaxed = std::memory_order_relaxed;
    int64_t now = step.load(relaxed) + bytes;
    step.store(now, relaxed);
    if (now > peakStep.load(relaxed))
      peakStep.store(now, relaxed);
    if (std::abs(now) > maxStep)
      settle(live);
  }
  void settle(Live &live) PLIM_REQUIRES(mutex) {
    live.add(step.load(std::memory_order_relaxed), peakStep.load(std::memory_order_relaxed));
    step.store(0, std::memory_order_relaxed);
    peakStep.store(0, std::memory_order_relaxed);
  }
};

MemoryPool::Storage::Storage(MemoryPoolOptions given)
    : options(std::move(given)),
      maxKept(static_cast<int64_t>(std::min(options.maxKeptBytes, size_t{INT64_MAX}))),
      shardCount(chooseShardCount()),
      maxStep(
          std::min(maxStepBytes, static_cast<int64_t>(options.maxKeptBytes / (8 * shardCount)))),
      shards(std::make_unique<Shard[]>(shardCount)) {
  static_assert(sizeof(Header) == granule && offsetof(Header, link) == 0);
  static_assert(sizeof(Header) == GuardedMemory::recordBytes);
  assert(sizeClassOf(maxBlockBytes) < classCount);
}

MemoryPool::Storage::~Storage() = default;

void MemoryPool::Storage::retire() {
  // As if there was one block more.
  constexpr int64_t own = int64_t(1) << 62;
  live.bytes.fetch_add(own, std::memory_order_relaxed);
  for (size_t i = 0; i < shardCount; ++i) {
    LockGuard lock(shards[i].mutex);
    shards[i].isRetired = true;
    shards[i].settle(live);
  }
  evict(0, classCount);
  if (live.bytes.fetch_sub(own, std::memory_order_acq_rel) == own)
    delete this;
}

MemoryPool::Storage::Header *MemoryPool::Storage::headerOf(const void *block) const {
  if (options.guarded) [[unlikely]]
    return static_cast<Header *>(options.guarded->recordOf(block));
  return static_cast<Header *>(const_cast<void *>(block)) - 1;
}

void *MemoryPool::Storage::allocate(size_t bytes) {
  if (bytes > maxBlockBytes)
    return nullptr;
  uint64_t sizeClass = sizeClassOf(bytes);
  Shard &shard = shards[preferredShard % shardCount];
  Header *header = nullptr;
  if (options.guarded) { // a block without bytes could not be told from its neighbour
    header = allocateFromSystem(std::max(bytes, size_t{1}), sizeClass, shard);
  } else if (!options.reuse) {
    header = allocateFromSystem((bytes / granule + 1) * granule, sizeClass, shard);
  } else {
    header = reuse(sizeClass, shard);
    if (!header && bytes >= largeBytes)
      header = reuseOfOthers(sizeClass, shard);
    if (!header)
      header = allocateFromSystem(classCapacity(sizeClass), sizeClass, shard);
  }
  return header ? header->payload : nullptr;
}

MemoryPool::Storage::Header *MemoryPool::Storage::reuse(uint64_t sizeClass, Shard &shard) {
  LockGuard lock(shard.mutex);
  if (lock.hadToWait())
    ++preferredShard;
  Header *header = shard.pop(sizeClass);
  if (header) {
    ++shard.hits;
    shard.count(static_cast<int64_t>(header->capacity), maxStep, live);
  }
  return header;
}

MemoryPool::Storage::Header *MemoryPool::Storage::reuseOfOthers(uint64_t sizeClass, Shard &shard) {
  Header *header = nullptr;
  for (size_t i = 0; i < shardCount && !header; ++i) {
    LockGuard lock(shards[i].mutex);
    header = shards[i].pop(sizeClass);
  }
  if (header) {
    header->home = &shard;
    LockGuard lock(shard.mutex);
    ++shard.hits;
    shard.count(static_cast<int64_t>(header->capacity), maxStep, live);
  }
  return header;
}

void MemoryPool::Storage::release(void *block) {
  Header *header = headerOf(block);
  Shard &home = *header->home;
  const auto capacity = static_cast<int64_t>(header->capacity);
  bool keeps = !options.guarded && options.reuse && capacity <= maxKept;
  if (!keeps)
    releaseToSystem(header);
  else if (keptBytes() - home.step.load(std::memory_order_relaxed) + capacity > maxKept)
    evict(maxKept - capacity, header->sizeClass);
  {
    LockGuard lock(home.mutex);
    if (!home.isRetired) [[likely]] {
      if (keeps)
        home.push(header);
      home.count(-capacity, maxStep, live);
      return; // when the lock is given back this may be gone
    }
  }
  if (keeps)
    releaseToSystem(header);
  if (live.bytes.fetch_sub(capacity, std::memory_order_acq_rel) == capacity)
    delete this;
}

MemoryPoolStatistics MemoryPool::Storage::statistics() {
  MemoryPoolStatistics result;
  for (size_t i = 0; i < shardCount; ++i) {
    LockGuard lock(shards[i].mutex);
    shards[i].settle(live);
    result.poolHits += shards[i].hits;
  }
  result.allocations = result.poolHits + systemAllocations.load(std::memory_order_relaxed);
  result.keptBytes = static_cast<uint64_t>(keptBytes());
  result.liveBytes = liveBytes();
  result.peakBytes = static_cast<uint64_t>(live.peak.load(std::memory_order_relaxed));
  return result;
}

uint64_t MemoryPool::Storage::liveBytes() const {
  int64_t bytes = live.bytes.load(std::memory_order_relaxed);
  for (size_t i = 0; i < shardCount; ++i)
    bytes += shards[i].step.load(std::memory_order_relaxed);
  return static_cast<uint64_t>(std::max<int64_t>(bytes, 0));
}

int64_t MemoryPool::Storage::keptBytes() const {
  // Live may briefly run ahead of system when another thread is between the two.
  return std::max<int64_t>(
      systemBytes.load(std::memory_order_relaxed) - live.bytes.load(std::memory_order_relaxed), 0);
}

MemoryPool::Storage::Header *MemoryPool::Storage::takeFromSystem(size_t capacity) {
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

MemoryPool::Storage::Header *
MemoryPool::Storage::allocateFromSystem(size_t capacity, uint64_t sizeClass, Shard &shard) {
  const auto bytes = static_cast<int64_t>(capacity);
  auto overLimit = [&](int64_t system) {
    return options.maxSystemBytes != 0 && system > static_cast<int64_t>(options.maxSystemBytes);
  };
  bool refused = overLimit(systemBytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  if (refused) {
    evict(0, classCount);
    refused = overLimit(systemBytes.load(std::memory_order_relaxed));
  }
  Header *header = nullptr;
  if (!refused) {
    header = takeFromSystem(capacity);
    if (!header) {
      evict(0, classCount);
      header = takeFromSystem(capacity);
    }
  }
  if (!header) {
    systemBytes.fetch_sub(bytes, std::memory_order_relaxed);
    return nullptr;
  }
  systemAllocations.fetch_add(1, std::memory_order_relaxed);
  header->capacity = capacity;
  header->sizeClass = sizeClass;
  header->home = &shard;
  LockGuard lock(shard.mutex);
  shard.count(bytes, maxStep, live);
  return header;
}

void MemoryPool::Storage::releaseToSystem(Header *header) {
  size_t capacity = header->capacity;
  if (options.guarded)
    options.guarded->release(header->system);
  else if (options.allocator.allocate)
    options.allocator.release(options.allocator.user, header->system, sizeof(Header) + capacity);
  else
    std::free(header->system);
  systemBytes.fetch_sub(static_cast<int64_t>(capacity), std::memory_order_relaxed);
}

void MemoryPool::Storage::evict(int64_t keepBytes, uint64_t lastClass) {
  for (size_t i = 0; i < shardCount; ++i) {
    LockGuard lock(shards[i].mutex);
    shards[i].settle(live);
  }
  for (bool withLast : {false, true})
    for (size_t i = 0; i < shardCount; ++i)
      // With nothing to keep, whatever others release meanwhile.
      while (keepBytes == 0 || keptBytes() > keepBytes) {
        Header *header;
        {
          LockGuard lock(shards[i].mutex);
          header = shards[i].popLargest(withLast ? classCount : lastClass);
        }
        if (!header)
          break;
        releaseToSystem(header);
      }
}

MemoryPool::MemoryPool(MemoryPoolOptions options) : blocks(new Storage(std::move(options))) {}

MemoryPool::~MemoryPool() { blocks->retire(); }

void *MemoryPool::allocate(size_t bytes) { return blocks->allocate(bytes); }

void MemoryPool::release(void *block) { releaseTo(*blocks, block); }

void MemoryPool::releaseTo(Storage &storage, void *block) {
  if (block)
    storage.release(block);
}

void MemoryPool::trim(size_t keepBytes) {
  blocks->evict(static_cast<int64_t>(std::min(keepBytes, size_t{INT64_MAX})), classCount);
}

MemoryPoolStatistics MemoryPool::statistics() const { return blocks->statistics(); }

uint64_t MemoryPool::liveBytes() const { return blocks->liveBytes(); }

GuardedMemory *MemoryPool::guardedOf(const Storage &storage) { return storage.guarded(); }

size_t MemoryPool::capacityOf(const void *block) const { return blocks->headerOf(block)->capacity; }

BlockLink *MemoryPool::linkOf(void *block) const { return &blocks->headerOf(block)->link; }

void *MemoryPool::blockOf(BlockLink *link) const { return Storage::Header::of(link)->payload; }

} // namespace plim::runtime
