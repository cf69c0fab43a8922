// Limits: what the host says of them, as the engine has it.
//
// Threads: any.
#pragma once

#include "plimsoll/limits.h"
#include "support/Status.h"

#include <string>
#include <vector>

namespace plim::capi {

/// Appends the limits that are set, as `name=value`; none for null. InvalidArgument, with the name
/// of the field, for a number that cannot be.
Status readLimits(const plim_limits *limits, std::vector<std::string> &out);

} // namespace plim::capi
