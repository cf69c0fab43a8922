// A picture of a plan. Must not know how it was found.
#pragma once

#include "planner/Planner.h"

#include <string>

namespace plim::planner {

/// An SVG document, encoded in UTF-8: a panel for each pool, time across, offset upwards, a
/// rectangle for each interval of a buffer, with its name, lifetime and bytes as its tooltip; the
/// peak, the lower bound and the capacity are marked. The plan must be one of the problem, found
/// and sound. O(buffers + intervals).
std::string drawSvg(const Problem &problem, const Plan &plan);

} // namespace plim::planner
