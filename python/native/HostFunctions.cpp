#include "python/native/HostFunctions.h"

#include "python/native/Arrays.h"
#include "python/native/Handle.h"

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

namespace plim::python {

namespace {

struct Parameter {
  plim_element_type element;
  int rank; /// -1: a scalar
  bool isRead, isWritten;
};

struct HostFunction {
  std::string what; /// "host function 'f'", as messages begin
  PyObject *callable;
  std::vector<Parameter> arguments, results;
};

/// The memory of a value as an array, for as long as the host function runs.
Ref viewOf(const Parameter &parameter, const plim_host_value &value) {
  plim_buffer_memory memory{};
  memory.struct_size = sizeof memory;
  memory.element = parameter.element;
  memory.rank = static_cast<uint32_t>(parameter.rank);
  memory.shape = value.shape;
  memory.strides = value.strides;
  memory.data = value.data;
  memory.bytes = memory.bytes_before = SIZE_MAX / 4; // the module has seen to that
  plim_buffer *buffer = nullptr;
  return failed(plim_buffer_wrap(&memory, &buffer)) ? Ref() : Ref(toArray(buffer));
}

PyArrayObject *asArrayObject(const Ref &ref) {
  return reinterpret_cast<PyArrayObject *>(ref.get());
}

uint64_t readBits(plim_element_type element, const void *data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, plim_element_type_bytes(element));
  return bits;
}

/// What was returned as the result at `index`, converted. False with an exception.
bool giveResult(plim_host_call *call, const Parameter &parameter, size_t index,
                const plim_host_value &value, PyObject *object) {
  if (parameter.rank < 0) {
    uint64_t bits = 0;
    if (!toBits(object, parameter.element, &bits))
      return false;
    std::memcpy(value.data, &bits, plim_element_type_bytes(parameter.element));
    return true;
  }
  if (isMasked(object)) {
    PyErr_Format(PyExc_TypeError, "returned what it must not: %s", maskedText);
    return false;
  }
  Ref array(PyArray_FromAny(object, nullptr, 0, 0, 0, nullptr));
  if (!array)
    return false;
  PyArrayObject *from = asArrayObject(array);
  bool isOpen = std::any_of(value.shape, value.shape + parameter.rank,
                            [](int64_t extent) { return extent == PLIM_DYNAMIC; });
  if (isOpen) {
    if (PyArray_NDIM(from) != parameter.rank) {
      PyErr_Format(PyExc_ValueError, "returned an array of %d dimensions, but the result has %d",
                   PyArray_NDIM(from), parameter.rank);
      return false;
    }
    auto *shape = reinterpret_cast<const int64_t *>(PyArray_DIMS(from));
    if (!plim_host_call_make_result(call, index, shape)) { // which says why
      PyErr_SetString(PyExc_ValueError, "returned an array that the result cannot be");
      return false;
    }
  }
  Ref memory = viewOf(parameter, value);
  if (!memory)
    return false;
  PyArrayObject *to = asArrayObject(memory);
  if (PyArray_NDIM(from) != PyArray_NDIM(to) ||
      !PyArray_CompareLists(PyArray_DIMS(from), PyArray_DIMS(to), PyArray_NDIM(to))) {
    Ref have(PyObject_GetAttrString(array.get(), "shape"));
    Ref want(PyObject_GetAttrString(memory.get(), "shape"));
    PyErr_Format(PyExc_ValueError, "returned an array of shape %S, but the result has %S",
                 have.get(), want.get());
    return false;
  }
  if (!PyArray_CanCastArrayTo(from, PyArray_DESCR(to), NPY_SAME_KIND_CASTING)) {
    Ref text = describeElements(from);
    PyErr_Format(PyExc_TypeError, "returned an array of %S, but the result has elements of %s",
                 text.get(), plim_element_type_name(parameter.element));
    return false;
  }
  // An element of a module has no sign: 255 and -1 are both an i8.
  if (PyArray_ISINTEGER(from) && PyArray_ISINTEGER(to) &&
      PyArray_ITEMSIZE(from) > PyArray_ITEMSIZE(to) && PyArray_SIZE(from) != 0) {
    plim_element_type element = parameter.element == PLIM_BF16 ? PLIM_I16
                                : PyArray_ITEMSIZE(to) == 1    ? PLIM_I8
                                                               : parameter.element;
    for (const char *extreme : {"min", "max"}) {
      Ref number(PyObject_CallMethod(array.get(), extreme, nullptr));
      uint64_t bits;
      if (!number || !toBits(number.get(), element, &bits))
        return false;
    }
  }
  return PyArray_CopyInto(to, from) == 0;
}

bool run(plim_host_call *call, const HostFunction &function, const plim_host_value *arguments,
         const plim_host_value *results) {
  size_t count = function.arguments.size();
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  if (!tuple)
    return false;
  for (size_t i = 0; i < count; ++i) {
    const Parameter &parameter = function.arguments[i];
    PyObject *object = nullptr;
    if (parameter.rank < 0) {
      object = fromBits(parameter.element, readBits(parameter.element, arguments[i].data));
    } else if (Ref view = viewOf(parameter, arguments[i])) {
      object = parameter.isRead ? PyArray_NewCopy(asArrayObject(view), NPY_CORDER)
                                : PyArray_NewLikeArray(asArrayObject(view), NPY_CORDER, nullptr, 0);
      if (object && !parameter.isWritten)
        PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject *>(object), NPY_ARRAY_WRITEABLE);
    }
    if (!object)
      return false;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), object);
  }
  Ref returned(PyObject_Call(function.callable, tuple.get(), nullptr));
  if (!returned)
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (function.arguments[i].rank < 0 || !function.arguments[i].isWritten)
      continue;
    Ref view = viewOf(function.arguments[i], arguments[i]);
    auto *copy = reinterpret_cast<PyArrayObject *>(
        PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i)));
    if (!view || PyArray_CopyInto(asArrayObject(view), copy) < 0)
      return false;
  }
  size_t expected = function.results.size();
  if (expected == 1)
    return giveResult(call, function.results[0], 0, results[0], returned.get());
  bool isFit = expected == 0
                   ? returned.get() == Py_None
                   : PyTuple_Check(returned.get()) &&
                         PyTuple_GET_SIZE(returned.get()) == static_cast<Py_ssize_t>(expected);
  if (!isFit) {
    PyErr_Format(PyExc_TypeError, "returned %s, but there are %zu results",
                 Py_TYPE(returned.get())->tp_name, expected);
    return false;
  }
  for (size_t i = 0; i < expected; ++i)
    if (!giveResult(call, function.results[i], i, results[i],
                    PyTuple_GET_ITEM(returned.get(), static_cast<Py_ssize_t>(i))))
      return false;
  return true;
}

plim_code callPython(plim_host_call *call, void *user, const plim_host_value *arguments,
                     const plim_host_value *results) {
  const auto &function = *static_cast<const HostFunction *>(user);
  if (!hasStackForPython())
    return plim_host_call_fail(call, PLIM_RESOURCE_EXHAUSTED,
                               (function.what + ": " + noStackText).c_str());
  GilScope gil;
  if (!gil)
    return plim_host_call_fail(call, PLIM_CANCELLED, (function.what + ": " + endingText).c_str());
  if (run(call, function, arguments, results))
    return PLIM_OK;
  const Failure failure = takeFailure(function.what + ": ");
  return plim_host_call_fail(call, failure.code, failure.message.c_str());
}

void releaseFunction(void *user) {
  GilScope gil;
  if (!gil)
    return;
  auto *function = static_cast<HostFunction *>(user);
  Py_DECREF(function->callable);
  delete function;
}

bool readParameters(PyObject *tuple, std::vector<Parameter> &out) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    const char *element, *access;
    int rank;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, i), "sis", &element, &rank, &access))
      return false;
    Parameter parameter{plim_element_type_from_name(element), rank,
                        std::strchr(access, 'r') != nullptr, std::strchr(access, 'w') != nullptr};
    if (!parameter.element)
      return fail(PLIM_NOT_FOUND, "no element type '%s'", element);
    out.push_back(parameter);
  }
  return true;
}

} // namespace

// Python needs more stack than the library promises to a host function; the threads that run calls
// mostly have it.
static constexpr size_t stackForPython = 128 << 10;

bool hasStackForPython() {
  thread_local char *lowest = nullptr;
  if (!lowest) {
    pthread_attr_t attributes;
    void *start = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
      return true;
    pthread_attr_getstack(&attributes, &start, &bytes);
    pthread_attr_destroy(&attributes);
    lowest = static_cast<char *>(start);
  }
  return static_cast<char *>(__builtin_frame_address(0)) - lowest >
         static_cast<ptrdiff_t>(stackForPython);
}

bool makeHostFunction(std::string what, PyObject *callable, PyObject *arguments, PyObject *results,
                      plim_host_function_options *out) {
  auto function = std::make_unique<HostFunction>(HostFunction{std::move(what), callable, {}, {}});
  if (!readParameters(arguments, function->arguments) ||
      !readParameters(results, function->results))
    return false;
  Py_INCREF(callable);
  out->function = callPython;
  out->release_user = releaseFunction;
  out->user = function.release();
  return true;
}

PyObject *addHostFunction(PyObject *, PyObject *given) {
  PyObject *capsule, *callable, *arguments, *results;
  Name name;
  const char *signature;
  unsigned kind;
  plim_host_functions *functions;
  if (!PyArg_ParseTuple(given, "OO&OIsO!O!", &capsule, Name::convert, &name, &callable, &kind,
                        &signature, &PyTuple_Type, &arguments, &PyTuple_Type, &results) ||
      !unwrapHandle(capsule, &functions))
    return nullptr;
  plim_host_function_options options{};
  options.struct_size = sizeof options;
  options.kind = kind;
  options.signature = signature;
  if (!makeHostFunction("host function '" + std::string(name.get()) + "'", callable, arguments,
                        results, &options))
    return nullptr;
  if (failed(plim_host_functions_add(functions, name.get(), &options))) {
    options.release_user(options.user);
    return nullptr;
  }
  Py_RETURN_NONE;
}

} // namespace plim::python
