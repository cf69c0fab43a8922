// Problems to plan: families that are made here, and the public ones where they are at hand.
#pragma once

#include "planner/Planner.h"

#include <string>
#include <vector>

namespace plim::bench {

struct Instance {
  std::string name;
  planner::Problem problem;
};

/// The same in every run: plans are compared over time. One pool, one interval a buffer.
///
/// A network in program order: most buffers feed the next few steps, some are skip connections that
/// live long; sizes are a few shapes times powers of two, in multiples of 64 bytes.
planner::Problem layers(int count);
/// A rectangle of time and bytes cut into pieces until there are `count`: the best peak is the lower
/// bound, and every byte counts.
planner::Problem cuts(int count);
/// Uniform starts, durations around `share` of all time, sizes over three orders of magnitude.
planner::Problem scatter(int count, double share);

/// The problems in the .csv files of a folder, by name; none if there is no folder.
std::vector<Instance> readFolder(const std::string &folder);

/// Pairs of buffers that are live at the same time.
int64_t countPairs(const planner::Problem &problem);

} // namespace plim::bench
