#include "engine/runtime/MemoryPool.h"

#include "engine/abi/plim_abi.h"
#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace plim::runtime {
namespace {

bool aligned(const void *p) { return reinterpret_cast<uintptr_t>(p) % PLIM_BUFFER_ALIGNMENT == 0; }

TEST(MemoryPool, BlocksAreAlignedUniqueAndLargeEnough) {
  MemoryPool pool;
  std::vector<void *> blocks;
  for (size_t bytes : {0u, 1u, 63u, 64u, 65u, 1000u, 4096u, 100000u, 1u << 20, (1u << 20) + 1}) {
    void *block = pool.allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(aligned(block));
    EXPECT_GE(pool.capacityOf(block), bytes);
    EXPECT_LE(pool.capacityOf(block), bytes + bytes / 4 + 64) << bytes;
    std::memset(block, 0xab, bytes);
    for (void *other : blocks)
      EXPECT_NE(block, other);
    blocks.push_back(block);
  }
  for (void *block : blocks)
    pool.release(block);
  pool.release(nullptr);
  EXPECT_EQ(pool.statistics().liveBytes, 0u);
}

TEST(MemoryPool, EverySizeFitsItsClass) {
  MemoryPool pool({.reuse = true});
  for (size_t bytes = 0; bytes < 20000; bytes += 7) {
    void *block = pool.allocate(bytes);
    ASSERT_GE(pool.capacityOf(block), bytes);
    ASSERT_LE(pool.capacityOf(block), bytes + bytes / 4 + 64);
    pool.release(block);
  }
}

TEST(MemoryPool, ReusesAndCounts) {
  MemoryPool pool;
  void *first = pool.allocate(5000);
  EXPECT_EQ(pool.statistics().liveBytes, pool.capacityOf(first));
  pool.release(first);
  EXPECT_EQ(pool.allocate(4999), first);
  pool.release(first);
  MemoryPoolStatistics statistics = pool.statistics();
  EXPECT_EQ(statistics.allocations, 2u);
  EXPECT_EQ(statistics.poolHits, 1u);
  EXPECT_EQ(statistics.liveBytes, 0u);
  EXPECT_EQ(statistics.keptBytes, pool.capacityOf(first));
  EXPECT_EQ(statistics.peakBytes, statistics.keptBytes);
  pool.trim();
  EXPECT_EQ(pool.statistics().keptBytes, 0u);
}

TEST(MemoryPool, KeptBytesAreBoundedAndOldSizesMakeRoom) {
  MemoryPool pool({.maxKeptBytes = 1 << 20});
  std::vector<void *> old;
  for (int i = 0; i < 200; ++i)
    old.push_back(pool.allocate(8192));
  for (void *block : old)
    pool.release(block);
  EXPECT_LE(pool.statistics().keptBytes, size_t{1} << 20);
  // A size that is new displaces the old ones instead of going past the cache for ever.
  void *fresh = pool.allocate(900000);
  pool.release(fresh);
  EXPECT_EQ(pool.allocate(900000), fresh);
  pool.release(fresh);
  EXPECT_LE(pool.statistics().keptBytes, size_t{1} << 20);
  // Larger than the bound: never kept.
  pool.release(pool.allocate(2 << 20));
  EXPECT_LE(pool.statistics().keptBytes, size_t{1} << 20);
}

TEST(MemoryPool, ABlockAsLargeAsTheBoundIsKept) {
  MemoryPool other;
  void *block = other.allocate(1 << 20);
  const size_t capacity = other.capacityOf(block);
  other.release(block);
  for (size_t less : {0, 1}) {
    MemoryPool pool({.maxKeptBytes = capacity - less});
    pool.release(pool.allocate(1 << 20));
    EXPECT_EQ(pool.statistics().keptBytes, less == 0 ? capacity : 0u);
  }
}

TEST(MemoryPool, WithoutBoundEverythingIsKept) {
  MemoryPool pool({.maxKeptBytes = SIZE_MAX});
  std::vector<void *> blocks;
  for (size_t bytes : {64, 1000, 1 << 20})
    blocks.push_back(pool.allocate(bytes));
  uint64_t live = pool.statistics().liveBytes;
  for (void *block : blocks)
    pool.release(block);
  EXPECT_EQ(pool.statistics().keptBytes, live);
}

TEST(MemoryPool, LimitGivesNullAfterGivingUpKeptBlocks) {
  MemoryPool pool({.maxSystemBytes = 1 << 20});
  void *half = pool.allocate(512 << 10);
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(pool.allocate(640 << 10), nullptr);
  pool.release(half);
  // Kept now, but in the way of the new size: it is given up.
  void *large = pool.allocate(640 << 10);
  EXPECT_NE(large, nullptr);
  pool.release(large);
  EXPECT_EQ(pool.statistics().liveBytes, 0u);
}

TEST(MemoryPool, ImpossibleSizesGiveNull) {
  MemoryPool pool;
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(pool.allocate((size_t{1} << 47) + 1), nullptr);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_EQ(pool.allocate(size_t{1} << 47), nullptr);
#endif
  EXPECT_EQ(pool.statistics().liveBytes, 0u);
}

TEST(MemoryPool, WithoutReuseNothingIsKept) {
  MemoryPool pool({.reuse = false});
  for (size_t bytes : {0u, 64u, 1000u, 1u << 22}) {
    void *block = pool.allocate(bytes);
    EXPECT_TRUE(aligned(block));
    EXPECT_GE(pool.capacityOf(block), bytes);
    std::memset(block, 1, bytes);
    pool.release(block);
    EXPECT_EQ(pool.statistics().keptBytes, 0u);
  }
  EXPECT_EQ(pool.statistics().poolHits, 0u);
  EXPECT_EQ(pool.statistics().allocations, 4u);
}

/// An allocator of the host that keeps account.
struct Account {
  Allocator allocator() {
    return {this,
            [](void *user, size_t bytes, size_t alignment, const char *memory) noexcept -> void * {
              auto &account = *static_cast<Account *>(user);
              EXPECT_EQ(alignment, size_t{PLIM_BUFFER_ALIGNMENT});
              EXPECT_STREQ(memory, "dram");
              if (account.fails)
                return nullptr;
              account.bytes += bytes;
              return static_cast<std::byte *>(std::aligned_alloc(alignment, bytes + alignment)) +
                     account.shift;
            },
            [](void *user, void *pointer, size_t bytes) noexcept {
              auto &account = *static_cast<Account *>(user);
              account.bytes -= bytes;
              std::free(static_cast<std::byte *>(pointer) - account.shift);
            }};
  }
  size_t bytes = 0;
  size_t shift = 0;
  bool fails = false;
};

TEST(MemoryPool, AnAllocatorOfTheHostTakesThePlaceOfTheSystems) {
  for (bool reuse : {true, false}) {
    Account account;
    {
      MemoryPool pool({.reuse = reuse, .allocator = account.allocator(), .memory = "dram"});
      void *block = pool.allocate(5000);
      ASSERT_NE(block, nullptr);
      EXPECT_GE(account.bytes, 5000u);
      std::memset(block, 1, 5000);
      pool.release(block);
      EXPECT_EQ(account.bytes != 0, reuse);
      account.fails = true;
      // What is kept is given up to make room.
      EXPECT_EQ(pool.allocate(1 << 20), nullptr);
      EXPECT_EQ(account.bytes, 0u);
      EXPECT_EQ(pool.statistics().liveBytes, 0u);
      account.fails = false;
      pool.release(pool.allocate(1 << 20));
    }
    EXPECT_EQ(account.bytes, 0u);
  }
}

TEST(MemoryPool, MisalignedMemoryOfAnAllocatorGoesBack) {
  Account account;
  account.shift = 8;
  MemoryPool pool({.allocator = account.allocator(), .memory = "dram"});
  EXPECT_EQ(pool.allocate(100), nullptr);
  EXPECT_EQ(account.bytes, 0u);
}

TEST(MemoryPool, ManyThreadsNeverShareABlock) {
  PLIM_TRACE_SEED();
  MemoryPool pool({.maxKeptBytes = 256 << 10});
  auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::deque<std::pair<unsigned char *, size_t>> held;
    auto check = [&] {
      auto [block, bytes] = held.front();
      held.pop_front();
      for (size_t i = 0; i < bytes; i += 61)
        ASSERT_EQ(block[i], static_cast<unsigned char>(seed));
      pool.release(block);
    };
    for (int i = 0; i < 5000; ++i) {
      size_t bytes = random() % 16 == 0 ? random() % 50000 : random() % 1000;
      auto *block = static_cast<unsigned char *>(pool.allocate(bytes));
      ASSERT_NE(block, nullptr);
      std::memset(block, static_cast<unsigned char>(seed), bytes);
      held.emplace_back(block, bytes);
      if (held.size() > 20)
        check();
    }
    while (!held.empty())
      check();
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i)
    threads.emplace_back(work, testing::testSeed() + i);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(pool.statistics().liveBytes, 0u);
  EXPECT_EQ(pool.statistics().allocations, 20000u);
}

/// Moves the threads apart: what they do at the same time may make them go to different shards.
void meet(MemoryPool &pool) {
  for (int i = 0; i < 20000; ++i)
    pool.release(pool.allocate(64));
}

void onThreads(size_t count, const std::function<void(size_t)> &job) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back(job, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(MemoryPool, BlocksOutliveThePool) {
  for (bool reuse : {true, false}) {
    Account account;
    std::vector<void *> blocks;
    MemoryPool::Storage *storage;
    {
      MemoryPool pool({.reuse = reuse, .allocator = account.allocator(), .memory = "dram"});
      storage = &pool.storage();
      for (size_t bytes : {0u, 100u, 100u, 1u << 20})
        blocks.push_back(pool.allocate(bytes));
      pool.release(blocks.back());
      blocks.pop_back();
    }
    // What was kept is gone, what is in use is not.
    EXPECT_GE(account.bytes, 200u);
    EXPECT_LT(account.bytes, 1u << 20);
    for (void *block : blocks) {
      std::memset(block, 1, 64);
      MemoryPool::releaseTo(*storage, block);
    }
    EXPECT_EQ(account.bytes, 0u);
  }
}

TEST(MemoryPool, AnyThreadMayReleaseTheLastBlock) {
  for (int i = 0; i < 50; ++i) {
    auto pool = std::make_unique<MemoryPool>();
    std::array<void *, 4> blocks;
    for (void *&block : blocks)
      block = pool->allocate(100);
    MemoryPool::Storage &storage = pool->storage();
    onThreads(5, [&](size_t index) {
      if (index == blocks.size())
        pool.reset();
      else
        MemoryPool::releaseTo(storage, blocks[index]);
    });
  }
}

TEST(MemoryPool, WhatAnotherThreadReleasesComesBack) {
  MemoryPool pool;
  onThreads(2, [&](size_t) { meet(pool); });
  uint64_t before = pool.statistics().allocations - pool.statistics().poolHits;
  std::atomic<void *> given{nullptr};
  constexpr int count = 2000;
  onThreads(2, [&](size_t index) {
    for (int i = 0; i < count; ++i) {
      if (index == 0) {
        void *block = pool.allocate(1000);
        for (void *none = nullptr; !given.compare_exchange_weak(none, block); none = nullptr)
          std::this_thread::yield();
        continue;
      }
      void *block;
      while (!(block = given.exchange(nullptr)))
        std::this_thread::yield();
      pool.release(block);
    }
  });
  MemoryPoolStatistics statistics = pool.statistics();
  EXPECT_EQ(statistics.liveBytes, 0u);
  // One is made while the other waits and a third is released, in each shard that the threads come to.
  EXPECT_LE(statistics.allocations - statistics.poolHits - before, 3u * 64);
}

TEST(MemoryPool, LargeBlocksServeAllThreads) {
  // Which shards threads come to is chance, and in some rounds they are apart.
  std::array<MemoryPool, 40> pools;
  std::barrier together(4);
  std::mutex turn;
  onThreads(4, [&](size_t) {
    for (MemoryPool &pool : pools) {
      together.arrive_and_wait();
      meet(pool);
      std::lock_guard lock(turn); // never two at once
      pool.release(pool.allocate(1 << 20));
    }
  });
  for (MemoryPool &pool : pools) {
    MemoryPoolStatistics statistics = pool.statistics();
    EXPECT_LT(statistics.keptBytes, (1u << 20) + (64u << 10));
    EXPECT_EQ(statistics.liveBytes, 0u);
  }
}

TEST(MemoryPool, ThePeakOfOneThreadIsExact) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  MemoryPool pool;
  std::vector<void *> held;
  size_t live = 0, peak = 0;
  for (int i = 0; i < 20000; ++i) {
    if (!held.empty() && random() % 2 == 0) {
      std::swap(held[random() % held.size()], held.back());
      live -= pool.capacityOf(held.back());
      pool.release(held.back());
      held.pop_back();
    } else {
      held.push_back(pool.allocate(random() % 8 == 0 ? random() % 200000 : random() % 1000));
      live += pool.capacityOf(held.back());
    }
    peak = std::max(peak, live);
    if (i % 1000 == 0) {
      EXPECT_EQ(pool.statistics().liveBytes, live);
      EXPECT_EQ(pool.statistics().peakBytes, peak);
    }
    EXPECT_EQ(pool.liveBytes(), live);
  }
  EXPECT_EQ(pool.statistics().peakBytes, peak);
  for (void *block : held)
    pool.release(block);
}

TEST(MemoryPool, ThePeakOfSeveralThreadsIsNearlyExact) {
  constexpr size_t count = 4, each = 300, bytes = 1024;
  MemoryPool pool;
  std::barrier together(count);
  onThreads(count, [&](size_t) {
    together.arrive_and_wait();
    meet(pool);
    std::vector<void *> held;
    for (size_t i = 0; i < each; ++i)
      held.push_back(pool.allocate(bytes));
    together.arrive_and_wait();
    for (void *block : held)
      pool.release(block);
  });
  EXPECT_GE(pool.statistics().peakBytes + count * (128 << 10), count * each * bytes);
  EXPECT_LE(pool.statistics().peakBytes, count * (each * bytes + 64 + (128 << 10)));
  EXPECT_EQ(pool.statistics().liveBytes, 0u);
}

TEST(MemoryPool, ThreadsKeepWithinTheBound) {
  MemoryPool pool({.maxKeptBytes = 256 << 10});
  onThreads(4, [&](size_t index) {
    meet(pool);
    for (int turn = 0; turn < 100; ++turn) {
      std::vector<void *> held;
      for (int i = 0; i < 100; ++i)
        held.push_back(pool.allocate(1000 << index));
      for (void *block : held)
        pool.release(block);
    }
  });
  EXPECT_LE(pool.statistics().keptBytes, (256u + 32u) << 10);
  pool.trim();
  EXPECT_EQ(pool.statistics().keptBytes, 0u);
}

} // namespace
} // namespace plim::runtime
