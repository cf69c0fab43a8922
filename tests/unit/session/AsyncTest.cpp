// Calls that run by themselves, and calls that are stopped.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using runtime::Priority;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char *asyncSource = R"(
!t = tensor<?xf32>
func.func @double(%x: !t) -> !t {
  %r = arith.addf %x, %x : !t
  return %r : !t
}
// As long as its argument says; each turn is a dispatch.
func.func @turns(%x: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> !t {
    %z = arith.addf %y, %x : !t
    scf.yield %z : !t
  }
  return %r : !t
}
func.func @fails(%x: !t, %i: index) -> f32 {
  %v = tensor.extract %x[%i] : !t
  return %v : f32
}
ml_program.global private mutable @sum(dense<0.0> : tensor<f32>) : tensor<f32>
func.func @add(%x: tensor<f32>) -> tensor<f32> {
  %old = ml_program.global_load @sum : tensor<f32>
  %new = arith.addf %old, %x : tensor<f32>
  ml_program.global_store @sum = %new : tensor<f32>
  return %new : tensor<f32>
}
// The same with the state, for long.
func.func @adds(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = func.call @add(%x) : (tensor<f32>) -> tensor<f32>
  }
  return %x : tensor<f32>
}
// Loops of host code without dispatches, which end only for %stop: one that runs while something holds, one
// around a loop that counts, and recursion.
func.func private @step(%x: i64) -> i64 {
  %a = arith.constant 6364136223846793005 : i64
  %c = arith.constant 1442695040888963407 : i64
  %y = arith.muli %x, %a : i64
  %z = arith.addi %y, %c : i64
  return %z : i64
}
func.func @while(%x: tensor<1xi32>, %stop: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0] : tensor<1xi32>
  %start = arith.extsi %first : i32 to i64
  %r = scf.while (%y = %start) : (i64) -> i64 {
    %z = func.call @step(%y) : (i64) -> i64
    %masked = arith.ori %z, %stop : i64
    %goes = arith.cmpi ne, %masked, %stop : i64
    %minus = arith.constant -1 : i64
    %always = arith.cmpi eq, %stop, %minus : i64
    %on = arith.ori %goes, %always : i1
    scf.condition(%on) %z : i64
  } do {
  ^bb0(%z: i64):
    scf.yield %z : i64
  }
  return %r : i64
}
func.func @nested(%x: tensor<1xi32>, %n: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %inner = arith.constant 1000 : index
  %outer = arith.index_cast %n : i64 to index
  %first = tensor.extract %x[%c0] : tensor<1xi32>
  %start = arith.extsi %first : i32 to i64
  %r = scf.for %i = %c0 to %outer step %c1 iter_args(%y = %start) -> i64 {
    %s = scf.for %j = %c0 to %inner step %c1 iter_args(%u = %y) -> i64 {
      %v = func.call @step(%u) : (i64) -> i64
      %w = arith.xori %v, %y : i64
      scf.yield %w : i64
    }
    scf.yield %s : i64
  }
  return %r : i64
}
)";

constexpr int64_t forever = int64_t(1) << 60;

Scalar index(int64_t value) { return {ElementType::Index, static_cast<uint64_t>(value)}; }

class AsyncTest : public ::testing::TestWithParam<int> {
protected:
  Function function(const char *name) const { return lookup(module, name); }
  bool hasWorkers() const { return engine->threads() > 1; }
  /// A call that ends only when it is stopped; it has begun.
  Event endless() const {
    return function("turns").callAsync(std::vector<Value>{smallIntegers({8}), index(forever)});
  }

  std::shared_ptr<Engine> engine = makeEngine({.threads = GetParam()});
  std::shared_ptr<Module> module = load(*engine, asyncSource);
};

/// With one worker, which makes an order, and lets calls wait.
class AsyncWorkerTest : public AsyncTest {};

TEST_P(AsyncTest, ResultsAreThoseOfACall) {
  EXPECT_FALSE(Event());
  for (int64_t count : {0, 1, 7, 100000}) {
    Buffer x = smallIntegers({count});
    Event event = function("double").callAsync(std::vector<Value>{x});
    EXPECT_TRUE(event);
    ASSERT_TRUE(event.wait().ok());
    EXPECT_TRUE(event.done());
    EXPECT_TRUE(event.waitFor(0s));
    EXPECT_TRUE(event.status().ok());
    ASSERT_EQ(event.results().size(), 1u);
    EXPECT_EQ(elements<float>(event.results()[0]),
              elements<float>(callOk(function("double"), {x})[0]));
  }
}

TEST_P(AsyncTest, FailuresAreTheEvents) {
  Event wrong = function("double").callAsync(std::vector<Value>{index(1)});
  EXPECT_EQ(wrong.wait().code(), StatusCode::InvalidArgument);
  Event inside = function("fails").callAsync(std::vector<Value>{smallIntegers({3}), index(3)});
  EXPECT_THAT(std::string(inside.wait().message()),
              HasSubstr("in.mlir:18:8: 'tensor.extract': index out of range"));
  EXPECT_TRUE(inside.results().empty());
}

TEST_P(AsyncTest, ManyAtOnce) {
  std::vector<Event> events;
  for (int i = 0; i < 200; ++i)
    events.push_back(function("turns").callAsync(
        std::vector<Value>{makeBuffer<float>({3}, {1, 2, 3}), index(i)}));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(events[static_cast<size_t>(i)].wait().ok());
    auto n = static_cast<float>(i + 1);
    EXPECT_THAT(elements<float>(events[static_cast<size_t>(i)].results()[0]),
                ElementsAre(n, 2 * n, 3 * n));
  }
}

TEST_P(AsyncTest, CallsThatExcludeEachOther) {
  std::vector<Event> events;
  for (int i = 0; i < 50; ++i)
    events.push_back(function("add").callAsync(std::vector<Value>{makeBuffer<float>({}, {1})}));
  for (const Event &event : events)
    ASSERT_TRUE(event.wait().ok());
  EXPECT_THAT(elements<float>(callOk(function("add"), {makeBuffer<float>({}, {1})})[0]),
              ElementsAre(51));
}

TEST_P(AsyncTest, ChainsThroughOutputs) {
  // Each adds the first to what the one before made.
  Buffer x = makeBuffer<float>({2}, {1, -1});
  std::vector<Buffer> buffers = {x};
  std::vector<Event> events;
  for (int i = 0; i < 100; ++i) {
    buffers.push_back(makeBuffer<float>({2}, {0, 0}));
    std::array<Buffer, 1> outputs = {buffers.back()};
    std::span<const Event> after;
    if (i > 0)
      after = {&events.back(), 1};
    events.push_back(
        function("turns").callAsync(std::vector<Value>{buffers[buffers.size() - 2], index(1)},
                                    {.call = {.outputs = outputs}, .after = after}));
  }
  ASSERT_TRUE(events.back().wait().ok());
  EXPECT_THAT(elements<float>(buffers[20]),
              ElementsAre(static_cast<float>(1 << 20), static_cast<float>(-(1 << 20))));
  for (const Event &event : events)
    EXPECT_TRUE(event.done());
}

TEST_P(AsyncTest, AFailureEndsWhatComesAfter) {
  std::array<Event, 2> before = {
      function("double").callAsync(std::vector<Value>{smallIntegers({3})}),
      function("fails").callAsync(std::vector<Value>{smallIntegers({3}), index(9)})};
  std::array<Event, 1> after = {
      function("double").callAsync(std::vector<Value>{smallIntegers({3})}, {.after = before})};
  Event last =
      function("double").callAsync(std::vector<Value>{smallIntegers({3})}, {.after = after});
  EXPECT_EQ(last.wait().code(), before[1].status().code());
  EXPECT_THAT(std::string(last.wait().message()),
              StartsWith("a call before this one failed: in.mlir"));
  EXPECT_TRUE(before[0].wait().ok());
}

TEST_P(AsyncTest, CallbacksComeOnce) {
  std::atomic<int> calls{0};
  Event event = function("double").callAsync(std::vector<Value>{smallIntegers({3})});
  std::promise<size_t> results;
  event.then([&](const Event &ended) {
    ++calls;
    results.set_value(ended.results().size());
  });
  EXPECT_EQ(results.get_future().get(), hasWorkers() || event.done() ? 1u : 0u);
  event.then([&](const Event &) { ++calls; });
  EXPECT_TRUE(event.wait().ok());
  EXPECT_EQ(calls, 2);
}

TEST_P(AsyncTest, ACallbackStartsTheNextCall) {
  std::promise<void> end;
  Buffer x = makeBuffer<float>({1}, {1});
  std::function<void(const Event &, int)> again = [&](const Event &event, int left) {
    ASSERT_TRUE(event.status().ok());
    if (left == 0) {
      EXPECT_THAT(elements<float>(event.results()[0]), ElementsAre(1024));
      return end.set_value();
    }
    function("double").callAsync(event.results()).then([&again, left](const Event &next) {
      again(next, left - 1);
    });
  };
  function("double").callAsync(std::vector<Value>{x}).then([&](const Event &event) {
    again(event, 9);
  });
  end.get_future().get();
}

TEST_P(AsyncWorkerTest, ACallThatRunsIsCancelled) {
  Event event = endless();
  EXPECT_FALSE(event.waitFor(20ms));
  EXPECT_EQ(event.status().code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(event.results().empty());
  event.cancel();
  EXPECT_TRUE(event.waitFor(60s));
  EXPECT_EQ(event.wait().code(), StatusCode::Cancelled);
  event.cancel();
  // Nothing of it is left behind.
  EXPECT_THAT(elements<float>(callOk(function("double"), {makeBuffer<float>({1}, {4})})[0]),
              ElementsAre(8));
}

TEST_P(AsyncWorkerTest, ACallThatWaitsIsCancelledAtOnce) {
  Event first = endless();
  Event second = function("double").callAsync(std::vector<Value>{smallIntegers({3})},
                                              {.after = std::span(&first, 1)});
  EXPECT_FALSE(second.waitFor(5ms));
  second.cancel();
  EXPECT_EQ(second.wait().code(), StatusCode::Cancelled);
  EXPECT_FALSE(first.done());
  first.cancel();
  EXPECT_EQ(first.wait().code(), StatusCode::Cancelled);
}

TEST_P(AsyncWorkerTest, UrgentCallsBeginFirst) {
  Event busy = endless();
  ASSERT_FALSE(busy.waitFor(20ms)); // it holds the worker
  std::mutex mutex;
  std::vector<int> order;
  std::vector<Event> events;
  for (auto [priority, name] : {std::pair(Priority::Low, 0), std::pair(Priority::Normal, 1),
                                std::pair(Priority::High, 2), std::pair(Priority::Normal, 3)}) {
    events.push_back(function("double").callAsync(std::vector<Value>{smallIntegers({3})},
                                                  {.priority = priority}));
    events.back().then([&, name = name](const Event &) {
      std::lock_guard lock(mutex);
      order.push_back(name);
    });
  }
  busy.cancel();
  for (const Event &event : events)
    while (!event.waitFor(1s)) {
    }
  // The last callback may still run.
  EXPECT_EQ(busy.wait().code(), StatusCode::Cancelled);
  for (;; std::this_thread::yield()) {
    std::lock_guard lock(mutex);
    if (order.size() == 4)
      break;
  }
  EXPECT_THAT(order, ElementsAre(2, 1, 3, 0));
}

TEST_P(AsyncTest, AStopEndsCallsOfAllKinds) {
  std::stop_source source;
  std::thread stopper([&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  std::vector<Value> arguments = {smallIntegers({8}), index(forever)};
  EXPECT_EQ(function("turns").call(arguments, {.stop = source.get_token()}).status().code(),
            StatusCode::Cancelled);
  stopper.join();
  // Requested before.
  EXPECT_EQ(function("turns").call(arguments, {.stop = source.get_token()}).status().code(),
            StatusCode::Cancelled);
  EXPECT_EQ(
      function("turns").callAsync(arguments, {.call = {.stop = source.get_token()}}).wait().code(),
      StatusCode::Cancelled);
}

TEST_P(AsyncTest, AStopEndsLoopsOfHostCode) {
  Value x = makeBuffer<int32_t>({1}, {42});
  auto number = [](int64_t value) {
    return Scalar{ElementType::I64, static_cast<uint64_t>(value)};
  };
  for (auto [name, endless, brief] :
       {std::tuple("while", int64_t(-1), int64_t(-2)), std::tuple("nested", forever, int64_t(3))}) {
    callOk(function(name), {x, number(brief)});
    std::stop_source source;
    std::thread stopper([&] {
      std::this_thread::sleep_for(20ms);
      source.request_stop();
    });
    EXPECT_EQ(function(name)
                  .call(std::vector<Value>{x, number(endless)}, {.stop = source.get_token()})
                  .status()
                  .code(),
              StatusCode::Cancelled)
        << name;
    stopper.join();
  }
}

TEST_P(AsyncTest, AStopEndsAWaitForAState) {
  std::stop_source first, second;
  std::vector<Value> arguments = {makeBuffer<float>({}, {1}), index(forever)};
  std::thread holder([&] {
    EXPECT_EQ(function("adds").call(arguments, {.stop = first.get_token()}).status().code(),
              StatusCode::Cancelled);
  });
  std::this_thread::sleep_for(20ms);
  std::thread waiter([&] {
    EXPECT_EQ(function("adds").call(arguments, {.stop = second.get_token()}).status().code(),
              StatusCode::Cancelled);
  });
  std::this_thread::sleep_for(20ms);
  second.request_stop();
  waiter.join(); // while the other one still runs
  first.request_stop();
  holder.join();
}

TEST_P(AsyncTest, TheEngineStaysUntilTheEnd) {
  for (int i = 0; i < 20; ++i) {
    std::shared_ptr<Engine> own = makeEngine({.threads = GetParam()});
    Event event = lookup(load(*own, asyncSource), "turns")
                      .callAsync(std::vector<Value>{makeBuffer<float>({1}, {1}), index(1000)});
    std::weak_ptr<Engine> watched = own;
    own.reset();
    ASSERT_TRUE(event.wait().ok());
    EXPECT_TRUE(watched.expired());
    EXPECT_THAT(elements<float>(event.results()[0]), ElementsAre(1001));
  }
}

TEST_P(AsyncTest, ALongChain) {
  // Behind a call of another engine, which ends when all are there.
  std::shared_ptr<Engine> other = makeEngine({.threads = 2});
  std::shared_ptr<Module> gates = load(*other, asyncSource);
  Event gate =
      lookup(gates, "turns").callAsync(std::vector<Value>{smallIntegers({8}), index(forever)});
  Event last = gate;
  for (int i = 0; i < 20000; ++i)
    last = function("double").callAsync(std::vector<Value>{makeBuffer<float>({1}, {1})},
                                        {.after = std::span(&last, 1)});
  gate.cancel();
  Status status = last.wait();
  EXPECT_EQ(status.code(), StatusCode::Cancelled);
  EXPECT_EQ(status.message(), "a call before this one failed: the call was cancelled");
}

TEST_P(AsyncTest, HandlesGoWhileTheirCallsEnd) {
  for (int i = 0; i < 200; ++i) {
    // In the callback that a waiting thread runs.
    auto event = std::make_shared<Event>(
        function("double").callAsync(std::vector<Value>{smallIntegers({3})}));
    Event *bare = event.get();
    bare->then([event = std::move(event)](const Event &) mutable { event.reset(); });
    // By a stop, while another thread waits.
    std::stop_source stop;
    Event gate = hasWorkers() ? endless() : Event();
    auto stopped = std::make_unique<Event>(function("double").callAsync(
        std::vector<Value>{smallIntegers({3})},
        {.call = {.stop = stop.get_token()}, .after = std::span(&gate, hasWorkers() ? 1 : 0)}));
    std::thread stopper([&] { stop.request_stop(); });
    static_cast<void>(stopped->wait());
    stopped.reset();
    stopper.join();
    if (gate)
      gate.cancel();
  }
}

TEST_P(AsyncTest, FromManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        std::stop_source source;
        if (i % 3 == 2)
          source.request_stop();
        Event event = function("turns").callAsync(
            std::vector<Value>{makeBuffer<float>({1}, {1}), index(i % 3 == 2 ? forever : i)},
            {.call = {.stop = source.get_token()}, .priority = static_cast<Priority>(i % 3)});
        if (t % 2 == 0)
          while (!event.waitFor(1ms)) {
          }
        good += event.wait().code() == (i % 3 == 2 ? StatusCode::Cancelled : StatusCode::Ok);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 200);
}

INSTANTIATE_TEST_SUITE_P(Threads, AsyncTest, ::testing::Values(1, 2),
                         [](const auto &info) { return std::to_string(info.param); });
INSTANTIATE_TEST_SUITE_P(Threads, AsyncWorkerTest, ::testing::Values(2));

} // namespace
} // namespace plim
