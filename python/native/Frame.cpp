#include "python/native/Frame.h"

#include "python/native/Handle.h"
#include "python/native/Pools.h"
#include "python/native/ValueTypes.h"

#include <cstring>

namespace plim::python {

namespace {

/// Which argument or result an error speaks of.
struct Place {
  const FunctionObject *function;
  const char *what; /// "argument", or "the array for result"
  size_t index;
  const plim_value_type &type;

  /// As fail(), with the place in front. Takes over `what is wrong`, which may be missing with an
  /// exception.
  PyObject *fail(Ref wrong) const {
    Ref text = typeText(type);
    Ref name(type.name ? PyUnicode_FromFormat(" (%%%s)", type.name) : PyUnicode_FromString(""));
    return wrong && text && name
               ? python::fail(PLIM_INVALID_ARGUMENT, "%s #%zu%U of '%s', %U: %U", what, index,
                              name.get(), function->name(), text.get(), wrong.get())
               : nullptr;
  }
  /// False, with an exception, for an array whose elements are not of the type. `hint` ends the
  /// message.
  bool checkElements(PyArrayObject *array, const char *hint) const {
    if (hasElements(array, type.element)) [[likely]]
      return true;
    Ref text = describeElements(array);
    return text && fail(Ref(PyUnicode_FromFormat("an array of %U%s", text.get(), hint)));
  }
  bool checkUnmasked(PyObject *object) const {
    return !isMasked(object) || fail(Ref(PyUnicode_FromString(maskedText)));
  }
  /// What asArray() did not take.
  PyObject *failToConvert(PyObject *object) const {
    if (PyErr_Occurred())
      return nullptr;
    const char *hint = PyList_Check(object) || PyTuple_Check(object)
                           ? "; numpy.array() with a dtype makes one"
                           : "";
    return fail(
        Ref(PyUnicode_FromFormat("an array is needed, not %s%s", Py_TYPE(object)->tp_name, hint)));
  }
  /// The exception that is set, with the place in front.
  PyObject *failAgain() const {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    Ref ownedKind(kind), ownedValue(value), ownedTrace(trace);
    return fail(Ref(value ? PyObject_Str(value) : PyUnicode_FromString("refused")));
  }
};

/// The handle that an object of plimsoll's holds, which `owner` keeps. Null for None.
template <typename T> bool readHandle(const char *keyword, PyObject *object, Ref &owner, T *&out) {
  if (!object || object == Py_None)
    return true;
  owner = Ref(PyObject_GetAttrString(object, "_handle"));
  if (!owner || !PyCapsule_IsValid(owner.get(), HandleTraits<T>::name)) {
    PyErr_Clear();
    return fail(PLIM_INVALID_ARGUMENT, "%s= does not take %s", keyword, Py_TYPE(object)->tp_name);
  }
  return unwrapHandle(owner.get(), &out);
}

} // namespace

bool Frame::addArgument(size_t index, PyObject *object) {
  const plim_value_type &type = function->argument(index);
  Place place{function, "argument", index, type};
  if (!place.checkUnmasked(object))
    return false;
  if (type.kind == PLIM_SCALAR) {
    if (PyArray_Check(object) && PyArray_NDIM(reinterpret_cast<PyArrayObject *>(object)) != 0)
      return place.fail(Ref(PyUnicode_FromString("a number is needed, not an array")));
    uint64_t bits = 0;
    if (!toBits(object, type.element, &bits))
      return place.failAgain();
    values[index] = plim_value_bits(type.element, bits);
    return true;
  }
  if (PyArray_Check(object)) [[likely]]
    return addArray(index, Ref::borrowed(object));
  if (type.rank == 0 && isNumber(object)) {
    Ref array = makeNumberArray(type.element, object);
    if (!array)
      return place.failAgain();
    return addArray(index, std::move(array));
  }
  Ref converted = asArray(object);
  if (!converted)
    return place.failToConvert(object);
  return addArray(index, std::move(converted));
}

bool Frame::addArray(size_t index, Ref object) {
  const plim_value_type &type = function->argument(index);
  Place place{function, "argument", index, type};
  // A value may be copied; memory that the function writes, or takes over, may not.
  bool mayCopy = type.access == PLIM_READ_ONLY && type.donated_to < 0;
  if (Py_TYPE(object.get()) == bufferType) {
    plim_buffer *buffer = reinterpret_cast<BufferObject *>(object.get())->buffer;
    if (type.strides || plim_buffer_is_dense(buffer) || !mayCopy) {
      plim_buffer_retain(buffer);
      values[index] = plim_value_buffer(add(buffer));
      return true;
    }
    if (plim_buffer_element_type(buffer) != type.element)
      return place.fail(Ref(PyUnicode_FromFormat(
          "a buffer of %s", plim_element_type_name(plim_buffer_element_type(buffer)))));
    object = Ref(viewAsArray(object.get()));
    if (!object)
      return false;
  }
  auto *array = reinterpret_cast<PyArrayObject *>(object.get());
  bool isFloat8 = type.element == PLIM_F8E4M3FN || type.element == PLIM_F8E5M2;
  const char *hint = type.element == PLIM_BF16
                         ? " does not fit; bf16 is uint16 in NumPy, see plimsoll.to_bf16()"
                     : isFloat8 ? " does not fit; floats of 8 bits are uint8 in NumPy, see "
                                  "plimsoll.to_f8()"
                                : " does not fit; astype() converts";
  if (!place.checkElements(array, hint))
    return false;
  bool isFit = PyArray_ISALIGNED(array) &&
               (PyArray_IS_C_CONTIGUOUS(array) || (type.strides && stridesInElements(array)));
  if (!isFit) [[unlikely]] {
    if (!mayCopy)
      return place.fail(Ref(PyUnicode_FromString(
          type.strides ? "the function writes this array, whose elements are not aligned"
                       : "the function writes this array, which is not dense and row-major; "
                         "numpy.ascontiguousarray() makes a copy that is")));
    object = Ref(PyArray_NewCopy(array, NPY_CORDER));
    if (!object)
      return false;
    array = reinterpret_cast<PyArrayObject *>(object.get());
  }
  // The memory of a donated argument lives on in the result.
  plim_buffer *buffer = lend(array, type.element, type.donated_to < 0 ? how : Lend::KeepingArray);
  if (!buffer)
    return place.failAgain();
  values[index] = plim_value_buffer(add(buffer));
  kept[index] = std::move(object);
  return true;
}

bool Frame::addOutputs(PyObject *out) {
  if (!out || out == Py_None)
    return true;
  size_t count = function->resultCount;
  bool isSequence = PyTuple_Check(out) || PyList_Check(out);
  size_t given = isSequence ? static_cast<size_t>(PySequence_Fast_GET_SIZE(out)) : 1;
  if (given != count)
    return fail(PLIM_INVALID_ARGUMENT, "'%s' has %zu results, got %zu arrays for them",
                function->name(), count, given);
  for (size_t i = 0; i < count; ++i) {
    PyObject *object = isSequence ? PySequence_Fast_GET_ITEM(out, i) : out;
    if (object == Py_None)
      continue;
    const plim_value_type &type = function->result(i);
    Place place{function, "the array for result", i, type};
    if (type.kind == PLIM_SCALAR)
      return place.fail(Ref(PyUnicode_FromString("a scalar has no memory; give None")));
    if (!place.checkUnmasked(object))
      return false;
    Ref converted = PyArray_Check(object) ? Ref::borrowed(object) : asArray(object);
    if (!converted)
      return place.failToConvert(object);
    if (Py_TYPE(converted.get()) == bufferType) {
      outputs[i] = reinterpret_cast<BufferObject *>(converted.get())->buffer;
      plim_buffer_retain(outputs[i]);
    } else {
      auto *array = reinterpret_cast<PyArrayObject *>(converted.get());
      if (!place.checkElements(array, ""))
        return false;
      // What was converted is gone before the call is.
      outputs[i] = lend(array, type.element, converted.get() == object ? how : Lend::KeepingArray);
      if (!outputs[i])
        return place.failAgain();
    }
    add(outputs[i]);
    outputObjects[i] = Ref::borrowed(object);
  }
  callOptions.outputs = outputs.get();
  callOptions.output_count = count;
  callOptions.struct_size = sizeof callOptions;
  hasOptions = true;
  return true;
}

bool Frame::addHandles(PyObject *givenState, PyObject *givenPools, PyObject *givenStop) {
  PoolSet *poolSet = nullptr;
  if (!readHandle("state", givenState, state, callOptions.state) ||
      !readHandle("pools", givenPools, pools, poolSet) ||
      !readHandle("stop", givenStop, stopOwner, stopHandle))
    return false;
  if (poolSet) {
    callOptions.pools = poolSet->data();
    callOptions.pool_count = poolSet->size();
  }
  callOptions.struct_size = sizeof callOptions;
  hasOptions |= callOptions.state || poolSet;
  setStop(stopHandle);
  return true;
}

PyObject *Frame::take(size_t index, plim_value &value, PyObject *argument) {
  if (value.kind == PLIM_SCALAR)
    return fromBits(value.element, value.as.bits);
  // An array that was given for the result, or whose memory became it.
  PyObject *given = outputObjects[index] ? outputObjects[index].get() : argument;
  if (!given)
    return toArray(value.as.buffer);
  plim_value_release(&value);
  Py_INCREF(given);
  return given;
}

} // namespace plim::python
