// Accelerators of the program: objects of Python as devices of engines.
#pragma once

#include "python/native/Python.h"

namespace plim::python {

/// device_create(name, version, kind, compile, load): a handle. One of the last two may be None.
///
/// compile(name, text) returns bytes, or None for what the device does not take; UnimplementedError is the same with
/// a reason. load(name, code) returns (callable, arguments, results), the last two as of host_functions_add(). What
/// else they raise fails the load of the module and is the __cause__ of its error.
PyObject *createDevice(PyObject *module, PyObject *arguments);

} // namespace plim::python
