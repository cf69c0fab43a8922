#include "engine/runtime/Executor.h"

#include "engine/runtime/CallContext.h"
#include "engine/runtime/FloatEnvironment.h"
#include "engine/runtime/ThreadSanitizer.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <unistd.h>
#include <utility>

namespace plim::runtime {
namespace {

constexpr plim_code codeOf(StatusCode code) { return static_cast<plim_code>(code); }

int64_t saturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
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

/// One dispatch of one call, shared by the threads that run its ranges.
struct Executor::Launch {
  CallFrame &frame; // of the host code
  CallContext &call;
  const plim_dispatch &dispatch;
  void *const *bindings;
  const int64_t *scalars;
  int64_t count; // of workgroups
  int64_t cost;  // of one of them

  void runPiece(plim_context *context, int64_t begin, int64_t end) const {
    FloatEnvironment environment;
    plim_code code;
    try {
      code = dispatch.entry(context, bindings, scalars, begin, end);
    } catch (...) {
      code = codeOf(StatusCode::Unknown);
      call.latch(code, std::string("an exception left dispatch ") + dispatch.name);
    }
    // An entry that reports through plim_rt_fail has latched already.
    if (code != 0 && !call.failed())
      call.latch(code, std::string("dispatch ") + dispatch.name + " failed without a message");
  }

  /// Runs [begin, end) in `frame`, in pieces that end soon after the call has failed.
  void runPieces(CallFrame &frame, int64_t begin, int64_t end) const {
    ScratchArena::Mark mark = frame.scratchMark();
    int64_t step = std::max<int64_t>(pieceOperations / cost, 1);
    while (begin < end && !call.failed()) {
      int64_t next = end - begin > step ? begin + step : end;
      runPiece(frame.context(), begin, next);
      frame.resetScratch(mark);
      begin = next;
    }
  }
};

Executor::Executor(std::shared_ptr<MemoryPool> pool, ExecutorOptions options)
    : pool(std::move(pool)), scratch(*this->pool), threadCount(1) {
  try {
    // An arena that asks for more than oneTBB grants gets no more, and a warning on stderr.
    size_t granted =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    int wanted = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
    int agreed = static_cast<int>(std::min(static_cast<size_t>(wanted), granted));
    if (agreed > 1) {
      arena = std::make_unique<Arena>(agreed);
      threadCount = agreed;
    }
  } catch (...) {
    // Without an arena everything runs inline, which is slower and right.
  }
}

Executor::~Executor() {
  // In a forked child the arena may hold locks of threads that are gone: it stays as it is.
  if (arena && !arena->usable())
    static_cast<void>(arena.release());
}

plim_code Executor::runDispatch(plim_context *context, const plim_dispatch *dispatch,
                                void *const *bindings, const int64_t *scalars) {
  CallFrame &frame = CallFrame::of(context);
  CallContext &call = frame.call();
  if (!call.failed()) {
    Launch launch{.frame = frame,
                  .call = call,
                  .dispatch = *dispatch,
                  .bindings = bindings,
                  .scalars = scalars,
                  .count = dispatch->workgroups(scalars),
                  .cost = std::max<int64_t>(dispatch->cost, 1)};
    bool small =
        launch.count <= 1 || saturatingMultiply(launch.count, launch.cost) < inlineOperations;
    if (small || !tryParallel(launch))
      launch.runPieces(frame, 0, launch.count);
  }
  context->status = call.failed();
  return context->status;
}

bool Executor::tryParallel(const Launch &launch) const {
  if (!arena || !arena->usable())
    return false;
  CallerCount inside(arena->callers);
  if (inside.others >= arena->maxCallers)
    return false;

  CallContext &call = launch.call;
  int64_t grain = std::max<int64_t>(rangeOperations / launch.cost, 1);
  tbb::blocked_range<int64_t> all(0, launch.count, static_cast<size_t>(grain));
  try {
    // Isolated from the host's group: cancelling that one must not drop ranges of ours unseen.
    tbb::task_group_context group(tbb::task_group_context::isolated);
    auto task = [&](int64_t begin, int64_t end) {
      CallFrame frame(call, *launch.frame.context());
      launch.runPieces(frame, begin, end);
      if (call.failed())
        group.cancel_group_execution();
    };
    auto body = [&](const tbb::blocked_range<int64_t> &range) PLIM_NO_TSAN {
      tsanAcquire(&group);
      task(range.begin(), range.end());
      tsanRelease(&launch);
    };
    tsanRelease(&group);
    arena->tasks.execute([&]() PLIM_NO_TSAN {
      tbb::this_task_arena::isolate(
          [&]() PLIM_NO_TSAN { tbb::parallel_for(all, body, tbb::auto_partitioner(), group); });
    });
    tsanAcquire(&launch);
  } catch (...) {
    call.latch(codeOf(StatusCode::ResourceExhausted), "no memory for the tasks of a dispatch");
  }
  return true;
}

void Executor::parallelFor(size_t count, const std::function<void(size_t)> &job) noexcept {
  // Runners draw jobs one by one: whoever is left when oneTBB fails still does all of them.
  std::atomic<size_t> next{0};
  auto runJobs = [&] {
    FloatEnvironment environment;
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      job(i);
  };
  auto body = [&](const tbb::blocked_range<size_t> &) PLIM_NO_TSAN {
    tsanAcquire(&next);
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
