// EventPool: what events are made of, kept for the next ones. Of one engine; events that are still there when it
// is gone keep it.
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
  /// So many wait for the next calls at most.
  static constexpr size_t maxKept = 1024;

  EventPool() = default;
  ~EventPool();
  EventPool(const EventPool &) = delete;
  EventPool &operator=(const EventPool &) = delete;

  /// One that is not in use, with one reference.
  Event::State *take();
  /// Takes back one that nobody refers to.
  void keep(Event::State *state);

  /// How calls end that get no memory, and that are cancelled: made beforehand, since a call has to end.
  const Status exhausted = resourceExhaustedError("out of memory");
  const Status cancelled = cancelledError("the call was cancelled");

private:
  runtime::Mutex mutex;
  Event::State *free PLIM_GUARDED_BY(mutex) = nullptr;
  size_t kept PLIM_GUARDED_BY(mutex) = 0;
};

} // namespace plim
