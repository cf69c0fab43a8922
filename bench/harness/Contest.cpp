#include "bench/harness/Contest.h"

#include <algorithm>
#include <chrono>

namespace plim::bench {

void Contest::add(std::string name, std::function<void()> turn, double work, int64_t calls) {
  candidates.push_back({std::move(name), std::move(turn), work, calls, {}});
}

void Contest::run() {
  for (Candidate &candidate : candidates)
    candidate.turn();
  size_t round = 0;
  for ([[maybe_unused]] auto _ : state) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate &candidate = candidates[(round + i) % candidates.size()];
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
