// Frame: what one call of a function has of Python's objects: arrays lent as buffers, scalars as bits, the options.
//
// Needs the GIL but while the call itself runs.
#pragma once

#include "python/native/Arrays.h"
#include "python/native/Python.h"

#include <cstddef>
#include <cstdint>

namespace plim::python {

/// plimsoll.Function.
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

} // namespace plim::python
