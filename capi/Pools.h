// Pools: memories of the host's, as the engine has them.
//
// Threads: any.
#pragma once

#include "engine/session/Engine.h"
#include "plimsoll/pools.h"

#include <cstddef>

namespace plim::capi {

/// Adds `count` pools to `out` by their names; the memories are borrowed. InvalidArgument for
/// memory that is null, not aligned to PLIM_BUFFER_ALIGNMENT or beyond the address space, and for a
/// name that is null or there twice.
Status readPools(const plim_pool *pools, size_t count, Pools &out);

} // namespace plim::capi
