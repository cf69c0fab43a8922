#include "engine/runtime/Executor.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/Launch.h"
#include "engine/runtime/Mutex.h"
#include "engine/runtime/ScheduleRun.h"
#include "engine/runtime/ThreadSanitizer.h"
#include "support/FloatEnvironment.h"

// For kinds of cores.
#define TBB_PREVIEW_TASK_ARENA_CONSTRAINTS_EXTENSION 1
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace plim::runtime {
namespace {

// At the top of a worker's stack: oneTBB's own frames, thread-local data of the program, and what a
// signal handler may need at the bottom.
constexpr int64_t workerMarginBytes = 256 << 10;

/// None if they may run anywhere: oneTBB then need not learn what the machine looks like.
std::optional<tbb::task_arena::constraints> constraintsOf(const WorkerOptions &workers) {
  if (!workers.numaNode && workers.cores == CoreKind::Any)
    return std::nullopt;
  tbb::task_arena::constraints result;
  if (workers.numaNode)
    result.set_numa_id(*workers.numaNode);
  if (workers.cores != CoreKind::Any) {
    // From the least to the most powerful kind.
    const std::vector<tbb::core_type_id> kinds = tbb::info::core_types();
    if (kinds.size() > 1)
      result.set_core_type(workers.cores == CoreKind::Performance ? kinds.back() : kinds.front());
  }
  return result;
}

/// Counts a caller for a scope.
class CallerCount {
public:
  explicit CallerCount(std::atomic<int> &count)
      : others(count.fetch_add(1, std::memory_order_relaxed)), count(count) {}
  ~CallerCount() { count.fetch_sub(1, std::memory_order_relaxed); }
  CallerCount(const CallerCount &) = delete;
  CallerCount &operator=(const CallerCount &) = delete;

  const int others;

private:
  std::atomic<int> &count;
};

} // namespace

struct Executor::Arena {
  // A caller that finds no slot would have to sleep while a worker does its work. So callers have
  // slots of their own, and half as many of them as there are threads may use the workers: with
  // more, every core has a caller to itself and sharing gains nothing.
  Arena(int threads, const WorkerOptions &workers)
      : maxCallers((threads + 1) / 2), process(getpid()) {
    const int slots = threads - 1 + maxCallers;
    const auto reserved = static_cast<unsigned>(maxCallers);
    if (auto constraints = constraintsOf(workers))
      own.emplace(constraints->set_max_concurrency(slots), reserved);
    else if (!workers.ofCaller)
      own.emplace(slots, reserved);
  }

  /// Runs job() on the calling thread, isolated from other tasks, where workers find what it
  /// spawns.
  template <typename JobT> void execute(JobT &&job) {
    auto isolated = [&]() PLIM_NO_TSAN { tbb::this_task_arena::isolate(job); };
    own ? own->execute(isolated) : isolated();
  }
  template <typename JobT> void enqueue(JobT job) {
    if (own)
      own->enqueue(std::move(job));
    else
      tbb::task_arena(tbb::attach{}).enqueue(std::move(job));
  }
  /// How many threads may work at once, the calling one included, which is inside of execute().
  static int threadsHere() { return tbb::this_task_arena::max_concurrency(); }

  // The workers stay behind in the parent of a fork.
  bool usable() const { return process == getpid(); }

  const int maxCallers;
  std::atomic<int> callers{0};
  std::optional<tbb::task_arena> own; // none where the caller's is used
  const pid_t process;
};

/// Tasks that no thread has come to yet. Workers are sent to it while it has some, never more than
/// there are; each stays until nothing is left.
///
/// It lives until the executor and all workers that were sent are done with it. (They hold it by a
/// bare pointer: ThreadSanitizer does not see how oneTBB hands over what a task captures.)
class Executor::TaskQueue {
public:
  explicit TaskQueue(int workers) : maxSent(workers) {}

  void release() {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  /// True: the caller must send a worker, or work().
  bool push(TaskRef<Task> task, Priority priority, bool isLast) {
    // Those that waiting threads took would add up until a worker comes. Released without the lock.
    std::array<TaskRef<Task>, 2> done;
    LockGuard lock(mutex);
    TaskList &list = tasks[static_cast<size_t>(priority)];
    for (TaskRef<Task> &each : done)
      each = list.popTaken();
    list.push(std::move(task));
    if (isLast && current == this && std::exchange(isFree, false))
      return false;
    if (sent == maxSent)
      return false;
    ++sent;
    holders.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// No worker could be sent. Where this thread works off the queue already it will come to all
  /// there is.
  void workInstead() noexcept {
    if (current != this)
      return work();
    {
      LockGuard lock(mutex);
      --sent;
    }
    release();
  }

  /// Runs what nobody has taken, the first one first, until nothing is left.
  void work() noexcept {
    const TaskQueue *outer = std::exchange(current, this);
    while (TaskRef<Task> task = pop()) {
      isFree = true;
      if (task->take())
        task->run();
    }
    current = outer;
    isFree = false;
    release();
  }

private:
  ~TaskQueue() = default;

  TaskRef<Task> pop() {
    LockGuard lock(mutex);
    for (size_t i = tasks.size(); i-- > 0;)
      if (TaskRef<Task> task = tasks[i].pop())
        return task;
    --sent;
    return {};
  }

  // The queue that this thread works off, and whether the thread may still promise to run a task
  // that its own task submits.
  static thread_local const TaskQueue *current;
  static thread_local bool isFree;

  const int maxSent;
  std::atomic<int64_t> holders{1};
  Mutex mutex;
  int sent PLIM_GUARDED_BY(mutex) = 0;
  std::array<TaskList, 3> tasks PLIM_GUARDED_BY(mutex); // by priority
};

thread_local const Executor::TaskQueue *Executor::TaskQueue::current = nullptr;
thread_local bool Executor::TaskQueue::isFree = false;

/// Workers of the arena that share in a run.
class Executor::Team : public ScheduleRun::Helpers {
public:
  /// In the arena.
  Team() = default;
  ~Team() noexcept override {} // a group that was waited for does not throw
  bool summon() noexcept override {
    try {
      tsanRelease(run);
      group.run([this]() PLIM_NO_TSAN {
        tsanAcquire(run);
        run->help();
      });
      return true;
    } catch (...) {
      return false; // no memory for a task: fewer take part
    }
  }
  /// Returns when all helpers have gone, those that come too late too.
  void dismiss() { group.wait(); }

  ScheduleRun *run = nullptr;

private:
  // Isolated from the host's group: cancelling that one must not drop helpers that are counted on.
  tbb::task_group_context context{tbb::task_group_context::isolated};
  tbb::task_group group{context};
};

Status Executor::check(const WorkerOptions &workers) {
  if (workers.ofCaller && (workers.numaNode || workers.cores != CoreKind::Any))
    return invalidArgumentError(
        "workers of the caller's arena run where that arena has them: neither a "
        "NUMA node nor a kind of cores can be asked for");
  if (!workers.numaNode)
    return okStatus();
  try {
    const std::vector<tbb::numa_node_id> nodes = tbb::info::numa_nodes();
    if (*workers.numaNode >= 0 && std::ranges::find(nodes, *workers.numaNode) != nodes.end())
      return okStatus();
    std::string known;
    for (tbb::numa_node_id node : nodes)
      if (node >= 0)
        known += (known.empty() ? "" : ", ") + std::to_string(node);
    return invalidArgumentError(
        "there is no NUMA node " + std::to_string(*workers.numaNode) +
        (known.empty() ? "; this machine tells of none" : "; known are " + known));
  } catch (...) {
    return internalError("oneTBB cannot tell of NUMA nodes");
  }
}

Executor::Executor(std::shared_ptr<MemoryPool> pool, ExecutorOptions options)
    : pool(std::move(pool)), options(std::move(options)), scratch(*this->pool), threadCount(1),
      workerBytes(std::numeric_limits<int64_t>::max()) {
  try {
    // An arena that asks for more than oneTBB grants gets no more, and a warning on stderr.
    size_t granted =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const WorkerOptions &workers = this->options.workers;
    int wanted = this->options.threads;
    if (wanted <= 0) {
      auto constraints = constraintsOf(workers);
      wanted = constraints ? tbb::info::default_concurrency(*constraints)
                           : tbb::info::default_concurrency();
    }
    int agreed = static_cast<int>(std::min(static_cast<size_t>(wanted), granted));
    if (agreed > 1) {
      arena = std::make_unique<Arena>(agreed, workers);
      threadCount = agreed;
      size_t whole = tbb::global_control::active_value(tbb::global_control::thread_stack_size);
      workerBytes = std::max(static_cast<int64_t>(whole) - workerMarginBytes, int64_t(0));
    }
  } catch (...) {
    // Without an arena everything runs inline, which is slower and right.
  }
  queue = new TaskQueue(threadCount - 1);
}

Executor::~Executor() {
  // In a forked child the arena may hold locks of threads that are gone: it stays as it is.
  if (arena && !arena->usable())
    static_cast<void>(arena.release());
  queue->release();
}

plim_code Executor::run(plim_context *context, std::span<const plim_launch> launches,
                        const uint64_t *predecessors) {
  CallFrame &frame = CallFrame::of(context);
  CallContext &call = frame.call();
  if (!call.checked()) [[likely]] {
    runLaunches(frame, launches, predecessors);
  } else {
    // Dispatch by dispatch: memory that only one of them writes is protected while the others run.
    for (const plim_launch &each : launches) {
      const Launch launch(each);
      launch.countAccesses(call, true);
      runLaunches(frame, {&each, 1}, nullptr);
      launch.checkSlack(call);
      launch.countAccesses(call, false);
    }
  }
  noteMemory();
  plim_code failed = call.failed();
  if (failed)
    setStatus(context, failed);
  return failed;
}

void Executor::runLaunches(CallFrame &frame, std::span<const plim_launch> launches,
                           const uint64_t *predecessors) const {
  if (frame.call().failed())
    return;
  const FloatEnvironment environment;
  if (arena && isWorthSharing(launches) && tryParallel(frame, launches, predecessors))
    return;
  for (const plim_launch &each : launches) {
    const Launch launch(each);
    if (launch.count == 0)
      continue;
    ProfilerSpan span(options.profiler, Profiler::Kind::Dispatch, launch.dispatch().name,
                      launch.dispatch().location,
                      {.workgroups = launch.count, .bytes = options.profiler ? launch.bytes() : 0});
    launch.run(frame, 0, launch.count);
    if (frame.call().failed())
      return;
  }
}

bool Executor::isWorthSharing(std::span<const plim_launch> launches) {
  int64_t work = 0;
  bool divides = launches.size() > 1;
  for (const plim_launch &each : launches) {
    const Launch launch(each);
    divides |= launch.count > 1;
    if (__builtin_add_overflow(work, launch.work(), &work) || work >= inlineOperations)
      return divides;
  }
  return false;
}

bool Executor::tryParallel(CallFrame &frame, std::span<const plim_launch> launches,
                           const uint64_t *predecessors) const {
  if (!arena->usable() || !frame.call().workersFit())
    return false;
  CallerCount inside(arena->callers);
  if (inside.others >= arena->maxCallers)
    return false;

  bool hasBegun = false;
  try {
    arena->execute([&]() PLIM_NO_TSAN {
      Team team;
      const int threads = std::min(threadCount, Arena::threadsHere());
      ScheduleRun run(frame, launches, predecessors, threads, team, options.profiler);
      team.run = &run;
      hasBegun = true;
      run.run();
      team.dismiss();
    });
  } catch (...) {
    // Before the run: it goes inline. Behind it nothing throws.
  }
  return hasBegun;
}

void Executor::submit(TaskRef<Task> task, Priority priority, bool isLast) {
  if (arena && arena->usable()) {
    if (!queue->push(std::move(task), priority, isLast))
      return;
    try {
      tsanRelease(queue);
      arena->enqueue([tasks = queue]() PLIM_NO_TSAN {
        tsanAcquire(tasks);
        Profiler::nameThread("worker");
        tasks->work();
      });
    } catch (...) {
      queue->workInstead();
    }
    return;
  }
  // A task that ends may submit the next: one after the other, whatever their number.
  static thread_local TaskList *later = nullptr;
  if (later)
    return later->push(std::move(task));
  TaskList tasks;
  tasks.push(std::move(task));
  later = &tasks;
  while (TaskRef<Task> next = tasks.pop())
    if (next->take())
      next->run();
  later = nullptr;
}

void Executor::parallelFor(size_t count, const std::function<void(size_t)> &job) noexcept {
  // Runners draw jobs one by one: whoever is left when oneTBB fails still does all of them.
  std::atomic<size_t> next{0};
  auto runJobs = [&] {
    FloatEnvironment environment;
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      job(i);
  };
  const std::thread::id caller = std::this_thread::get_id();
  auto body = [&](const tbb::blocked_range<size_t> &) PLIM_NO_TSAN {
    tsanAcquire(&next);
    if (options.profiler && std::this_thread::get_id() != caller)
      Profiler::nameThread("worker");
    runJobs();
    tsanRelease(&job);
  };
  tsanRelease(&next);
  if (count > 1 && arena && arena->usable()) {
    CallerCount inside(arena->callers);
    size_t runners = std::min(count, static_cast<size_t>(threadCount));
    try {
      tbb::task_group_context group(tbb::task_group_context::isolated);
      arena->execute([&]() PLIM_NO_TSAN {
        tbb::parallel_for(tbb::blocked_range<size_t>(0, runners, 1), body,
                          tbb::simple_partitioner(), group);
      });
    } catch (...) {
      // The rest is done below.
    }
  }
  runJobs();
  tsanAcquire(&job);
}

} // namespace plim::runtime
