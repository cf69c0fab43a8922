#include "engine/runtime/ScheduleRun.h"

#include "engine/runtime/CallContext.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plim::runtime {
namespace {

/// How many chunks a launch has for each thread: a few if they are short, more if they can be this long, so
/// that the threads end together, however unlike they are. Not more than that, since a call that has
/// failed still goes through all of them.
constexpr int64_t minChunksPerThread = 4, maxChunksPerThread = 64;
constexpr int64_t longChunkOperations = 50 * operationsPerMicrosecond;
/// How long a thread looks for work before it gives up its processor: longer than a worker takes to
/// come, some 20 microseconds. First it only looks, then it pauses in between.
constexpr int eagerTurns = 100, spinTurns = 500;

constexpr uint64_t setOf(size_t step) { return uint64_t{1} << step; }
size_t firstOf(uint64_t set) { return static_cast<size_t>(std::countr_zero(set)); }

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

uint16_t chunksOf(const Launch &launch, int threads) {
  const int64_t work = launch.work();
  const int64_t most = std::clamp(work / longChunkOperations, minChunksPerThread * threads,
                                  maxChunksPerThread * threads);
  constexpr int64_t limit = std::numeric_limits<uint16_t>::max();
  const int64_t chunks = std::min({work / ScheduleRun::chunkOperations, most, launch.count, limit});
  // One without workgroups has a chunk too, which is then empty.
  return static_cast<uint16_t>(std::max<int64_t>(chunks, 1));
}

} // namespace

/// A launch that threads take chunks of, in a word: from the begin, and from the end.
class ScheduleRun::OpenLaunch {
public:
  OpenLaunch(size_t step, uint16_t chunks) : step(static_cast<uint16_t>(step)), end(chunks) {}
  explicit OpenLaunch(uint64_t word)
      : step(static_cast<uint16_t>(word >> 32)), begin(static_cast<uint16_t>(word)),
        end(static_cast<uint16_t>(word >> 16)) {}
  /// Never the same for two states of a run; 0 when nothing is left.
  uint64_t word() const {
    return begin == end ? 0 : uint64_t{step} << 32 | uint64_t{end} << 16 | begin;
  }
  Chunk take(bool fromEnd) { return {step, fromEnd ? --end : begin++}; }

private:
  uint16_t step, begin = 0, end; // the chunks [begin, end) are left
};

ScheduleRun::ScheduleRun(CallFrame &caller, std::span<const plim_launch> launches,
                         const uint64_t *predecessors, int maxThreads, Helpers &helpers,
                         Profiler *profiler)
    : caller(caller), context(*caller.context()), helpers(helpers), profiler(profiler),
      maxHelpers(maxThreads - 1), count(launches.size()) {
  Set first = 0;
  for (size_t i = 0; i < count; ++i) {
    Step &step = steps[i];
    step.launch.emplace(launches[i]);
    step.chunks = chunksOf(*step.launch, maxThreads);
    step.left.store(step.chunks, std::memory_order_relaxed);
    const Set before = predecessors ? predecessors[i] : 0;
    step.predecessors = std::popcount(before);
    step.waitsFor.store(step.predecessors, std::memory_order_relaxed);
    if (before == 0)
      first |= setOf(i);
    for (Set rest = before; rest != 0; rest &= rest - 1)
      steps[firstOf(rest)].successors |= setOf(i);
  }
  int ends = 0;
  for (size_t i = 0; i < count; ++i)
    ends += steps[i].successors == 0;
  endsLeft.store(ends, std::memory_order_relaxed);
  ready.store(first, std::memory_order_relaxed);
}

void ScheduleRun::run() {
  const int64_t from = profiler ? profiler->now() : 0;
  summonFor(ready.load(std::memory_order_relaxed));
  participate(caller, /*fromEnd=*/false, /*mayLeave=*/false);
  if (!profiler) [[likely]]
    return;
  // Several launches lie beside each other, which a row of a trace cannot show: it has one span for all.
  const int64_t to = profiler->now();
  if (count == 1) {
    const Launch &launch = *steps[0].launch;
    profiler->keep(subjectOf(Profiler::Kind::Dispatch, launch), from, to, 0, launch.count);
    return;
  }
  Profiler::Subject &subject = profiler->subject(Profiler::Kind::Schedule, "schedule");
  profiler->count(subject, to - from);
  profiler->keep(subject, from, to);
}

void ScheduleRun::help() {
  // What was made ready before this thread was summoned is visible.
  (void)summoned.load(std::memory_order_acquire);
  // It is about to read what another processor has written.
  for (size_t i = 0; i < count; ++i)
    __builtin_prefetch(&steps[i].chunks);
  {
    CallFrame frame(caller.call(), context);
    if (profiler) [[unlikely]]
      Profiler::nameThread("worker");
    participate(frame, arrivals.fetch_add(1, std::memory_order_relaxed) % 2 == 0,
                /*mayLeave=*/true);
  }
  summoned.fetch_sub(1, std::memory_order_release);
}

void ScheduleRun::participate(CallFrame &frame, bool fromEnd, bool mayLeave) {
  do {
    for (std::optional<Chunk> chunk = take(fromEnd); chunk; chunk = end(chunk->step, fromEnd))
      runChunk(frame, *chunk);
  } while (awaitWork(mayLeave));
}

std::optional<ScheduleRun::Chunk> ScheduleRun::take(bool fromEnd) {
  for (;;) {
    uint64_t word = open.load(std::memory_order_acquire);
    if (word != 0) {
      OpenLaunch launch(word);
      const Chunk chunk = launch.take(fromEnd);
      if (open.compare_exchange_weak(word, launch.word(), std::memory_order_acq_rel))
        return chunk;
      continue;
    }
    const Set others = ready.load(std::memory_order_relaxed);
    if (others == 0)
      return std::nullopt;
    const Set first = others & -others;
    if (ready.fetch_and(~first, std::memory_order_acq_rel) & first)
      if (std::optional<Chunk> chunk = openLaunch(firstOf(first), fromEnd))
        return chunk;
  }
}

std::optional<ScheduleRun::Chunk> ScheduleRun::openLaunch(size_t step, bool fromEnd) {
  OpenLaunch launch(step, steps[step].chunks);
  const Chunk chunk = launch.take(fromEnd);
  uint64_t none = 0;
  if (launch.word() == 0 ||
      open.compare_exchange_strong(none, launch.word(), std::memory_order_acq_rel))
    return chunk;
  ready.fetch_or(setOf(step), std::memory_order_release);
  return std::nullopt;
}

void ScheduleRun::runChunk(CallFrame &frame, const Chunk &chunk) {
  Step &step = steps[chunk.step];
  const Launch &launch = *step.launch;
  const int64_t size = launch.count / step.chunks, longer = launch.count % step.chunks;
  const int64_t begin = chunk.index * size + std::min<int64_t>(chunk.index, longer);
  const int64_t end = begin + size + (chunk.index < longer ? 1 : 0);
  if (!profiler) [[likely]] {
    launch.run(frame, begin, end);
    return;
  }
  const int64_t from = profiler->now();
  int64_t none = 0;
  step.begin.compare_exchange_strong(none, from, std::memory_order_relaxed);
  if (frame.call().failed() || begin == end)
    return;
  launch.run(frame, begin, end);
  const int64_t to = profiler->now();
  Profiler::Subject &range = subjectOf(Profiler::Kind::Range, launch);
  profiler->count(range, to - from, {.workgroups = end - begin, .bytes = 0});
  profiler->keep(range, from, to, begin, end);
}

std::optional<ScheduleRun::Chunk> ScheduleRun::end(size_t index, bool fromEnd) {
  Step &step = steps[index];
  if (step.left.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return take(fromEnd);
  if (profiler && step.launch->count > 0) [[unlikely]]
    profiler->count(subjectOf(Profiler::Kind::Dispatch, *step.launch),
                    profiler->now() - step.begin.load(std::memory_order_relaxed),
                    {.workgroups = step.launch->count, .bytes = step.launch->bytes()});
  if (step.successors == 0) {
    if (endsLeft.fetch_sub(1, std::memory_order_acq_rel) == 1)
      isOver.store(true, std::memory_order_release);
    return take(fromEnd);
  }
  Set fresh = 0;
  for (Set rest = step.successors; rest != 0; rest &= rest - 1) {
    Step &next = steps[firstOf(rest)];
    if (next.predecessors == 1 || next.waitsFor.fetch_sub(1, std::memory_order_acq_rel) == 1)
      fresh |= rest & -rest;
  }
  if (fresh == 0)
    return take(fromEnd);
  const Set first = fresh & -fresh;
  if (fresh != first)
    ready.fetch_or(fresh & ~first, std::memory_order_release);
  std::optional<Chunk> chunk = openLaunch(firstOf(first), fromEnd);
  summonFor(fresh);
  return chunk ? chunk : take(fromEnd);
}

void ScheduleRun::summonFor(Set fresh) {
  int64_t chunks = 0;
  for (Set rest = fresh; rest != 0; rest &= rest - 1)
    chunks += steps[firstOf(rest)].chunks;
  // This thread takes one of them.
  const int wanted = static_cast<int>(std::min<int64_t>(chunks - 1, maxHelpers));
  int have = summoned.load(std::memory_order_relaxed);
  while (have < wanted) {
    if (!summoned.compare_exchange_weak(have, have + 1, std::memory_order_release,
                                        std::memory_order_relaxed))
      continue;
    if (!helpers.summon()) {
      summoned.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    ++have;
  }
}

bool ScheduleRun::awaitWork(bool mayLeave) const {
  for (int turn = 0;
       open.load(std::memory_order_relaxed) == 0 && ready.load(std::memory_order_relaxed) == 0;
       ++turn) {
    if (isOver.load(std::memory_order_acquire))
      return false;
    if (turn >= spinTurns && mayLeave)
      return false;
    if (turn >= spinTurns)
      std::this_thread::yield();
    else if (turn >= eagerTurns)
      pause();
  }
  return true;
}

Profiler::Subject &ScheduleRun::subjectOf(Profiler::Kind kind, const Launch &launch) const {
  const plim_dispatch &dispatch = launch.dispatch();
  return profiler->subject(kind, dispatch.name, dispatch.location ? dispatch.location : "");
}

} // namespace plim::runtime
