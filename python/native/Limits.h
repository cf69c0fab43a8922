// Limits: those that Python gives as "name=value", as the library takes them.
#pragma once

#include "plimsoll/limits.h"
#include "python/native/Python.h"

namespace plim::python {

/// False, with an exception, for a name that is none, or a value that it cannot have.
bool readLimits(PyObject *texts, plim_limits &out);

} // namespace plim::python
