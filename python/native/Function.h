// plimsoll.Function: a function of a module as a callable of Python's.
//
// Calls come by the vectorcall protocol, without a tuple of the arguments. The type is open: what
// is no matter of speed, its repr, its signature and its asynchronous calls, plimsoll/function.py
// adds in Python.
#pragma once

#include "python/native/Python.h"

namespace plim::python {

/// Makes the type; adds it to `module`. False with an exception.
bool addFunctionType(PyObject *module);

/// make_function(module, name): a Function.
PyObject *makeFunction(PyObject *module, PyObject *arguments);

/// event_results(function, event, out): what the call gave that has ended; raises if it failed.
/// `out` is what the call was given, which stands for the results that were written there.
PyObject *eventResults(PyObject *module, PyObject *arguments);

} // namespace plim::python
