// Profiler: what happened when, and how often, in one engine or several that share it.
//
// Two things are kept. *Counters*, one for each thing that has a name (a function, a dispatch, a
// compile job): how often it ran and how long, exact however long the program runs. *Spans*, when
// each of them ran and on which thread, in memory of a fixed size: what comes when that is full is
// counted and dropped. support/Trace.h writes spans for a trace viewer.
//
// An engine without a profiler has a null pointer, and what is measured costs one test of it. With
// one, a span costs two readings of the clock, a look-up of its name and a few atomic additions,
// and takes neither locks nor memory once its name is known. Names are copied: what they belonged
// to may be gone when they are read. docs/design/observability.md says why it is as it is.
//
//   thread -> row -> block of spans | block of spans | ...   one thread writes a row and its blocks
//   kind, name, location -> subject                          the counters; all threads add to them
//
// Thread safety: every member may be called from any thread at any time.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace plim {

class Profiler {
public:
  enum class Kind : uint8_t {
    Call,     // of a public function, from the host's arguments to its results
    Dispatch, // of one dispatch, from the begin of its first range to the end of its last one
    Schedule, // of dispatches that several threads ran
    Range,    // of workgroups of a dispatch, on the thread that ran them
    Host,     // a function of the host application that a module called
    Wait,     // for another call
    Load,     // of a module, and its steps
    Compile,  // jobs and passes of the compiler
    Memory,   // not a span: bytes in use at a moment
  };
  static constexpr size_t kindCount = 9;
  /// "call", "dispatch", ...
  static std::string_view kindName(Kind kind);

  /// How often something ran, and how long, in nanoseconds.
  struct Counter {
    Kind kind;
    std::string name;
    std::string location; // "file:line:column: ", or empty
    uint64_t runs = 0;
    uint64_t workgroups = 0;
    uint64_t bytes = 0; // of what it read and wrote, as far as that is known
    int64_t totalNanoseconds = 0, minNanoseconds = 0, maxNanoseconds = 0;
  };

  /// Bytes that an engine has taken for its calls.
  struct MemoryUse {
    int64_t buffers = 0, workspaces = 0, scratch = 0;
    bool operator==(const MemoryUse &) const = default;
  };

  /// Nanoseconds since the profiler was made.
  struct Span {
    const Counter *what; // of the snapshot; its numbers are not of this span
    uint32_t row;
    int64_t begin, end;
    /// Of a range, or all of a dispatch.
    int64_t firstWorkgroup, lastWorkgroup;
    MemoryUse memory; // of Kind::Memory
  };

  /// What was counted and kept so far. Its spans point at its counters: move it, do not copy it.
  struct Snapshot {
    std::vector<Counter> counters;
    /// By row and begin; an outer span comes before those within it.
    std::vector<Span> spans;
    std::vector<std::string> rows; // names of threads, "worker 2"
    uint64_t droppedSpans = 0;
  };

  static constexpr size_t defaultMaxSpans = size_t(1) << 20;
  static constexpr size_t mostSpans = size_t(1) << 26;
  /// Keeps at most about `maxSpans` spans, but no more than `mostSpans`, of 48 bytes each, which
  /// take memory when they are written; 0 for counters alone. Names beyond `maxNames` are counted
  /// together as "other".
  explicit Profiler(size_t maxSpans = defaultMaxSpans);
  ~Profiler();
  Profiler(const Profiler &) = delete;
  Profiler &operator=(const Profiler &) = delete;
  static constexpr size_t maxNames = 6000;

  bool keepsSpans() const { return blockCount != 0; }

  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                start)
        .count();
  }

  /// The counter of something, which lives as long as the profiler. Takes memory at the first sight
  /// of it; without, it counts as "other".
  class Subject;
  Subject &subject(Kind kind, std::string_view name, std::string_view location = {});

  /// What a run did.
  struct Work {
    int64_t workgroups, bytes;
  };
  /// Counts a run of `subject`.
  void count(Subject &subject, int64_t nanoseconds, const Work &work = {});
  /// Keeps a span of it, of the calling thread. Spans of a thread must lie in each other or apart.
  void keep(const Subject &subject, int64_t begin, int64_t end, int64_t firstWorkgroup = 0,
            int64_t lastWorkgroup = 0);
  /// Notes bytes in use, if they have changed.
  void noteMemory(const MemoryUse &use);

  /// Spans that there was no room for.
  uint64_t droppedSpans() const;
  /// All counters that count something, in no order.
  std::vector<Counter> counters() const;
  /// All there is so far. What threads write meanwhile may or may not be in it.
  Snapshot snapshot() const;

  /// Names the calling thread for all profilers, "worker". `role` must live for ever.
  static void nameThread(const char *role);

private:
  struct Record;
  struct Row;
  static constexpr size_t blockRecords = 64;
  static constexpr size_t maxRows = 1024, subjectSlots = 8192; // powers of two

  static std::array<std::unique_ptr<Subject>, kindCount> makeOthers();
  Row *ownRow();
  Record *takeRecord(Row &row);
  Subject *find(size_t hash, Kind kind, std::string_view name, std::string_view location) const;
  void write(const Subject &subject, int64_t begin, int64_t end, int64_t first, int64_t last);

  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  // Open addressing, filled and never emptied: readers need no lock.
  std::unique_ptr<std::atomic<Subject *>[]> subjects;
  std::mutex namesMutex; // of those that add
  size_t nameCount = 0;  // guarded by namesMutex
  std::atomic<bool> isFull{false};
  const std::array<std::unique_ptr<Subject>, kindCount> others;
  Subject &memory;

  std::unique_ptr<Row[]> rows;
  const size_t blockCount;
  std::unique_ptr<Record[], void (*)(void *)> records;
  std::atomic<size_t> nextBlock{0};
  std::atomic<uint64_t> droppedWithoutRow{0};

  // What was noted last.
  std::array<std::atomic<int64_t>, 3> lastUse{};
};

/// Measures a scope, if there is a profiler. Names are borrowed until its end, NUL-terminated; null
/// for none.
class ProfilerSpan {
public:
  ProfilerSpan(Profiler *profiler, Profiler::Kind kind, const char *name,
               const char *location = nullptr, const Profiler::Work &work = {})
      : profiler(profiler), kind(kind), name(name), location(location), work(work) {
    if (profiler) [[unlikely]]
      begin = profiler->now();
  }
  ~ProfilerSpan() {
    if (profiler) [[unlikely]]
      finish();
  }
  ProfilerSpan(const ProfilerSpan &) = delete;
  ProfilerSpan &operator=(const ProfilerSpan &) = delete;

  /// For what has its name only at the end.
  void rename(const char *newName) { name = newName; }

private:
  void finish();

  Profiler *const profiler;
  const Profiler::Kind kind;
  const char *name, *location;
  const Profiler::Work work;
  int64_t begin = 0;
};

} // namespace plim
