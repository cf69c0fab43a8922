#include "python/native/Objects.h"

#include "python/native/Arrays.h"
#include "python/native/Devices.h"
#include "python/native/Handle.h"
#include "python/native/HostFunctions.h"
#include "python/native/Interrupt.h"
#include "python/native/Limits.h"
#include "python/native/Pools.h"

#include <cstring>

namespace plim::python {

namespace {

/// The strings of a tuple, borrowed from it.
class Strings {
public:
  explicit Strings(PyObject *tuple)
      : count(static_cast<size_t>(PyTuple_GET_SIZE(tuple))), texts(count) {
    isGood = texts.get();
    for (size_t i = 0; isGood && i < count; ++i) {
      texts[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(i)));
      isGood = texts[i];
    }
    if (!isGood && !PyErr_Occurred())
      PyErr_NoMemory();
  }
  explicit operator bool() const { return isGood; }
  const char *const *get() { return texts.get(); }

  const size_t count;

private:
  SmallArray<const char *, 8> texts;
  bool isGood;
};

/// A text of the library's as a str, released.
PyObject *takeReport(plim_report *report) {
  PyObject *text = PyUnicode_DecodeUTF8(
      plim_report_text(report), static_cast<Py_ssize_t>(plim_report_size(report)), "replace");
  plim_report_release(report);
  return text;
}

// --- Target
// ---------------------------------------------------------------------------------------

/// target_create(name, overrides)
PyObject *createTarget(PyObject *, PyObject *arguments) {
  const char *name;
  PyObject *overrides;
  if (!PyArg_ParseTuple(arguments, "zO!", &name, &PyTuple_Type, &overrides))
    return nullptr;
  Strings texts(overrides);
  if (!texts)
    return nullptr;
  plim_target *target = nullptr;
  plim_status *status;
  {
    WithoutGil others; // drivers take their time
    status = plim_target_create(name, texts.get(), texts.count, &target);
  }
  return failed(status) ? nullptr : wrapHandle(target);
}

/// target_from_json(text)
PyObject *createTargetFromJson(PyObject *, PyObject *arguments) {
  const char *text;
  Py_ssize_t size;
  plim_target *target = nullptr;
  if (!PyArg_ParseTuple(arguments, "s#", &text, &size) ||
      failed(plim_target_create_from_json(text, static_cast<size_t>(size), &target)))
    return nullptr;
  return wrapHandle(target);
}

PyObject *listTargets(PyObject *, PyObject *) {
  plim_report *report = nullptr;
  return failed(plim_target_list(&report)) ? nullptr : takeReport(report);
}

/// target_describe(target)
PyObject *describeTarget(PyObject *, PyObject *capsule) {
  plim_target *target;
  plim_report *report = nullptr;
  if (!unwrapHandle(capsule, &target) || failed(plim_target_describe(target, &report)))
    return nullptr;
  return takeReport(report);
}

// --- Engine
// ---------------------------------------------------------------------------------------

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

// --- Module
// ---------------------------------------------------------------------------------------

/// Bytes of an object, and what keeps them: a source that a module uses in place.
struct Source {
  Py_buffer view{};
  ~Source() { PyBuffer_Release(&view); }
};

void releaseSource(void *user) {
  if (GilScope gil; gil)
    delete static_cast<Source *>(user);
}

void reportProgress(void *user, double fraction) {
  GilScope gil;
  if (!gil)
    return;
  auto *callback = static_cast<PyObject *>(user);
  Ref done(PyObject_CallFunction(callback, "d", fraction));
  if (!done)
    PyErr_WriteUnraisable(callback);
}

/// module_load(engine, source, name, flags, policy, limits, parameters, functions, pools,
/// specialization, specialization_count, progress, stop, numerics, device); with None for the source, of the file `name`
PyObject *loadModule(PyObject *, PyObject *arguments) {
  PyObject *engineCapsule, *object, *limits, *parameters, *functions, *pools, *progress, *stop;
  Name name;
  plim_load_options options{};
  options.struct_size = sizeof options;
  if (!PyArg_ParseTuple(arguments, "OOO&IzO!OOOIIOOIz", &engineCapsule, &object, Name::convert,
                        &name, &options.flags, &options.policy, &PyTuple_Type, &limits, &parameters,
                        &functions, &pools, &options.specialization, &options.specialization_count,
                        &progress, &stop, &options.numerics, &options.device))
    return nullptr;
  plim_limits given;
  plim_engine *engine;
  plim_parameters *parametersHandle;
  plim_host_functions *functionsHandle;
  PoolSet *poolSet;
  plim_stop *stopHandle;
  if (!readLimits(limits, given) || !unwrapHandle(engineCapsule, &engine) ||
      !unwrapHandle(parameters, &parametersHandle) || !unwrapHandle(functions, &functionsHandle) ||
      !unwrapHandle(pools, &poolSet) || !unwrapHandle(stop, &stopHandle))
    return nullptr;
  options.parameters = parametersHandle;
  options.host_functions = functionsHandle;
  if (poolSet) {
    options.pools = poolSet->data();
    options.pool_count = poolSet->size();
  }
  options.limits = &given;

  if (progress != Py_None) {
    options.progress = reportProgress;
    options.progress_user = progress;
  }

  Source *source = nullptr;
  if (object != Py_None) {
    source = new (std::nothrow) Source;
    if (!source)
      return PyErr_NoMemory();
    if (PyObject_GetBuffer(object, &source->view, PyBUF_SIMPLE) < 0) {
      delete source;
      return nullptr;
    }
    options.release_source = releaseSource;
    options.source_user = source;
  }
  plim_module *module = nullptr;
  Interruptible load(stopHandle);
  options.stop = load.stop();
  plim_status *status;
  {
    WithoutGil others;
    status = source
                 ? plim_module_load(engine, source->view.buf, static_cast<size_t>(source->view.len),
                                    name.get(), &options, &module)
                 : plim_module_load_file(engine, name.get(), &options, &module);
  }
  if (!status)
    return wrapHandle(module);
  delete source;
  if (!load.raise(status))
    failed(status);
  return nullptr;
}

/// Bytes of the library's, released.
PyObject *takeBytes(plim_bytes *given) {
  PyObject *bytes = PyBytes_FromStringAndSize(static_cast<const char *>(plim_bytes_data(given)),
                                              static_cast<Py_ssize_t>(plim_bytes_size(given)));
  plim_bytes_release(given);
  return bytes;
}

/// module_compile(engine, source, name, flags, policy, limits, numerics, device, export_name): the artifact as bytes; with a name to
/// export by, the object and the header, both as bytes.
PyObject *compileModule(PyObject *, PyObject *arguments) {
  PyObject *capsule, *limits;
  Source source;
  Name name;
  const char *exportName;
  plim_load_options options{};
  options.struct_size = sizeof options;
  plim_engine *engine;
  if (!PyArg_ParseTuple(arguments, "Oy*O&IzO!Izz", &capsule, &source.view, Name::convert, &name,
                        &options.flags, &options.policy, &PyTuple_Type, &limits, &options.numerics,
                        &options.device, &exportName) ||
      !unwrapHandle(capsule, &engine))
    return nullptr;
  plim_limits given;
  if (!readLimits(limits, given))
    return nullptr;
  options.limits = &given;
  plim_bytes *code = nullptr, *header = nullptr;
  Interruptible compilation(nullptr);
  options.stop = compilation.stop();
  plim_status *status;
  {
    WithoutGil others;
    const auto size = static_cast<size_t>(source.view.len);
    status = exportName
                 ? plim_module_export(engine, source.view.buf, size, name.get(), exportName,
                                      &options, &code, &header)
                 : plim_module_compile(engine, source.view.buf, size, name.get(), &options, &code);
  }
  if (compilation.raise(status) || failed(status))
    return nullptr;
  PyObject *bytes = takeBytes(code);
  if (!header)
    return bytes;
  PyObject *text = takeBytes(header);
  return bytes && text ? Py_BuildValue("(NN)", bytes, text) : nullptr;
}

PyObject *moduleFunctionNames(PyObject *, PyObject *capsule) {
  plim_module *module;
  if (!unwrapHandle(capsule, &module))
    return nullptr;
  size_t count = plim_module_function_count(module);
  Ref names(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; names && i < count; ++i) {
    PyObject *name = decodeName(plim_module_function_name(module, i)).take();
    if (!name)
      return nullptr;
    PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(i), name);
  }
  return names.take();
}

PyObject *explainModule(PyObject *, PyObject *capsule) {
  plim_module *module;
  plim_report *report = nullptr;
  if (!unwrapHandle(capsule, &module) || failed(plim_module_explain(module, &report)))
    return nullptr;
  return takeReport(report);
}

PyObject *moduleStatistics(PyObject *, PyObject *capsule) {
  plim_module *module;
  plim_load_statistics load{};
  load.struct_size = sizeof load;
  if (!unwrapHandle(capsule, &module) || failed(plim_module_statistics(module, &load)))
    return nullptr;
  return Py_BuildValue("{s:O,s:K,s:d,s:d,s:d,s:d,s:d,s:d,s:K,s:K}", "from_cache",
                       load.from_cache ? Py_True : Py_False, "shared_constant_bytes",
                       static_cast<unsigned long long>(load.shared_constant_bytes), "parse_seconds",
                       load.parse_seconds, "lower_seconds", load.lower_seconds, "optimise_seconds",
                       load.optimise_seconds, "codegen_seconds", load.codegen_seconds,
                       "link_seconds", load.link_seconds, "total_seconds", load.total_seconds,
                       "objects", static_cast<unsigned long long>(load.objects), "cached_objects",
                       static_cast<unsigned long long>(load.cached_objects));
}

PyObject *moduleSpecializations(PyObject *, PyObject *capsule) {
  plim_module *module;
  plim_specialization_statistics counts{};
  counts.struct_size = sizeof counts;
  if (!unwrapHandle(capsule, &module))
    return nullptr;
  plim_status *status;
  {
    WithoutGil others; // it waits for the thread that makes code, which may want the GIL
    status = plim_module_specialization_statistics(module, &counts);
  }
  if (failed(status))
    return nullptr;
  return Py_BuildValue("{s:I,s:K,s:K,s:K,s:K}", "in_work", counts.in_work, "made",
                       static_cast<unsigned long long>(counts.made), "failed",
                       static_cast<unsigned long long>(counts.failed), "evicted",
                       static_cast<unsigned long long>(counts.evicted), "calls",
                       static_cast<unsigned long long>(counts.calls));
}

// --- Parameters, pools, states
// --------------------------------------------------------------------

template <typename T, auto Create> PyObject *createSet(PyObject *, PyObject *) {
  T *handle = nullptr;
  return failed(Create(&handle)) ? nullptr : wrapHandle(handle);
}

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

// --- Events and stops
// -----------------------------------------------------------------------------

PyObject *requestStop(PyObject *, PyObject *capsule) {
  plim_stop *stop;
  if (!unwrapHandle(capsule, &stop) || failed(plim_stop_request(stop)))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *isStopRequested(PyObject *, PyObject *capsule) {
  plim_stop *stop;
  if (!unwrapHandle(capsule, &stop))
    return nullptr;
  return PyBool_FromLong(plim_stop_is_requested(stop));
}

PyObject *isEventDone(PyObject *, PyObject *capsule) {
  plim_event *event;
  if (!unwrapHandle(capsule, &event))
    return nullptr;
  return PyBool_FromLong(plim_event_is_done(event));
}

/// event_wait(event, nanoseconds): has the call ended? It may have failed.
PyObject *waitForEvent(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  unsigned long long nanoseconds;
  plim_event *event;
  if (!PyArg_ParseTuple(arguments, "OK", &capsule, &nanoseconds) || !unwrapHandle(capsule, &event))
    return nullptr;
  bool isDone = false;
  plim_status *status;
  {
    WithoutGil others;
    status = plim_event_wait_for(event, nanoseconds, &isDone);
  }
  return failed(status) ? nullptr : PyBool_FromLong(isDone);
}

PyObject *cancelEvent(PyObject *, PyObject *capsule) {
  plim_event *event;
  if (!unwrapHandle(capsule, &event))
    return nullptr;
  plim_status *status;
  {
    WithoutGil others; // callbacks may come before it returns
    status = plim_event_cancel(event);
  }
  if (failed(status))
    return nullptr;
  Py_RETURN_NONE;
}

void eventEnded(void *user, plim_event *) {
  GilScope gil;
  if (!gil)
    return;
  auto *callback = static_cast<PyObject *>(user);
  Ref done(PyObject_CallNoArgs(callback));
  if (!done)
    PyErr_WriteUnraisable(callback);
}

/// event_then(event, callback): `callback()` when the call has ended, on any thread.
PyObject *thenCall(PyObject *, PyObject *arguments) {
  PyObject *capsule, *callback;
  plim_event *event;
  if (!PyArg_ParseTuple(arguments, "OO", &capsule, &callback) || !unwrapHandle(capsule, &event))
    return nullptr;
  Py_INCREF(callback);
  plim_status *status;
  {
    WithoutGil others; // it may be called here and now
    status = plim_event_then(event, eventEnded, callback, dropReference);
  }
  if (status)
    Py_DECREF(callback);
  if (failed(status))
    return nullptr;
  Py_RETURN_NONE;
}

} // namespace

PyMethodDef objectMethods[] = {
    {"target_create", createTarget, METH_VARARGS, nullptr},
    {"target_from_json", createTargetFromJson, METH_VARARGS, nullptr},
    {"target_list", listTargets, METH_NOARGS, nullptr},
    {"target_describe", describeTarget, METH_O, nullptr},
    {"engine_create", createEngine, METH_VARARGS, nullptr},
    {"engine_target", engineTarget, METH_O, nullptr},
    {"engine_threads", engineThreads, METH_O, nullptr},
    {"engine_memory", engineMemory, METH_O, nullptr},
    {"engine_trim", engineTrim, METH_O, nullptr},
    {"engine_statistics", engineReport<plim_engine_statistics>, METH_O, nullptr},
    {"engine_trace", engineReport<plim_engine_trace>, METH_O, nullptr},
    {"engine_allocate", allocateBuffer, METH_VARARGS, nullptr},
    {"module_load", loadModule, METH_VARARGS, nullptr},
    {"module_compile", compileModule, METH_VARARGS, nullptr},
    {"module_function_names", moduleFunctionNames, METH_O, nullptr},
    {"module_explain", explainModule, METH_O, nullptr},
    {"module_statistics", moduleStatistics, METH_O, nullptr},
    {"module_specializations", moduleSpecializations, METH_O, nullptr},
    {"parameters_create", createSet<plim_parameters, plim_parameters_create>, METH_NOARGS, nullptr},
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
    {"stop_create", createSet<plim_stop, plim_stop_create>, METH_NOARGS, nullptr},
    {"stop_request", requestStop, METH_O, nullptr},
    {"stop_is_requested", isStopRequested, METH_O, nullptr},
    {"event_is_done", isEventDone, METH_O, nullptr},
    {"event_wait", waitForEvent, METH_VARARGS, nullptr},
    {"event_cancel", cancelEvent, METH_O, nullptr},
    {"event_then", thenCall, METH_VARARGS, nullptr},
    {"host_functions_create", createSet<plim_host_functions, plim_host_functions_create>,
     METH_NOARGS, nullptr},
    {"host_functions_add", addHostFunction, METH_VARARGS, nullptr},
    {"device_create", createDevice, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
