// What the package has of the library besides arrays and functions: plain functions over handles,
// which the classes in Python hold. One for one with include/plimsoll, which says what each does.
#pragma once

#include "python/native/Python.h"

namespace plim::python {

extern PyMethodDef targetMethods[];
extern PyMethodDef engineMethods[]; // with what an engine is given: host functions, devices
extern PyMethodDef moduleMethods[];
extern PyMethodDef parameterMethods[]; // with the other memory of a module: pools, states
extern PyMethodDef eventMethods[];     // with stops

} // namespace plim::python
