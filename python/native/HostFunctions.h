// Callables of Python as functions of the host application, which modules call.
#pragma once

#include "python/native/Python.h"

namespace plim::python {

/// host_functions_add(functions, name, callable, kind, signature, arguments, results). The last two
/// say what `signature` does, for each value (element type, rank, "r", "w" or "rw"; rank -1: a
/// scalar).
///
/// The callable gets numbers and arrays: copies, since Python may keep an array longer than the
/// module has its memory. Those that it may write are copied back, and what it returns is copied to
/// the results. An exception fails the call of the module and is the __cause__ of its error.
PyObject *addHostFunction(PyObject *module, PyObject *arguments);

} // namespace plim::python
