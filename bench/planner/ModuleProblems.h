// The memory problems that the engine's own passes make of modules.
#pragma once

#include "planner/Planner.h"

#include <string>
#include <string_view>
#include <vector>

namespace plim::bench {

struct ModuleProblem {
  std::string name; // source, function, and the pool if it is one of the target's
  planner::Problem problem;
  int64_t plannedBytes = 0; // that the pass made of it
};

/// One for each function and pool with planned buffers, lowered for this machine with every buffer in
/// the workspace that may be there. Ends the program if the module is not accepted.
std::vector<ModuleProblem> problemsOf(std::string_view source, const std::string &name);

/// Stages that narrow and widen again, each with a connection across, `count` times one after the
/// other; static shapes. A module with many buffers of many sizes.
std::string hourglassModule(int count);

} // namespace plim::bench
