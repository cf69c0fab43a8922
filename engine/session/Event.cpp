#include "engine/session/Event.h"

#include "engine/runtime/Executor.h"
#include "engine/session/EventPool.h"
#include "engine/session/LoadThreads.h"
#include "engine/session/State.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim {

using runtime::Buffer;
using runtime::TaskRef;
using runtime::Value;

// A call waits for the calls that it comes after, then in the executor's queue, then runs. The
// thread that takes the task ends the call: either by running it, or by cancelling it before.
//
// A load has a thread of its own instead of the queue (LoadThreads.h), and comes after nothing.
//
// A state is used again and again, and keeps the memory of its arrays, so that an event takes none.
struct Event::State final : runtime::Task {
  using LoadWork = std::function<StatusOr<std::shared_ptr<Module>>(const std::stop_token &)>;

  struct Stop {
    State *state;
    void operator()() const {
      // The state is there: before it is used again it waits for this.
      if (state->retainIfUsed())
        TaskRef<State>(state)->cancel();
    }
  };

  void prepare(const Function &called, std::span<const Value> given, const AsyncOptions &options) {
    call = options.call;
    outputs.assign(call.outputs.begin(), call.outputs.end());
    call.outputs = outputs;
    if (stop.stop_requested())
      stop = std::stop_source();
    call.stop = stop.get_token();
    arguments.assign(given.begin(), given.end());
    priority = options.priority;
    function = called;
  }

  /// Of a load, before its thread is started.
  void prepare(LoadWork work, const std::stop_token &stopOfCaller) {
    if (stop.stop_requested())
      stop = std::stop_source();
    isLoad = true;
    load = std::move(work);
    if (stopOfCaller.stop_possible())
      link.emplace(stopOfCaller, Stop{this});
  }

  /// Starts it when the calls before have ended. Once, when it is shared.
  void start(std::span<const Event> events, const std::stop_token &stopOfCaller) {
    if (stopOfCaller.stop_possible())
      link.emplace(stopOfCaller, Stop{this});
    waitsFor = events.size() + 1;
    for (const Event &event : events)
      if (!event.state->addSuccessor(*this))
        ended(event.status(), false);
    ended(okStatus(), false);
  }

  /// False if this call has ended already.
  bool addSuccessor(State &next) {
    std::lock_guard lock(mutex);
    if (isDone)
      return false;
    successors.push_back(TaskRef<State>::to(next));
    return true;
  }

  /// One of those before has. Returns whether it is now for the executor. `isLast` as there.
  bool ended(const Status &other, bool isLast) {
    std::shared_ptr<const Module> kept; // and with it the executor
    runtime::Executor *executor;
    {
      std::lock_guard lock(mutex);
      if (!other.ok() && before.ok())
        before = afterFailureOf(other);
      if (--waitsFor != 0 || !function->module)
        return false;
      kept = function->module;
      executor = &function->executor();
      ready.store(true, std::memory_order_release);
    }
    executor->submit(TaskRef<Task>::to(*this), priority, isLast);
    return true;
  }

  static Status afterFailureOf(const Status &other) noexcept {
    constexpr std::string_view prefix = "a call before this one failed: ";
    if (other.message().starts_with(prefix))
      return other;
    try {
      return Status(other.code(), std::string(prefix) + std::string(other.message()));
    } catch (const std::bad_alloc &) {
      return other;
    }
  }

  void run() noexcept override { runHere(true); }

  /// `isWorker`: in the executor's queue, which comes next.
  void runHere(bool isWorker) {
    Status result = before;
    if (result.ok()) {
      try {
        result = isLoad ? runLoad() : runCall();
      } catch (const std::bad_alloc &) {
        result = home->exhausted;
      } catch (...) {
        result = home->thrown;
      }
    }
    finish(std::move(result), isWorker);
  }

  Status runCall() {
    results.resize(function->signature().results.size());
    return function->callInto(arguments, results, call);
  }

  Status runLoad() {
    PLIM_ASSIGN_OR_RETURN(loaded, load(stop.get_token()));
    return okStatus();
  }

  void cancel() {
    stop.request_stop();
    if (take())
      finish(isLoad ? home->loadCancelled : home->cancelled, false);
  }

  void finish(Status result, bool isWorker) {
    // What it holds goes first: whoever hears of the end may expect to have the last handle.
    if (!result.ok())
      results.clear();
    std::shared_ptr<const Module> called;
    {
      std::lock_guard lock(mutex);
      if (!isLoad)
        called.swap(function->module);
    }
    called.reset();
    load = nullptr;
    arguments.clear();
    outputs.clear();
    call.outputs = {};
    call.state.reset();
    call.stop = {};
    {
      std::lock_guard lock(mutex);
      status = std::move(result);
      isDone.store(true, std::memory_order_release);
    }
    condition.notify_all();
    // Nothing is added to these any more.
    for (const auto &callback : callbacks)
      callback(Event(TaskRef<State>::to(*this).leak()));
    callbacks.clear();
    for (const TaskRef<State> &next : successors)
      if (next->ended(status, isWorker))
        isWorker = false; // it can go on with one
    successors.clear();
  }

  void dispose() noexcept override {
    link.reset();
    results.clear();
    load = nullptr;
    loaded.reset();
    before = status = okStatus();
    isDone = ready = isLoad = false;
    renew();
    std::exchange(home, nullptr)->keep(this);
  }

  // Kept while it is in use.
  std::shared_ptr<EventPool> home;
  State *nextFree = nullptr;

  // Of whoever took the task.
  CallOptions call;
  std::vector<Buffer> outputs;
  std::vector<Value> arguments;
  std::vector<Value> results; // of everybody when it is done
  LoadWork load;
  std::shared_ptr<Module> loaded; // as results
  std::stop_source stop;
  std::optional<std::stop_callback<Stop>>
      link; // until nobody knows the event: its end may be a stop
  runtime::Priority priority = runtime::Priority::Normal;
  bool isLoad = false;

  std::atomic<bool> isDone{false}, ready{false};
  std::mutex mutex;
  std::condition_variable condition;
  // Under the mutex.
  std::optional<Function> function; // without its module when it has ended
  size_t waitsFor = 0;
  Status before = okStatus(); // the first failure of those before
  Status status = okStatus();
  std::vector<std::function<void(const Event &)>> callbacks;
  std::vector<TaskRef<State>> successors;
};

EventPool::~EventPool() {
  while (free)
    delete std::exchange(free, free->nextFree);
}

Event::State *EventPool::take() {
  Event::State *state;
  {
    runtime::LockGuard lock(mutex);
    state = free;
    if (state) {
      free = state->nextFree;
      --kept;
    }
  }
  if (!state)
    state = new Event::State();
  state->home = shared_from_this();
  return state;
}

void EventPool::keep(Event::State *state) {
  {
    runtime::LockGuard lock(mutex);
    if (kept < maxKept) {
      ++kept;
      state->nextFree = std::exchange(free, state);
      return;
    }
  }
  delete state;
}

Event::Event(const Event &other) : state(other.state) {
  if (state)
    state->retain();
}

Event::~Event() {
  if (state)
    state->release();
}

bool Event::done() const { return state->isDone.load(std::memory_order_acquire); }

// A callback that runs in here may drop the handle that this is.

Status Event::wait() const {
  const Event kept = *this;
  State &call = *kept.state;
  if (!call.isDone && call.ready.load(std::memory_order_acquire) && call.take())
    call.runHere(false);
  std::unique_lock lock(call.mutex);
  call.condition.wait(lock, [&] { return call.isDone.load(); });
  return call.status;
}

bool Event::waitFor(std::chrono::nanoseconds timeout) const {
  const Event kept = *this;
  std::unique_lock lock(kept.state->mutex);
  return kept.state->condition.wait_for(lock, timeout, [&] { return kept.state->isDone.load(); });
}

Status Event::status() const {
  if (!done())
    return failedPreconditionError(state->isLoad ? "the load has not ended"
                                                 : "the call has not ended");
  return state->status;
}

StatusOr<std::shared_ptr<Module>> Event::module() const {
  if (!state->isLoad)
    return invalidArgumentError("the event is of a call, which gives no module");
  PLIM_RETURN_IF_ERROR(status());
  return state->loaded;
}

std::span<const Value> Event::results() const {
  return done() ? std::span<const Value>(state->results) : std::span<const Value>();
}

void Event::cancel() const {
  const Event kept = *this;
  kept.state->cancel();
}

void Event::then(std::function<void(const Event &)> callback) const {
  const Event kept = *this;
  {
    std::lock_guard lock(kept.state->mutex);
    if (!kept.done()) {
      kept.state->callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(kept);
}

Event Function::callAsync(std::span<const Value> arguments, const AsyncOptions &options) const {
  Event event(module->state->engine->state->events->take());
  event.state->prepare(*this, arguments, options);
  event.state->start(options.after, options.call.stop);
  return event;
}

StatusOr<Event> Engine::loadAsync(LoadWork work, LoadOptions options) {
  Event event(state->events->take());
  options.begin = options.begin.value_or(LoadThreads::Clock::now());
  const std::stop_token ofCaller = options.stop;
  event.state->prepare(
      [engine = shared_from_this(), work = std::move(work), options = std::move(options)](
          const std::stop_token &stop) mutable -> StatusOr<std::shared_ptr<Module>> {
        PLIM_ASSIGN_OR_RETURN(
            const LoadThreads::Turn turn,
            engine->state->loads->takeTurn(stop, *options.begin, options.timeout));
        options.stop = stop;
        return work(*engine, options);
      },
      ofCaller);
  PLIM_RETURN_IF_ERROR(state->loads->start(runtime::TaskRef<runtime::Task>::to(*event.state)));
  return event;
}

} // namespace plim
