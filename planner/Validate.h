// Does each part of a problem make sense by itself? Whether they can be had together is found where the model is built.
// Internal to planner/.
#pragma once

#include "planner/Planner.h"

#include <cstdint>
#include <string>

namespace plim::planner {

/// The first fault, with the name of what it is of, or nothing. `total` receives the sum of sizes, pins and distances, which
/// is below offsetLimit.
std::string validate(const Problem &problem, int64_t &total);

} // namespace plim::planner
