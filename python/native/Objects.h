// What the package has of the library besides arrays and functions: plain functions over handles,
// which the classes in Python hold. One for one with include/plimsoll, which says what each does.
#pragma once

#include "python/native/Python.h"

namespace plim::python {

extern PyMethodDef objectMethods[];

} // namespace plim::python
