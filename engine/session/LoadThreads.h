// LoadThreads: the threads of loads that run by themselves (Engine::loadAsync()), one for each.
//
// A load mostly waits: for its turn, for a compile worker, or for the thread with a large stack
// that the compiler starts. So it is no task of the executor, whose workers would wait with it, and
// which has none in an engine of one thread. A thread costs a load nothing that is felt, and one of
// its own is what lets a load that waits be stopped, or run out of time.
//
// Threads end with their loads; nobody joins them. What they share outlives this.
#pragma once

#include "engine/runtime/Task.h"
#include "support/Status.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <sys/types.h>

namespace plim {

class LoadThreads {
  struct Shared;
  struct Start;

public:
  using Clock = std::chrono::steady_clock;

  /// So many loads have their turn at once.
  explicit LoadThreads(size_t atOnce);
  /// Waits until all threads have ended but the one that calls it, if it is one of them. In a
  /// forked child, which has none of them, it does not wait.
  ~LoadThreads();
  LoadThreads(const LoadThreads &) = delete;
  LoadThreads &operator=(const LoadThreads &) = delete;

  /// Runs `task` on a new thread, unless somebody else takes it before. Any thread. On failure it
  /// is not kept: ResourceExhausted without a thread; FailedPrecondition in a forked child. Throws
  /// std::bad_alloc.
  Status start(runtime::TaskRef<runtime::Task> task);

  /// A load that has its turn, as long as this lives.
  class Turn {
  public:
    Turn(Turn &&) = default;
    ~Turn();

  private:
    friend class LoadThreads;
    explicit Turn(std::shared_ptr<Shared> shared) : shared(std::move(shared)) {}
    std::shared_ptr<Shared> shared;
  };
  /// Waits for one. Cancelled or DeadlineExceeded if it does not come in time; a `timeout` of 0 has
  /// no end.
  StatusOr<Turn> takeTurn(const std::stop_token &stop, Clock::time_point begin,
                          std::chrono::nanoseconds timeout);

private:
  static void *main(void *argument);

  const pid_t process;
  const std::shared_ptr<Shared> shared;
};

} // namespace plim
