#include "engine/session/Event.h"

#include "engine/runtime/Executor.h"
#include "engine/session/State.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim {

using runtime::Buffer;
using runtime::Value;

// A call waits for those before it, then in the executor's queue, then runs. Whoever takes the task ends it:
// the thread that runs it, or the one that cancels it before.
struct Event::State : runtime::Task, std::enable_shared_from_this<Event::State> {
  struct Stop {
    std::weak_ptr<State> state;
    void operator()() const {
      if (std::shared_ptr<State> kept = state.lock())
        kept->cancel();
    }
  };

  State(const Function &function, std::span<const Value> arguments, const AsyncOptions &options)
      : call(options.call), outputs(call.outputs.begin(), call.outputs.end()),
        arguments(arguments.begin(), arguments.end()), priority(options.priority),
        function(function) {
    call.outputs = outputs;
    call.stop = stop.get_token();
  }

  /// Starts it when the calls before have ended. Once, when it is shared.
  void start(std::span<const Event> before, const std::stop_token &stopOfCaller) {
    if (stopOfCaller.stop_possible())
      link.emplace(stopOfCaller, Stop{weak_from_this()});
    waitsFor = before.size() + 1;
    for (const Event &event : before)
      event.then([self = shared_from_this()](const Event &ended) { self->ended(ended.status()); });
    ended(okStatus());
  }

  /// One of those before has.
  void ended(const Status &other) {
    std::optional<Function> kept; // and with it the executor
    {
      std::lock_guard lock(mutex);
      if (!other.ok() && before.ok()) {
        constexpr std::string_view prefix = "a call before this one failed: ";
        std::string message(other.message());
        before = Status(other.code(),
                        message.starts_with(prefix) ? message : std::string(prefix) + message);
      }
      if (--waitsFor != 0 || !function)
        return;
      kept = function;
      ready.store(true, std::memory_order_release);
    }
    kept->executor().submit(shared_from_this(), priority);
  }

  void run() noexcept override {
    Status result = before;
    if (result.ok()) {
      results.resize(function->signature().results.size());
      result = function->callInto(arguments, results, call);
    }
    finish(std::move(result));
  }

  void cancel() {
    stop.request_stop();
    if (take())
      finish(Status(StatusCode::Cancelled, "the call was cancelled"));
  }

  void finish(Status result) {
    // What it holds goes first: whoever hears of the end may expect to have the last handle.
    if (!result.ok())
      results.clear();
    std::optional<Function> called;
    {
      std::lock_guard lock(mutex);
      called.swap(function);
    }
    called.reset();
    arguments.clear();
    outputs.clear();
    call = {};
    std::vector<std::function<void(const Event &)>> callbacks;
    {
      std::lock_guard lock(mutex);
      status = std::move(result);
      callbacks.swap(waiting);
      isDone.store(true, std::memory_order_release);
    }
    condition.notify_all();
    Event event(shared_from_this());
    for (const auto &callback : callbacks)
      callback(event);
  }

  // Of whoever took the task.
  CallOptions call;
  std::vector<Buffer> outputs;
  std::vector<Value> arguments;
  std::vector<Value> results; // of everybody when it is done
  std::stop_source stop;
  std::optional<std::stop_callback<Stop>>
      link; // until nobody knows the event: its end may be a stop
  const runtime::Priority priority;

  std::atomic<bool> isDone{false}, ready{false};
  std::mutex mutex;
  std::condition_variable condition;
  // Under the mutex.
  std::optional<Function> function; // until it ends
  size_t waitsFor = 0;
  Status before = okStatus(); // the first failure of those before
  Status status = okStatus();
  std::vector<std::function<void(const Event &)>> waiting;
};

bool Event::done() const { return state->isDone.load(std::memory_order_acquire); }

// A callback that runs in here may drop the handle that this is.

Status Event::wait() const {
  const std::shared_ptr<State> kept = state;
  if (!kept->isDone && kept->ready.load(std::memory_order_acquire) && kept->take())
    kept->run();
  std::unique_lock lock(kept->mutex);
  kept->condition.wait(lock, [&] { return kept->isDone.load(); });
  return kept->status;
}

bool Event::waitFor(std::chrono::nanoseconds timeout) const {
  const std::shared_ptr<State> kept = state;
  std::unique_lock lock(kept->mutex);
  return kept->condition.wait_for(lock, timeout, [&] { return kept->isDone.load(); });
}

Status Event::status() const {
  if (!done())
    return failedPreconditionError("the call has not ended");
  return state->status;
}

std::span<const Value> Event::results() const {
  return done() ? std::span<const Value>(state->results) : std::span<const Value>();
}

void Event::cancel() const {
  const std::shared_ptr<State> kept = state;
  kept->cancel();
}

void Event::then(std::function<void(const Event &)> callback) const {
  const Event kept = *this;
  {
    std::lock_guard lock(kept.state->mutex);
    if (!kept.done()) {
      kept.state->waiting.push_back(std::move(callback));
      return;
    }
  }
  callback(kept);
}

Event Function::callAsync(std::span<const Value> arguments, const AsyncOptions &options) const {
  Event event(std::make_shared<Event::State>(*this, arguments, options));
  event.state->start(options.after, options.call.stop);
  return event;
}

} // namespace plim
