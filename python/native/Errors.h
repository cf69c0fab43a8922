// Statuses of the library as exceptions of plimsoll.errors.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Python.h"

namespace plim::python {

/// False for NULL, which is success. Otherwise sets the exception that the status says, and
/// releases it. A status that comes from an exception in a host function has that as its __cause__.
bool failed(plim_status *status);

/// Sets one that is found here, before the library is asked: PLIM_INVALID_ARGUMENT becomes an error
/// that is a TypeError too. As PyErr_Format(). Always null.
PyObject *fail(plim_code code, const char *format, ...);

/// For host functions: the Python exception that is set, as the failure of `call`. Clears it.
plim_code failHostCall(plim_host_call *call, const char *name);

/// errors.setUp(make): `make(code, message, file, line, column, is_type_error)` returns an
/// exception.
PyObject *setErrorFactory(PyObject *module, PyObject *make);

} // namespace plim::python
