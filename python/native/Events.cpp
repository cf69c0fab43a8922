#include "python/native/Objects.h"

#include "python/native/Gil.h"
#include "python/native/Handle.h"
#include "python/native/Interrupt.h"

namespace plim::python {

namespace {

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

PyMethodDef eventMethods[] = {
    {"stop_create", createHandle<plim_stop, plim_stop_create>, METH_NOARGS, nullptr},
    {"stop_request", requestStop, METH_O, nullptr},
    {"stop_is_requested", isStopRequested, METH_O, nullptr},
    {"event_is_done", isEventDone, METH_O, nullptr},
    {"event_wait", waitForEvent, METH_VARARGS, nullptr},
    {"event_cancel", cancelEvent, METH_O, nullptr},
    {"event_then", thenCall, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
