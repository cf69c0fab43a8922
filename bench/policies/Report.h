// Races as a table, as JSON and as a picture. Any thread.
#pragma once

#include "bench/policies/Race.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace plim::bench {

struct Result {
  std::string name; // of the workload
  int threads = 1;
  std::vector<Lap> laps;
};

/// A table for people.
void print(const Result &result, std::ostream &out);

/// The schema of google-benchmark, which its tools compare two runs by.
std::string toJson(const std::vector<Result> &results);

/// SVG, without any library: a group of bars for each race, a bar for each policy, median time by that
/// of the first policy, on a logarithmic axis. All races have the same policies.
std::string plot(const std::vector<Result> &results);

} // namespace plim::bench
