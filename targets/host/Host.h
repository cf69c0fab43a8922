// The machine this process runs on, as a TargetDescription.
//
// Puts together what Cpu.h, Topology.h, Cgroup.h and Stacks.h read. Must not know accelerators nor
// tags. Reads the machine anew at each call (milliseconds: hwloc), keeps no state of its own. Any
// thread may call it, and the answer holds that thread's stack.
#pragma once

#include "targets/TargetDescription.h"

namespace plim::targets {

/// One device "host" with "dram", or with "dram0", "dram1", ... on a machine of several NUMA nodes.
///
/// The instruction set is the plain baseline plus every feature by name, so nothing follows from
/// the model name that a hypervisor shows; the result is what *all* the cores can do that this
/// process may use. Unavailable if the topology cannot be read.
StatusOr<TargetDescription> queryHost();

/// Asks the kernel for this process's permission to use tile registers (AMX), without which their
/// instructions trap. It is for good, and costs: signal frames of threads that use them grow by 8 KiB,
/// and smaller alternate signal stacks are refused from then on. False where some thread has such a
/// stack already, and on processors and kernels without tiles. Any thread; asking again is cheap.
bool requestTiles();

} // namespace plim::targets
