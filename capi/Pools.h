// Pools: memories of the host's, as the engine has them.
//
// Threads: any.
#pragma once

#include "engine/session/Engine.h"
#include "plimsoll/pools.h"

#include <cstddef>

namespace plim::capi {

/// InvalidArgument for a memory that no pool can be.
Status readPools(const plim_pool *pools, size_t count, Pools &out);

} // namespace plim::capi
