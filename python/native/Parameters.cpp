#include "python/native/Objects.h"

#include "python/native/Arrays.h"
#include "python/native/Handle.h"
#include "python/native/Interrupt.h"
#include "python/native/Pools.h"

namespace plim::python {

namespace {

/// parameters_set(parameters, name, buffer)
PyObject *setParameter(PyObject *, PyObject *arguments) {
  PyObject *capsule, *buffer;
  Name name;
  plim_parameters *parameters;
  if (!PyArg_ParseTuple(arguments, "OO&O!", &capsule, Name::convert, &name, bufferType, &buffer) ||
      !unwrapHandle(capsule, &parameters) ||
      failed(plim_parameters_set(parameters, name.get(),
                                 reinterpret_cast<BufferObject *>(buffer)->buffer)))
    return nullptr;
  Py_RETURN_NONE;
}

/// parameters_load_safetensors(parameters, path)
PyObject *loadSafetensors(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  const char *path;
  plim_parameters *parameters;
  if (!PyArg_ParseTuple(arguments, "Oy", &capsule, &path) || !unwrapHandle(capsule, &parameters))
    return nullptr;
  plim_status *status;
  {
    WithoutGil others;
    status = plim_parameters_load_safetensors(parameters, path);
  }
  if (failed(status))
    return nullptr;
  Py_RETURN_NONE;
}

/// parameters_load_npy(parameters, name, path)
PyObject *loadNpy(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  Name name;
  const char *path;
  plim_parameters *parameters;
  if (!PyArg_ParseTuple(arguments, "OO&y", &capsule, Name::convert, &name, &path) ||
      !unwrapHandle(capsule, &parameters))
    return nullptr;
  plim_status *status;
  {
    WithoutGil others;
    status = plim_parameters_load_npy(parameters, name.get(), path);
  }
  if (failed(status))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *parameterNames(PyObject *, PyObject *capsule) {
  plim_parameters *parameters;
  if (!unwrapHandle(capsule, &parameters))
    return nullptr;
  Ref names(PyList_New(0));
  for (size_t i = 0; names && i < plim_parameters_count(parameters); ++i) {
    Ref name = decodeName(plim_parameters_name(parameters, i));
    if (!name || PyList_Append(names.get(), name.get()) < 0)
      return nullptr;
  }
  return names.take();
}

/// parameters_get(parameters, name): a Buffer.
PyObject *getParameter(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  Name name;
  plim_parameters *parameters;
  plim_buffer *buffer = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO&", &capsule, Name::convert, &name) ||
      !unwrapHandle(capsule, &parameters) ||
      failed(plim_parameters_get(parameters, name.get(), &buffer)))
    return nullptr;
  return wrapBuffer(buffer);
}

PyObject *createState(PyObject *, PyObject *capsule) {
  plim_module *module;
  plim_state *state = nullptr;
  if (!unwrapHandle(capsule, &module) || failed(plim_state_create(module, &state)))
    return nullptr;
  return wrapHandle(state);
}

/// state_variable(state, name): a Buffer.
PyObject *stateVariable(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  Name name;
  plim_state *state;
  plim_buffer *buffer = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO&", &capsule, Name::convert, &name) ||
      !unwrapHandle(capsule, &state) || failed(plim_state_variable(state, name.get(), &buffer)))
    return nullptr;
  return wrapBuffer(buffer);
}

PyObject *resetState(PyObject *, PyObject *capsule) {
  plim_state *state;
  if (!unwrapHandle(capsule, &state) || failed(plim_state_reset(state)))
    return nullptr;
  Py_RETURN_NONE;
}

} // namespace

PyMethodDef parameterMethods[] = {
    {"parameters_create", createHandle<plim_parameters, plim_parameters_create>, METH_NOARGS,
     nullptr},
    {"parameters_set", setParameter, METH_VARARGS, nullptr},
    {"parameters_load_safetensors", loadSafetensors, METH_VARARGS, nullptr},
    {"parameters_load_npy", loadNpy, METH_VARARGS, nullptr},
    {"parameters_names", parameterNames, METH_O, nullptr},
    {"parameters_get", getParameter, METH_VARARGS, nullptr},
    {"pools_create", createPools, METH_NOARGS, nullptr},
    {"pools_set", setPool, METH_VARARGS, nullptr},
    {"state_create", createState, METH_O, nullptr},
    {"state_variable", stateVariable, METH_VARARGS, nullptr},
    {"state_reset", resetState, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
