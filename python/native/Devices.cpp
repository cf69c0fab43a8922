#include "python/native/Devices.h"

#include "python/native/Handle.h"
#include "python/native/HostFunctions.h"

#include <memory>
#include <string>

namespace plim::python {

namespace {

struct Device {
  std::string name;
  plim_host_function_kind kind;
  PyObject *compile, *load; // None: it has none
};

/// Runs `body`, which gives a code, or -1 with an exception, where Python may run.
template <typename Body> plim_code withPython(plim_device_job *job, Body body) {
  if (!hasStackForPython())
    return plim_device_job_fail(job, PLIM_RESOURCE_EXHAUSTED, noStackText);
  GilScope gil;
  if (!gil)
    return plim_device_job_fail(job, PLIM_CANCELLED, endingText);
  const plim_code code = body();
  if (!PyErr_Occurred())
    return code;
  const Failure failure = takeFailure("");
  return plim_device_job_fail(job, failure.code, failure.message.c_str());
}

plim_code compileText(plim_device_job *job, void *user, const char *name, const char *text,
                      size_t size) {
  const auto &device = *static_cast<const Device *>(user);
  return withPython(job, [&]() -> plim_code {
    Ref code(
        PyObject_CallFunction(device.compile, "ss#", name, text, static_cast<Py_ssize_t>(size)));
    if (!code)
      return PLIM_UNKNOWN;
    if (PyBytes_Check(code.get()))
      return plim_device_job_write(job, PyBytes_AS_STRING(code.get()),
                                   static_cast<size_t>(PyBytes_GET_SIZE(code.get())));
    // The reason for which it is not taken, which reports show.
    const char *reason = PyUnicode_AsUTF8(code.get());
    return reason ? plim_device_job_fail(job, PLIM_UNIMPLEMENTED, reason) : PLIM_UNKNOWN;
  });
}

plim_code loadCode(plim_device_job *job, void *user, const char *name, const void *code,
                   size_t size, plim_host_function_options *out) {
  const auto &device = *static_cast<const Device *>(user);
  return withPython(job, [&]() -> plim_code {
    Ref made(PyObject_CallFunction(device.load, "sy#", name, static_cast<const char *>(code),
                                   static_cast<Py_ssize_t>(size)));
    PyObject *callable, *arguments, *results;
    if (!made ||
        !PyArg_ParseTuple(made.get(), "OO!O!", &callable, &PyTuple_Type, &arguments, &PyTuple_Type,
                          &results) ||
        !makeHostFunction("device '" + device.name + "'", callable, arguments, results, out))
      return PLIM_UNKNOWN;
    out->kind = device.kind;
    return PLIM_OK;
  });
}

void releaseDevice(void *user) {
  GilScope gil;
  if (!gil)
    return;
  std::unique_ptr<Device> device(static_cast<Device *>(user));
  Py_DECREF(device->compile);
  Py_DECREF(device->load);
}

} // namespace

PyObject *createDevice(PyObject *, PyObject *given) {
  const char *name, *version;
  unsigned kind;
  PyObject *compile, *load;
  if (!PyArg_ParseTuple(given, "ssIOO", &name, &version, &kind, &compile, &load))
    return nullptr;
  auto device = std::make_unique<Device>(Device{name, kind, compile, load});
  plim_device_options options{};
  options.struct_size = sizeof options;
  options.name = name;
  options.version = version;
  options.compile = compile == Py_None ? nullptr : compileText;
  options.load = load == Py_None ? nullptr : loadCode;
  options.user = device.get();
  options.release_user = releaseDevice;
  plim_device *handle = nullptr;
  if (failed(plim_device_create(&options, &handle)))
    return nullptr;
  Py_INCREF(compile);
  Py_INCREF(load);
  [[maybe_unused]] Device *owned = device.release(); // by the handle
  return wrapHandle(handle);
}

} // namespace plim::python
