// Task: something to be done once, by the thread that takes it first.
//
// Tasks count their references, have their place in a list in themselves, and may be used again
// when nobody refers to them any more: to hand one over takes no memory.
//
// Thread safety: a task may be retained, released and taken by any thread at any time; a list
// belongs to one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace plim::runtime {

/// Which of the tasks that wait for a thread is begun first; among equals, the one submitted first.
enum class Priority { Low, Normal, High };

class Task {
public:
  Task(const Task &) = delete;
  Task &operator=(const Task &) = delete;

  /// True for one caller, who then runs the task or lets it be.
  bool take() { return !taken.exchange(true, std::memory_order_acq_rel); }
  /// What is to be done. Called once, by a thread that works off a queue and whose take() was true.
  /// The thread keeps a reference meanwhile.
  virtual void run() noexcept = 0;

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  /// For who has its address but no reference: false if nobody has one, while the memory is still
  /// there.
  bool retainIfUsed() {
    int64_t count = references.load(std::memory_order_relaxed);
    while (count != 0)
      if (references.compare_exchange_weak(count, count + 1, std::memory_order_relaxed))
        return true;
    return false;
  }
  void release() {
    // Release on every drop and acquire on the last: whoever disposes of it sees all earlier use.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      dispose();
  }

protected:
  /// With one reference, the caller's.
  Task() = default;
  virtual ~Task() = default;
  /// Nobody refers to it any more.
  virtual void dispose() noexcept { delete this; }
  /// Makes a task that was disposed of one that nobody has taken, with one reference.
  void renew() {
    taken.store(false, std::memory_order_relaxed);
    references.store(1, std::memory_order_relaxed);
  }

private:
  friend class TaskList;
  std::atomic<int64_t> references{1};
  std::atomic<bool> taken{false};
  Task *next = nullptr; // in a list
};

/// A reference to a task, or null.
template <typename T> class TaskRef {
public:
  TaskRef() = default;
  /// Takes over a reference that the caller has.
  explicit TaskRef(T *adopted) : task(adopted) {}
  TaskRef(const TaskRef &other) : task(other.task) {
    if (task)
      task->retain();
  }
  TaskRef(TaskRef &&other) noexcept : task(std::exchange(other.task, nullptr)) {}
  TaskRef &operator=(TaskRef other) noexcept {
    std::swap(task, other.task);
    return *this;
  }
  ~TaskRef() {
    if (task)
      task->release();
  }
  /// A further reference.
  static TaskRef to(T &task) {
    task.retain();
    return TaskRef(&task);
  }

  explicit operator bool() const { return task != nullptr; }
  T *get() const { return task; }
  T *operator->() const { return task; }
  T &operator*() const { return *task; }
  /// Leaves the reference to the caller.
  T *leak() { return std::exchange(task, nullptr); }

private:
  T *task = nullptr;
};

/// First in, first out. A task may be in one list.
class TaskList {
public:
  TaskList() = default;
  ~TaskList() {
    while (pop()) {
    }
  }
  TaskList(const TaskList &) = delete;
  TaskList &operator=(const TaskList &) = delete;

  void push(TaskRef<Task> task) {
    Task *added = task.leak();
    added->next = nullptr;
    (first ? last->next : first) = added;
    last = added;
  }
  /// The first one if somebody took it already, otherwise null.
  TaskRef<Task> popTaken() {
    return first && first->taken.load(std::memory_order_relaxed) ? pop() : TaskRef<Task>();
  }
  /// Null when there is none.
  TaskRef<Task> pop() {
    Task *task = first;
    if (task)
      first = std::exchange(task->next, nullptr);
    return TaskRef<Task>(task);
  }

private:
  Task *first = nullptr, *last = nullptr;
};

} // namespace plim::runtime
