#include "python/native/Objects.h"

#include "python/native/Handle.h"
#include "python/native/Interrupt.h"
#include "python/native/Limits.h"
#include "python/native/Pools.h"
#include "python/native/Texts.h"

#include <cstring>

namespace plim::python {

namespace {

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

/// What a load is asked for, as long as it is being begun.
struct Load {
  plim_engine *engine = nullptr;
  Name name;
  Source *source = nullptr; // null: of the file `name`
  plim_load_options options{};
  plim_limits limits{};
  plim_stop *stop = nullptr;
  PyObject *progress = nullptr; // borrowed; null if there is none
};

/// (engine, source, name, flags, policy, limits, parameters, functions, pools, specialization,
/// specialization_count, progress, stop, numerics, device, timeout in nanoseconds); with None for
/// the source, of the file `name`. The caller has the source then; false, with an exception, for
/// what is wrong.
bool readLoad(PyObject *arguments, Load &load) {
  PyObject *engineCapsule, *object, *limits, *parameters, *functions, *pools, *progress, *stop;
  unsigned long long timeout;
  plim_load_options &options = load.options;
  options.struct_size = sizeof options;
  if (!PyArg_ParseTuple(arguments, "OOO&IzO!OOOIIOOIzK", &engineCapsule, &object, Name::convert,
                        &load.name, &options.flags, &options.policy, &PyTuple_Type, &limits,
                        &parameters, &functions, &pools, &options.specialization,
                        &options.specialization_count, &progress, &stop, &options.numerics,
                        &options.device, &timeout))
    return false;
  plim_parameters *parametersHandle;
  plim_host_functions *functionsHandle;
  PoolSet *poolSet;
  if (!readLimits(limits, load.limits) || !unwrapHandle(engineCapsule, &load.engine) ||
      !unwrapHandle(parameters, &parametersHandle) || !unwrapHandle(functions, &functionsHandle) ||
      !unwrapHandle(pools, &poolSet) || !unwrapHandle(stop, &load.stop))
    return false;
  options.parameters = parametersHandle;
  options.host_functions = functionsHandle;
  if (poolSet) {
    options.pools = poolSet->data();
    options.pool_count = poolSet->size();
  }
  options.limits = &load.limits;
  options.stop = load.stop;
  options.timeout_nanoseconds = timeout;
  if (progress != Py_None) {
    load.progress = progress;
    options.progress = reportProgress;
    options.progress_user = progress;
  }
  if (object == Py_None)
    return true;
  load.source = new (std::nothrow) Source;
  if (!load.source) {
    PyErr_NoMemory();
    return false;
  }
  if (PyObject_GetBuffer(object, &load.source->view, PyBUF_SIMPLE) < 0) {
    delete load.source;
    return false;
  }
  options.release_source = releaseSource;
  options.source_user = load.source;
  return true;
}

/// module_load(what readLoad() takes)
PyObject *loadModule(PyObject *, PyObject *arguments) {
  Load load;
  if (!readLoad(arguments, load))
    return nullptr;
  plim_module *module = nullptr;
  Interruptible interruptible(load.stop);
  load.options.stop = interruptible.stop();
  plim_status *status;
  {
    WithoutGil others;
    const Source *source = load.source;
    status = source ? plim_module_load(load.engine, source->view.buf,
                                       static_cast<size_t>(source->view.len), load.name.get(),
                                       &load.options, &module)
                    : plim_module_load_file(load.engine, load.name.get(), &load.options, &module);
  }
  if (!status)
    return wrapHandle(module);
  delete load.source;
  if (!interruptible.raise(status))
    failed(status);
  return nullptr;
}

void ignoreEnd(void *, plim_event *) {}

/// module_load_async(the same): the event.
PyObject *beginLoad(PyObject *, PyObject *arguments) {
  Load load;
  if (!readLoad(arguments, load))
    return nullptr;
  plim_event *event = nullptr;
  Py_XINCREF(load.progress);
  plim_status *status;
  {
    WithoutGil others;
    const Source *source = load.source;
    status = source
                 ? plim_module_load_async(load.engine, source->view.buf,
                                          static_cast<size_t>(source->view.len), load.name.get(),
                                          &load.options, &event)
                 : plim_module_load_file_async(load.engine, load.name.get(), &load.options, &event);
    // Progress is told until the end.
    plim_status *kept = nullptr;
    if (!status && load.progress)
      kept = plim_event_then(event, ignoreEnd, load.progress, dropReference);
    if (kept) {
      static_cast<void>(plim_event_cancel(event));
      plim_status_release(plim_event_wait(event));
      plim_event_release(event);
      status = kept;
      load.source = nullptr; // which the load had
    }
  }
  if (!status)
    return wrapHandle(event);
  Py_XDECREF(load.progress);
  delete load.source;
  failed(status);
  return nullptr;
}

/// event_module(event)
PyObject *moduleOfLoad(PyObject *, PyObject *capsule) {
  plim_event *event;
  plim_module *module = nullptr;
  if (!unwrapHandle(capsule, &event) || failed(plim_event_module(event, &module)))
    return nullptr;
  return wrapHandle(module);
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

} // namespace

PyMethodDef moduleMethods[] = {{"module_load", loadModule, METH_VARARGS, nullptr},
                               {"module_load_async", beginLoad, METH_VARARGS, nullptr},
                               {"event_module", moduleOfLoad, METH_O, nullptr},
                               {"module_compile", compileModule, METH_VARARGS, nullptr},
                               {"module_function_names", moduleFunctionNames, METH_O, nullptr},
                               {"module_explain", explainModule, METH_O, nullptr},
                               {"module_statistics", moduleStatistics, METH_O, nullptr},
                               {"module_specializations", moduleSpecializations, METH_O, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
