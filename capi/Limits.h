// Limits: what the host says of them, as the engine has it.
//
// Threads: any.
#pragma once

#include "plimsoll/limits.h"
#include "support/Status.h"

#include <string>
#include <vector>

namespace plim::capi {

/// The limits that are set, as `name=value`. InvalidArgument for a number that is none, with the field's name.
Status readLimits(const plim_limits *limits, std::vector<std::string> &out);

} // namespace plim::capi
