#include "python/native/Objects.h"

#include "python/native/Handle.h"
#include "python/native/Texts.h"

namespace plim::python {

namespace {

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

} // namespace

PyMethodDef targetMethods[] = {{"target_create", createTarget, METH_VARARGS, nullptr},
                               {"target_from_json", createTargetFromJson, METH_VARARGS, nullptr},
                               {"target_list", listTargets, METH_NOARGS, nullptr},
                               {"target_describe", describeTarget, METH_O, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
