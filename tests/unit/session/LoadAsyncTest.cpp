// Loads that run by themselves. What a test waits for it holds itself: the work of a load may be anything.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <stop_token>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace plim {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char *twiceSource = R"(
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
})";

/// Hundreds of reductions that have no code in common.
std::string slowSource() {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i + 7), m = std::to_string(i + 9);
    const std::string vector = "tensor<" + n + "xf32>", matrix = "tensor<" + n + "x" + m + "xf32>";
    text += "func.func @f" + std::to_string(i) + "(%x: " + matrix + ", %z: " + vector + ") -> " +
            vector + " {\n  %r = linalg.reduce { arith.addf } ins(%x : " + matrix +
            ") outs(%z : " + vector + ") dimensions = [1]\n  return %r : " + vector + "\n}\n";
  }
  return text;
}

Engine::LoadWork workOf(std::string source) {
  return [source = std::move(source)](Engine &engine, const LoadOptions &options) {
    return engine.load(source, "in.mlir", options);
  };
}

Event begin(Engine &engine, Engine::LoadWork work, const LoadOptions &options = {}) {
  StatusOr<Event> event = engine.loadAsync(std::move(work), options);
  EXPECT_TRUE(event.ok()) << event.status().toString();
  return event.ok() ? *event : Event();
}

/// Work that begins, and goes on when it is let.
class Held {
public:
  Engine::LoadWork work(std::string source = twiceSource) {
    return [this, next = workOf(std::move(source))](Engine &engine, const LoadOptions &options) {
      begun.set_value();
      open.wait();
      return next(engine, options);
    };
  }
  void waitForBegin() { begun.get_future().wait(); }
  void letGo() { gate.set_value(); }

private:
  std::promise<void> begun, gate;
  std::shared_future<void> open = gate.get_future().share();
};

void expectTwice(const Event &event) {
  ASSERT_TRUE(event.wait().ok()) << event.wait().toString();
  StatusOr<std::shared_ptr<Module>> module = event.module();
  ASSERT_TRUE(module.ok()) << module.status().toString();
  EXPECT_THAT(
      elements<float>(callOk(lookup(*module, "twice"), {makeBuffer<float>({2}, {1, 2})})[0]),
      ElementsAre(2, 4));
}

TEST(LoadAsync, GivesTheModule) {
  std::shared_ptr<Engine> engine = makeEngine();
  Held held;
  Event event = begin(*engine, held.work());
  held.waitForBegin();
  EXPECT_FALSE(event.done());
  EXPECT_FALSE(event.waitFor(1ms));
  EXPECT_EQ(event.module().status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(event.status().message(), HasSubstr("the load has not ended"));
  std::atomic<int> told = 0;
  event.then([&](const Event &ended) { told += ended.module().ok(); });
  held.letGo();
  expectTwice(event);
  EXPECT_TRUE(event.results().empty());
  EXPECT_EQ(*event.module(), *event.module());
  while (told == 0)
    std::this_thread::yield();
}

TEST(LoadAsync, TheEventOfACallHasNoModule) {
  std::shared_ptr<Engine> engine = makeEngine();
  // The state of one event after the other, of both kinds.
  for (int i = 0; i < 5; ++i) {
    Event loaded = begin(*engine, workOf(twiceSource));
    expectTwice(loaded);
    Function twice = lookup(*loaded.module(), "twice");
    loaded = {};
    std::vector<Value> arguments = {makeBuffer<float>({1}, {3})};
    Event called = twice.callAsync(arguments);
    ASSERT_TRUE(called.wait().ok());
    EXPECT_THAT(elements<float>(called.results()[0]), ElementsAre(6));
    EXPECT_EQ(called.module().status().code(), StatusCode::InvalidArgument);
  }
}

TEST(LoadAsync, ErrorsAreTheEvents) {
  std::shared_ptr<Engine> engine = makeEngine();
  Event wrong = begin(*engine, workOf("func.func @f() {\n  return %x : f32\n}"));
  Status status = wrong.wait();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  ASSERT_FALSE(status.diagnostics().empty());
  EXPECT_EQ(status.diagnostics()[0].line, 2U);
  EXPECT_EQ(wrong.module().status().toString(), status.toString());

  Event noMemory =
      begin(*engine, [](Engine &, const LoadOptions &) -> StatusOr<std::shared_ptr<Module>> {
        throw std::bad_alloc();
      });
  EXPECT_EQ(noMemory.wait().code(), StatusCode::ResourceExhausted);
  Event thrown =
      begin(*engine, [](Engine &, const LoadOptions &) -> StatusOr<std::shared_ptr<Module>> {
        throw std::runtime_error("anything");
      });
  EXPECT_EQ(thrown.wait().code(), StatusCode::Internal);
}

TEST(LoadAsync, WaitsForItsTurn) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Held held;
  Event first = begin(*engine, held.work());
  held.waitForBegin();
  std::stop_source stop;
  Event cancelled = begin(*engine, workOf(twiceSource));
  Event stopped = begin(*engine, workOf(twiceSource), {.stop = stop.get_token()});
  Event late = begin(*engine, workOf(twiceSource), {.timeout = 1ms});
  Event last = begin(*engine, workOf(twiceSource), {.timeout = 1h});
  cancelled.cancel();
  stop.request_stop();
  EXPECT_EQ(cancelled.wait().code(), StatusCode::Cancelled);
  EXPECT_EQ(stopped.wait().code(), StatusCode::Cancelled);
  EXPECT_EQ(late.wait().code(), StatusCode::DeadlineExceeded);
  EXPECT_FALSE(last.waitFor(1ms));
  EXPECT_FALSE(first.done());
  held.letGo();
  expectTwice(first);
  expectTwice(last);
}

TEST(LoadAsync, AsManyAtOnceAsThreads) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 2});
  std::atomic<int> running = 0, most = 0;
  std::vector<Event> events;
  for (int i = 0; i < 8; ++i)
    events.push_back(begin(*engine, [&](Engine &own, const LoadOptions &options) {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      // Two of them meet here.
      for (int turn = 0; turn < 1000 && most < 2; ++turn)
        std::this_thread::sleep_for(1ms);
      StatusOr<std::shared_ptr<Module>> module = own.load(twiceSource, "in.mlir", options);
      --running;
      return module;
    }));
  for (const Event &event : events)
    expectTwice(event);
  EXPECT_EQ(most, 2);
}

TEST(LoadAsync, CancelEndsACompilation) {
  std::shared_ptr<Engine> engine = makeEngine();
  const std::string source = slowSource();
  std::promise<void> begun;
  std::atomic<bool> isTold = false;
  LoadOptions options;
  options.progress = [&](const jit::CompileProgress &) {
    if (!isTold.exchange(true))
      begun.set_value();
  };
  Event event = begin(*engine, workOf(source), options);
  begun.get_future().wait();
  event.cancel();
  EXPECT_EQ(event.wait().code(), StatusCode::Cancelled);
  Event late = begin(*engine, workOf(source), {.timeout = 1ms});
  EXPECT_EQ(late.wait().code(), StatusCode::DeadlineExceeded);
  std::stop_source stop;
  stop.request_stop();
  Event never = begin(*engine, workOf(source), {.stop = stop.get_token()});
  EXPECT_EQ(never.wait().code(), StatusCode::Cancelled);
}

TEST(LoadAsync, KeepsTheEngineUntilItHasEnded) {
  for (const char *source : {twiceSource, "no module"}) {
    std::shared_ptr<Engine> engine = makeEngine();
    std::weak_ptr<Engine> watched = engine;
    Held held;
    Event event = begin(*engine, held.work(source));
    held.waitForBegin();
    engine.reset();
    EXPECT_FALSE(watched.expired());
    held.letGo();
    if (source == twiceSource) {
      expectTwice(event);
      EXPECT_FALSE(watched.expired()); // the module has it
    } else {
      // What a load holds goes before its end is told.
      EXPECT_FALSE(event.wait().ok());
      EXPECT_TRUE(watched.expired());
    }
  }
}

TEST(LoadAsync, TheLastHandleMayGoOnItsThread) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::weak_ptr<Engine> watched = engine;
  Held held;
  begin(*engine, held.work()); // nobody waits
  held.waitForBegin();
  engine.reset();
  held.letGo();
  while (!watched.expired())
    std::this_thread::yield();
}

TEST(LoadAsync, CallsComeAfterLoads) {
  std::shared_ptr<Engine> engine = makeEngine();
  Function twice = lookup(load(*engine, twiceSource), "twice");
  Held held;
  Event loaded = begin(*engine, held.work());
  Event wrong = begin(*engine, workOf("no module"));
  std::vector<Value> arguments = {makeBuffer<float>({1}, {3})};
  Event after = twice.callAsync(arguments, {.after = std::array{loaded}});
  Event never = twice.callAsync(arguments, {.after = std::array{wrong}});
  EXPECT_FALSE(after.done());
  held.letGo();
  EXPECT_TRUE(after.wait().ok());
  EXPECT_TRUE(loaded.done());
  EXPECT_EQ(never.wait().code(), StatusCode::InvalidArgument);
}

TEST(LoadAsync, ManyOfSeveralEngines) {
  std::vector<std::shared_ptr<Engine>> engines = {makeEngine({.threads = 1}), makeEngine(),
                                                  makeEngine({.threads = 4})};
  std::vector<Event> events;
  for (int i = 0; i < 24; ++i)
    events.push_back(begin(*engines[size_t(i) % engines.size()], workOf(twiceSource)));
  engines.clear();
  for (size_t i = 0; i < events.size(); i += 3)
    events[i].cancel();
  for (size_t i = 0; i < events.size(); ++i)
    if (Status status = events[i].wait(); i % 3 != 0 || status.ok())
      expectTwice(events[i]);
    else
      EXPECT_EQ(status.code(), StatusCode::Cancelled);
}

TEST(LoadAsync, AForkedChildBeginsNone) {
  std::shared_ptr<Engine> engine = makeEngine();
  Held held;
  Event event = begin(*engine, held.work());
  held.waitForBegin();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    StatusOr<Event> refused = engine->loadAsync(workOf(twiceSource));
    _exit(refused.status().code() == StatusCode::FailedPrecondition ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  held.letGo();
  expectTwice(event);
}

} // namespace
} // namespace plim
