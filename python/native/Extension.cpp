// plimsoll._native: the C interface as Python sees it. The package plimsoll is what people use.
#define PLIM_PYTHON_FILLS_NUMPY
#include "python/native/Arrays.h"
#include "python/native/Errors.h"
#include "python/native/Function.h"
#include "python/native/Gil.h"
#include "python/native/Interrupt.h"
#include "python/native/Objects.h"

namespace plim::python {

namespace {

PyObject *close(PyObject *, PyObject *) {
  closeGil();
  Py_RETURN_NONE;
}

PyObject *generation(PyObject *, PyObject *) { return PyLong_FromUnsignedLong(forkGeneration()); }

PyMethodDef methods[] = {
    {"set_error_factory", setErrorFactory, METH_O, nullptr},
    {"make_function", makeFunction, METH_VARARGS, nullptr},
    {"event_results", eventResults, METH_VARARGS, nullptr},
    {"to_dlpack", toDlpack, METH_VARARGS, nullptr},
    {"from_dlpack", fromDlpack, METH_O, nullptr},
    {"close", close, METH_NOARGS, "No thread of an engine uses Python after this. For atexit."},
    {"fork_generation", generation, METH_NOARGS, "Another number in every child of fork()."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "plimsoll._native",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

PyObject *makeModule() {
  if (_import_array() < 0 || failed(plim_version_check(PLIM_VERSION)))
    return nullptr;
  Ref module(PyModule_Create(&definition));
  if (!module)
    return nullptr;
  for (PyMethodDef *each : {targetMethods, engineMethods, moduleMethods, parameterMethods,
                            eventMethods, interruptMethods})
    if (PyModule_AddFunctions(module.get(), each) < 0)
      return nullptr;
  if (!addBufferType(module.get()) || !addFunctionType(module.get()) ||
      PyModule_AddStringConstant(module.get(), "version", plim_version_string()) < 0)
    return nullptr;
  watchForks();
  return module.take();
}

} // namespace

} // namespace plim::python

// Python looks for this name.
PyMODINIT_FUNC PyInit__native() // NOLINT(readability-identifier-naming)
{
  return plim::python::makeModule();
}
