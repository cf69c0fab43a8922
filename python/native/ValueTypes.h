// The types of arguments and results, as texts and as tuples.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Python.h"

namespace plim::python {

/// "tensor<?x4xf32>", "memref<?x4xf32, strided<[?, 1]>>": as the source says it, without offsets,
/// which do not matter to callers.
Ref typeText(const plim_value_type &type);

/// What plimsoll/function.py makes a Type of. Empty with an exception.
Ref describe(const plim_value_type &type);

} // namespace plim::python
