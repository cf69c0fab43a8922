// Cores, caches and NUMA nodes that this process may use, as hwloc sees them.
//
// The only file that knows hwloc. Stateless; a call takes milliseconds.
#pragma once

#include "targets/TargetDescription.h"

namespace plim::targets::host {

struct NumaNode {
  int64_t index = 0; // the operating system's number
  int64_t bytes = 0;
};

struct Topology {
  std::string model;               // what the vendor calls the processor, for people; may be empty
  int64_t cores = 1;               // physical cores in the affinity masks of the process
  int64_t threads = 1;             // logical processors in them
  std::vector<NumaNode> numaNodes; // at least one
  /// Where cores differ, the smallest cache of a level: code must fit wherever it runs.
  std::vector<CacheDescription> caches;
  /// One logical processor of each kind of core; empty where all are of one kind.
  std::vector<int> oneCpuOfEachKind;
};

/// Unavailable if hwloc cannot read the machine.
StatusOr<Topology> readTopology();

} // namespace plim::targets::host
