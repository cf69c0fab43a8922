#include "python/native/Function.h"

#include "python/native/Arrays.h"
#include "python/native/Frame.h"
#include "python/native/Handle.h"
#include "python/native/Interrupt.h"
#include "python/native/ValueTypes.h"

#include <structmember.h>

namespace plim::python {

namespace {

PyTypeObject *functionType = nullptr;

FunctionObject *asFunction(PyObject *object) { return reinterpret_cast<FunctionObject *>(object); }

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
  plim_status *status;
  {
    WithoutGil others; // it may have to be compiled
    status =
        plim_function_workspace(self->function, count ? frame.arguments() : nullptr, count, &need);
  }
  if (failed(status))
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
