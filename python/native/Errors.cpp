#include "python/native/Errors.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <string>

namespace plim::python {

namespace {

PyObject *factory = nullptr;

// Exceptions of host functions, until the status that they became arrives, by the number that ends
// its message. A status may never arrive, since the first failure of a call counts: the oldest go
// then.
PyObject *causes = nullptr;
long long nextCause = 0;
constexpr Py_ssize_t mostCauses = 64;
constexpr char causeMark = '\x1f';

Ref decoded(const char *text) {
  return Ref(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

/// None for null.
Ref fileName(const char *file) { return file ? decoded(file) : Ref::borrowed(Py_None); }

/// `diagnostics`: a tuple for each; null: none.
Ref makeError(plim_code code, PyObject *message, const char *file, uint32_t line, uint32_t column,
              bool isTypeError, PyObject *diagnostics = nullptr) {
  if (!factory) { // the library is not the one that this was built for
    PyErr_SetObject(PyExc_ImportError, message);
    return {};
  }
  Ref none(diagnostics ? nullptr : PyTuple_New(0));
  if (!diagnostics && !none)
    return {};
  Ref name = fileName(file);
  if (!name)
    return {};
  return Ref(PyObject_CallFunction(factory, "iOOIIOO", static_cast<int>(code), message, name.get(),
                                   line, column, isTypeError ? Py_True : Py_False,
                                   diagnostics ? diagnostics : none.get()));
}

Ref diagnosticsOf(const plim_status *status) {
  const size_t count = plim_status_diagnostic_count(status);
  Ref all(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; all && i < count; ++i) {
    plim_diagnostic each{};
    each.struct_size = sizeof each;
    plim_status_release(plim_status_diagnostic(status, i, &each));
    // As that of the whole, without the number of its cause.
    std::string words = each.message;
    words.resize(std::min(words.size(), words.rfind(causeMark)));
    Ref message = decoded(words.c_str()), file = fileName(each.file);
    PyObject *tuple = message && file
                          ? Py_BuildValue("iOOIIII", each.severity, message.get(), file.get(),
                                          each.line, each.column, each.end_line, each.end_column)
                          : nullptr;
    if (!tuple)
      return {};
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), tuple);
  }
  return all;
}

void set(Ref error) {
  if (error)
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.get())), error.get());
}

/// The exception of that number, which is then forgotten; no reference if there is none.
Ref takeCause(const char *number) {
  Ref key(PyLong_FromString(number, nullptr, 10));
  if (!key || !causes) {
    PyErr_Clear();
    return {};
  }
  Ref cause = Ref::borrowed(PyDict_GetItemWithError(causes, key.get()));
  if (cause)
    PyDict_DelItem(causes, key.get());
  PyErr_Clear();
  return cause;
}

} // namespace

bool failed(plim_status *status) {
  if (!status)
    return false;
  const char *text = plim_status_message(status);
  const char *mark = std::strrchr(text, causeMark);
  size_t size = mark ? static_cast<size_t>(mark - text) : std::strlen(text);
  Ref cause = mark ? takeCause(mark + 1) : Ref();
  Ref message(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "replace"));
  Ref diagnostics = diagnosticsOf(status);
  Ref error;
  if (message && diagnostics)
    error =
        makeError(plim_status_code(status), message.get(), plim_status_file(status),
                  plim_status_line(status), plim_status_column(status), false, diagnostics.get());
  plim_status_release(status);
  if (error && cause) {
    // What asks the program to end is not the failure of a call.
    if (!PyErr_GivenExceptionMatches(cause.get(), PyExc_Exception))
      error = std::move(cause);
    else
      PyException_SetCause(error.get(), cause.take());
  }
  set(std::move(error));
  return true;
}

PyObject *fail(plim_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Ref message(PyUnicode_FromFormatV(format, arguments));
  va_end(arguments);
  if (message)
    set(makeError(code, message.get(), nullptr, 0, 0, code == PLIM_INVALID_ARGUMENT));
  return nullptr;
}

Failure takeFailure(const std::string &prefix) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace)
    PyException_SetTraceback(value, trace);
  Ref ownedType(type), error(value), ownedTrace(trace);

  // An error of ours keeps its kind.
  long code = PLIM_UNKNOWN;
  Ref number(PyObject_GetAttrString(error.get(), "_number"));
  if (number && PyLong_Check(number.get()))
    code = PyLong_AsLong(number.get());
  PyErr_Clear();
  if (PyErr_GivenExceptionMatches(error.get(), PyExc_MemoryError))
    code = PLIM_RESOURCE_EXHAUSTED;

  const std::string mark = causeMark + std::to_string(nextCause);
  Ref key(PyLong_FromLongLong(nextCause++));
  if (!causes)
    causes = PyDict_New();
  if (key && causes) {
    if (PyDict_GET_SIZE(causes) >= mostCauses) {
      Ref keys(PyDict_Keys(causes));
      if (keys)
        PyDict_DelItem(causes, PyList_GET_ITEM(keys.get(), 0));
    }
    PyDict_SetItem(causes, key.get(), error.get());
  }
  PyErr_Clear();
  const char *name = Py_TYPE(error.get())->tp_name;
  Ref message(PyUnicode_FromFormat("%s%s: %S%s", prefix.c_str(), name, error.get(), mark.c_str()));
  if (!message) { // its __str__ failed
    PyErr_Clear();
    message = Ref(PyUnicode_FromFormat("%s%s%s", prefix.c_str(), name, mark.c_str()));
  }
  // A status has neither NULs nor what is no text.
  Ref bytes(message ? PyUnicode_AsEncodedString(message.get(), "utf-8", "backslashreplace")
                    : nullptr);
  Failure failure{static_cast<plim_code>(code), {}};
  if (bytes)
    failure.message.assign(PyBytes_AS_STRING(bytes.get()),
                           static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
  std::replace(failure.message.begin(), failure.message.end(), '\0', '?');
  PyErr_Clear();
  return failure;
}

PyObject *setErrorFactory(PyObject *, PyObject *make) {
  Py_INCREF(make);
  Py_XSETREF(factory, make);
  Py_RETURN_NONE;
}

} // namespace plim::python
