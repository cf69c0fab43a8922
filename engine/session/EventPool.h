// EventPool: the states of events that have gone, kept for the next ones, so that an asynchronous
// call in steady state takes no memory from the system. Each engine has one. An event that outlives
// its engine keeps the pool.
//
// Thread safety: any thread.
#pragma once

#include "engine/runtime/Mutex.h"
#include "engine/session/Event.h"

#include <cstddef>
#include <memory>

namespace plim {

class EventPool : public std::enable_shared_from_this<EventPool> {
public:
  /// States that wait for the next calls, at most.
  static constexpr size_t maxKept = 1024;

  EventPool() = default;
  ~EventPool();
  EventPool(const EventPool &) = delete;
  EventPool &operator=(const EventPool &) = delete;

  /// A state that is not in use, with one reference, which is the caller's. Allocates if none
  /// waits, and then throws std::bad_alloc without memory. The state keeps the pool.
  Event::State *take();
  /// Takes back a state that nobody refers to; deletes it if maxKept wait already.
  void keep(Event::State *state);

  /// How calls and loads end that get no memory, are cancelled, or throw: made beforehand, since
  /// they have to end.
  const Status exhausted = resourceExhaustedError("out of memory");
  const Status cancelled = cancelledError("the call was cancelled");
  const Status loadCancelled = cancelledError("the load was cancelled");
  const Status thrown = internalError("an exception that the engine does not know");

private:
  runtime::Mutex mutex;
  Event::State *free PLIM_GUARDED_BY(mutex) = nullptr;
  size_t kept PLIM_GUARDED_BY(mutex) = 0;
};

} // namespace plim
