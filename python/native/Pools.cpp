#include "python/native/Pools.h"

namespace plim::python {

void PoolSet::set(const char *name, void *memory, size_t bytes) {
  byName[name] = {memory, bytes};
  entries.clear();
  for (const auto &[each, place] : byName)
    entries.push_back({each.c_str(), place.first, place.second});
}

PyObject *createPools(PyObject *, PyObject *) {
  auto *set = new (std::nothrow) PoolSet;
  return set ? wrapHandle(set) : PyErr_NoMemory();
}

PyObject *setPool(PyObject *, PyObject *arguments) {
  PyObject *capsule;
  Name name;
  Py_buffer view{};
  if (!PyArg_ParseTuple(arguments, "OO&w*", &capsule, Name::convert, &name, &view))
    return nullptr;
  void *const memory = view.buf;
  const auto bytes = static_cast<size_t>(view.len);
  PyBuffer_Release(&view); // the caller keeps it
  PoolSet *set;
  if (!unwrapHandle(capsule, &set))
    return nullptr;
  if (reinterpret_cast<uintptr_t>(memory) % PLIM_MEMORY_ALIGNMENT != 0)
    return fail(PLIM_INVALID_ARGUMENT, "the memory of pool '%s' is not aligned to %d bytes",
                name.get(), PLIM_MEMORY_ALIGNMENT);
  try {
    set->set(name.get(), memory, bytes);
  } catch (const std::bad_alloc &) {
    return PyErr_NoMemory();
  }
  Py_RETURN_NONE;
}

} // namespace plim::python
