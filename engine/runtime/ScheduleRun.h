// ScheduleRun: one run of a schedule, shared by the threads that take part in it.
//
// Each launch is cut into chunks of workgroups. One launch is open: threads take its chunks and run them.
// Whoever ends the last chunk of a launch makes ready those that waited for nothing else, and opens the
// first of them if none is open. All of that is atomic counters and sets of launches in one word each: no
// lock, no queue, no memory. A thread that waits reads the word that it takes the next chunk from, so
// from the end of a launch to the begin of its successor on another thread three cache lines travel.
//
//   waits --last predecessor ends--> ready --open--> chunks run, on any threads --last one ends--> ended
//
// - A thread keeps the first chunk of what it opens: a chain of small launches stays on one thread.
// - Half of the threads take chunks from the begin of a launch, the others from its end, so that
//   launches one after the other over the same data find in a cache what the same thread wrote.
// - A thread without work spins for as long as work is likely to come, then leaves; who makes work ready
//   for more threads than there are calls for helpers.
//
// Must not know where threads come from. An instance serves one run.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/Launch.h"
#include "support/Profiler.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace plim::runtime {

class ScheduleRun {
public:
  /// Fewer operations than this are not worth another thread's way to them.
  static constexpr int64_t chunkOperations = 4 * operationsPerMicrosecond;

  /// Where other threads come from.
  class Helpers {
  public:
    virtual ~Helpers() = default;
    /// Has another thread call help(), sooner or later. False if that cannot be. From any thread that
    /// takes part.
    virtual bool summon() noexcept = 0;
  };

  /// Of launches that none before has failed. `predecessors` as in plim_schedule, or null. At most
  /// `maxThreads` take part at once. All is borrowed; `profiler` may be null.
  ScheduleRun(CallFrame &caller, std::span<const plim_launch> launches,
              const uint64_t *predecessors, int maxThreads, Helpers &helpers, Profiler *profiler);
  ScheduleRun(const ScheduleRun &) = delete;
  ScheduleRun &operator=(const ScheduleRun &) = delete;

  /// Runs it to its end, with whoever helps. On the caller's thread, once. Helpers that were summoned may
  /// still come, and must have gone when this object goes.
  void run();
  /// What a summoned thread does, until there is nothing left for it.
  void help();

private:
  using Set = uint64_t; // of launches

  struct Step {
    // What threads change, apart from what they only read.
    alignas(64) std::atomic<int> left{0}; // chunks that have not ended
    std::atomic<int> waitsFor{0};         // predecessors that have not
    std::atomic<int64_t> begin{0};        // when its first chunk began, if a profiler asks
    alignas(64) uint16_t chunks = 0;
    int predecessors = 0;
    Set successors = 0;
    std::optional<Launch> launch;
  };
  struct Chunk {
    uint16_t step;
    uint16_t index;
  };
  class OpenLaunch;

  void participate(CallFrame &frame, bool fromEnd, bool mayLeave);
  /// A chunk of the open launch, or of the first one that is ready, which is opened then.
  std::optional<Chunk> take(bool fromEnd);
  /// Its first chunk, the others for all; none if another one is open, and then it waits.
  std::optional<Chunk> openLaunch(size_t step, bool fromEnd);
  void runChunk(CallFrame &frame, const Chunk &chunk);
  /// Notes that a chunk has ended; yields the next one.
  std::optional<Chunk> end(size_t step, bool fromEnd);
  /// Calls for as many helpers as there is work for.
  void summonFor(Set fresh);
  /// False if this thread is done here.
  bool awaitWork(bool mayLeave) const;
  Profiler::Subject &subjectOf(Profiler::Kind kind, const Launch &launch) const;

  CallFrame &caller;
  const plim_context context; // of its frame, for the frames of helpers
  Helpers &helpers;
  Profiler *const profiler;
  const int maxHelpers;
  const size_t count;
  alignas(64) std::atomic<uint64_t> open{0}; // an OpenLaunch
  std::atomic<Set> ready{0};                 // which nobody has opened
  std::atomic<bool> isOver{false};
  alignas(64) std::atomic<int> endsLeft{0}; // launches without successors that have not ended
  std::atomic<int> summoned{0};             // helpers that were, and are not gone
  std::atomic<int> arrivals{0};
  std::array<Step, PLIM_SCHEDULE_LIMIT> steps;
};

} // namespace plim::runtime
