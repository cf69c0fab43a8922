// What tests of the executor and of schedules share: a host that grants threads, dispatch entries that count,
// fail or wait for each other, and schedules of them.
#pragma once

#include "tests/unit/engine/RuntimeFixture.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace plim::runtime {

using Clock = std::chrono::steady_clock;

inline constexpr plim_code invalidArgument = static_cast<plim_code>(StatusCode::InvalidArgument);

/// A host that grants more threads than small machines have: every machine sees the same arenas.
class ExecutorTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, 8);
  }
  static void TearDownTestSuite() { limit.reset(); }

private:
  static inline std::unique_ptr<tbb::global_control> limit;
};
inline void spin(std::chrono::microseconds time) {
  for (auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

/// bindings[0]: one counter per workgroup. Scratch is used and must not be shared.
inline plim_code countEntry(plim_context *context, void *const *bindings, const int64_t *,
                            int64_t begin, int64_t end) {
  auto *counters = static_cast<std::atomic<int> *>(bindings[0]);
  auto *scratch = static_cast<int64_t *>(plim_rt_scratch(context, 512));
  if (!scratch)
    return context->status;
  for (int i = 0; i < 64; ++i)
    scratch[i] = begin;
  for (int64_t i = begin; i < end; ++i)
    counters[i].fetch_add(1, std::memory_order_relaxed);
  for (int i = 0; i < 64; ++i)
    if (scratch[i] != begin)
      return plim_rt_fail(context, invalidArgument, "scratch was overwritten");
  return 0;
}

/// None waits for another.
inline plim_code runAtOnce(plim_context *context, std::span<const plim_launch> launches) {
  const plim_schedule schedule = {launches.size(), nullptr};
  return plim_rt_schedule(context, &schedule, launches.data());
}

/// Runs countEntry for one call and checks that every workgroup ran once.
inline void countOnce(RuntimeParts &parts, int64_t count, int64_t cost) {
  std::vector<std::atomic<int>> counters(static_cast<size_t>(std::max<int64_t>(count, 0)));
  void *bindings[] = {counters.data()};
  int64_t scalars[] = {count};
  plim_dispatch dispatch = dispatchOf(countEntry, firstScalar, "count", cost);
  Call call(parts);
  EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), 0);
  EXPECT_TRUE(call.status().ok()) << call.status().toString();
  for (std::atomic<int> &counter : counters)
    ASSERT_EQ(counter.load(), 1);
}

struct FailingWork {
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  int64_t failAt = 0;
};

inline plim_code failingEntry(plim_context *context, void *const *bindings, const int64_t *,
                              int64_t begin, int64_t end) {
  auto *work = static_cast<FailingWork *>(bindings[0]);
  work->started.fetch_add(1);
  plim_code code = 0;
  if (begin <= work->failAt && work->failAt < end)
    code = plim_rt_fail(context, invalidArgument, "m.mlir:3:4: it failed");
  else
    spin(std::chrono::microseconds(50));
  work->ended.fetch_add(1);
  return code;
}

/// The dispatches of a group that runs countEntry.
struct CountedGroup {
  struct Member {
    explicit Member(int64_t count, int64_t cost)
        : counters(static_cast<size_t>(std::max<int64_t>(count, 0))), scalar(count),
          binding(counters.data()), dispatch(dispatchOf(countEntry, firstScalar, "count", cost)) {}
    std::vector<std::atomic<int>> counters;
    int64_t scalar;
    void *binding;
    plim_dispatch dispatch;
  };

  void add(int64_t count, int64_t cost) {
    auto &member = *members.emplace_back(std::make_unique<Member>(count, cost));
    launches.push_back({&member.dispatch, &member.binding, &member.scalar});
  }
  plim_code run(plim_context *context) const { return runAtOnce(context, launches); }

  std::vector<std::unique_ptr<Member>> members;
  std::vector<plim_launch> launches;
};

/// Runs one call of a group and checks that every workgroup of every dispatch ran once.
inline void countGroupOnce(RuntimeParts &parts,
                           const std::vector<std::pair<int64_t, int64_t>> &sizes) {
  CountedGroup group;
  for (auto [count, cost] : sizes)
    group.add(count, cost);
  Call call(parts);
  EXPECT_EQ(group.run(call.context()), 0);
  EXPECT_TRUE(call.status().ok()) << call.status().toString();
  for (auto &member : group.members)
    for (std::atomic<int> &counter : member->counters)
      ASSERT_EQ(counter.load(), 1);
}

/// A schedule whose launches find out whether those that they wait for have ended.
class OrderedWork {
public:
  /// Each waits for some of those before it; `sizes` are workgroups and their cost.
  OrderedWork(std::mt19937 &random, const std::vector<std::pair<int64_t, int64_t>> &sizes) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      uint64_t before = 0;
      for (int edges = static_cast<int>(random() % 4); i > 0 && edges > 0; --edges)
        before |= uint64_t{1} << (i - 1 - random() % std::min<size_t>(i, 5));
      add(sizes[i].first, sizes[i].second, before);
    }
  }
  OrderedWork() = default;

  void add(int64_t count, int64_t cost, uint64_t before, plim_dispatch_entry entry = &runOne) {
    auto &one = *all.emplace_back(std::make_unique<One>());
    one.work = this;
    one.count = count;
    one.before = before;
    one.binding = &one;
    one.dispatch = dispatchOf(entry, firstScalar, "ordered", cost);
    launches.push_back({&one.dispatch, &one.binding, &one.count});
    predecessors.push_back(before);
  }
  plim_code run(plim_context *context) const {
    const plim_schedule schedule = {launches.size(), predecessors.data()};
    return plim_rt_schedule(context, &schedule, launches.data());
  }

  struct One {
    OrderedWork *work;
    int64_t count;
    uint64_t before;
    void *binding;
    plim_dispatch dispatch;
    std::atomic<int64_t> done{0};
  };
  std::vector<std::unique_ptr<One>> all;

private:
  static plim_code runOne(plim_context *context, void *const *bindings, const int64_t *,
                          int64_t begin, int64_t end) {
    auto *one = static_cast<One *>(bindings[0]);
    for (size_t i = 0; i < one->work->all.size(); ++i) {
      const One &other = *one->work->all[i];
      // Plain memory order: what is written there must be visible by the schedule alone.
      if ((one->before >> i & 1) &&
          other.done.load(std::memory_order_relaxed) != std::max<int64_t>(other.count, 0))
        return plim_rt_fail(context, invalidArgument, "ran before its predecessor had ended");
    }
    one->done.fetch_add(end - begin, std::memory_order_relaxed);
    return 0;
  }

  std::vector<plim_launch> launches;
  std::vector<uint64_t> predecessors;
};

/// Both of two workgroups are there at once; a busy machine may take its time.
inline plim_code meet(plim_context *context, void *const *bindings, const int64_t *, int64_t begin,
                      int64_t end) {
  auto &come = static_cast<OrderedWork::One *>(bindings[0])->done;
  come.fetch_add(end - begin);
  for (auto limit = Clock::now() + std::chrono::seconds(10); Clock::now() < limit;)
    if (come.load() == 2)
      return 0;
  return plim_rt_fail(context, invalidArgument, "alone");
}

} // namespace plim::runtime
