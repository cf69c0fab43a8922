// Statuses of the library as exceptions of plimsoll.errors.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Python.h"

#include <string>

namespace plim::python {

/// False for NULL, which is success. Otherwise sets the exception that the status says, and
/// releases it. A status that comes from an exception in a host function has that as its __cause__.
bool failed(plim_status *status);

/// Sets one that is found here, before the library is asked: PLIM_INVALID_ARGUMENT becomes an error
/// that is a TypeError too. As PyErr_Format(). Always null.
PyObject *fail(plim_code code, const char *format, ...);

/// The Python exception that is set, as a status of the library: its code, and a message that begins with `prefix`
/// and ends with the mark by which failed() finds the exception again. Clears it.
struct Failure {
  plim_code code;
  std::string message;
};
Failure takeFailure(const std::string &prefix);

/// errors.setUp(make): `make(code, message, file, line, column, is_type_error)` returns an
/// exception.
PyObject *setErrorFactory(PyObject *module, PyObject *make);

} // namespace plim::python
