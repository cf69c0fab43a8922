// Texts on both sides of the border: tuples of str as the C interface takes them, reports of the library as str.
#pragma once

#include "python/native/Python.h"

#include <cstddef>

namespace plim::python {

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
inline PyObject *takeReport(plim_report *report) {
  PyObject *text = PyUnicode_DecodeUTF8(
      plim_report_text(report), static_cast<Py_ssize_t>(plim_report_size(report)), "replace");
  plim_report_release(report);
  return text;
}

} // namespace plim::python
