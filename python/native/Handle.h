// Handles of the library as capsules: owners of one reference each, which Python's classes hold.
#pragma once

#include "plimsoll/plimsoll.h"
#include "python/native/Errors.h"
#include "python/native/Gil.h"

namespace plim::python {

/// What a kind of handle is called, how one is given back, and whether it needs threads of an
/// engine, which a fork() leaves behind.
template <typename T> struct HandleTraits;

#define PLIM_PYTHON_HANDLE(object, hasThreads)                                                     \
  template <> struct HandleTraits<plim_##object> {                                                 \
    static constexpr const char *name = "plim_" #object;                                           \
    static constexpr bool needsThreads = hasThreads;                                               \
    static void release(plim_##object *handle) { plim_##object##_release(handle); }                \
  };
PLIM_PYTHON_HANDLE(target, false)
PLIM_PYTHON_HANDLE(engine, true)
PLIM_PYTHON_HANDLE(module, true)
PLIM_PYTHON_HANDLE(parameters, false)
PLIM_PYTHON_HANDLE(state, true)
PLIM_PYTHON_HANDLE(event, true)
PLIM_PYTHON_HANDLE(stop, false)
PLIM_PYTHON_HANDLE(host_functions, false)
PLIM_PYTHON_HANDLE(device, false)
#undef PLIM_PYTHON_HANDLE

/// The generation of the process in which something was made, as the context of its capsule.
inline void *generationMark() { return reinterpret_cast<void *>(uintptr_t(forkGeneration())); }

/// Sets FailedPreconditionError and returns false for what was made before a fork().
inline bool checkGeneration(unsigned made) {
  if (made == forkGeneration()) [[likely]]
    return true;
  fail(PLIM_FAILED_PRECONDITION,
       "made before fork(), which leaves the threads of an engine behind: load the module again in "
       "the child, or start processes with 'spawn'");
  return false;
}

/// Takes over `handle`. Null, with an exception, without memory.
template <typename T> PyObject *wrapHandle(T *handle) {
  PyObject *capsule = PyCapsule_New(handle, HandleTraits<T>::name, [](PyObject *self) {
    auto *owned = static_cast<T *>(PyCapsule_GetPointer(self, HandleTraits<T>::name));
    // An engine of the parent would wait for threads that are not here.
    if (HandleTraits<T>::needsThreads && PyCapsule_GetContext(self) != generationMark())
      return;
    WithoutGil others; // the last owner waits for threads, and those may want the GIL
    HandleTraits<T>::release(owned);
  });
  if (!capsule) {
    HandleTraits<T>::release(handle);
    return nullptr;
  }
  PyCapsule_SetContext(capsule, generationMark());
  return capsule;
}

/// A function of Python's without arguments that makes an empty T.
template <typename T, auto Create> PyObject *createHandle(PyObject *, PyObject *) {
  T *handle = nullptr;
  return failed(Create(&handle)) ? nullptr : wrapHandle(handle);
}

/// What a capsule owns, borrowed; NULL for None. False, with an exception, for another object and
/// for one that was made before a fork().
template <typename T> bool unwrapHandle(PyObject *capsule, T **out) {
  *out = nullptr;
  if (!capsule || capsule == Py_None)
    return true;
  *out = static_cast<T *>(PyCapsule_GetPointer(capsule, HandleTraits<T>::name));
  if (!*out)
    return false;
  if (!HandleTraits<T>::needsThreads)
    return true;
  return checkGeneration(
      static_cast<unsigned>(reinterpret_cast<uintptr_t>(PyCapsule_GetContext(capsule))));
}

} // namespace plim::python
