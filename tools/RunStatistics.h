// What `plimsoll run --stats` prints: how long loading and calls took, what they moved, the memory
// that they needed and which dispatches the time went into.
//
// Must not know how anything is measured: it puts figures into words.
#pragma once

#include "engine/session/Engine.h"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace plim::tools {

struct RunStatistics {
  LoadStatistics load;
  SpecializationStatistics specializations;
  std::vector<double> callSeconds; // of each call, at least one
  int64_t callBytes = 0;           // of the arguments and results of a call
  EngineMemoryStatistics memory;
  int64_t residentBytes = 0;               // the most that the process had
  std::vector<Profiler::Counter> counters; // those of dispatches are printed
};

/// The q-quantile of sorted values, 0 < q <= 1: the least that is not exceeded by that part of
/// them.
double quantileOf(const std::vector<double> &sorted, double q);

/// Prints all of it, for people; the times of several calls by their quantiles.
void printStatistics(RunStatistics statistics, std::ostream &out);

} // namespace plim::tools
