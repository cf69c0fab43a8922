#include "bench/harness/Contest.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

namespace plim::bench {

namespace {

/// While it lives this thread has a processor of its own, and all that there were when it was made have the others: kernels put
/// threads of short tasks on one processor and leave them there, those of one candidate and not those of another.
class ThreadsApart {
public:
  ThreadsApart() {
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
      return;
    cpu_set_t first, others = all;
    CPU_ZERO(&first);
    int processor = 0;
    while (!CPU_ISSET(processor, &all))
      ++processor;
    CPU_SET(processor, &first);
    CPU_CLR(processor, &others);
    std::error_code gone;
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
      const int thread = std::stoi(task.path().filename().string());
      (void)sched_setaffinity(thread, sizeof others, thread == gettid() ? &first : &others);
    }
    areApart = true;
  }
  ~ThreadsApart() {
    if (areApart)
      (void)sched_setaffinity(0, sizeof all, &all);
  }
  ThreadsApart(const ThreadsApart &) = delete;
  ThreadsApart &operator=(const ThreadsApart &) = delete;

private:
  cpu_set_t all;
  bool areApart = false;
};

} // namespace

void Contest::add(std::string name, std::function<void()> turn, double work, int64_t calls) {
  candidates.push_back({std::move(name), std::move(turn), work, calls, {}});
}

void Contest::run() {
  for (Candidate &candidate : candidates)
    candidate.turn();
  const ThreadsApart apart;
  size_t round = 0;
  for ([[maybe_unused]] auto _ : state) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate &candidate = candidates[(round + i) % candidates.size()];
      candidate.turn();
      auto start = std::chrono::steady_clock::now();
      candidate.turn();
      std::chrono::duration<double> turn = std::chrono::steady_clock::now() - start;
      candidate.seconds.push_back(turn.count() / static_cast<double>(candidate.calls));
    }
    state.SetIterationTime(candidates[0].seconds.back());
    ++round;
  }

  const Candidate &ours = candidates[0];
  for (const Candidate &candidate : candidates) {
    double median = quantile(candidate.seconds, 0.5);
    state.counters[candidate.name + "_us"] = median * 1e6;
    if (candidate.work > 0 && !unit.empty())
      state.counters[candidate.name + "_" + unit] = candidate.work / median * 1e-9;
    if (&candidate == &ours)
      continue;
    double workRatio = candidate.work > 0 ? ours.work / candidate.work : 1;
    std::vector<double> speeds;
    for (size_t i = 0; i < ours.seconds.size(); ++i)
      speeds.push_back(candidate.seconds[i] / ours.seconds[i] * workRatio);
    state.counters["vs_" + candidate.name] = quantile(std::move(speeds), 0.5);
  }
  state.counters["spread"] =
      (quantile(ours.seconds, 0.75) - quantile(ours.seconds, 0.25)) / quantile(ours.seconds, 0.5);
}

double quantile(std::vector<double> values, double q) {
  auto nth =
      values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * q);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

} // namespace plim::bench
