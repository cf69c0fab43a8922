#include "targets/host/Topology.h"

#include <algorithm>
#include <array>
#include <hwloc.h>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace plim::targets::host {
namespace {

struct Destroy {
  void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s *bitmap) const { hwloc_bitmap_free(bitmap); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, Destroy>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Destroy>;

template <typename Visit>
void forEachObject(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t usable,
                   Visit &&visit) {
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object;
       object = hwloc_get_next_obj_by_type(topology, type, object))
    if (!usable || hwloc_bitmap_intersects(object->cpuset, usable))
      visit(object);
}

int64_t countObjects(hwloc_topology_t topology, hwloc_obj_type_t type,
                     hwloc_const_cpuset_t usable) {
  int64_t count = 0;
  forEachObject(topology, type, usable, [&](hwloc_obj_t) { ++count; });
  return count;
}

/// As the machine was when it was first asked for: hwloc 2 ends the process if it gets no memory while it reads. Any
/// thread. Null if it cannot be read; tried again then. Never destroyed: threads may ask while the process ends.
hwloc_topology_t machineTopology() {
  static std::mutex mutex;
  static hwloc_topology_t topology = nullptr;
  std::lock_guard lock(mutex);
  if (topology)
    return topology;
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return nullptr;
  TopologyHandle read(raw);
  if (hwloc_topology_load(raw) != 0)
    return nullptr;
  return topology = read.release();
}

/// The processors in the affinity mask of any thread of this process; all if that is not told.
Bitmap usableProcessors(hwloc_topology_t topology) {
  Bitmap usable(hwloc_bitmap_alloc());
  hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology);
  if (usable && (hwloc_get_cpubind(topology, usable.get(), HWLOC_CPUBIND_PROCESS) != 0 ||
                 !hwloc_bitmap_intersects(usable.get(), all)))
    hwloc_bitmap_copy(usable.get(), all);
  return usable;
}

std::vector<CacheDescription> readCaches(hwloc_topology_t topology, hwloc_const_cpuset_t usable) {
  constexpr std::array types = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
  std::vector<CacheDescription> caches;
  for (size_t i = 0; i < types.size(); ++i) {
    CacheDescription smallest;
    forEachObject(topology, types[i], usable, [&](hwloc_obj_t object) {
      auto bytes = static_cast<int64_t>(object->attr->cache.size);
      if (bytes <= 0 || (smallest.bytes > 0 && smallest.bytes <= bytes))
        return;
      smallest.level = static_cast<int64_t>(i) + 1;
      smallest.bytes = bytes;
      smallest.lineBytes = object->attr->cache.linesize;
      smallest.sharedBy =
          std::max<int64_t>(1, countObjects(topology, HWLOC_OBJ_CORE, object->cpuset));
    });
    if (smallest.bytes > 0)
      caches.push_back(smallest);
  }
  return caches;
}

std::vector<NumaNode> readNumaNodes(hwloc_topology_t topology) {
  std::vector<NumaNode> nodes;
  // A core may reach the memory of every node, so all of them count.
  forEachObject(topology, HWLOC_OBJ_NUMANODE, nullptr, [&](hwloc_obj_t object) {
    auto bytes = static_cast<int64_t>(object->attr->numanode.local_memory);
    if (bytes > 0)
      nodes.push_back({static_cast<int64_t>(object->os_index), bytes});
  });
  if (nodes.empty())
    nodes.push_back({0, int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)});
  return nodes;
}

std::vector<int> pickOneOfEachKind(hwloc_topology_t topology, hwloc_const_cpuset_t usable) {
  std::vector<int> cpus;
  int kinds = hwloc_cpukinds_get_nr(topology, 0);
  Bitmap ofKind(hwloc_bitmap_alloc());
  if (kinds < 2 || !ofKind)
    return cpus;
  for (int kind = 0; kind < kinds; ++kind) {
    if (hwloc_cpukinds_get_info(topology, kind, ofKind.get(), nullptr, nullptr, nullptr, 0) != 0)
      continue;
    hwloc_bitmap_and(ofKind.get(), ofKind.get(), usable);
    if (int cpu = hwloc_bitmap_first(ofKind.get()); cpu >= 0)
      cpus.push_back(cpu);
  }
  return cpus;
}

std::string readModel(hwloc_topology_t topology) {
  hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
  const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  return model ? model : "";
}

} // namespace

StatusOr<Topology> readTopology() {
  hwloc_topology_t raw = machineTopology();
  if (!raw)
    return unavailableError("hwloc cannot read the topology of this machine");
  Bitmap usable = usableProcessors(raw);
  if (!usable)
    return resourceExhaustedError("no memory for the topology");

  Topology result;
  result.model = readModel(raw);
  result.cores = std::max<int64_t>(1, countObjects(raw, HWLOC_OBJ_CORE, usable.get()));
  result.threads = std::max<int64_t>(1, countObjects(raw, HWLOC_OBJ_PU, usable.get()));
  result.numaNodes = readNumaNodes(raw);
  result.caches = readCaches(raw, usable.get());
  result.oneCpuOfEachKind = pickOneOfEachKind(raw, usable.get());
  return result;
}

} // namespace plim::targets::host
