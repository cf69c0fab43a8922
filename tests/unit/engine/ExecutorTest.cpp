#include "engine/runtime/Executor.h"

#include "engine/runtime/ThreadSanitizer.h"
#include "tests/unit/engine/ExecutorFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace plim::runtime {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool isSanitized = true;
#else
constexpr bool isSanitized = false;
#endif

class FloatEnvironmentTest : public ExecutorTest {};

TEST_F(ExecutorTest, EveryWorkgroupRunsOnce) {
  for (int threads : {1, 2, 4}) {
    RuntimeParts parts(threads);
    for (int64_t count : {-1, 0, 1, 2, 3, 100, 10007})
      for (int64_t cost : {int64_t{0}, cheap, dear, INT64_MAX})
        countOnce(parts, count, cost);
  }
}

TEST_F(ExecutorTest, OneThreadAndSmallWorkStayOnTheCaller) {
  for (auto [threads, cost, count] :
       {std::tuple{1, dear, 100}, std::tuple{4, cheap, 100}, std::tuple{4, dear * 100, 1}}) {
    RuntimeParts parts(threads);
    EXPECT_EQ(parts.executor.threads(), threads);
    std::thread::id caller = std::this_thread::get_id();
    void *bindings[] = {&caller};
    int64_t scalars[] = {count};
    auto entry = [](plim_context *, void *const *bindings, const int64_t *, int64_t, int64_t) {
      bool same = *static_cast<std::thread::id *>(bindings[0]) == std::this_thread::get_id();
      return same ? 0 : invalidArgument;
    };
    plim_dispatch dispatch = dispatchOf(entry, firstScalar, "inline", cost);
    Call call(parts);
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), 0);
  }
}

TEST_F(ExecutorTest, LargeWorkUsesAWorkerBesideTheCaller) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor";
  RuntimeParts parts(2);
  struct Seen {
    std::atomic<int> running{0};
    std::atomic<int> most{0};
  } seen;
  void *bindings[] = {&seen};
  int64_t scalars[] = {200};
  auto entry = [](plim_context *, void *const *bindings, const int64_t *, int64_t,
                  int64_t) -> plim_code {
    auto *seen = static_cast<Seen *>(bindings[0]);
    int now = seen->running.fetch_add(1) + 1;
    int most = seen->most.load();
    while (now > most && !seen->most.compare_exchange_weak(most, now)) {
    }
    // Stay until the other one has come; a busy machine may take its time.
    for (auto limit = Clock::now() + std::chrono::seconds(10);
         seen->most.load() < 2 && Clock::now() < limit;)
      spin(std::chrono::microseconds(10));
    seen->running.fetch_sub(1);
    return 0;
  };
  plim_dispatch dispatch = dispatchOf(entry, firstScalar, "spin", dear);
  Call call(parts);
  EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), 0);
  EXPECT_EQ(seen.most.load(), 2);
}

TEST_F(ExecutorTest, FirstFailureIsLatchedAndTheRestDropped) {
  for (int threads : {1, 4}) {
    RuntimeParts parts(threads);
    FailingWork work;
    void *bindings[] = {&work};
    int64_t scalars[] = {1000000};
    plim_dispatch dispatch = dispatchOf(failingEntry, firstScalar, "failing", dear);
    Call call(parts);
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), invalidArgument);
    EXPECT_EQ(call.context()->status, invalidArgument);
    EXPECT_EQ(call.status().message(), "m.mlir:3:4: it failed");
    EXPECT_EQ(work.started.load(), work.ended.load()) << "returned while a range was running";
    EXPECT_LT(work.started.load(), 5000);
    // The call has failed: nothing of it starts any more.
    int before = work.started.load();
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), invalidArgument);
    EXPECT_EQ(work.started.load(), before);
  }
}

TEST_F(ExecutorTest, AProfilerSeesEveryDispatchAndRange) {
  for (int threads : {1, 2, 4}) {
    Profiler profiler;
    auto pool = std::make_shared<MemoryPool>();
    Executor executor(pool, {.threads = threads, .profiler = &profiler});
    std::vector<std::atomic<int>> counters(300);
    void *bindings[] = {counters.data()}, *badBindings[] = {nullptr};
    auto run = [&](std::vector<plim_launch> launches) {
      CallContext call(executor, *pool, *pool, {});
      return runAtOnce(call.context(), launches);
    };
    plim_dispatch small = dispatchOf(countEntry, firstScalar, "small", cheap);
    plim_dispatch large = dispatchOf(countEntry, firstScalar, "large", dear);
    plim_dispatch failing =
        dispatchOf([](plim_context *context, void *const *, const int64_t *, int64_t,
                      int64_t) { return plim_rt_fail(context, invalidArgument, "bad"); },
                   firstScalar, "failing", dear);
    small.location = "in.mlir:1:2: ";
    small.bytes = [](const int64_t *scalars) { return 24 * scalars[0]; };
    large.location = nullptr;
    int64_t none[] = {0}, one[] = {1}, many[] = {300};
    constexpr uint64_t rounds = 10;
    for (uint64_t i = 0; i < rounds; ++i) {
      EXPECT_EQ(run({{&small, bindings, many}, {&small, bindings, one}}), 0);
      EXPECT_EQ(run({{&large, bindings, many}}), 0);
      EXPECT_EQ(run({{&large, bindings, many}, {&small, bindings, none}, {&small, bindings, one}}),
                0);
      EXPECT_EQ(run({{&failing, badBindings, many}}), invalidArgument);
    }
    std::map<std::pair<Profiler::Kind, std::string>, Profiler::Counter> seen;
    for (const Profiler::Counter &counter : profiler.counters())
      seen[{counter.kind, counter.name}] = counter;
    using enum Profiler::Kind;
    EXPECT_EQ((seen[{Dispatch, "small"}].runs), 3 * rounds);
    EXPECT_EQ((seen[{Dispatch, "small"}].workgroups), 302 * rounds);
    EXPECT_EQ((seen[{Dispatch, "small"}].location), "in.mlir:1:2: ");
    EXPECT_EQ((seen[{Dispatch, "small"}].bytes), 24 * 302 * rounds);
    EXPECT_EQ((seen[{Dispatch, "large"}].bytes), 0u);
    EXPECT_EQ((seen[{Dispatch, "large"}].runs), 2 * rounds);
    EXPECT_EQ((seen[{Dispatch, "large"}].workgroups), 600 * rounds);
    EXPECT_EQ((seen[{Dispatch, "failing"}].runs), rounds);
    EXPECT_EQ((seen[{Range, "large"}].workgroups), threads == 1 ? 0 : 600 * rounds);
    EXPECT_EQ((seen[{Schedule, "schedule"}].runs), threads == 1 ? 0 : rounds);
  }
}

TEST_F(ExecutorTest, FailureWithoutMessageNamesTheDispatch) {
  for (int64_t cost : {cheap, dear}) {
    RuntimeParts parts(2);
    int64_t scalars[] = {50};
    auto entry = [](plim_context *, void *const *, const int64_t *, int64_t, int64_t) {
      return invalidArgument;
    };
    plim_dispatch dispatch = dispatchOf(entry, firstScalar, "silent", cost);
    Call call(parts);
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, nullptr, scalars), invalidArgument);
    EXPECT_THAT(std::string(call.status().message()), HasSubstr("silent"));
  }
}

TEST_F(ExecutorTest, ExceptionsBecomeFailures) {
  for (int64_t cost : {cheap, dear}) {
    RuntimeParts parts(2);
    int64_t scalars[] = {50};
    auto entry = [](plim_context *, void *const *, const int64_t *, int64_t, int64_t) -> plim_code {
      throw std::runtime_error("host");
    };
    plim_dispatch dispatch = dispatchOf(entry, firstScalar, "throwing", cost);
    Call call(parts);
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, nullptr, scalars),
              static_cast<plim_code>(StatusCode::Unknown));
    EXPECT_THAT(std::string(call.status().message()), HasSubstr("throwing"));
  }
}

TEST_F(ExecutorTest, CancelEndsARunningCall) {
  for (int threads : {1, 2}) {
    RuntimeParts parts(threads);
    FailingWork work;
    work.failAt = -1;
    void *bindings[] = {&work};
    int64_t scalars[] = {int64_t{1} << 40};
    plim_dispatch dispatch = dispatchOf(failingEntry, firstScalar, "endless", dear);
    Call call(parts);
    std::thread canceller([&] {
      while (work.started.load() == 0)
        std::this_thread::yield();
      call.cancel();
    });
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars),
              static_cast<plim_code>(StatusCode::Cancelled));
    canceller.join();
    EXPECT_EQ(call.status().code(), StatusCode::Cancelled);
  }
}

TEST_F(ExecutorTest, TakesNoMoreThreadsThanAreGranted) {
  auto pool = std::make_shared<MemoryPool>();
  EXPECT_EQ(Executor(pool, {.threads = 1000}).threads(), 8);
  EXPECT_GE(Executor(pool).threads(), 1);
  EXPECT_GE(Executor(pool, {.threads = -1}).threads(), 1);
  tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(Executor(pool, {.threads = 4}).threads(), 1);
}

TEST_F(ExecutorTest, ManyCallersAtOnce) {
  RuntimeParts parts(4);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round)
        countOnce(parts, 1 + (i * 37 + round) % 300, round % 2 ? dear : 1000);
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST_F(ExecutorTest, TwoExecutorsAtOnce) {
  RuntimeParts one(1), four(4);
  std::thread first([&] {
    for (int round = 0; round < 100; ++round)
      countOnce(one, 200, dear);
  });
  std::thread second([&] {
    for (int round = 0; round < 100; ++round)
      countOnce(four, 200, dear);
  });
  first.join();
  second.join();
}

TEST_F(ExecutorTest, InsideTheHostsOwnParallelFor) {
  RuntimeParts parts(2);
  tsanRelease(&parts);
  tbb::parallel_for(0, 500, [&](int i) PLIM_NO_TSAN {
    tsanAcquire(&parts);
    countOnce(parts, 50 + i % 50, dear);
    tsanRelease(&parts.pool);
  });
  tsanAcquire(&parts.pool);
}

TEST_F(ExecutorTest, ACancelledGroupOfTheHostDropsNothingOfOurs) {
  RuntimeParts parts(2);
  std::atomic<int> ran{0};
  tbb::task_group_context group;
  tsanRelease(&parts);
  tbb::parallel_for(
      0, 100,
      [&](int) PLIM_NO_TSAN {
        tsanAcquire(&parts);
        group.cancel_group_execution();
        countOnce(parts, 64, dear);
        ++ran;
        tsanRelease(&parts.pool);
      },
      group);
  tsanAcquire(&parts.pool);
  EXPECT_GE(ran.load(), 1);
}

TEST_F(ExecutorTest, NestedDispatchesKeepTheirScratch) {
  for (int threads : {1, 2}) {
    RuntimeParts parts(threads);
    auto outer = [](plim_context *context, void *const *bindings, const int64_t *, int64_t begin,
                    int64_t) -> plim_code {
      auto *mine = static_cast<int64_t *>(plim_rt_scratch(context, 1024));
      for (int i = 0; i < 128; ++i)
        mine[i] = begin;
      // A new call of the same engine, and a dispatch of this one.
      countOnce(*static_cast<RuntimeParts *>(bindings[0]), 20, dear);
      std::vector<std::atomic<int>> counters(20);
      void *inner[] = {counters.data()};
      int64_t scalars[] = {20};
      plim_dispatch dispatch = dispatchOf(countEntry, firstScalar, "inner", cheap);
      if (plim_rt_dispatch(context, &dispatch, inner, scalars) != 0)
        return context->status;
      for (int i = 0; i < 128; ++i)
        if (mine[i] != begin)
          return plim_rt_fail(context, invalidArgument, "the outer scratch was overwritten");
      return 0;
    };
    void *bindings[] = {&parts};
    int64_t scalars[] = {40};
    plim_dispatch dispatch = dispatchOf(outer, firstScalar, "outer", dear);
    Call call(parts);
    plim_rt_dispatch(call.context(), &dispatch, bindings, scalars);
    EXPECT_TRUE(call.status().ok()) << call.status().toString();
  }
}

TEST_F(ExecutorTest, InlineScratchIsReusedFromDispatchToDispatch) {
  RuntimeParts parts(1);
  Call call(parts);
  auto entry = [](plim_context *context, void *const *bindings, const int64_t *, int64_t,
                  int64_t) -> plim_code {
    static_cast<std::set<void *> *>(bindings[0])->insert(plim_rt_scratch(context, 1000));
    return 0;
  };
  std::set<void *> seen;
  void *bindings[] = {&seen};
  int64_t scalars[] = {1};
  plim_dispatch dispatch = dispatchOf(entry, firstScalar, "scratch", cheap);
  for (int i = 0; i < 100; ++i)
    plim_rt_dispatch(call.context(), &dispatch, bindings, scalars);
  EXPECT_EQ(seen.size(), 1u);
}

/// The threads that come to an arena.
class Arrivals : public tbb::task_scheduler_observer {
public:
  explicit Arrivals(tbb::task_arena &arena) : tbb::task_scheduler_observer(arena) { observe(true); }
  ~Arrivals() override { observe(false); }
  void on_scheduler_entry(bool) override { // NOLINT(readability-identifier-naming): oneTBB's name
    std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  }
  bool contains(std::thread::id thread) {
    std::lock_guard lock(mutex);
    return seen.contains(thread);
  }

private:
  std::mutex mutex;
  std::set<std::thread::id> seen;
};

TEST_F(ExecutorTest, WorkersOfTheCallersArenaHelp) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor";
  tbb::task_arena arena(3);
  Arrivals arrivals(arena);
  auto pool = std::make_shared<MemoryPool>();
  Executor executor(pool, {.threads = 4, .workers = {.ofCaller = true}});
  struct Work : OrderedWork {
    Arrivals *arrivals;
    std::atomic<int> strangers{0};
  } work;
  work.arrivals = &arrivals;
  // Both are there at once, on threads of that arena.
  work.add(2, dear, 0,
           [](plim_context *context, void *const *bindings, const int64_t *scalars, int64_t begin,
              int64_t end) {
             auto &work = static_cast<Work &>(*static_cast<OrderedWork::One *>(bindings[0])->work);
             if (!work.arrivals->contains(std::this_thread::get_id()))
               ++work.strangers;
             return meet(context, bindings, scalars, begin, end);
           });
  CallContext call(executor, *pool, *pool, {});
  arena.execute([&] { EXPECT_EQ(work.run(call.context()), 0) << call.status().toString(); });
  EXPECT_EQ(work.strangers.load(), 0);

  struct Noting : Task {
    explicit Noting(Arrivals &arrivals) : arrivals(arrivals) {}
    void run() noexcept override {
      isThere = arrivals.contains(std::this_thread::get_id());
      done.count_down();
    }
    Arrivals &arrivals;
    bool isThere = false;
    std::latch done{1};
  };
  auto task = TaskRef<Noting>(new Noting(arrivals));
  arena.execute([&] { executor.submit(TaskRef<Task>::to(*task.get()), Priority::Normal); });
  task->done.wait();
  EXPECT_TRUE(task->isThere);
  std::atomic<int> ran{0};
  executor.parallelFor(20, [&](size_t) { ++ran; });
  EXPECT_EQ(ran.load(), 20);
}

TEST_F(ExecutorTest, AnArenaOfOneThreadIsRespected) {
  tbb::task_arena arena(1);
  auto pool = std::make_shared<MemoryPool>();
  Executor executor(pool, {.threads = 4, .workers = {.ofCaller = true}});
  std::thread::id caller;
  auto entry = [](plim_context *, void *const *bindings, const int64_t *, int64_t, int64_t) {
    bool same = *static_cast<std::thread::id *>(bindings[0]) == std::this_thread::get_id();
    return same ? 0 : invalidArgument;
  };
  plim_dispatch dispatch = dispatchOf(entry, firstScalar, "alone", dear);
  void *bindings[] = {&caller};
  int64_t scalars[] = {100};
  CallContext call(executor, *pool, *pool, {});
  arena.execute([&] {
    caller = std::this_thread::get_id();
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), 0);
  });
}

TEST_F(ExecutorTest, WorkersOfANodeOrAKindOfCoresDoAllWork) {
  if (isSanitized)
    GTEST_SKIP() << "sanitizers do not let oneTBB load what it reads the machine with";
  std::vector<WorkerOptions> all = {{.cores = CoreKind::Performance},
                                    {.cores = CoreKind::Efficiency}};
  for (tbb::numa_node_id node : tbb::info::numa_nodes())
    if (node >= 0)
      all.push_back({.numaNode = node});
  for (const WorkerOptions &workers : all) {
    ASSERT_TRUE(Executor::check(workers).ok());
    auto pool = std::make_shared<MemoryPool>();
    Executor executor(pool, {.threads = 4, .workers = workers});
    std::vector<std::atomic<int>> counters(100);
    void *bindings[] = {counters.data()};
    int64_t scalars[] = {100};
    plim_dispatch dispatch = dispatchOf(countEntry, firstScalar, "count", dear);
    CallContext call(executor, *pool, *pool, {});
    EXPECT_EQ(plim_rt_dispatch(call.context(), &dispatch, bindings, scalars), 0);
    for (std::atomic<int> &counter : counters)
      ASSERT_EQ(counter.load(), 1);
  }
}

TEST_F(ExecutorTest, RefusesWorkersThatCannotBe) {
  if (isSanitized)
    GTEST_SKIP() << "sanitizers do not let oneTBB load what it reads the machine with";
  for (int node : {-1, 4096}) {
    Status status = Executor::check({.numaNode = node});
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("there is no NUMA node " + std::to_string(node)));
  }
  for (const WorkerOptions &workers :
       {WorkerOptions{.ofCaller = true, .numaNode = 0},
        WorkerOptions{.ofCaller = true, .cores = CoreKind::Efficiency}}) {
    Status status = Executor::check(workers);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the caller's arena"));
  }
}

TEST_F(ExecutorTest, ParallelForRunsEveryJobOnce) {
  for (int threads : {1, 2, 4}) {
    RuntimeParts parts(threads);
    for (size_t count : {0u, 1u, 2u, 5u, 1000u}) {
      std::vector<std::atomic<int>> counters(count);
      parts.executor.parallelFor(count, [&](size_t i) { counters[i].fetch_add(1); });
      for (std::atomic<int> &counter : counters)
        ASSERT_EQ(counter.load(), 1);
    }
  }
}

TEST_F(ExecutorTest, ParallelForMayCallItself) {
  RuntimeParts parts(2);
  std::atomic<int> ran{0};
  parts.executor.parallelFor(8, [&](size_t) {
    parts.executor.parallelFor(8, [&](size_t) { countOnce(parts, 10, dear), ++ran; });
  });
  EXPECT_EQ(ran.load(), 64);
}

#if defined(__x86_64__)
constexpr unsigned flushAndDenormalsAreZero = 0x8040;

/// bindings[0]: one MXCSR per workgroup; raises sticky flags too.
plim_code mxcsrEntry(plim_context *, void *const *bindings, const int64_t *, int64_t begin,
                     int64_t end) {
  auto *seen = static_cast<unsigned *>(bindings[0]);
  for (int64_t i = begin; i < end; ++i) {
    seen[i] = _mm_getcsr() & ~0x3fu;
    volatile float zero = 0;
    volatile float infinity = 1 / zero;
    (void)infinity;
    spin(std::chrono::microseconds(20));
  }
  return 0;
}

TEST_F(FloatEnvironmentTest, OfTheCallerNeitherReachesTasksNorChanges) {
  RuntimeParts parts(2);
  // Half of the rounds start with a caller that already flushes when the arena is first used.
  for (int round = 0; round < 20; ++round) {
    unsigned before = _mm_getcsr();
    unsigned callers = (round % 2 ? 0x1f80u : before | flushAndDenormalsAreZero) | 0x6000u;
    for (int64_t cost : {cheap, dear}) {
      std::vector<unsigned> seen(100);
      void *bindings[] = {seen.data()};
      int64_t scalars[] = {100};
      plim_dispatch dispatch = dispatchOf(mxcsrEntry, firstScalar, "mxcsr", cost);
      Call call(parts);
      _mm_setcsr(callers);
      plim_rt_dispatch(call.context(), &dispatch, bindings, scalars);
      unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(after, callers);
      EXPECT_THAT(seen, Each(0x1f80u));
    }
  }
}

TEST_F(FloatEnvironmentTest, OfTheCallerDoesNotReachGroups) {
  RuntimeParts parts(2);
  for (int64_t cost : {cheap, dear}) {
    std::vector<unsigned> seen(60);
    void *bindings[3][1];
    plim_launch launches[3];
    int64_t scalars[] = {20};
    plim_dispatch dispatch = dispatchOf(mxcsrEntry, firstScalar, "mxcsr", cost);
    for (int i = 0; i < 3; ++i) {
      bindings[i][0] = seen.data() + 20 * i;
      launches[i] = {&dispatch, bindings[i], scalars};
    }
    Call call(parts);
    unsigned before = _mm_getcsr(), callers = before | flushAndDenormalsAreZero;
    _mm_setcsr(callers);
    runAtOnce(call.context(), {launches, 3});
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after, callers);
    EXPECT_THAT(seen, Each(0x1f80u));
  }
}

TEST_F(FloatEnvironmentTest, CoversHostCodeAndJobs) {
  RuntimeParts parts(2);
  auto entry = [](plim_context *, const plim_view *, const plim_view *) -> plim_code {
    return _mm_getcsr() == 0x1f80 ? 0 : invalidArgument;
  };
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x1f80 | flushAndDenormalsAreZero);
  Call call(parts);
  Status status = call.run(entry, nullptr, nullptr);
  std::atomic<int> wrong{0};
  parts.executor.parallelFor(100, [&](size_t) { wrong += (_mm_getcsr() & ~0x3fu) != 0x1f80; });
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(after, 0x1f80 | flushAndDenormalsAreZero);
}
#endif

#if !__has_feature(thread_sanitizer)
TEST_F(ExecutorTest, AForkedChildRunsInline) {
  for (int round = 0; round < 20; ++round) {
    auto parts = std::make_unique<RuntimeParts>(4);
    countOnce(*parts, 200, dear);
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      countOnce(*parts, 200, dear);
      countGroupOnce(*parts, {{200, dear}, {1, dear}});
      std::atomic<int> jobs{0};
      parts->executor.parallelFor(10, [&](size_t) { ++jobs; });
      parts.reset();
      _exit(jobs == 10 && !::testing::Test::HasFailure() ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    countOnce(*parts, 200, dear);
  }
}
#endif

} // namespace
} // namespace plim::runtime
