#include "engine/runtime/ScheduleRun.h"

#include "tests/unit/engine/ExecutorFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>

namespace plim::runtime {
namespace {

using ::testing::HasSubstr;

class ScheduleRunTest : public ExecutorTest {};

TEST_F(ScheduleRunTest, EveryWorkgroupOfAGroupRunsOnce) {
  const std::vector<std::vector<std::pair<int64_t, int64_t>>> groups = {
      {},
      {{1, dear}},
      {{0, dear}, {-1, dear}},
      {{1, dear}, {1, dear}, {1, dear}},
      {{3, cheap}, {5, cheap}},
      {{0, dear}, {7, dear}, {0, cheap}, {1, 10 * dear}},
      {{1000, dear}, {1, cheap}, {1, cheap}, {10007, cheap}},
      {{1, INT64_MAX}, {3, INT64_MAX}, {100, 0}},
      std::vector<std::pair<int64_t, int64_t>>(16, {2, dear}),
      std::vector<std::pair<int64_t, int64_t>>(17, {1, dear}),
      std::vector<std::pair<int64_t, int64_t>>(64, {3, dear / 4}),
  };
  for (int threads : {1, 2, 4, 8}) {
    RuntimeParts parts(threads);
    for (const auto &sizes : groups)
      countGroupOnce(parts, sizes);
  }
}

TEST_F(ScheduleRunTest, GroupsOfManyCallersAtOnce) {
  RuntimeParts parts(4);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round)
        countGroupOnce(parts, {{1 + (i + round) % 40, dear}, {1, dear}, {round, cheap}});
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST_F(ScheduleRunTest, SmallGroupsAndOneThreadRunInOrderOnTheCaller) {
  for (auto [threads, cost] : {std::pair{1, 100 * dear}, std::pair{4, cheap}}) {
    RuntimeParts parts(threads);
    struct Seen {
      std::thread::id caller = std::this_thread::get_id();
      std::vector<int64_t> order;
    } seen;
    auto entry = [](plim_context *, void *const *bindings, const int64_t *scalars, int64_t begin,
                    int64_t end) -> plim_code {
      auto *seen = static_cast<Seen *>(bindings[0]);
      if (seen->caller != std::this_thread::get_id())
        return invalidArgument;
      for (int64_t i = begin; i < end; ++i)
        seen->order.push_back(10 * scalars[1] + i);
      return 0;
    };
    plim_dispatch dispatch = dispatchOf(entry, firstScalar, "order", cost);
    void *bindings[] = {&seen};
    const int64_t scalars[3][2] = {{2, 0}, {1, 1}, {2, 2}};
    plim_launch launches[3];
    for (int i = 0; i < 3; ++i)
      launches[i] = {&dispatch, bindings, scalars[i]};
    Call call(parts);
    EXPECT_EQ(runAtOnce(call.context(), {launches, 3}), 0);
    EXPECT_EQ(seen.order, (std::vector<int64_t>{0, 1, 10, 20, 21}));
  }
}

TEST_F(ScheduleRunTest, DispatchesOfOneWorkgroupEachOverlap) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor";
  RuntimeParts parts(2);
  // Each waits until the other one has come; a busy machine may take its time.
  auto entry = [](plim_context *context, void *const *bindings, const int64_t *, int64_t,
                  int64_t) -> plim_code {
    auto *come = static_cast<std::atomic<int> *>(bindings[0]);
    come->fetch_add(1);
    for (auto limit = Clock::now() + std::chrono::seconds(10); Clock::now() < limit;)
      if (come->load() == 2)
        return 0;
    return plim_rt_fail(context, invalidArgument, "alone");
  };
  std::atomic<int> come{0};
  void *bindings[] = {&come};
  int64_t scalars[] = {1};
  plim_dispatch dispatch = dispatchOf(entry, firstScalar, "meet", dear);
  plim_launch launches[] = {{&dispatch, bindings, scalars}, {&dispatch, bindings, scalars}};
  Call call(parts);
  EXPECT_EQ(runAtOnce(call.context(), {launches, 2}), 0);
  EXPECT_TRUE(call.status().ok()) << call.status().toString();
}

TEST_F(ScheduleRunTest, AFailureInOneDispatchDropsTheRestOfItsGroup) {
  for (int threads : {1, 4}) {
    RuntimeParts parts(threads);
    FailingWork good, bad;
    good.failAt = -1;
    void *goodBindings[] = {&good}, *badBindings[] = {&bad};
    int64_t scalars[] = {1000000};
    plim_dispatch dispatch = dispatchOf(failingEntry, firstScalar, "failing", dear);
    plim_launch launches[] = {{&dispatch, badBindings, scalars},
                              {&dispatch, goodBindings, scalars}};
    Call call(parts);
    EXPECT_EQ(runAtOnce(call.context(), {launches, 2}), invalidArgument);
    EXPECT_EQ(call.context()->status, invalidArgument);
    EXPECT_EQ(call.status().message(), "m.mlir:3:4: it failed");
    EXPECT_EQ(good.started.load(), good.ended.load()) << "returned while a range was running";
    EXPECT_EQ(bad.started.load(), bad.ended.load()) << "returned while a range was running";
    EXPECT_LT(good.started.load() + bad.started.load(), 5000);
    // The call has failed: nothing of it starts any more.
    int before = good.started.load();
    EXPECT_EQ(runAtOnce(call.context(), {launches, 2}), invalidArgument);
    EXPECT_EQ(good.started.load(), before);
  }
}

TEST_F(ScheduleRunTest, LaunchesWaitForTheirPredecessors) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int threads : {1, 2, 4, 8}) {
    RuntimeParts parts(threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::pair<int64_t, int64_t>> sizes(1 + random() % PLIM_SCHEDULE_LIMIT);
      for (auto &[count, cost] : sizes) {
        count = std::array<int64_t, 6>{0, 1, 2, 7, 40, 300}[random() % 6];
        cost = std::array<int64_t, 4>{cheap, dear / 20, dear, 20 * dear}[random() % 4];
      }
      OrderedWork work(random, sizes);
      Call call(parts);
      ASSERT_EQ(work.run(call.context()), 0) << call.status().toString();
      for (const auto &one : work.all)
        ASSERT_EQ(one->done.load(), one->count);
    }
  }
}

TEST_F(ScheduleRunTest, SchedulesOfManyCallersAtOnce) {
  RuntimeParts parts(4);
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < 6; ++i)
    callers.emplace_back([&parts, i] {
      std::mt19937 random(i);
      for (int round = 0; round < 100; ++round) {
        OrderedWork work(random, std::vector<std::pair<int64_t, int64_t>>(20, {6, dear}));
        Call call(parts);
        ASSERT_EQ(work.run(call.context()), 0) << call.status().toString();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST_F(ScheduleRunTest, ASuccessorOfAFailureDoesNotRun) {
  for (int threads : {1, 2, 4}) {
    RuntimeParts parts(threads);
    OrderedWork work;
    work.add(4, dear, 0);
    work.add(4, dear, 1,
             [](plim_context *context, void *const *, const int64_t *, int64_t, int64_t) {
               return plim_rt_fail(context, invalidArgument, "bad");
             });
    work.add(4, dear, 2);
    work.add(4, dear, 4);
    Call call(parts);
    EXPECT_EQ(work.run(call.context()), invalidArgument);
    EXPECT_EQ(call.status().message(), "bad");
    EXPECT_EQ(work.all[0]->done.load(), 4);
    EXPECT_EQ(work.all[2]->done.load(), 0);
    EXPECT_EQ(work.all[3]->done.load(), 0);
  }
}

TEST_F(ScheduleRunTest, HelpersComeBackAfterWorkForOne) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor";
  RuntimeParts parts(2);
  OrderedWork work;
  work.add(2, dear, 0, &meet);
  work.add(1, dear, 1, [](plim_context *, void *const *, const int64_t *, int64_t, int64_t) {
    spin(std::chrono::milliseconds(20)); // nobody waits that long for work
    return plim_code{0};
  });
  work.add(2, dear, 2, &meet);
  Call call(parts);
  EXPECT_EQ(work.run(call.context()), 0) << call.status().toString();
}

TEST_F(ScheduleRunTest, ALaunchWaitsForNoOtherThanItsPredecessors) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor";
  RuntimeParts parts(2);
  // The second and the third are there at once, though one of two groups could have ended before.
  static std::atomic<int> come;
  come = 0;
  auto wait = [](plim_context *context, void *const *, const int64_t *, int64_t, int64_t) {
    ++come;
    for (auto limit = Clock::now() + std::chrono::seconds(10); Clock::now() < limit;)
      if (come.load() == 2)
        return plim_code{0};
    return plim_rt_fail(context, invalidArgument, "waited for the other one");
  };
  OrderedWork work;
  work.add(1, dear, 0);
  work.add(1, dear, 0, wait);
  work.add(1, dear, 1, wait);
  Call call(parts);
  EXPECT_EQ(work.run(call.context()), 0) << call.status().toString();
}

TEST_F(ScheduleRunTest, CancelEndsAGroup) {
  for (int threads : {1, 2}) {
    RuntimeParts parts(threads);
    FailingWork work;
    work.failAt = -1;
    void *bindings[] = {&work};
    int64_t scalars[] = {int64_t{1} << 40};
    plim_dispatch dispatch = dispatchOf(failingEntry, firstScalar, "endless", dear);
    plim_launch launch = {&dispatch, bindings, scalars};
    plim_launch launches[] = {launch, launch, launch};
    Call call(parts);
    std::thread canceller([&] {
      while (work.started.load() == 0)
        std::this_thread::yield();
      call.cancel();
    });
    EXPECT_EQ(runAtOnce(call.context(), {launches, 3}),
              static_cast<plim_code>(StatusCode::Cancelled));
    canceller.join();
    EXPECT_EQ(call.status().code(), StatusCode::Cancelled);
    EXPECT_EQ(work.started.load(), work.ended.load());
  }
}

TEST_F(ScheduleRunTest, ExceptionsInAGroupBecomeFailures) {
  RuntimeParts parts(2);
  int64_t scalars[] = {1};
  auto entry = [](plim_context *, void *const *, const int64_t *, int64_t, int64_t) -> plim_code {
    throw std::runtime_error("host");
  };
  plim_dispatch dispatch = dispatchOf(entry, firstScalar, "throwing", dear);
  plim_launch launches[] = {{&dispatch, nullptr, scalars}, {&dispatch, nullptr, scalars}};
  Call call(parts);
  EXPECT_EQ(runAtOnce(call.context(), {launches, 2}), static_cast<plim_code>(StatusCode::Unknown));
  EXPECT_THAT(std::string(call.status().message()), HasSubstr("throwing"));
}

} // namespace
} // namespace plim::runtime
