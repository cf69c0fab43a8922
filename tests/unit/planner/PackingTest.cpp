// Where boxes are placed one after the other, beside a search of all offsets; and as an allocator places them.
#include "planner/Packing.h"
#include "planner/Allocated.h"

#include "tests/unit/engine/Random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace plim::planner {
namespace {

Packing packed(const Problem &problem) {
  Model model;
  EXPECT_EQ(build(problem, {}, model), "");
  std::vector<uint32_t> items(model.items.size());
  std::iota(items.begin(), items.end(), 0u);
  return packingOf(model, items, 0);
}

Buffer live(std::vector<Interval> lifetime, int64_t bytes, int64_t alignment = 1) {
  Buffer buffer;
  buffer.lifetime = std::move(lifetime);
  buffer.bytes = bytes;
  buffer.alignment = alignment;
  return buffer;
}

bool meet(const Buffer &a, const Buffer &b) {
  for (const Interval &x : a.lifetime)
    for (const Interval &y : b.lifetime)
      if (x.lower < y.upper && y.lower < x.upper)
        return true;
  return false;
}

/// As placeInOrder(), by trying every offset.
std::vector<int64_t> tryAll(const Problem &problem, const Packing &packing,
                            const std::vector<uint32_t> &order, Fit fit) {
  std::vector<int64_t> offsets(order.size());
  int64_t end = 1;
  for (const Buffer &buffer : problem.buffers)
    end += 2 * (buffer.bytes + buffer.alignment);
  for (size_t k = 0; k < order.size(); ++k) {
    const Buffer &buffer = problem.buffers[order[k]];
    auto isFree = [&](int64_t at) {
      for (size_t i = 0; i < k; ++i) {
        const Buffer &other = problem.buffers[order[i]];
        const int64_t there = offsets[order[i]];
        if (meet(buffer, other) && at < there + other.bytes && there < at + buffer.bytes)
          return false;
      }
      return true;
    };
    int64_t &offset = offsets[order[k]];
    offset = packing.boxes[order[k]].pin;
    if (offset >= 0) {
      if (!isFree(offset))
        return {};
      continue;
    }
    int64_t tightest = std::numeric_limits<int64_t>::max();
    for (int64_t at = 0; at < end; at += buffer.alignment) {
      if (!isFree(at))
        continue;
      int64_t last = at;
      while (last < end && isFree(last + 1))
        ++last;
      const int64_t left = last < end ? last - at : tightest - 1;
      if (offset < 0 || (fit == Fit::Best && left < tightest && last < end)) {
        offset = at;
        tightest = last < end ? left : tightest;
      }
      at = last / buffer.alignment * buffer.alignment;
    }
  }
  return offsets;
}

TEST(PlannerPacking, PlacesWhereASearchOfAllOffsetsDoes) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int round = 0; round < 60 && !::testing::Test::HasFailure(); ++round) {
    Problem problem;
    for (size_t i = 0; i < 25; ++i) {
      const auto lower = int64_t(random() % 10);
      std::vector<Interval> lifetime = {{lower, lower + 1 + int64_t(random() % 5)}};
      if (random() % 4 == 0)
        lifetime.push_back({lifetime[0].upper + 2, lifetime[0].upper + 4});
      problem.buffers.push_back(
          live(std::move(lifetime), 1 + int64_t(random() % 9), int64_t(1) << random() % 4));
    }
    Packing packing = packed(problem);
    std::vector<uint32_t> order(problem.buffers.size());
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    for (Fit fit : {Fit::First, Fit::Best}) {
      const std::vector<int64_t> offsets = placeInOrder(packing, order, fit);
      EXPECT_EQ(offsets, tryAll(problem, packing, order, fit));
      // The same with some of them where they are already, first in the order.
      Packing pinned = packing;
      std::vector<uint32_t> front = order;
      for (size_t i = 0; i < order.size(); i += 4)
        pinned.boxes[order[i]].pin = offsets[order[i]];
      std::partition(front.begin(), front.end(),
                     [&](uint32_t box) { return pinned.boxes[box].pin >= 0; });
      EXPECT_EQ(placeInOrder(pinned, front, fit), tryAll(problem, pinned, front, fit));
    }
  }
}

TEST(PlannerPacking, PinsMayTouchAndMustNotCollide) {
  Problem problem;
  problem.buffers = {live({{0, 4}}, 8), live({{2, 6}}, 8), live({{4, 8}}, 8)};
  Packing packing = packed(problem);
  for (const std::vector<int64_t> &pins : std::vector<std::vector<int64_t>>{{0, 8, 0},
                                                                            {8, 0, 8},
                                                                            {8, 16, 24},
                                                                            {0, 0, 8},
                                                                            {0, 7, 0},
                                                                            {7, 0, 7},
                                                                            {3, 0, 8},
                                                                            {8, 0, 7},
                                                                            {9, 1, 9},
                                                                            {9, 1, 10}})
    for (const std::vector<uint32_t> &order :
         std::vector<std::vector<uint32_t>>{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
      for (size_t box = 0; box < pins.size(); ++box)
        packing.boxes[box].pin = pins[box];
      const bool isGood = std::abs(pins[0] - pins[1]) >= 8 && std::abs(pins[1] - pins[2]) >= 8;
      EXPECT_EQ(placeInOrder(packing, order, Fit::First), isGood ? pins : std::vector<int64_t>())
          << ::testing::PrintToString(pins);
    }
}

TEST(PlannerPacking, WhatIsLeftWhenItStopsGoesOnTopButPins) {
  Problem problem;
  for (int64_t i = 0; i < 200; ++i)
    problem.buffers.push_back(live({{i, i + 1}}, 3, 4)); // apart: all fit in front
  Packing packing = packed(problem);
  std::vector<uint32_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  for (int most : {1, 2, 4}) {
    int asked = 0;
    const std::vector<int64_t> offsets =
        placeInOrder(packing, order, Fit::Best, [&] { return ++asked == most; });
    EXPECT_EQ(asked, std::min(most, 3)); // at 64, 128 and 192
    for (int box = 0, end = 0; box < 200; ++box) {
      const int on = (end + 3) / 4 * 4;
      EXPECT_EQ(offsets[box], box + 1 < 64 * most ? 0 : on) << box;
      end = int(offsets[box]) + 3;
    }
  }
  for (uint32_t i = 0; i < 200; ++i)
    packing.boxes[i].pin = i < 100 ? 5 : 0;
  const std::vector<int64_t> pinned = placeInOrder(packing, order, Fit::Best, [] { return true; });
  for (int box = 0; box < 200; ++box)
    EXPECT_EQ(pinned[box], box < 100 ? 5 : 0) << box;
}

TEST(PlannerPacking, AnAllocatorTakesAgainWhatWasGivenBack) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(plim::testing::testSeed());
  for (int round = 0; round < 60 && !::testing::Test::HasFailure(); ++round) {
    const bool areEqual = round % 2 == 0;
    Problem problem;
    for (size_t i = 0; i < 50; ++i) {
      const auto lower = int64_t(random() % 20);
      const int64_t bytes = areEqual ? 8 : 1 + int64_t(random() % 40);
      problem.buffers.push_back(live({{lower, lower + 1 + int64_t(random() % 5)}}, bytes,
                                     areEqual ? 1 : int64_t(1) << random() % 4));
    }
    const Packing packing = packed(problem);
    const std::vector<int64_t> offsets = placeAsAllocated(packing);
    ASSERT_EQ(offsets.size(), problem.buffers.size());
    for (size_t i = 0; i < offsets.size(); ++i) {
      const Buffer &buffer = problem.buffers[i];
      EXPECT_EQ(offsets[i] % buffer.alignment, 0);
      for (size_t j = 0; j < i; ++j)
        if (meet(buffer, problem.buffers[j]))
          EXPECT_TRUE(offsets[i] + buffer.bytes <= offsets[j] ||
                      offsets[j] + problem.buffers[j].bytes <= offsets[i])
              << i << " and " << j;
    }
    // Of one size they need no more than those that live at once.
    if (!areEqual)
      continue;
    int64_t most = 0;
    for (int64_t time = 0; time < 25; ++time)
      most = std::max(most, std::ranges::count_if(problem.buffers, [&](const Buffer &buffer) {
                        return buffer.lifetime[0].lower <= time && time < buffer.lifetime[0].upper;
                      }));
    EXPECT_EQ(peakOf(packing, offsets), 8 * most);
  }
}

} // namespace
} // namespace plim::planner
