// Event: the end of a call, or of a load, that runs by itself.
//
//   Event step = function.callAsync(arguments);
//   Event next = other.callAsync(arguments, {.after = std::array{step}});
//   Status status = next.wait();
//
// What is said of calls holds for loads (Engine::loadAsync()), but for what is said of them.
//
// Threads: a light handle to shared state; every method may be called from any thread at any time.
#pragma once

#include "engine/runtime/Value.h"
#include "support/Status.h"

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace plim {

class Module;

class Event {
public:
  /// Of no call: false where it is asked for, and nothing else may be asked.
  Event() = default;
  Event(const Event &other);
  Event(Event &&other) noexcept : state(std::exchange(other.state, nullptr)) {}
  Event &operator=(Event other) noexcept {
    std::swap(state, other.state);
    return *this;
  }
  ~Event();
  explicit operator bool() const { return state != nullptr; }

  /// Has the call ended? Its results can be seen by whoever got true.
  bool done() const;
  /// Blocks until the call has ended and returns its status. A call that could begin and that no worker
  /// has come to is run on this thread, which must not be inside a callback of then().
  Status wait() const;
  /// Blocks until the call has ended, at most for `timeout`, and returns whether it has.
  bool waitFor(std::chrono::nanoseconds timeout) const;

  /// Of a call that has ended. FailedPrecondition before.
  Status status() const;
  /// The results, in the order of the signature, of a call that has ended well; otherwise none. They stay
  /// until the last handle to the event is gone.
  std::span<const runtime::Value> results() const;

  /// Of a load: the module, if it has ended well, which stays until the last handle to the event is
  /// gone as well; else its status, or FailedPrecondition before its end. InvalidArgument for a
  /// call.
  StatusOr<std::shared_ptr<Module>> module() const;

  /// Ends the call with Cancelled: at once if it has not begun, otherwise within milliseconds: loops of all
  /// functions, recursion and waits for other calls look for it. Host functions and devices run to
  /// their end. A load ends where LoadOptions::stop says. Of no effect on one that has ended.
  void cancel() const;

  /// Calls `callback` once, when the call has ended: on the thread that ended it, or here and now if it has.
  /// It must neither throw nor wait for other calls; it may start them. Order among callbacks is not
  /// defined.
  void then(std::function<void(const Event &)> callback) const;

private:
  friend class Engine;
  friend class EventPool;
  friend class Function;
  struct State;
  /// Takes over a reference.
  explicit Event(State *adopted) : state(adopted) {}

  State *state = nullptr; // counted
};

} // namespace plim
