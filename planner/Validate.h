// Does each part of a problem make sense by itself? Whether the parts can be had together is found
// where the model is built (BuildModel.cpp). Internal to planner/.
#pragma once

#include "planner/Planner.h"

#include <cstdint>
#include <string>

namespace plim::planner {

/// The first fault, one sentence with the name of the buffer or pool, or nothing. `total` receives
/// the sum in bytes of sizes, pins and distances, which is below offsetLimit if there is no fault.
std::string validate(const Problem &problem, int64_t &total);

} // namespace plim::planner
