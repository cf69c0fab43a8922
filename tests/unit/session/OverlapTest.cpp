// Buffers with and without memory in common, against a look at every byte.
#include "engine/session/Overlap.h"
#include "tests/unit/session/EngineFixture.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace plim {
namespace {

using namespace testing;
using session::intervalOf;
using session::overlap;

/// Nothing of it is ever read.
std::byte *memory() {
  alignas(64) static std::byte bytes[1 << 16];
  return bytes + sizeof bytes / 2;
}

/// With all of them written.
bool areApart(const std::vector<Value> &values) {
  jit::ValueType written;
  written.access = jit::Access::ReadWrite;
  return session::areApart(values, std::vector<jit::ValueType>(values.size(), written));
}

Buffer view(ElementType type, int64_t offset, std::vector<int64_t> shape,
            std::vector<int64_t> strides) {
  StatusOr<Buffer> buffer = Buffer::wrapStrided(memory() + offset * elementBytes(type), type, shape,
                                                strides, false, nullptr, nullptr);
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return *buffer;
}

std::set<uintptr_t> bytesOf(const Buffer &buffer) {
  std::set<uintptr_t> bytes;
  for (int64_t element = 0; element < buffer.elementCount(); ++element) {
    auto address = reinterpret_cast<intptr_t>(buffer.data());
    int64_t rest = element;
    for (size_t i = buffer.shape().size(); i-- > 0; rest /= buffer.shape()[i])
      address += rest % buffer.shape()[i] * buffer.strides()[i] * elementBytes(buffer.type());
    for (int64_t byte = 0; byte < elementBytes(buffer.type()); ++byte)
      bytes.insert(static_cast<uintptr_t>(address + byte));
  }
  return bytes;
}

bool shareBytes(const std::set<uintptr_t> &a, const std::set<uintptr_t> &b) {
  return std::any_of(a.begin(), a.end(), [&](uintptr_t byte) { return b.contains(byte); });
}

TEST(Overlap, IntervalsReachFromTheFirstByteToTheLast) {
  auto expectInterval = [](const Buffer &buffer) {
    std::set<uintptr_t> bytes = bytesOf(buffer);
    session::Interval interval = intervalOf(buffer);
    EXPECT_EQ(interval.begin, *bytes.begin());
    EXPECT_EQ(interval.end, *bytes.rbegin() + 1);
  };
  expectInterval(view(ElementType::F32, 0, {}, {}));
  expectInterval(view(ElementType::F64, 3, {4, 5}, {5, 1}));
  expectInterval(view(ElementType::I8, 3, {4, 5}, {-9, 2}));
  expectInterval(view(ElementType::F16, 0, {4, 1, 3}, {0, 77, -1}));
}

TEST(Overlap, NothingMeetsWhatIsEmpty) {
  Buffer all = view(ElementType::F32, 0, {64}, {1});
  for (const Buffer &empty :
       {view(ElementType::F32, 8, {0}, {1}), view(ElementType::F32, 8, {4, 0, 3}, {-7, 5, 1}),
        *Buffer::wrap(nullptr, ElementType::F32, std::vector<int64_t>{0}, false, nullptr,
                      nullptr)}) {
    EXPECT_FALSE(overlap(all, empty));
    EXPECT_FALSE(overlap(empty, all));
    EXPECT_TRUE(areApart(std::vector<Value>{all, empty, empty}));
  }
}

TEST(Overlap, ViewsOfOneMatrixThatInterleaveAreApart) {
  for (int64_t columns : {8, 9, 64, 67}) {
    auto slice = [&](int64_t at, int64_t rows, int64_t count, int64_t rowStep, int64_t step) {
      return view(ElementType::F32, at, {rows, count}, {columns * rowStep, step});
    };
    int64_t half = columns / 2;
    // Even and odd columns, left and right half, even and odd rows, upper rows and one below.
    Buffer even = slice(0, 16, half, 1, 2), odd = slice(1, 16, half, 1, 2);
    Buffer left = slice(0, 16, half, 1, 1), right = slice(half, 16, half, 1, 1);
    Buffer evenRows = slice(0, 8, columns, 2, 1), oddRows = slice(columns, 8, columns, 2, 1);
    EXPECT_FALSE(overlap(even, odd)) << columns;
    EXPECT_FALSE(overlap(left, right)) << columns;
    EXPECT_FALSE(overlap(evenRows, oddRows)) << columns;
    EXPECT_TRUE(overlap(even, left) && overlap(odd, right) && overlap(evenRows, even)) << columns;
    // One column more, and backwards.
    EXPECT_TRUE(overlap(slice(0, 16, half + 1, 1, 1), right));
    EXPECT_FALSE(overlap(slice(2 * half - 2, 16, half, 1, -2), odd)) << columns;
    EXPECT_TRUE(overlap(slice(2 * half - 1, 16, half, 1, -2), odd)) << columns;
  }
  // Real and imaginary parts; a byte of a wider element.
  EXPECT_FALSE(overlap(view(ElementType::F64, 0, {50}, {2}), view(ElementType::F64, 1, {50}, {2})));
  EXPECT_FALSE(overlap(view(ElementType::F32, 0, {50}, {3}), view(ElementType::I8, 4, {50}, {12})));
  EXPECT_TRUE(overlap(view(ElementType::F32, 0, {50}, {3}), view(ElementType::I8, 3, {50}, {12})));
}

TEST(Overlap, AgreesWithEveryByte) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  constexpr ElementType types[] = {ElementType::I8, ElementType::F16, ElementType::F32,
                                   ElementType::F64};
  auto make = [&](const std::vector<int64_t> *strides) {
    ElementType type = types[pick(0, 3)];
    std::vector<int64_t> shape(strides ? strides->size() : static_cast<size_t>(pick(0, 3)));
    std::vector<int64_t> own(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
      shape[i] = pick(pick(0, 9) == 0 ? 0 : 1, 6);
      own[i] = pick(0, 3) == 0 ? pick(-3, 3) : pick(-40, 40);
    }
    return view(type, pick(0, 160), shape, strides ? *strides : own);
  };
  int apart = 0, taken = 0, together = 0;
  for (int i = 0; i < 20000; ++i) {
    Buffer a = make(nullptr);
    std::vector<int64_t> strides(a.strides().begin(), a.strides().end());
    Buffer b = make(pick(0, 1) ? &strides : nullptr);
    bool share = shareBytes(bytesOf(a), bytesOf(b));
    ASSERT_EQ(overlap(a, b), overlap(b, a));
    ASSERT_TRUE(overlap(a, b) || !share) << "buffers that share a byte are taken for apart";
    together += share;
    apart += !share;
    taken += !share && overlap(a, b);
    ASSERT_EQ(areApart(std::vector<Value>{a, Scalar{}, b}), !overlap(a, b));
  }
  EXPECT_GT(together, 2000);
  EXPECT_GT(apart, 4000);
  // The search gives up on few of them.
  EXPECT_LE(taken, apart / 100);
}

TEST(Overlap, WhatIsOnlyReadMayBePassedTwice) {
  Buffer a = view(ElementType::F32, 0, {64}, {1}), b = view(ElementType::F32, 64, {64}, {1});
  std::vector<jit::ValueType> types(3);
  types[2].access = jit::Access::WriteOnly;
  EXPECT_TRUE(session::areApart(std::vector<Value>{a, a, b}, types));
  EXPECT_FALSE(session::areApart(std::vector<Value>{a, b, b}, types));
}

TEST(Overlap, OneMeetingAmongManyIsFound) {
  for (size_t count : {2u, 3u, 8u, 16u, 40u}) {
    std::vector<Value> values;
    for (size_t i = 0; i < count; ++i) // in no order
      values.push_back(view(ElementType::F32, static_cast<int64_t>(i * 7 % 41 * 16), {16}, {1}));
    EXPECT_TRUE(areApart(values));
    for (size_t i = 0; i < count; ++i)
      for (int64_t by : {-15, 15}) {
        std::vector<Value> moved = values;
        auto at = static_cast<int64_t>((i + 1) % count * 7 % 41 * 16);
        moved[i] = view(ElementType::F32, at + by, {16}, {1});
        EXPECT_FALSE(areApart(moved)) << count << " " << i;
      }
  }
}

TEST(Overlap, StridesWithoutEndAreTakenForAnOverlap) {
  constexpr int64_t far = int64_t(1) << 58;
  EXPECT_TRUE(
      overlap(view(ElementType::F32, 0, {2}, {far}), view(ElementType::F32, 1, {2}, {far})));
}

/// Reads the first element of `w` in each turn, which a store to `y` may have changed.
constexpr const char *recurrenceSource = R"(
!s = memref<?xf32, strided<[?], offset: ?>>
func.func @shift(%w: !s, %x: !s, %y: !s) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : !s
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %w[%c0] : !s
    %b = memref.load %x[%i] : !s
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%i] : !s
  }
  return
})";

TEST(Kernels, SeeTheirOwnStoresWhereArgumentsOverlap) {
  std::shared_ptr<Engine> engine = makeEngine();
  Function shift = lookup(load(*engine, recurrenceSource), "shift");
  auto *raw = reinterpret_cast<void (*)(float *, int64_t, int64_t, float *, int64_t, int64_t,
                                        float *, int64_t, int64_t)>(shift.rawPointer());
  constexpr int64_t count = 37;
  for (int64_t step : {1, 2, 3})
    for (int64_t w : {0, 40, 41, 150})
      for (int64_t x : {0, 1, 7, 38, 39, 150})
        for (int64_t y : {2, 38, 39, 40}) {
          std::vector<float> memory(300), called, byPointer;
          std::iota(memory.begin(), memory.end(), 1.0f);
          called = byPointer = memory;
          int64_t shape[] = {count}, strides[] = {step};
          auto at = [&](int64_t offset) -> Value {
            return *Buffer::wrapStrided(called.data() + offset, ElementType::F32, shape, strides,
                                        false, nullptr, nullptr);
          };
          ASSERT_TRUE(shift.call(std::vector<Value>{at(w), at(x), at(y)}).ok());
          float *data = byPointer.data();
          raw(data + w, count, step, data + x, count, step, data + y, count, step);
          for (int64_t i = 0; i < count; ++i)
            memory[static_cast<size_t>(y + i * step)] =
                memory[static_cast<size_t>(w)] + memory[static_cast<size_t>(x + i * step)];
          ASSERT_EQ(called, memory) << step << " " << w << " " << x << " " << y;
          ASSERT_EQ(byPointer, memory) << step << " " << w << " " << x << " " << y;
        }
}

} // namespace
} // namespace plim
