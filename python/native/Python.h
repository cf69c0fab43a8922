// Python's and NumPy's C interfaces, included the same way everywhere, and what the sources here
// share of them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// One table of NumPy's functions for all sources; Module.cpp fills it in.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL plim_python_numpy
#ifndef PLIM_PYTHON_FILLS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace plim::python {

/// An owner of one reference, or of none.
class Ref {
public:
  Ref() = default;
  /// Takes over the caller's reference.
  explicit Ref(PyObject *object) : object(object) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref &&other) noexcept {
    PyObject *old = std::exchange(object, std::exchange(other.object, nullptr));
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(object); }
  static Ref borrowed(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  explicit operator bool() const { return object != nullptr; }
  PyObject *get() const { return object; }
  PyObject *take() { return std::exchange(object, nullptr); }

private:
  PyObject *object = nullptr;
};

/// `count` elements, up to N of them in place, made from nothing. get() is null without memory.
template <typename T, size_t N> class SmallArray {
public:
  explicit SmallArray(size_t count)
      : large(count > N ? new (std::nothrow) T[count]() : nullptr),
        elements(count > N ? large.get() : small) {}
  SmallArray(const SmallArray &) = delete;
  SmallArray &operator=(const SmallArray &) = delete;

  T *get() { return elements; }
  T &operator[](size_t index) { return elements[index]; }

private:
  T small[N]{};
  std::unique_ptr<T[]> large;
  T *elements;
};

/// Text of the library, which mostly is UTF-8, as a str. No reference, with an exception, without
/// memory.
inline Ref decode(const char *text) {
  return Ref(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

template <typename Function> PyCFunction asMethod(Function *function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

} // namespace plim::python
