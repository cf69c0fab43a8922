// Stacks of callers: what StackBounds knows of them, and CallThreads where they are too small.
#include "engine/runtime/CallThreads.h"

#include "engine/runtime/StackBounds.h"
#include "tests/unit/engine/PaintedStack.h"
#include "tests/unit/engine/RuntimeFixture.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstring>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace plim::runtime {
namespace {

using testing::PaintedStack;

[[gnu::noinline]] void touchDownTo(uintptr_t lowest) {
  volatile char frame[1024];
  for (size_t i = 0; i < sizeof frame; i += 64)
    frame[i] = 1;
  // With room for the frame of one more call, whatever a sanitizer adds to it.
  if (reinterpret_cast<uintptr_t>(frame) > lowest + 4 * sizeof frame)
    touchDownTo(lowest);
  frame[0] = 2;
}

/// Touches `bytes` of stack, from the top down.
void touch(size_t bytes) {
  touchDownTo(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - bytes);
}

TEST(StackBounds, OfAThreadAreThoseOfItsStack) {
  for (size_t bytes : {size_t(64) << 10, size_t(256) << 10, size_t(8) << 20}) {
    PaintedStack stack(bytes);
    stack.run([&] {
      size_t left = StackBounds::left();
      EXPECT_LT(left, bytes - (12 << 10)) << "the margin is left out";
      EXPECT_GT(left, bytes - (48 << 10));
    });
#if __has_feature(thread_sanitizer)
    if (bytes < (256 << 10))
      continue; // it makes small stacks larger
#endif
    // A stack of the C library's own making.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    size_t left = 0;
    pthread_t thread;
    auto ask = [](void *result) -> void * {
      *static_cast<size_t *>(result) = StackBounds::left();
      touch(*static_cast<size_t *>(result));
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, ask, &left), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_LT(left, bytes);
    EXPECT_GT(left, bytes - (64 << 10));
  }
}

TEST(StackBounds, OfTheMainThreadGrowUpToTheLimit) {
  // GoogleTest runs on the main thread.
  ASSERT_EQ(gettid(), getpid());
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  size_t left = StackBounds::left();
  EXPECT_GT(left, 256u << 10);
  EXPECT_LE(left, 64u << 20);
  if (limit.rlim_cur != RLIM_INFINITY) {
    EXPECT_LT(left, limit.rlim_cur);
  }
  touch(left);
}

TEST(CallThreads, RunOnThreadsWithTheStackAskedFor) {
  CallThreads threads;
  for (int64_t bytes : {int64_t(0), int64_t(1) << 20, int64_t(16) << 20, int64_t(200) << 20}) {
#if __has_feature(thread_sanitizer)
    if (bytes > (32 << 20))
      continue; // it follows 65,536 frames
#endif
    std::thread::id where;
    auto job = [&] {
      EXPECT_GE(StackBounds::left(), static_cast<size_t>(bytes));
      touch(static_cast<size_t>(bytes));
      where = std::this_thread::get_id();
    };
    ASSERT_TRUE(threads.run(bytes, job).ok());
    EXPECT_NE(where, std::this_thread::get_id());
  }
}

TEST(CallThreads, AreKept) {
  CallThreads threads;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 100; ++i) {
    auto job = [&] { seen.insert(std::this_thread::get_id()); };
    ASSERT_TRUE(threads.run(1 << 20, job).ok());
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST(CallThreads, NeverWaitForEachOther) {
  CallThreads threads;
  int depth = 0;
  std::function<void()> job = [&] {
    if (++depth < 10) {
      EXPECT_TRUE(threads.run(1 << 20, job).ok());
    }
  };
  ASSERT_TRUE(threads.run(1 << 20, job).ok());
  EXPECT_EQ(depth, 10);
}

TEST(CallThreads, SeveralCallers) {
  CallThreads threads;
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        int plain = 0;
        auto job = [&] { ++plain; };
        if (threads.run(1 << 20, job).ok())
          done += plain;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(done.load(), 1600);
}

TEST(CallThreads, TakeNoSignals) {
  CallThreads threads;
  auto job = [] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_TRUE(sigismember(&blocked, SIGINT));
    EXPECT_TRUE(sigismember(&blocked, SIGUSR1));
    EXPECT_FALSE(sigismember(&blocked, SIGSEGV));
  };
  ASSERT_TRUE(threads.run(0, job).ok());
}

TEST(CallThreads, RefuseWhatIsTooMuch) {
  CallThreads threads;
  auto job = [] { FAIL() << "it ran"; };
  Status status = threads.run(CallThreads::maxStackBytes + 1, job);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("1073741825 bytes of stack"), std::string::npos)
      << status.message();
}

TEST(CallThreads, SayWhenTheSystemHasNoMemoryForAStack) {
  if (!PLIM_MEASURES_STACKS)
    GTEST_SKIP() << "the sanitizer's own memory is beyond any limit";
  // In a child, whose limits are its own.
  pid_t child = fork();
  if (child == 0) {
    CallThreads threads;
    rlimit limit{256u << 20, 256u << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
      _exit(2);
    auto job = [] { _exit(3); };
    Status status = threads.run(512 << 20, job);
    _exit(status.code() == StatusCode::ResourceExhausted ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CallThreads, AreStartedAnewInAForkedChild) {
  if (!PLIM_MEASURES_STACKS)
    GTEST_SKIP() << "the sanitizers do not follow threads after a fork";
  CallThreads threads;
  int ran = 0;
  auto job = [&] { ++ran; };
  ASSERT_TRUE(threads.run(1 << 20, job).ok());
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    for (int i = 0; i < 3; ++i)
      if (!threads.run(1 << 20, job).ok())
        _exit(1);
    _exit(ran == 4 ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(threads.run(1 << 20, job).ok());
}

// What the entry below saw.
std::thread::id entryThread;
double entryThird;
volatile double one = 1, three = 3;
size_t entryLeft;

plim_code look(plim_context *, const plim_view *, const plim_view *) {
  entryThread = std::this_thread::get_id();
  entryThird = one / three;
  entryLeft = StackBounds::left();
  return 0;
}

TEST(CallContextStack, DecidesWhereHostCodeRuns) {
  RuntimeParts parts(1);
  PaintedStack stack(64 << 10);
  stack.run([&] {
    for (int64_t bytes : {0, 8 << 10}) {
      Call call(parts);
      ASSERT_TRUE(call.run(&look, nullptr, nullptr, {.bytes = bytes}).ok());
      EXPECT_EQ(entryThread, std::this_thread::get_id());
    }
    std::fesetround(FE_UPWARD);
    Call call(parts);
    ASSERT_TRUE(call.run(&look, nullptr, nullptr, {.bytes = 100 << 10}).ok());
    EXPECT_NE(entryThread, std::this_thread::get_id());
    EXPECT_EQ(entryThird, 1.0 / 3.0);
    EXPECT_GT(one / three, 1.0 / 3.0);
    EXPECT_GE(entryLeft + 1024, 100u << 10);
    std::fesetround(FE_TONEAREST);
  });
}

std::atomic<int> strangers;

plim_code note(plim_context *, void *const *, const int64_t *, int64_t, int64_t) {
  strangers += std::this_thread::get_id() != entryThread;
  std::this_thread::yield();
  return 0;
}

plim_code dispatchMany(plim_context *context, const plim_view *, const plim_view *) {
  entryThread = std::this_thread::get_id();
  plim_dispatch dispatch = dispatchOf(&note, &firstScalar, "note", dear);
  int64_t count = 2000;
  return plim_rt_dispatch(context, &dispatch, nullptr, &count);
}

TEST(CallContextStack, DispatchesThatFitOnNoWorkerRunInline) {
  RuntimeParts parts(2);
  Call call(parts);
  ASSERT_TRUE(call.run(&dispatchMany, nullptr, nullptr, {.workersFit = false}).ok());
  EXPECT_EQ(strangers.load(), 0);
}

} // namespace
} // namespace plim::runtime
