#include "engine/runtime/Buffer.h"

#include "engine/abi/plim_abi.h"
#include "engine/runtime/Value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

namespace plim::runtime {
namespace {

using ::testing::ElementsAre;
using Shape = std::vector<int64_t>;

std::shared_ptr<MemoryPool> makePool(MemoryPoolOptions options = {}) {
  return std::make_shared<MemoryPool>(options);
}

TEST(Buffer, AllocateDescribesItself) {
  auto pool = makePool();
  StatusOr<Buffer> made = Buffer::allocate(pool, ElementType::F32, Shape{2, 3});
  ASSERT_TRUE(made.ok());
  const Buffer &buffer = *made;
  EXPECT_THAT(buffer.shape(), ElementsAre(2, 3));
  EXPECT_EQ(buffer.type(), ElementType::F32);
  EXPECT_EQ(buffer.elementCount(), 6);
  EXPECT_EQ(buffer.bytes(), 24u);
  EXPECT_FALSE(buffer.readOnly());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % PLIM_BUFFER_ALIGNMENT, 0u);
  EXPECT_EQ(made->mutableData(), buffer.data());
}

TEST(Buffer, RankZeroEmptyAndHighRank) {
  auto pool = makePool();
  Buffer scalar = *Buffer::allocate(pool, ElementType::I1, {});
  EXPECT_EQ(scalar.shape().size(), 0u);
  EXPECT_EQ(scalar.elementCount(), 1);
  EXPECT_EQ(scalar.bytes(), 1u);

  Buffer empty = *Buffer::allocate(pool, ElementType::F64, Shape{0, 4});
  EXPECT_EQ(empty.elementCount(), 0);
  EXPECT_NE(empty.data(), nullptr);
  EXPECT_THAT(empty.shape(), ElementsAre(0, 4));

  Shape many(40, 1);
  many[39] = 7;
  Buffer high = *Buffer::allocate(pool, ElementType::Index, many);
  EXPECT_EQ(high.shape().size(), 40u);
  EXPECT_EQ(high.shape()[39], 7);
  EXPECT_EQ(high.bytes(), 56u);
}

TEST(Buffer, BadShapesAreErrors) {
  auto pool = makePool();
  int64_t big = std::numeric_limits<int64_t>::max();
  for (const Shape &shape : {Shape{-1}, Shape{big}, Shape{1 << 20, int64_t{1} << 62}}) {
    EXPECT_EQ(Buffer::allocate(pool, ElementType::F32, shape).status().code(),
              StatusCode::InvalidArgument);
    EXPECT_EQ(
        Buffer::wrap(nullptr, ElementType::F32, shape, false, nullptr, nullptr).status().code(),
        StatusCode::InvalidArgument);
  }
  EXPECT_EQ(pool->statistics().liveBytes, 0u);
}

TEST(Buffer, StridesOfDenseBuffers) {
  auto pool = makePool();
  EXPECT_THAT(Buffer::allocate(pool, ElementType::F32, Shape{2, 3, 4})->strides(),
              ElementsAre(12, 4, 1));
  EXPECT_THAT(Buffer::allocate(pool, ElementType::F32, Shape{2, 0, 4})->strides(),
              ElementsAre(4, 4, 1));
  EXPECT_TRUE(Buffer::allocate(pool, ElementType::F32, {})->isDense());
  EXPECT_TRUE(Buffer::allocate(pool, ElementType::F32, Shape{2, 0})->isDense());
}

TEST(Buffer, WrapStridedKnowsWhatIsDense) {
  std::vector<float> memory(64);
  auto wrap = [&](const Shape &shape, const Shape &strides) {
    return *Buffer::wrapStrided(memory.data() + 32, ElementType::F32, shape, strides, false,
                                nullptr, nullptr);
  };
  Buffer window = wrap({2, 3}, {8, 1});
  EXPECT_FALSE(window.isDense());
  EXPECT_THAT(window.shape(), ElementsAre(2, 3));
  EXPECT_THAT(window.strides(), ElementsAre(8, 1));
  EXPECT_EQ(window.data(), memory.data() + 32);
  EXPECT_EQ(window.elementCount(), 6);
  EXPECT_FALSE(wrap({2, 3}, {0, 1}).isDense());
  EXPECT_FALSE(wrap({3}, {-1}).isDense());
  EXPECT_TRUE(wrap({2, 3}, {3, 1}).isDense());
  // Where there is nothing to be apart, strides are of no account.
  EXPECT_TRUE(wrap({1, 3}, {77, 1}).isDense());
  EXPECT_TRUE(wrap({2, 0}, {-5, 9}).isDense());
  EXPECT_TRUE(wrap({}, {}).isDense());
}

TEST(Buffer, BadStridesAreErrorsAndReleaseNothing) {
  float memory[4] = {};
  int released = 0;
  auto status = [&](const Shape &shape, const Shape &strides) {
    auto release = [](void *user, void *) { ++*static_cast<int *>(user); };
    return Buffer::wrapStrided(memory, ElementType::F32, shape, strides, false, release, &released)
        .status();
  };
  int64_t big = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(status({2, 3}, {1}).message(), "1 strides for 2 extents");
  for (const Shape &strides :
       {Shape{big, 1}, Shape{big / 4, 1}, Shape{-big, 1},
        Shape{std::numeric_limits<int64_t>::min(), 1}, Shape{big / 15, big / 15}})
    EXPECT_EQ(status({3, 3}, strides).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status({-1}, {1}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(released, 0);
  EXPECT_TRUE(status({3, 0}, {big, big}).ok());
  EXPECT_EQ(released, 1);
}

TEST(Buffer, NoMemoryIsAnErrorAndLeaksNothing) {
  auto pool = makePool({.maxSystemBytes = 4096});
  EXPECT_EQ(Buffer::allocate(pool, ElementType::F32, Shape{2000}).status().code(),
            StatusCode::ResourceExhausted);
  // The elements fit, the handle does not.
  EXPECT_EQ(Buffer::allocate(pool, ElementType::F32, Shape{1024}).status().code(),
            StatusCode::ResourceExhausted);
  EXPECT_EQ(pool->statistics().liveBytes, 0u);
}

TEST(Buffer, OutlivesEveryOtherUserOfThePool) {
  auto pool = makePool();
  Buffer buffer = *Buffer::allocate(pool, ElementType::I64, Shape{100});
  pool.reset(); // the block is given back all the same, as the search for leaks would tell
  Buffer copy = buffer;
  buffer = Buffer();
  EXPECT_FALSE(buffer);
  std::memset(copy.mutableData(), 0, copy.bytes());
}

TEST(Buffer, WrapReleasesOnceWithTheLastHandle) {
  struct Host {
    float elements[4] = {1, 2, 3, 4};
    int released = 0;
  } host;
  auto release = [](void *user, void *data) {
    EXPECT_EQ(data, static_cast<Host *>(user)->elements);
    ++static_cast<Host *>(user)->released;
  };
  {
    Buffer buffer =
        *Buffer::wrap(host.elements, ElementType::F32, Shape{2, 2}, true, release, &host);
    EXPECT_TRUE(buffer.readOnly());
    EXPECT_EQ(buffer.mutableData(), nullptr);
    EXPECT_EQ(buffer.data(), host.elements);
    Buffer moved = std::move(buffer);
    Value value = moved;
    moved = Buffer();
    EXPECT_EQ(host.released, 0);
  }
  EXPECT_EQ(host.released, 1);
  {
    Buffer plain =
        *Buffer::wrap(host.elements, ElementType::F32, Shape{4}, false, nullptr, nullptr);
  }
  EXPECT_EQ(host.released, 1);
}

TEST(Buffer, WrapChecksPointerAndAlignmentAndDoesNotReleaseOnFailure) {
  alignas(8) char bytes[16];
  auto release = [](void *, void *) { FAIL() << "released"; };
  EXPECT_FALSE(Buffer::wrap(bytes + 1, ElementType::F32, Shape{2}, false, release, nullptr).ok());
  EXPECT_FALSE(Buffer::wrap(nullptr, ElementType::F32, Shape{2}, false, release, nullptr).ok());
  EXPECT_TRUE(Buffer::wrap(bytes + 1, ElementType::I8, Shape{2}, false, nullptr, nullptr).ok());
  EXPECT_TRUE(Buffer::wrap(nullptr, ElementType::F32, Shape{0}, false, nullptr, nullptr).ok());
}

TEST(Buffer, FromCopyChecksTheSize) {
  auto pool = makePool();
  std::vector<int32_t> source(6);
  std::iota(source.begin(), source.end(), 0);
  Buffer buffer =
      *Buffer::fromCopy(pool, ElementType::I32, Shape{6}, std::as_bytes(std::span(source)));
  EXPECT_EQ(std::memcmp(buffer.data(), source.data(), 24), 0);
  EXPECT_EQ(Buffer::fromCopy(pool, ElementType::I32, Shape{7}, std::as_bytes(std::span(source)))
                .status()
                .code(),
            StatusCode::InvalidArgument);
  EXPECT_TRUE(Buffer::fromCopy(pool, ElementType::I32, Shape{0}, {}).ok());
}

TEST(Buffer, AdoptTakesABlockThatIsLargeEnough) {
  auto pool = makePool();
  void *block = pool->allocate(64);
  EXPECT_EQ(Buffer::adopt(pool, block, ElementType::F32, Shape{17}).status().code(),
            StatusCode::InvalidArgument);
  {
    Buffer buffer = *Buffer::adopt(pool, block, ElementType::F32, Shape{16});
    EXPECT_EQ(buffer.data(), block);
  }
  EXPECT_EQ(pool->statistics().liveBytes, 0u);
}

TEST(Buffer, HandlesAreCountedAcrossThreads) {
  auto pool = makePool();
  Buffer buffer = *Buffer::allocate(pool, ElementType::F32, Shape{8});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([copy = buffer] {
      for (int j = 0; j < 20000; ++j) {
        Buffer another = copy;
        Buffer moved = std::move(another);
        ASSERT_EQ(moved.elementCount(), 8);
      }
    });
  buffer = Buffer();
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
  EXPECT_EQ(pool->statistics().liveBytes, 0u);
}

} // namespace
} // namespace plim::runtime
