#include "engine/runtime/Executor.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/FaultReport.h"
#include "engine/runtime/FloatEnvironment.h"
#include "engine/runtime/GuardedMemory.h"
#include "engine/runtime/Mutex.h"
#include "engine/runtime/ThreadSanitizer.h"

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

namespace plim::runtime {
namespace {

// At the top of a worker's stack: oneTBB's own frames, thread-local data of the program, and what a
// signal handler may need at the bottom.
constexpr int64_t workerMarginBytes = 256 << 10;

constexpr plim_code codeOf(StatusCode code) { return static_cast<plim_code>(code); }

int64_t saturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

/// Of numbers that are not negative.
int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
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
  explicit Arena(int threads)
      : maxCallers((threads + 1) / 2),
        tasks(threads - 1 + maxCallers, static_cast<unsigned>(maxCallers)), process(getpid()) {}

  // The workers stay behind in the parent of a fork.
  bool usable() const { return process == getpid(); }

  const int maxCallers;
  std::atomic<int> callers{0};
  tbb::task_arena tasks;
  const pid_t process;
};

/// Tasks that no thread has come to yet. Workers are sent to it while it has some, never more than there are;
/// each stays until nothing is left.
///
/// It lives until the executor and all workers that were sent are done with it. (They hold it by a bare
/// pointer: ThreadSanitizer does not see how oneTBB hands over what a task captures.)
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

  /// No worker could be sent. Where this thread works off the queue already it will come to all there is.
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

  // Which one this thread works off, and whether it has not yet promised to run what its task submits.
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

/// One dispatch of a group.
struct Executor::Launch {
  const plim_dispatch *dispatch;
  void *const *bindings;
  const int64_t *scalars;
  int64_t count; // of workgroups, at least 1
  int64_t cost;  // of one of them
  int64_t work;  // of all of them
  int64_t grain; // workgroups that are worth a range
};

/// Dispatches of one call that run together, shared by the threads that run their ranges.
struct Executor::Group {
  /// More run in several groups, so that none needs memory but the caller's stack.
  static constexpr size_t maxLaunches = 16;

  CallFrame &frame; // of the host code
  CallContext &call;
  std::array<Launch, maxLaunches> launches;
  size_t count = 0;
  int64_t work = 0;
  GroupTimes *times = nullptr; // if a profiler asks for those of ranges

  Group(CallFrame &frame, std::span<const plim_launch> from) : frame(frame), call(frame.call()) {
    for (const auto &[dispatch, bindings, scalars] : from) {
      int64_t workgroups = dispatch->workgroups(scalars);
      if (workgroups <= 0)
        continue;
      int64_t cost = std::max<int64_t>(dispatch->cost, 1);
      launches[count++] = {.dispatch = dispatch,
                           .bindings = bindings,
                           .scalars = scalars,
                           .count = workgroups,
                           .cost = cost,
                           .work = saturatingMultiply(workgroups, cost),
                           .grain = std::max<int64_t>(rangeOperations / cost, 1)};
      work = saturatingAdd(work, launches[count - 1].work);
    }
  }

  const Launch *begin() const { return launches.data(); }
  const Launch *end() const { return launches.data() + count; }

  plim_code runChecked(plim_context *context, const Launch &launch, int64_t begin,
                       int64_t end) const {
    const plim_dispatch &dispatch = *launch.dispatch;
    plim_code code = 0;
    std::optional<Fault> fault = FaultGuard::run(
        [&] { code = dispatch.entry(context, launch.bindings, launch.scalars, begin, end); });
    if (!fault)
      return code;
    latchFault(launch,
               describeFault(*fault, *call.checked()->memory, "binding", dispatch.binding_count,
                             [&](size_t i) { return launch.bindings[i]; }));
    return call.failed();
  }

  /// Counts its accesses, or takes them back: while there are any, what is only read is protected.
  void countAccesses(bool begin) const {
    GuardedMemory &memory = *call.checked()->memory;
    for (const Launch &launch : *this)
      for (uint64_t i = 0; i < launch.dispatch->binding_count; ++i) {
        bool writes = launch.dispatch->access[i] & PLIM_ACCESS_WRITE;
        begin ? memory.beginAccess(launch.bindings[i], writes)
              : memory.endAccess(launch.bindings[i], writes);
      }
  }

  /// Looks for what was written just outside of what may be written.
  void checkSlack() const {
    for (const Launch &launch : *this)
      for (uint64_t i = 0; i < launch.dispatch->binding_count; ++i) {
        if (!(launch.dispatch->access[i] & PLIM_ACCESS_WRITE))
          continue;
        if (auto damage = call.checked()->memory->takeDamage(launch.bindings[i]))
          latchFault(launch, describeDamage(*damage, "binding #" + std::to_string(i)));
      }
  }

  void latchFault(const Launch &launch, const std::string &what) const {
    const plim_dispatch &dispatch = *launch.dispatch;
    call.latch(codeOf(StatusCode::OutOfRange),
               std::string(dispatch.location ? dispatch.location : "") + "dispatch '" +
                   dispatch.name + "' " + what);
  }

  void runPiece(plim_context *context, const Launch &launch, int64_t begin, int64_t end) const {
    FloatEnvironment environment;
    plim_code code;
    try {
      if (!call.checked()) [[likely]]
        code = launch.dispatch->entry(context, launch.bindings, launch.scalars, begin, end);
      else
        code = runChecked(context, launch, begin, end);
    } catch (...) {
      code = codeOf(StatusCode::Unknown);
      call.latch(code, std::string("an exception left dispatch ") + launch.dispatch->name);
    }
    // An entry that reports through plim_rt_fail has latched already.
    if (code != 0 && !call.failed())
      call.latch(code,
                 std::string("dispatch ") + launch.dispatch->name + " failed without a message");
  }

  /// The same in a task of its own.
  void runRange(CallFrame &frame, const Launch &launch, int64_t begin, int64_t end) const;

  /// Runs [begin, end) of one dispatch in `frame`, in pieces that end soon after the call failed.
  void runPieces(CallFrame &frame, const Launch &launch, int64_t begin, int64_t end) const {
    ScratchArena::Mark mark = frame.scratchMark();
    int64_t step = std::max<int64_t>(pieceOperations / launch.cost, 1);
    while (begin < end && !call.failed()) {
      int64_t next = end - begin > step ? begin + step : end;
      runPiece(frame.context(), launch, begin, next);
      frame.resetScratch(mark);
      begin = next;
    }
  }
};

/// When the ranges of a group ran.
struct Executor::GroupTimes {
  explicit GroupTimes(Profiler &profiler) : profiler(profiler) {
    for (std::atomic<int64_t> &first : firsts)
      first.store(std::numeric_limits<int64_t>::max(), std::memory_order_relaxed);
  }

  int64_t now() const { return profiler.now(); }

  /// What ran from `from` until now on the calling thread.
  void note(const Launch &launch, size_t index, int64_t from, int64_t begin, int64_t end) {
    if (std::this_thread::get_id() != caller)
      Profiler::nameThread("worker");
    int64_t to = profiler.now();
    const plim_dispatch &dispatch = *launch.dispatch;
    Profiler::Subject &range = subjectOf(Profiler::Kind::Range, dispatch);
    profiler.count(range, to - from, end - begin);
    profiler.keep(range, from, to, begin, end);
    for (int64_t have = firsts[index].load(); from < have;)
      if (firsts[index].compare_exchange_weak(have, from))
        break;
    for (int64_t have = lasts[index].load(); to > have;)
      if (lasts[index].compare_exchange_weak(have, to))
        break;
  }

  /// When all has ended.
  void finish(const Group &group) {
    int64_t to = profiler.now();
    if (group.count == 1) {
      const Launch &launch = *group.begin();
      Profiler::Subject &subject = subjectOf(Profiler::Kind::Dispatch, *launch.dispatch);
      profiler.count(subject, to - from, launch.count);
      profiler.keep(subject, from, to, 0, launch.count);
      return;
    }
    // They lie beside each other, which a row of a trace cannot show: that has one span for all.
    for (size_t i = 0; i < group.count; ++i) {
      const Launch &launch = group.launches[i];
      if (int64_t last = lasts[i].load(); last != 0)
        profiler.count(subjectOf(Profiler::Kind::Dispatch, *launch.dispatch),
                       last - firsts[i].load(), launch.count);
    }
    Profiler::Subject &subject = profiler.subject(Profiler::Kind::Group, "concurrent dispatches");
    profiler.count(subject, to - from);
    profiler.keep(subject, from, to);
  }

private:
  Profiler::Subject &subjectOf(Profiler::Kind kind, const plim_dispatch &dispatch) {
    return profiler.subject(kind, dispatch.name, dispatch.location ? dispatch.location : "");
  }

  Profiler &profiler;
  const int64_t from = profiler.now();
  const std::thread::id caller = std::this_thread::get_id();
  // By the launches; 0 for one that never began.
  std::array<std::atomic<int64_t>, Group::maxLaunches> firsts, lasts{};
};

void Executor::Group::runRange(CallFrame &frame, const Launch &launch, int64_t begin,
                               int64_t end) const {
  const int64_t from = times ? times->now() : 0;
  runPieces(frame, launch, begin, end);
  if (times) [[unlikely]]
    times->note(launch, static_cast<size_t>(&launch - this->begin()), from, begin, end);
}

/// What a task runs: several whole dispatches of a group, or the workgroups [begin, end) of one. In
/// oneTBB's hands, as tbb::blocked_range would be for one dispatch; it divides a group between
/// dispatches before it divides one of them.
class Executor::Range {
public:
  PLIM_NO_TSAN explicit Range(const Group &group) : Range(group.begin(), group.end()) {}
  Range(const Range &) = default;
  /// Leaves the first half to `other`.
  PLIM_NO_TSAN Range(Range &other, tbb::split) : Range(other) {
    if (last - first == 1) {
      from = other.to = from + (to - from) / 2;
      return;
    }
    // As near to half of the work as a boundary between dispatches comes.
    const double all = work();
    const Launch *middle = first;
    double before = 0;
    do
      before += static_cast<double>(middle++->work);
    while (middle + 1 != last && 2 * before + static_cast<double>(middle->work) < all);
    other.last = first = middle;
    to = first->count;
  }
  Range &operator=(const Range &) = delete;

  bool empty() const { return false; }
  PLIM_NO_TSAN bool is_divisible() const { // NOLINT(readability-identifier-naming): oneTBB's name
    return last - first == 1 ? to - from > first->grain
                             : work() > static_cast<double>(rangeOperations);
  }

  void run(const Group &group, CallFrame &frame) const {
    if (last - first == 1)
      return group.runRange(frame, *first, from, to);
    for (const Launch *launch = first; launch != last; ++launch)
      group.runRange(frame, *launch, 0, launch->count);
  }

private:
  PLIM_NO_TSAN Range(const Launch *first, const Launch *last)
      : first(first), last(last), from(0), to(first->count) {}

  /// Sums of saturated numbers do not fit an integer.
  PLIM_NO_TSAN double work() const {
    double sum = 0;
    for (const Launch *launch = first; launch != last; ++launch)
      sum += static_cast<double>(launch->work);
    return sum;
  }

  const Launch *first, *last;
  int64_t from, to; // workgroups of *first, when that is the only one
};

Executor::Executor(std::shared_ptr<MemoryPool> pool, ExecutorOptions options)
    : pool(std::move(pool)), options(std::move(options)), scratch(*this->pool), threadCount(1),
      workerBytes(std::numeric_limits<int64_t>::max()) {
  try {
    // An arena that asks for more than oneTBB grants gets no more, and a warning on stderr.
    size_t granted =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    int wanted =
        this->options.threads > 0 ? this->options.threads : tbb::info::default_concurrency();
    int agreed = static_cast<int>(std::min(static_cast<size_t>(wanted), granted));
    if (agreed > 1) {
      arena = std::make_unique<Arena>(agreed);
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

plim_code Executor::run(plim_context *context, std::span<const plim_launch> launches) {
  CallFrame &frame = CallFrame::of(context);
  CallContext &call = frame.call();
  while (!launches.empty() && !call.failed()) {
    size_t count = std::min(launches.size(), Group::maxLaunches);
    Group group(frame, launches.first(count));
    if (!call.checked()) [[likely]] {
      runGroup(group);
    } else {
      group.countAccesses(true);
      runGroup(group);
      group.checkSlack();
      group.countAccesses(false);
    }
    noteMemory();
    launches = launches.subspan(count);
  }
  context->status = call.failed();
  return context->status;
}

void Executor::runGroup(Group &group) const {
  bool divides = group.count > 1 || (group.count == 1 && group.begin()->count > 1);
  if (divides && group.work >= inlineOperations && tryParallel(group))
    return;
  for (const Launch &launch : group) {
    ProfilerSpan span(options.profiler, Profiler::Kind::Dispatch, launch.dispatch->name,
                      launch.dispatch->location, launch.count);
    group.runPieces(group.frame, launch, 0, launch.count);
  }
}

bool Executor::tryParallel(Group &group) const {
  if (!arena || !arena->usable() || !group.call.workersFit())
    return false;
  CallerCount inside(arena->callers);
  if (inside.others >= arena->maxCallers)
    return false;

  CallContext &call = group.call;
  std::optional<GroupTimes> times;
  if (options.profiler) [[unlikely]]
    group.times = &times.emplace(*options.profiler);
  try {
    // Isolated from the host's group: cancelling that one must not drop ranges of ours unseen.
    tbb::task_group_context tasks(tbb::task_group_context::isolated);
    auto task = [&](const Range &range) {
      CallFrame frame(call, *group.frame.context());
      range.run(group, frame);
      if (call.failed())
        tasks.cancel_group_execution();
    };
    auto body = [&](const Range &range) PLIM_NO_TSAN {
      tsanAcquire(&tasks);
      task(range);
      tsanRelease(&group);
    };
    tsanRelease(&tasks);
    arena->tasks.execute([&]() PLIM_NO_TSAN {
      tbb::this_task_arena::isolate([&]() PLIM_NO_TSAN {
        tbb::parallel_for(Range(group), body, tbb::auto_partitioner(), tasks);
      });
    });
    tsanAcquire(&group);
  } catch (...) {
    call.latch(codeOf(StatusCode::ResourceExhausted), "no memory for the tasks of a dispatch");
  }
  if (times) [[unlikely]]
    times->finish(group);
  return true;
}

void Executor::submit(TaskRef<Task> task, Priority priority, bool isLast) {
  if (arena && arena->usable()) {
    if (!queue->push(std::move(task), priority, isLast))
      return;
    try {
      arena->tasks.enqueue([tasks = queue]() PLIM_NO_TSAN {
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
      arena->tasks.execute([&]() PLIM_NO_TSAN {
        tbb::this_task_arena::isolate([&]() PLIM_NO_TSAN {
          tbb::parallel_for(tbb::blocked_range<size_t>(0, runners, 1), body,
                            tbb::simple_partitioner(), group);
        });
      });
    } catch (...) {
      // The rest is done below.
    }
  }
  runJobs();
  tsanAcquire(&job);
}

} // namespace plim::runtime
