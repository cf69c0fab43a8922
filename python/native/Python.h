// Python's and NumPy's C interfaces, included the same way everywhere, and what the sources here
// share of them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// One table of NumPy's functions for all sources; Extension.cpp fills it in.
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

/// A name, which mostly is UTF-8, as a str; other bytes are surrogates, as in os.fsdecode(). No
/// reference, with an exception, without memory.
inline Ref decodeName(const char *name) {
  return Ref(
      PyUnicode_DecodeUTF8(name, static_cast<Py_ssize_t>(std::strlen(name)), "surrogateescape"));
}

/// The inverse, for "O&" of PyArg_ParseTuple: the bytes of a str.
class Name {
public:
  static int convert(PyObject *object, void *out) {
    Ref &bytes = static_cast<Name *>(out)->bytes;
    if (!PyUnicode_Check(object)) {
      PyErr_Format(PyExc_TypeError, "a name is a str, not %s", Py_TYPE(object)->tp_name);
      return 0;
    }
    bytes = Ref(PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape"));
    char *text;
    return bytes && PyBytes_AsStringAndSize(bytes.get(), &text, nullptr) == 0; // without NULs
  }
  const char *get() const { return PyBytes_AS_STRING(bytes.get()); }

private:
  Ref bytes;
};

template <typename Function> PyCFunction asMethod(Function *function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

} // namespace plim::python
