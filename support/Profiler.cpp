#include "support/Profiler.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <new>

namespace plim {

namespace {

constexpr std::memory_order relaxed = std::memory_order_relaxed;

/// Its address tells live threads apart; a thread that begins when another one has ended may get the row
/// of that, if it has the same role.
thread_local const char *threadRole = "caller";

size_t hashOf(Profiler::Kind kind, std::string_view name, std::string_view location) {
  std::hash<std::string_view> hash;
  return hash(name) + 31 * hash(location) + static_cast<size_t>(kind);
}

void lower(std::atomic<int64_t> &least, int64_t value) {
  int64_t have = least.load(relaxed);
  while (value < have && !least.compare_exchange_weak(have, value, relaxed)) {
  }
}

void raise(std::atomic<int64_t> &most, int64_t value) {
  int64_t have = most.load(relaxed);
  while (value > have && !most.compare_exchange_weak(have, value, relaxed)) {
  }
}

} // namespace

class Profiler::Subject {
public:
  Subject(Kind kind, std::string_view name, std::string_view location)
      : kind(kind), name(name), location(location) {}

  bool is(Kind otherKind, std::string_view otherName, std::string_view otherLocation) const {
    return kind == otherKind && name == otherName && location == otherLocation;
  }

  Counter counter() const {
    Counter result{
        kind, name, location, runs.load(relaxed), workgroups.load(relaxed), bytes.load(relaxed)};
    result.totalNanoseconds = total.load(relaxed);
    result.minNanoseconds = result.runs == 0 ? 0 : least.load(relaxed);
    result.maxNanoseconds = most.load(relaxed);
    return result;
  }

  const Kind kind;
  const std::string name, location;
  std::atomic<uint64_t> runs{0}, workgroups{0}, bytes{0};
  std::atomic<int64_t> total{0}, least{std::numeric_limits<int64_t>::max()}, most{0};
};

/// A span as it is written. All zero until then, as the system gives its pages.
struct Profiler::Record {
  const Subject *subject; // last: with it the record is complete
  int64_t begin, duration;
  int64_t first, last;
  const Row *row;
};

/// Where a thread writes. Only that thread changes it, but for the making.
struct Profiler::Row {
  std::atomic<const void *> thread{nullptr};
  std::atomic<const char *> role{nullptr};
  std::atomic<size_t> next{0}, end{0}; // of its block
  std::atomic<uint64_t> dropped{0};
};

std::string_view Profiler::kindName(Kind kind) {
  constexpr std::array<std::string_view, kindCount> names = {
      "call", "dispatch", "schedule", "range", "host", "wait", "load", "compile", "memory"};
  return names[static_cast<size_t>(kind)];
}

Profiler::Profiler(size_t maxSpans)
    : subjects(std::make_unique<std::atomic<Subject *>[]>(subjectSlots)), others(makeOthers()),
      memory(subject(Kind::Memory, "memory")), rows(std::make_unique<Row[]>(maxRows)),
      blockCount((std::min(maxSpans, mostSpans) + blockRecords - 1) / blockRecords),
      // Pages of the system's that nobody has touched cost nothing, which makes one block for all cheap.
      records(static_cast<Record *>(std::calloc(blockCount * blockRecords, sizeof(Record))),
              std::free) {
  if (!records)
    nextBlock = blockCount;
}

std::array<std::unique_ptr<Profiler::Subject>, Profiler::kindCount> Profiler::makeOthers() {
  std::array<std::unique_ptr<Subject>, kindCount> made;
  for (size_t i = 0; i < kindCount; ++i)
    made[i] = std::make_unique<Subject>(static_cast<Kind>(i), "other", "");
  return made;
}

Profiler::~Profiler() {
  for (size_t i = 0; i < subjectSlots; ++i)
    delete subjects[i].load(relaxed);
}

void Profiler::nameThread(const char *role) { threadRole = role; }

Profiler::Subject *Profiler::find(size_t hash, Kind kind, std::string_view name,
                                  std::string_view location) const {
  for (size_t i = hash;; ++i) {
    // Acquires what the thread that added it has written.
    Subject *subject = subjects[i % subjectSlots].load(std::memory_order_acquire);
    if (!subject || subject->is(kind, name, location))
      return subject;
  }
}

Profiler::Subject &Profiler::subject(Kind kind, std::string_view name, std::string_view location) {
  const size_t hash = hashOf(kind, name, location);
  if (Subject *known = find(hash, kind, name, location)) [[likely]]
    return *known;
  // Names beyond the limit come here each time, and without a lock.
  Subject &other = *others[static_cast<size_t>(kind)];
  if (isFull.load(relaxed))
    return other;
  std::lock_guard lock(namesMutex);
  if (Subject *known = find(hash, kind, name, location))
    return *known;
  std::unique_ptr<Subject> made;
  try {
    made = std::make_unique<Subject>(kind, name, location);
  } catch (const std::bad_alloc &) {
    return other; // who measures goes on
  }
  size_t i = hash;
  while (subjects[i % subjectSlots].load(relaxed))
    ++i;
  subjects[i % subjectSlots].store(made.get(), std::memory_order_release);
  isFull.store(++nameCount == maxNames, relaxed);
  return *made.release();
}

void Profiler::count(Subject &subject, int64_t nanoseconds, const Work &work) {
  subject.runs.fetch_add(1, relaxed);
  subject.total.fetch_add(nanoseconds, relaxed);
  if (work.workgroups != 0)
    subject.workgroups.fetch_add(static_cast<uint64_t>(work.workgroups), relaxed);
  if (work.bytes != 0)
    subject.bytes.fetch_add(static_cast<uint64_t>(work.bytes), relaxed);
  lower(subject.least, nanoseconds);
  raise(subject.most, nanoseconds);
}

Profiler::Row *Profiler::ownRow() {
  const void *thread = &threadRole;
  const char *role = threadRole;
  const size_t hash = std::hash<const void *>()(thread) * 0x9e3779b97f4a7c15U >> 40;
  for (size_t i = 0; i < maxRows; ++i) {
    Row &row = rows[(hash + i) % maxRows];
    const void *owner = row.thread.load(relaxed);
    // Another thread's row may become taken in between, never this one's.
    if (!owner && row.thread.compare_exchange_strong(owner, thread, relaxed)) {
      row.role.store(role, relaxed);
      return &row;
    }
    if (owner == thread && row.role.load(relaxed) == role)
      return &row;
  }
  return nullptr;
}

Profiler::Record *Profiler::takeRecord(Row &row) {
  size_t next = row.next.load(relaxed);
  if (next == row.end.load(relaxed)) {
    // Looked at first, so that threads do not wait for each other's additions when nothing is left.
    size_t block = nextBlock.load(relaxed);
    if (block < blockCount)
      block = nextBlock.fetch_add(1, relaxed);
    if (block >= blockCount) {
      row.dropped.store(row.dropped.load(relaxed) + 1, relaxed);
      return nullptr;
    }
    next = block * blockRecords;
    row.end.store(next + blockRecords, relaxed);
  }
  row.next.store(next + 1, relaxed);
  return &records[next];
}

void Profiler::write(const Subject &subject, int64_t begin, int64_t duration, int64_t first,
                     int64_t last) {
  Row *row = ownRow();
  if (!row) {
    droppedWithoutRow.fetch_add(1, relaxed);
    return;
  }
  Record *record = takeRecord(*row);
  if (!record)
    return;
  record->begin = begin;
  record->duration = duration;
  record->first = first;
  record->last = last;
  record->row = row;
  // Released to snapshot().
  std::atomic_ref(record->subject).store(&subject, std::memory_order_release);
}

void Profiler::keep(const Subject &subject, int64_t begin, int64_t end, int64_t firstWorkgroup,
                    int64_t lastWorkgroup) {
  write(subject, begin, end - begin, firstWorkgroup, lastWorkgroup);
}

void Profiler::noteMemory(const MemoryUse &use) {
  const std::array values = {use.buffers, use.workspaces, use.scratch};
  bool isNew = false;
  for (size_t i = 0; i < values.size(); ++i)
    if (lastUse[i].load(relaxed) != values[i]) {
      lastUse[i].store(values[i], relaxed);
      isNew = true;
    }
  if (isNew)
    write(memory, now(), use.buffers, use.workspaces, use.scratch);
}

uint64_t Profiler::droppedSpans() const {
  uint64_t dropped = droppedWithoutRow.load(relaxed);
  for (size_t i = 0; i < maxRows; ++i)
    dropped += rows[i].dropped.load(relaxed);
  return dropped;
}

std::vector<Profiler::Counter> Profiler::counters() const {
  std::vector<Counter> result;
  auto add = [&](const Subject *subject) {
    if (subject && subject->runs.load(relaxed) != 0)
      result.push_back(subject->counter());
  };
  for (size_t i = 0; i < subjectSlots; ++i)
    add(subjects[i].load(std::memory_order_acquire));
  for (const std::unique_ptr<Subject> &other : others)
    add(other.get());
  return result;
}

Profiler::Snapshot Profiler::snapshot() const {
  Snapshot result;
  std::vector<std::pair<const Subject *, const Record *>> written;
  const size_t count = std::min(nextBlock.load(relaxed), blockCount) * blockRecords;
  for (size_t i = 0; records && i < count; ++i)
    if (const Subject *subject =
            std::atomic_ref(records[i].subject).load(std::memory_order_acquire))
      written.emplace_back(subject, &records[i]);

  std::map<const Subject *, size_t> subjectIndex;
  std::map<const Row *, uint32_t> rowIndex;
  std::map<std::string, int> rowsOfRole;
  for (const auto &[subject, record] : written) {
    subjectIndex.try_emplace(subject, subjectIndex.size());
    if (rowIndex.try_emplace(record->row, static_cast<uint32_t>(rowIndex.size())).second) {
      std::string role = record->row->role.load(relaxed);
      result.rows.push_back(role + " " + std::to_string(++rowsOfRole[role]));
    }
  }
  result.counters.resize(subjectIndex.size());
  for (const auto &[subject, index] : subjectIndex)
    result.counters[index] = subject->counter();
  for (const auto &[subject, record] : written) {
    Span span{&result.counters[subjectIndex[subject]],
              rowIndex[record->row],
              record->begin,
              record->begin + record->duration,
              record->first,
              record->last,
              {}};
    if (subject->kind == Kind::Memory) {
      span.memory = {record->duration, record->first, record->last};
      span.end = span.begin;
    }
    result.spans.push_back(span);
  }
  std::sort(result.spans.begin(), result.spans.end(), [](const Span &a, const Span &b) {
    return a.row != b.row ? a.row < b.row : a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  result.droppedSpans = droppedSpans();
  return result;
}

void ProfilerSpan::finish() {
  int64_t end = profiler->now();
  Profiler::Subject &subject =
      profiler->subject(kind, name, location ? location : std::string_view());
  profiler->count(subject, end - begin, work);
  profiler->keep(subject, begin, end, 0, work.workgroups);
}

} // namespace plim
