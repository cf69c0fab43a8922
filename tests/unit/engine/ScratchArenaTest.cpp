#include "engine/runtime/ScratchArena.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace plim::runtime {
namespace {

TEST(ScratchArena, PiecesAreDisjointAndAligned) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  MemoryPool pool;
  ScratchArena arena(pool);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<unsigned char *, size_t>> pieces;
    for (int i = 0; i < 50; ++i) {
      size_t bytes = random() % 8 == 0 ? random() % 300000 : random() % 5000;
      auto *piece = static_cast<unsigned char *>(arena.allocate(bytes));
      ASSERT_NE(piece, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
      std::memset(piece, i, bytes);
      pieces.emplace_back(piece, bytes);
    }
    for (int i = 0; i < 50; ++i)
      for (size_t j = 0; j < pieces[i].second; j += 37)
        ASSERT_EQ(pieces[i].first[j], i);
    arena.reset({});
  }
}

TEST(ScratchArena, SameUseAgainTakesNothingFromThePool) {
  MemoryPool pool;
  ScratchArena arena(pool);
  std::vector<void *> first;
  uint64_t allocations = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<void *> pieces;
    for (size_t bytes : {100u, 70000u, 10u, 300000u, 5u, 65536u})
      pieces.push_back(arena.allocate(bytes));
    if (round == 0) {
      first = pieces;
      allocations = pool.statistics().allocations;
    }
    EXPECT_EQ(pieces, first);
    arena.reset({});
  }
  EXPECT_EQ(pool.statistics().allocations, allocations);
}

TEST(ScratchArena, MarksNest) {
  MemoryPool pool;
  ScratchArena arena(pool);
  auto *outer = static_cast<char *>(arena.allocate(100));
  std::strcpy(outer, "outer");
  ScratchArena::Mark mark = arena.mark();
  void *inner = arena.allocate(200000);
  std::memset(inner, 0, 200000);
  arena.reset(mark);
  EXPECT_EQ(arena.allocate(200000), inner);
  EXPECT_STREQ(outer, "outer");
}

TEST(ScratchArena, NoMemoryGivesNullAndKeepsTheRest) {
  MemoryPool pool({.maxSystemBytes = 100000});
  ScratchArena arena(pool);
  void *piece = arena.allocate(1000);
  ASSERT_NE(piece, nullptr);
  EXPECT_EQ(arena.allocate(1 << 20), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  // Doubling does not fit, the exact size does.
  EXPECT_NE(arena.allocate(20000), nullptr);
  EXPECT_NE(arena.allocate(30000), nullptr);
}

TEST(ScratchCache, LendsDistinctArenasAndTheLastOneFirst) {
  MemoryPool pool;
  ScratchCache cache(pool);
  ScratchArena *a = cache.take();
  ScratchArena *b = cache.take();
  EXPECT_NE(a, b);
  void *piece = a->allocate(10);
  cache.giveBack(b);
  cache.giveBack(a);
  ScratchArena *again = cache.take();
  EXPECT_EQ(again, a);
  EXPECT_EQ(again->allocate(10), piece);
  cache.giveBack(again);
}

TEST(ScratchCache, TellsAndGivesBackWhatWaits) {
  MemoryPool pool;
  ScratchCache cache(pool);
  ScratchArena *lent = cache.take();
  ScratchArena *waiting = cache.take();
  ASSERT_NE(lent->allocate(1000), nullptr);
  ASSERT_NE(waiting->allocate(1 << 20), nullptr);
  EXPECT_EQ(cache.keptBytes(), 0u);
  uint64_t live = pool.statistics().liveBytes;
  cache.giveBack(waiting);
  size_t kept = cache.keptBytes();
  EXPECT_GE(kept, size_t{1} << 20);
  EXPECT_LT(kept, live);
  cache.trim();
  EXPECT_EQ(cache.keptBytes(), 0u);
  EXPECT_EQ(pool.statistics().liveBytes, live - kept);
  cache.giveBack(lent);
  EXPECT_EQ(cache.keptBytes(), live - kept);
}

} // namespace
} // namespace plim::runtime
