// Executor: runs the dispatches of calls, and the compiler's jobs, on the engine's own oneTBB
// arena.
//
// The launches of a schedule, often one, run inline on the caller, one after the other, when all of them
// together are less work than waking a worker pays for, when there is one thread, or when so many callers
// run parallel work already that each core has its own. Otherwise the caller and workers of the arena
// share them (ScheduleRun.h), isolated from each other's calls and from the host's own tasks. The first
// failure is latched in the call; what has not yet started is dropped, what runs ends.
//
// A machine with several NUMA nodes is best used by an executor for each of them, with its own callers and
// buffers: work that is shared across nodes is slower than the same on one.
//
// oneTBB is included by Executor.cpp alone: it throws, and no exception leaves that file. Process-
// wide settings of oneTBB are left to the host, so threads beyond what oneTBB grants the process
// are shared among all arenas. In a forked child, where the workers are gone, everything runs
// inline.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/CallThreads.h"
#include "engine/runtime/Launch.h"
#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/ScratchArena.h"
#include "engine/runtime/Task.h"
#include "support/Profiler.h"
#include "support/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace plim::runtime {

/// On which processors with several kinds of cores workers run.
enum class CoreKind { Any, Performance, Efficiency };

/// Whose threads help a caller, and where they run.
struct WorkerOptions {
  /// The workers of the oneTBB arena that the calling thread is in, of which as many help as the arena has
  /// and `threads` allows; instead of an arena of the executor's own. The others are then the host's matter.
  bool ofCaller = false;
  /// Bound to the processors of this NUMA node, as are callers while they share work with workers. Numbers
  /// are those of tbb::info::numa_nodes(). Memory comes from the node of the thread that writes it first.
  std::optional<int> numaNode = std::nullopt;
  /// Likewise to this kind of cores. On a machine with one kind all are of it.
  CoreKind cores = CoreKind::Any;
};

struct ExecutorOptions {
  /// Threads that work at once on one call, the caller included; 0: all that this process may use.
  /// More than oneTBB grants the process when the executor is made (the processors it may run on,
  /// unless the host changed that) are not had. With 1 no worker is ever started.
  int threads = 0;
  WorkerOptions workers = {};
  /// Borrowed; null for none. Gets a span for each dispatch, and for each range that a worker shares in.
  Profiler *profiler = nullptr;
  /// What the profiler is told of memory, after each group of dispatches and each call; empty for nothing.
  std::function<Profiler::MemoryUse()> memoryUse = {};
};

class Executor {
public:
  /// Schedules below this run inline: an idle worker takes 3 to 4 microseconds to start.
  static constexpr int64_t inlineOperations = 20 * operationsPerMicrosecond;

  /// InvalidArgument if there is no such node, or if what is asked for contradicts itself.
  static Status check(const WorkerOptions &workers);

  /// Keeps `pool`, where scratch comes from. `workers` must have passed check(). Starts no thread before the first parallel work.
  explicit Executor(std::shared_ptr<MemoryPool> pool, ExecutorOptions options = {});
  /// No work may be running.
  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// Threads that really work at once on one call.
  int threads() const { return threadCount; }
  /// The stack that a dispatch may use on a worker, in bytes. Without workers nothing limits it.
  int64_t workerStackBytes() const { return workerBytes; }

  /// Runs the launches of a schedule, at most PLIM_SCHEDULE_LIMIT, for the call that `context` belongs to,
  /// and returns the call's first failure, 0 if there is none. `predecessors` as in plim_schedule, or
  /// null. Blocks until nothing of it runs any more.
  plim_code run(plim_context *context, std::span<const plim_launch> launches,
                const uint64_t *predecessors = nullptr);

  /// Calls job(0) ... job(count - 1) in any order, several at once, and returns when all are done.
  /// Each runs on a stack of at least 4 MiB if the caller's is that large, under the default
  /// floating-point environment, and must not throw.
  void parallelFor(size_t count, const std::function<void(size_t)> &job) noexcept;

  /// Has a worker run `task` when one is free, unless somebody else takes it before. With `isLast` a task that
  /// the caller runs as a worker does that as the last thing, and its worker goes on with `task`. Without
  /// workers it is run before this returns, or when the task that this thread runs for that reason has ended. Kept
  /// until a worker comes to it; the executor may be gone by then. Takes no memory but oneTBB's.
  void submit(TaskRef<Task> task, Priority priority, bool isLast = false);

  ScratchCache &scratchCache() { return scratch; }
  /// Null: nothing is measured.
  Profiler *profiler() const { return options.profiler; }
  /// Tells the profiler, if there is one, what memory is in use.
  void noteMemory() const {
    if (options.profiler && options.memoryUse) [[unlikely]]
      options.profiler->noteMemory(options.memoryUse());
  }

  /// For calls that need more stack than their thread has.
  CallThreads &callThreads() { return largeStacks; }

private:
  struct Arena; // hides oneTBB
  class TaskQueue;
  class Team;

  void runLaunches(CallFrame &frame, std::span<const plim_launch> launches,
                   const uint64_t *predecessors) const;
  static bool isWorthSharing(std::span<const plim_launch> launches);
  bool tryParallel(CallFrame &frame, std::span<const plim_launch> launches,
                   const uint64_t *predecessors) const;

  const std::shared_ptr<MemoryPool> pool;
  const ExecutorOptions options;
  ScratchCache scratch;
  CallThreads largeStacks;
  int threadCount;
  int64_t workerBytes;
  std::unique_ptr<Arena> arena; // null with one thread
  TaskQueue *queue;
};

} // namespace plim::runtime
