#include "python/native/Function.h"

#include "python/native/Arrays.h"
#include "python/native/Handle.h"
#include "python/native/Interrupt.h"
#include "python/native/Pools.h"

#include <cstring>
#include <structmember.h>

namespace plim::python {

namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  plim_function *function;
  PyObject *attributes; /// __dict__
  PyObject *weakReferences;
  plim_value_type *types; /// of the arguments, then of the results
  int32_t *donors;        /// of each result: the argument that is donated to it, or -1
  size_t argumentCount, resultCount;
  unsigned generation;

  const plim_value_type &argument(size_t index) const { return types[index]; }
  const plim_value_type &result(size_t index) const { return types[argumentCount + index]; }
  const char *name() const { return plim_function_name(function); }
};

PyTypeObject *functionType = nullptr;

FunctionObject *asFunction(PyObject *object) { return reinterpret_cast<FunctionObject *>(object); }

/// "tensor<?x4xf32>", "memref<?x4xf32, strided<[?, 1]>>": as the source says it, without offsets,
/// which do not matter to callers.
Ref typeText(const plim_value_type &type) {
  const char *element = plim_element_type_name(type.element);
  if (type.kind == PLIM_SCALAR)
    return Ref(PyUnicode_FromString(element));
  Ref text(PyUnicode_FromString(type.kind == PLIM_MEMREF ? "memref<" : "tensor<"));
  for (uint32_t i = 0; text && i < type.rank; ++i)
    text = type.shape[i] == PLIM_DYNAMIC
               ? Ref(PyUnicode_FromFormat("%U?x", text.get()))
               : Ref(PyUnicode_FromFormat("%U%lldx", text.get(),
                                          static_cast<long long>(type.shape[i])));
  if (!text || !type.strides)
    return text ? Ref(PyUnicode_FromFormat("%U%s>", text.get(), element)) : Ref();
  text = Ref(PyUnicode_FromFormat("%U%s, strided<[", text.get(), element));
  for (uint32_t i = 0; text && i < type.rank; ++i) {
    const char *comma = i == 0 ? "" : ", ";
    text = type.strides[i] == PLIM_DYNAMIC_STRIDE
               ? Ref(PyUnicode_FromFormat("%U%s?", text.get(), comma))
               : Ref(PyUnicode_FromFormat("%U%s%lld", text.get(), comma,
                                          static_cast<long long>(type.strides[i])));
  }
  return text ? Ref(PyUnicode_FromFormat("%U]>>", text.get())) : Ref();
}

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

/// One call: what is lent to it, for as long as it takes to make it.
class Frame {
public:
  Frame(FunctionObject *function, Lend how)
      : function(function), how(how), values(function->argumentCount),
        lent(function->argumentCount + function->resultCount), kept(function->argumentCount),
        outputs(function->resultCount), outputObjects(function->resultCount) {}
  ~Frame() {
    for (size_t i = 0; i < lentCount; ++i)
      release(lent[i]);
  }

  bool hasMemory() {
    return values.get() && lent.get() && kept.get() && outputs.get() && outputObjects.get();
  }

  /// As many as the function has.
  bool addArguments(PyObject *const *objects) {
    for (size_t i = 0; i < function->argumentCount; ++i)
      if (!addArgument(i, objects[i]))
        return false;
    return true;
  }
  /// None, an array, or as many of both as there are results.
  bool addOutputs(PyObject *out);
  bool addHandles(PyObject *state, PyObject *pools, PyObject *stop);

  plim_stop *stop() const { return stopHandle; }
  void setStop(plim_stop *stop) {
    callOptions.stop = stopHandle = stop;
    callOptions.struct_size = sizeof callOptions;
    hasOptions |= stop != nullptr;
  }

  const plim_value *arguments() { return values.get(); }
  /// Null if nothing is lent besides.
  const plim_call_options *options() { return hasOptions ? &callOptions : nullptr; }

  /// The result as an object; takes over `value`. `argument` is what the caller gave for the donor,
  /// if any.
  PyObject *take(size_t index, plim_value &value, PyObject *argument);

private:
  bool addArgument(size_t index, PyObject *object);
  plim_buffer *add(plim_buffer *buffer) { return lent[lentCount++] = buffer; }
  bool addArray(size_t index, Ref object);

  FunctionObject *function;
  Lend how;
  SmallArray<plim_value, 8> values;
  SmallArray<plim_buffer *, 12> lent;
  size_t lentCount = 0;
  SmallArray<Ref, 8> kept; /// arrays that are not the caller's
  SmallArray<plim_buffer *, 4> outputs;
  SmallArray<Ref, 4> outputObjects; /// a list that they came in may change meanwhile
  Ref state, pools, stopOwner;
  plim_stop *stopHandle = nullptr;
  plim_call_options callOptions{};
  bool hasOptions = false;
};

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

/// One result is itself, several are a tuple, none is None. Takes over `results`.
template <typename Take>
PyObject *collect(FunctionObject *function, plim_value *results, Take take) {
  size_t count = function->resultCount;
  if (count == 0)
    Py_RETURN_NONE;
  if (count == 1)
    return take(0, results[0]);
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    PyObject *object = tuple ? take(i, results[i]) : nullptr;
    if (!object) {
      for (size_t j = tuple ? i + 1 : i; j < count; ++j)
        plim_value_release(&results[j]);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), object);
  }
  return tuple.take();
}

/// May it be called here, with so many arguments?
bool checkCall(const FunctionObject *function, size_t given) {
  if (!checkGeneration(function->generation))
    return false;
  if (given == function->argumentCount) [[likely]]
    return true;
  return fail(PLIM_INVALID_ARGUMENT, "'%s' has %zu arguments, got %zu", function->name(),
              function->argumentCount, given);
}

enum Keyword { Out, State, Pools, Stop, Timeout, KeywordCount };
constexpr const char *keywordNames[] = {"out", "state", "pools", "stop", "timeout"};
PyObject *keywords[KeywordCount]; /// interned

/// False where one is none of the options.
bool readKeywords(PyObject *names, PyObject *const *values, PyObject **given) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject *name = PyTuple_GET_ITEM(names, i);
    int found = 0;
    while (found < KeywordCount && name != keywords[found])
      ++found;
    for (int j = 0; found == KeywordCount && j < KeywordCount; ++j)
      if (PyUnicode_Compare(name, keywords[j]) == 0)
        found = j;
    if (found == KeywordCount)
      return false;
    given[found] = values[i];
  }
  return true;
}

/// A call with arguments by name, which Python puts in their order.
PyObject *callByName(PyObject *callable, PyObject *const *arguments, size_t count,
                     PyObject *names) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count))), named(PyDict_New());
  for (size_t i = 0; tuple && i < count; ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Py_NewRef(arguments[i]));
  for (Py_ssize_t i = 0; named && i < PyTuple_GET_SIZE(names); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(names, i), arguments[count + size_t(i)]) != 0)
      return nullptr;
  return tuple && named ? PyObject_CallMethod(callable, "_by_name", "OO", tuple.get(), named.get())
                        : nullptr;
}

/// A call with a time-out, which Python makes.
PyObject *callWithin(PyObject *callable, PyObject *const *arguments, size_t count,
                     PyObject *const *given) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; tuple && i < count; ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Py_NewRef(arguments[i]));
  auto option = [&](Keyword keyword) { return given[keyword] ? given[keyword] : Py_None; };
  return tuple ? PyObject_CallMethod(callable, "_within", "OOOOOO", tuple.get(), option(Out),
                                     option(State), option(Pools), option(Stop), option(Timeout))
               : nullptr;
}

PyObject *callFunction(PyObject *callable, PyObject *const *arguments, size_t flags,
                       PyObject *names) {
  FunctionObject *self = asFunction(callable);
  size_t count = static_cast<size_t>(PyVectorcall_NARGS(flags));
  PyObject *given[KeywordCount] = {};
  if (names && !readKeywords(names, arguments + count, given)) [[unlikely]]
    return callByName(callable, arguments, count, names);
  if (!checkCall(self, count))
    return nullptr;
  if (given[Timeout] && given[Timeout] != Py_None) [[unlikely]]
    return callWithin(callable, arguments, count, given);
  Frame frame(self, Lend::ForCall);
  SmallArray<plim_value, 4> results(self->resultCount);
  if (!frame.hasMemory() || !results.get())
    return PyErr_NoMemory();
  if (!frame.addArguments(arguments))
    return nullptr;
  if (names &&
      (!frame.addOutputs(given[Out]) || !frame.addHandles(given[State], given[Pools], given[Stop])))
    return nullptr;
  Interruptible call(frame.stop());
  frame.setStop(call.stop());
  plim_status *status;
  {
    WithoutGil others;
    status = plim_function_call(self->function, frame.arguments(), count, results.get(),
                                self->resultCount, frame.options());
  }
  if (call.raise(status) || failed(status))
    return nullptr;
  return collect(self, results.get(), [&](size_t i, plim_value &value) {
    int32_t donor = self->donors[i];
    bool isOwn = donor >= 0 && PyArray_Check(arguments[donor]);
    return frame.take(i, value, isOwn ? arguments[donor] : nullptr);
  });
}

/// start(arguments, out, state, pools, stop, priority, after): an event.
PyObject *start(PyObject *callable, PyObject *given) {
  FunctionObject *self = asFunction(callable);
  PyObject *arguments, *out, *state, *pools, *stop, *after;
  int priority = 0;
  if (!PyArg_ParseTuple(given, "O!OOOOiO!", &PyTuple_Type, &arguments, &out, &state, &pools, &stop,
                        &priority, &PyTuple_Type, &after))
    return nullptr;
  size_t count = static_cast<size_t>(PyTuple_GET_SIZE(arguments));
  size_t afterCount = static_cast<size_t>(PyTuple_GET_SIZE(after));
  if (!checkCall(self, count))
    return nullptr;
  Frame frame(self, Lend::KeepingArray);
  SmallArray<plim_event *, 4> before(afterCount);
  if (!frame.hasMemory() || !before.get())
    return PyErr_NoMemory();
  if (!frame.addArguments(PySequence_Fast_ITEMS(arguments)) || !frame.addOutputs(out) ||
      !frame.addHandles(state, pools, stop))
    return nullptr;
  for (size_t i = 0; i < afterCount; ++i)
    if (!unwrapHandle(PyTuple_GET_ITEM(after, i), &before[i]))
      return nullptr;
  plim_async_options options{};
  options.struct_size = sizeof options;
  options.priority = priority;
  options.call = frame.options();
  options.after = before.get();
  options.after_count = afterCount;
  plim_event *event = nullptr;
  plim_status *status;
  {
    WithoutGil others; // an engine without threads runs the call now
    status = plim_function_call_async(self->function, frame.arguments(), count, &options, &event);
  }
  return failed(status) ? nullptr : wrapHandle(event);
}

/// workspace(*arguments): (bytes, alignment).
PyObject *workspace(PyObject *callable, PyObject *arguments) {
  FunctionObject *self = asFunction(callable);
  size_t count = static_cast<size_t>(PyTuple_GET_SIZE(arguments));
  if (!checkCall(self, count ? count : self->argumentCount))
    return nullptr;
  Frame frame(self, Lend::ForCall);
  if (!frame.hasMemory())
    return PyErr_NoMemory();
  if (count && !frame.addArguments(PySequence_Fast_ITEMS(arguments)))
    return nullptr;
  plim_workspace need{};
  need.struct_size = sizeof need;
  if (failed(plim_function_workspace(self->function, count ? frame.arguments() : nullptr, count,
                                     &need)))
    return nullptr;
  return Py_BuildValue("nn", static_cast<Py_ssize_t>(need.bytes),
                       static_cast<Py_ssize_t>(need.alignment));
}

/// specialize(*arguments)
PyObject *specialize(PyObject *callable, PyObject *arguments) {
  FunctionObject *self = asFunction(callable);
  size_t count = static_cast<size_t>(PyTuple_GET_SIZE(arguments));
  if (!checkCall(self, count))
    return nullptr;
  Frame frame(self, Lend::ForCall);
  if (!frame.hasMemory())
    return PyErr_NoMemory();
  if (!frame.addArguments(PySequence_Fast_ITEMS(arguments)))
    return nullptr;
  plim_status *status;
  {
    WithoutGil others;
    status = plim_function_specialize(self->function, frame.arguments(), count);
  }
  if (failed(status))
    return nullptr;
  Py_RETURN_NONE;
}

Ref describe(const plim_value_type &type) {
  auto numbers = [&](const int64_t *values, int64_t dynamic) {
    Ref tuple(PyTuple_New(type.rank));
    for (uint32_t i = 0; tuple && i < type.rank; ++i)
      PyTuple_SET_ITEM(tuple.get(), i,
                       values[i] == dynamic ? Py_NewRef(Py_None) : PyLong_FromLongLong(values[i]));
    return tuple;
  };
  constexpr const char *kinds[] = {"", "scalar", "", "tensor", "memref"};
  constexpr const char *accesses[] = {"readonly", "writeonly", "readwrite"};
  Ref shape = numbers(type.shape, PLIM_DYNAMIC), text = typeText(type);
  Ref strides = type.strides ? numbers(type.strides, PLIM_DYNAMIC_STRIDE) : Ref::borrowed(Py_None);
  Ref donated =
      type.donated_to < 0 ? Ref::borrowed(Py_None) : Ref(PyLong_FromLong(type.donated_to));
  Ref bounds = Ref::borrowed(Py_None);
  if (type.bounds) {
    bounds = Ref(PyTuple_New(type.rank));
    for (uint32_t i = 0; bounds && i < type.rank; ++i)
      PyTuple_SET_ITEM(
          bounds.get(), i,
          type.bounds[i].max == INT64_MAX
              ? Py_BuildValue("LO", static_cast<long long>(type.bounds[i].min), Py_None)
              : Py_BuildValue("LL", static_cast<long long>(type.bounds[i].min),
                              static_cast<long long>(type.bounds[i].max)));
  }
  Ref name = type.name ? decodeName(type.name) : Ref::borrowed(Py_None);
  if (!shape || !text || !strides || !donated || !bounds || !name)
    return {};
  return Ref(Py_BuildValue("ssOOsOOOO", kinds[type.kind], plim_element_type_name(type.element),
                           shape.get(), strides.get(), accesses[type.access], donated.get(),
                           text.get(), name.get(), bounds.get()));
}

/// types(): those of the arguments, those of the results.
PyObject *types(PyObject *callable, PyObject *) {
  FunctionObject *self = asFunction(callable);
  auto list = [&](const plim_value_type *first, size_t count) {
    Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; tuple && i < count; ++i) {
      Ref one = describe(first[i]);
      if (!one)
        return Ref();
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), one.take());
    }
    return tuple;
  };
  Ref arguments = list(self->types, self->argumentCount);
  Ref results = list(self->types + self->argumentCount, self->resultCount);
  return arguments && results ? PyTuple_Pack(2, arguments.get(), results.get()) : nullptr;
}

PyObject *getName(PyObject *self, void *) { return decodeName(asFunction(self)->name()).take(); }
PyObject *getStack(PyObject *self, void *) {
  return PyLong_FromSize_t(plim_function_stack_bytes(asFunction(self)->function));
}

int traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(asFunction(self)->attributes);
  return 0;
}

int clear(PyObject *self) {
  Py_CLEAR(asFunction(self)->attributes);
  return 0;
}

void freeFunction(PyObject *object) {
  FunctionObject *self = asFunction(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->weakReferences)
    PyObject_ClearWeakRefs(object);
  clear(object);
  if (self->function && self->generation == forkGeneration()) {
    WithoutGil others; // it may be the last owner of an engine
    plim_function_release(self->function);
  }
  delete[] self->types;
  delete[] self->donors;
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"_specialize", specialize, METH_VARARGS, nullptr},
                         {"_start", start, METH_VARARGS, nullptr},
                         {"_types", types, METH_NOARGS, nullptr},
                         {"_workspace", workspace, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getters[] = {
    {"__name__", getName, nullptr, "The name in the source.", nullptr},
    {"stack_bytes", getStack, nullptr,
     "Stack that a call needs on the thread that runs it: a proven bound.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakReferences), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(freeFunction)},
                       {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                       {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void *>(clear)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, getters},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"plimsoll.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

/// Reads the types of arguments and results. False with an exception.
bool readTypes(FunctionObject *self) {
  self->argumentCount = plim_function_argument_count(self->function);
  self->resultCount = plim_function_result_count(self->function);
  self->types = new (std::nothrow) plim_value_type[self->argumentCount + self->resultCount]();
  self->donors = new (std::nothrow) int32_t[self->resultCount];
  if (!self->types || !self->donors)
    return PyErr_NoMemory();
  for (size_t i = 0; i < self->resultCount; ++i)
    self->donors[i] = -1;
  for (size_t i = 0; i < self->argumentCount + self->resultCount; ++i) {
    plim_value_type &type = self->types[i];
    type.struct_size = sizeof type;
    plim_status *status =
        i < self->argumentCount
            ? plim_function_argument_type(self->function, i, &type)
            : plim_function_result_type(self->function, i - self->argumentCount, &type);
    if (failed(status))
      return false;
    if (i < self->argumentCount && type.donated_to >= 0)
      self->donors[type.donated_to] = static_cast<int32_t>(i);
  }
  return true;
}

} // namespace

bool addFunctionType(PyObject *module) {
  functionType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  for (int i = 0; i < KeywordCount; ++i)
    keywords[i] = PyUnicode_InternFromString(keywordNames[i]);
  return functionType && PyModule_AddType(module, functionType) == 0;
}

PyObject *makeFunction(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  Name name;
  plim_module *module;
  plim_function *function = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO&", &capsule, Name::convert, &name) ||
      !unwrapHandle(capsule, &module) ||
      failed(plim_module_function(module, name.get(), &function)))
    return nullptr;
  auto *self = PyObject_GC_New(FunctionObject, functionType);
  if (!self) {
    plim_function_release(function);
    return nullptr;
  }
  self->call = callFunction;
  self->function = function;
  self->attributes = self->weakReferences = nullptr;
  self->types = nullptr;
  self->donors = nullptr;
  self->generation = forkGeneration();
  auto *object = reinterpret_cast<PyObject *>(self);
  PyObject_GC_Track(object);
  if (!readTypes(self)) {
    Py_DECREF(object);
    return nullptr;
  }
  return object;
}

PyObject *eventResults(PyObject *, PyObject *arguments) {
  PyObject *object, *capsule, *out;
  plim_event *event;
  if (!PyArg_ParseTuple(arguments, "O!OO", functionType, &object, &capsule, &out) ||
      !unwrapHandle(capsule, &event))
    return nullptr;
  FunctionObject *self = asFunction(object);
  SmallArray<plim_value, 4> results(self->resultCount);
  if (!results.get())
    return PyErr_NoMemory();
  if (failed(plim_event_results(event, results.get(), self->resultCount)))
    return nullptr;
  bool isTuple = PyTuple_Check(out); // as long as there are results: the call has begun with it
  return collect(self, results.get(), [&](size_t i, plim_value &value) -> PyObject * {
    PyObject *given = isTuple ? PyTuple_GET_ITEM(out, i) : out;
    if (value.kind == PLIM_SCALAR)
      return fromBits(value.element, value.as.bits);
    if (given == Py_None)
      return toArray(value.as.buffer);
    plim_value_release(&value);
    return Py_NewRef(given);
  });
}

} // namespace plim::python
