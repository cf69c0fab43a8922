// The classical rules of static memory planning, as others use them: what our plans are compared with.
//
// Independent of the planner's own code, so that a fault there cannot hide here. Buffers are placed
// one after the other, each between those that are already there and live at the same time. Pure
// functions; any thread.
#pragma once

#include "planner/Planner.h"

#include <array>

namespace plim::bench {

enum class Rule {
  BestFitBySize,  // largest first, into the smallest gap that holds it
  FirstFitBySize, // all others: into the lowest gap that holds it
  ByConflicts,    // those that overlap with most others first
  ByArea,         // largest product of size and duration first
  ByDuration,     // longest first
};
constexpr std::array rules = {Rule::BestFitBySize, Rule::FirstFitBySize, Rule::ByConflicts,
                              Rule::ByArea, Rule::ByDuration};
const char *nameOf(Rule rule);

/// For problems of one pool without a capacity whose buffers have one interval each and nothing but
/// sizes and alignments. The lower bound of the plan is 0. O(n^2), without lists of pairs.
planner::Plan planByRule(const planner::Problem &problem, Rule rule);

} // namespace plim::bench
