// The one place where the bytes of a shape are computed at run time, with every step checked.
//
// Pure functions; any thread.
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <span>

namespace plim::runtime {

/// sizes[0] * sizes[1] * ... * elementBytes, at most INT64_MAX; elementBytes for rank 0.
/// InvalidArgument when an extent or `elementBytes` is negative or the product overflows. Extents
/// of zero count as one in the overflow check: strides of an empty tensor must be computable too.
StatusOr<int64_t> byteSizeOf(std::span<const int64_t> sizes, int64_t elementBytes);

} // namespace plim::runtime
