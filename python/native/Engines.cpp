#include "python/native/Objects.h"

#include "python/native/Arrays.h"
#include "python/native/Devices.h"
#include "python/native/Handle.h"
#include "python/native/HostFunctions.h"
#include "python/native/Interrupt.h"
#include "python/native/Limits.h"
#include "python/native/Texts.h"

#include <cstring>

namespace plim::python {

namespace {

void logMessage(void *user, plim_log_level level, const char *message, size_t size) {
  GilScope gil;
  if (!gil)
    return;
  // Calls may log while an exception is on its way.
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Ref done(PyObject_CallFunction(
      static_cast<PyObject *>(user), "iN", static_cast<int>(level),
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(size), "replace")));
  if (!done)
    PyErr_WriteUnraisable(static_cast<PyObject *>(user));
  PyErr_Restore(type, value, trace);
}

/// engine_create(flags, target, threads, policy, limits, cache_folder, cache_bytes, log, level,
/// functions, cores, numa_node, specialization, specialization_count, numerics, isolation (0: none, 1: own workers, 2: shared), compile_memory,
/// compile_deadline in nanoseconds, devices)
PyObject *createEngine(PyObject *, PyObject *arguments) {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  PyObject *target, *limits, *log, *functions, *devices;
  unsigned long long cacheBytes;
  int level, isolation;
  plim_compile_workers workers{};
  workers.struct_size = sizeof workers;
  if (!PyArg_ParseTuple(
          arguments, "IOIzO!zKOiOIIIIIiKKO!", &options.flags, &target, &options.threads,
          &options.policy, &PyTuple_Type, &limits, &options.cache_folder, &cacheBytes, &log, &level,
          &functions, &options.cores, &options.numa_node, &options.specialization,
          &options.specialization_count, &options.numerics, &isolation, &workers.memory_bytes,
          &workers.deadline_nanoseconds, &PyTuple_Type, &devices))
    return nullptr;
  workers.flags = isolation == 2 ? PLIM_COMPILE_WORKERS_SHARED : 0;
  if (isolation != 0)
    options.compile_workers = &workers;
  plim_limits given;
  plim_target *targetHandle;
  plim_host_functions *functionsHandle;
  if (!readLimits(limits, given) || !unwrapHandle(target, &targetHandle) ||
      !unwrapHandle(functions, &functionsHandle))
    return nullptr;
  SmallArray<plim_device *, 4> brought(static_cast<size_t>(PyTuple_GET_SIZE(devices)));
  if (!brought.get())
    return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(devices); ++i)
    if (!unwrapHandle(PyTuple_GET_ITEM(devices, i), &brought[static_cast<size_t>(i)]))
      return nullptr;
  options.devices = brought.get();
  options.device_count = static_cast<size_t>(PyTuple_GET_SIZE(devices));
  options.target = targetHandle;
  options.host_functions = functionsHandle;
  options.limits = &given;
  options.cache_bytes = cacheBytes;
  plim_logger logger{};
  if (log != Py_None) {
    logger = {sizeof logger, level, logMessage, Py_NewRef(log), dropReference};
    options.logger = &logger;
  }
  plim_engine *engine = nullptr;
  plim_status *status;
  {
    WithoutGil others;
    status = plim_engine_create(&options, &engine);
  }
  if (status && log != Py_None)
    Py_DECREF(log);
  return failed(status) ? nullptr : wrapHandle(engine);
}

PyObject *engineTarget(PyObject *, PyObject *capsule) {
  plim_engine *engine;
  plim_target *target = nullptr;
  if (!unwrapHandle(capsule, &engine) || failed(plim_engine_target(engine, &target)))
    return nullptr;
  return wrapHandle(target);
}

PyObject *engineThreads(PyObject *, PyObject *capsule) {
  plim_engine *engine;
  if (!unwrapHandle(capsule, &engine))
    return nullptr;
  return PyLong_FromUnsignedLong(plim_engine_threads(engine));
}

PyObject *engineMemory(PyObject *, PyObject *capsule) {
  plim_engine *engine;
  plim_memory_statistics memory{};
  memory.struct_size = sizeof memory;
  if (!unwrapHandle(capsule, &engine) || failed(plim_engine_memory_statistics(engine, &memory)))
    return nullptr;
  return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "live_bytes",
                       static_cast<unsigned long long>(memory.live_bytes), "peak_bytes",
                       static_cast<unsigned long long>(memory.peak_bytes), "kept_bytes",
                       static_cast<unsigned long long>(memory.kept_bytes), "allocations",
                       static_cast<unsigned long long>(memory.allocations), "reused",
                       static_cast<unsigned long long>(memory.reused));
}

PyObject *engineTrim(PyObject *, PyObject *capsule) {
  plim_engine *engine;
  if (!unwrapHandle(capsule, &engine))
    return nullptr;
  plim_status *status;
  {
    WithoutGil others;
    status = plim_engine_trim(engine);
  }
  if (failed(status))
    return nullptr;
  Py_RETURN_NONE;
}

template <auto Get> PyObject *engineReport(PyObject *, PyObject *capsule) {
  plim_engine *engine;
  plim_report *report = nullptr;
  if (!unwrapHandle(capsule, &engine) || failed(Get(engine, &report)))
    return nullptr;
  return takeReport(report);
}

/// engine_allocate(engine, element_type, shape): a Buffer with arbitrary elements.
PyObject *allocateBuffer(PyObject *, PyObject *arguments) {
  PyObject *capsule, *shape;
  const char *name;
  plim_engine *engine;
  if (!PyArg_ParseTuple(arguments, "OsO!", &capsule, &name, &PyTuple_Type, &shape) ||
      !unwrapHandle(capsule, &engine))
    return nullptr;
  plim_element_type element = plim_element_type_from_name(name);
  if (!element)
    return fail(PLIM_NOT_FOUND, "no element type '%s'", name);
  size_t rank = static_cast<size_t>(PyTuple_GET_SIZE(shape));
  SmallArray<int64_t, 8> extents(rank);
  if (!extents.get())
    return PyErr_NoMemory();
  for (size_t i = 0; i < rank; ++i) {
    extents[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, static_cast<Py_ssize_t>(i)));
    if (extents[i] == -1 && PyErr_Occurred())
      return nullptr;
  }
  plim_buffer *buffer = nullptr;
  if (failed(plim_buffer_allocate(engine, element, static_cast<uint32_t>(rank), extents.get(),
                                  &buffer)))
    return nullptr;
  return wrapBuffer(buffer);
}

} // namespace

PyMethodDef engineMethods[] = {
    {"engine_create", createEngine, METH_VARARGS, nullptr},
    {"engine_target", engineTarget, METH_O, nullptr},
    {"engine_threads", engineThreads, METH_O, nullptr},
    {"engine_memory", engineMemory, METH_O, nullptr},
    {"engine_trim", engineTrim, METH_O, nullptr},
    {"engine_statistics", engineReport<plim_engine_statistics>, METH_O, nullptr},
    {"engine_trace", engineReport<plim_engine_trace>, METH_O, nullptr},
    {"engine_allocate", allocateBuffer, METH_VARARGS, nullptr},
    {"host_functions_create", createHandle<plim_host_functions, plim_host_functions_create>,
     METH_NOARGS, nullptr},
    {"host_functions_add", addHostFunction, METH_VARARGS, nullptr},
    {"device_create", createDevice, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
