#include "python/native/Interrupt.h"

#include <utility>

namespace plim::python {

namespace {

/// The thread that gets KeyboardInterrupt.
unsigned long mainThread = 0;
/// Makes somebody wait for signals, and says whether somebody does: called when the main thread first comes
/// here.
PyObject *begin = nullptr;
bool isWatched = false;
Interruptible *innermost = nullptr;
/// For calls that have no stop of their own: has not been requested when the outermost one begins.
plim_stop *shared = nullptr;

bool isMainAndWatched() {
  if (PyThread_get_thread_ident() != mainThread)
    return false;
  if (begin) [[unlikely]] {
    Ref once(std::exchange(begin, nullptr));
    Ref watched(PyObject_CallNoArgs(once.get()));
    isWatched = watched && PyObject_IsTrue(watched.get()) == 1;
    PyErr_Clear(); // if not, Ctrl-C waits for the end of calls
  }
  return isWatched;
}

/// interrupt_begin(callable, thread)
PyObject *setBegin(PyObject *, PyObject *arguments) {
  PyObject *callable;
  unsigned long thread;
  if (!PyArg_ParseTuple(arguments, "Ok", &callable, &thread))
    return nullptr;
  mainThread = thread;
  isWatched = false;
  innermost = nullptr; // after a fork
  Py_INCREF(callable);
  Py_XSETREF(begin, callable);
  Py_RETURN_NONE;
}

PyObject *interruptCall(PyObject *, PyObject *) {
  interrupt();
  Py_RETURN_NONE;
}

} // namespace

void interrupt() {
  if (!innermost || !innermost->own)
    return;
  // A call that a host function makes may share the stop of the one that it is called by.
  for (Interruptible *each = innermost; each; each = each->outer)
    each->wasInterrupted |= each->own == innermost->own;
  plim_status_release(plim_stop_request(innermost->own));
}

Interruptible::Interruptible(plim_stop *given) : own(given) {
  if (!isMainAndWatched())
    return;
  if (!own) {
    if (!shared)
      plim_status_release(plim_stop_create(&shared));
    own = shared;
  }
  outer = std::exchange(innermost, this);
  isListed = true;
}

Interruptible::~Interruptible() {
  if (!isListed)
    return;
  innermost = outer;
  if (!outer && wasInterrupted && own == shared)
    plim_stop_release(std::exchange(shared, nullptr));
}

bool Interruptible::raise(plim_status *status) const {
  if (!wasInterrupted || !status || plim_status_code(status) != PLIM_CANCELLED)
    return false;
  plim_status_release(status);
  if (PyErr_CheckSignals() == 0)
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  return true;
}

PyMethodDef interruptMethods[] = {{"interrupt_begin", setBegin, METH_VARARGS, nullptr},
                                  {"interrupt", interruptCall, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

} // namespace plim::python
