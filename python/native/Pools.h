// Pools: memories by name, as Python keeps them for loads and calls.
#pragma once

#include "python/native/Handle.h"

#include <map>
#include <string>
#include <vector>

namespace plim::python {

/// Behind a capsule. The memories are kept by the object that the capsule is of.
class PoolSet {
public:
  /// Takes the place of what the name had. Throws without memory.
  void set(const char *name, void *memory, size_t bytes);
  const plim_pool *data() const { return entries.data(); }
  size_t size() const { return entries.size(); }

private:
  std::map<std::string, std::pair<void *, size_t>> byName;
  std::vector<plim_pool> entries; /// whose names are those of the map
};

template <> struct HandleTraits<PoolSet> {
  static constexpr const char *name = "plim_pools";
  static constexpr bool needsThreads = false;
  static void release(PoolSet *set) { delete set; }
};

/// pools_create()
PyObject *createPools(PyObject *, PyObject *);
/// pools_set(pools, name, memory): dense and writable; the caller keeps it.
PyObject *setPool(PyObject *, PyObject *arguments);

} // namespace plim::python
