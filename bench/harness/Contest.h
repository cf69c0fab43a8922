// Contest: times candidates in turns, A B A B, in one benchmark.
//
// The machine's clock and its other users change from second to second: only times that lie side by
// side compare. Every iteration of the benchmark is one round, in which each candidate has one turn;
// the one to begin changes from round to round. The first candidate is ours.
//
// Counters, for each candidate NAME:
//   NAME_us       median of a call, in microseconds
//   NAME_UNIT     its work by that time, if it has work, in thousand millions a second
//   vs_NAME       median over the rounds of our speed by its speed; 1 is equal, 2 twice as fast
//   spread        of the first candidate: interquartile range by median
//
// One thread.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace plim::bench {

class Contest {
public:
  /// `unit` names what work is counted in: "GBps", "GFLOPS". UseManualTime() must be set.
  explicit Contest(benchmark::State &state, std::string unit = "")
      : state(state), unit(std::move(unit)) {}

  /// `turn` makes `calls` calls of `work` units each. Candidates with other work than the first, a
  /// ceiling, are compared by work per time.
  void add(std::string name, std::function<void()> turn, double work = 0, int64_t calls = 1);

  /// One unmeasured turn of each, then the rounds, in which each turn has an unmeasured one before it: threads of the candidate
  /// before may still look for work. In the rounds the calling thread has a processor of its own, where there are several, and
  /// all other threads have the rest.
  void run();

private:
  struct Candidate {
    std::string name;
    std::function<void()> turn;
    double work;
    int64_t calls;
    std::vector<double> seconds; // of a call, by round
  };

  benchmark::State &state;
  std::string unit;
  std::vector<Candidate> candidates;
};

/// The q-quantile, 0 to 1, of at least one value.
double quantile(std::vector<double> values, double q);

} // namespace plim::bench
