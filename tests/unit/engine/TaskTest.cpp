#include "engine/runtime/Task.h"

#include "engine/runtime/Executor.h"
#include "engine/runtime/MemoryPool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace plim::runtime {
namespace {

/// Counts in memory that only whoever runs it touches.
struct CountingTask : Task {
  void run() noexcept override {
    ++runs;
    total.fetch_add(1);
  }
  explicit CountingTask(std::atomic<int> &total) : total(total) {}
  int runs = 0;
  std::atomic<int> &total;
};

TEST(Tasks, RunOnceWhoeverTakesThem) {
  for (int threads : {1, 2}) {
    std::atomic<int> total{0};
    std::vector<TaskRef<CountingTask>> tasks;
    for (int i = 0; i < 2000; ++i)
      tasks.emplace_back(new CountingTask(total));
    {
      Executor executor(std::make_shared<MemoryPool>(), {.threads = threads});
      std::vector<std::thread> callers;
      for (size_t t = 0; t < 4; ++t)
        callers.emplace_back([&, t] {
          for (size_t i = t; i < tasks.size(); i += 4) {
            executor.submit(TaskRef<Task>::to(*tasks[i]), static_cast<Priority>(i % 3));
            if (i % 5 == 0 && tasks[i]->take())
              tasks[i]->run();
          }
        });
      for (std::thread &caller : callers)
        caller.join();
      while (total.load() < static_cast<int>(tasks.size()))
        std::this_thread::yield();
    }
    for (const auto &task : tasks)
      EXPECT_EQ(task->runs, 1);
  }
}

/// Submits the next of a chain as the last thing that it does.
struct ChainedTask : Task {
  ChainedTask(Executor &executor, int left, std::vector<std::thread::id> &threads,
              std::atomic<bool> &isDone)
      : executor(executor), left(left), threads(threads), isDone(isDone) {}
  void run() noexcept override {
    threads.push_back(std::this_thread::get_id());
    if (left == 0)
      isDone = true;
    else
      executor.submit(TaskRef<Task>(new ChainedTask(executor, left - 1, threads, isDone)),
                      Priority::Normal, true);
  }
  Executor &executor;
  const int left;
  std::vector<std::thread::id> &threads;
  std::atomic<bool> &isDone;
};

TEST(Tasks, AWorkerGoesOnWithWhatItsTaskSubmits) {
  for (int threads : {1, 2, 4}) {
    Executor executor(std::make_shared<MemoryPool>(), {.threads = threads});
    std::vector<std::thread::id> seen;
    std::atomic<bool> isDone{false};
    executor.submit(TaskRef<Task>(new ChainedTask(executor, 999, seen, isDone)), Priority::Normal);
    while (!isDone)
      std::this_thread::yield();
    EXPECT_EQ(seen.size(), 1000u);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[0]), 1000);
  }
}

/// Says when the last owner is gone.
struct EndingTask : CountingTask {
  EndingTask(std::atomic<int> &total, std::atomic<int> &ended)
      : CountingTask(total), ended(ended) {}
  ~EndingTask() override { ended.fetch_add(1); }
  std::atomic<int> &ended;
};

TEST(Tasks, MayOutliveTheExecutor) {
  std::atomic<int> total{0}, ended{0};
  for (int i = 0; i < 50; ++i) {
    TaskRef<CountingTask> task(new EndingTask(total, ended));
    Executor executor(std::make_shared<MemoryPool>(), {.threads = 2});
    executor.submit(TaskRef<Task>::to(*task), Priority::Normal);
    // The worker that was sent may come when all is over.
    if (task->take())
      task->run();
    while (total.load() != i + 1)
      std::this_thread::yield();
  }
  // It comes, and takes the task with it. Until then oneTBB alone knows of it, where nobody looks for leaks.
  while (ended.load() != 50)
    std::this_thread::yield();
}

} // namespace
} // namespace plim::runtime
