// Callables of Python as functions of the host application, which modules call.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Python.h"

#include <string>

namespace plim::python {

/// Does this thread have the stack that Python needs? And what is said where it has not, and where Python is
/// ending.
bool hasStackForPython();
inline constexpr const char *noStackText = "not enough stack for Python on this thread";
inline constexpr const char *endingText = "Python is ending";

/// Fills in function, user and release_user of `out`: `callable`, with the types of arguments and results as
/// addHostFunction() gets them. `what` begins its messages. False with an exception.
bool makeHostFunction(std::string what, PyObject *callable, PyObject *arguments, PyObject *results,
                      plim_host_function_options *out);

/// host_functions_add(functions, name, callable, kind, signature, arguments, results). The last two
/// say what `signature` does, for each value (element type, rank, "r", "w" or "rw"; rank -1: a
/// scalar).
///
/// The callable gets numbers and arrays: copies, since Python may keep an array longer than the
/// module has its memory. Those that it may write are copied back, and what it returns is copied to
/// the results. An exception fails the call of the module and is the __cause__ of its error.
PyObject *addHostFunction(PyObject *module, PyObject *arguments);

} // namespace plim::python
