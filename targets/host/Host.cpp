#include "targets/host/Host.h"

#include "support/Folder.h"
#include "targets/host/Cgroup.h"
#include "targets/host/Cpu.h"
#include "targets/host/Stacks.h"
#include "targets/host/Topology.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace plim::targets {
namespace {

/// 0 where there is no number that stays the same: equal machines must give equal descriptions.
int64_t readClockMHz() {
  int64_t kiloHertz = 0;
  if (std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") >> kiloHertz)
    return kiloHertz / 1000;
  int64_t megaHertz = 0;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();) {
    if (line.starts_with("cpu MHz"))
      megaHertz = std::llround(
          std::strtod(line.c_str() + std::min(line.find(':') + 1, line.size()), nullptr));
    // With these counters the kernel shows the frequency of the moment.
    if (line.find("aperfmperf") != line.npos)
      return 0;
  }
  return megaHertz;
}

/// The sizes the kernel knows, whether or not pages of them are reserved.
std::vector<int64_t> readHugePageSizes() {
  std::vector<int64_t> sizes;
  std::error_code error;
  for (const std::string &name : namesIn("/sys/kernel/mm/hugepages", error)) { // "hugepages-2048kB"
    size_t digits = name.find_first_of("0123456789");
    int64_t kibibytes = 0;
    if (digits != name.npos &&
        std::from_chars(name.data() + digits, name.data() + name.size(), kibibytes).ec ==
            std::errc())
      sizes.push_back(kibibytes * 1024);
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

int64_t quotaInThreads(double cpus, int64_t threads) {
  // Part of a processor still runs one thread.
  return cpus > 0 ? std::clamp<int64_t>(std::ceil(cpus), 1, threads) : threads;
}

std::vector<MemoryDescription> describeMemories(const host::Topology &topology,
                                                int64_t limitBytes) {
  std::vector<MemoryDescription> memories;
  for (const host::NumaNode &node : topology.numaNodes) {
    MemoryDescription &memory = memories.emplace_back();
    memory.name = topology.numaNodes.size() == 1 ? "dram" : "dram" + std::to_string(node.index);
    memory.bytes = limitBytes > 0 ? std::min(limitBytes, node.bytes) : node.bytes;
    memory.accessibleBy = {"host"};
    memory.canMapReadOnly = true;
    memory.numaNode = node.index;
  }
  return memories;
}

/// Is there more memory than hwloc and LLVM take for what they read, on machines with a few hundred processors? They end
/// the process if they get none.
bool hasMemoryToRead() {
  void *volatile room = std::malloc(4 << 20);
  const bool isThere = room;
  std::free(room);
  return isThere;
}

} // namespace

StatusOr<TargetDescription> queryHost() {
  if (!hasMemoryToRead())
    return resourceExhaustedError("no memory to read what this machine is");
  PLIM_ASSIGN_OR_RETURN(host::Topology topology, host::readTopology());
  host::CgroupLimits limits = host::readCgroupLimits("/");
  host::FeatureMap features = host::readFeatures(topology.oneCpuOfEachKind);
  host::dropUnsupportedState(features);
  host::StackSizes stacks = host::readStackSizes();
  host::StackLimits stackLimits = host::chooseStackLimits(stacks);

  TargetDescription target;
  target.name = "host";
  DeviceDescription &device = target.devices.emplace_back();
  device.name = "host";
  device.kind = DeviceKind::Cpu;
  device.description = topology.model;
  device.triple = host::readTriple();
  device.cpu = host::baselineCpu();
  device.tuneCpu = host::chooseTuneCpu(features);
  for (const auto &[name, enabled] : features)
    device.features.push_back((enabled ? "+" : "-") + name);
  device.vectorBits = host::chooseVectorBits(features);
  device.cores = topology.cores;
  device.hardwareThreads = quotaInThreads(limits.cpus, topology.threads);
  device.numaNodes = std::max<int64_t>(1, topology.numaNodes.size());
  device.clockMHz = readClockMHz();
  device.pageBytes = sysconf(_SC_PAGESIZE);
  device.hugePageBytes = readHugePageSizes();
  device.caches = topology.caches;
  device.mainThreadStackBytes = stacks.mainThread;
  device.workerStackBytes = stacks.worker;
  device.callerStackBytes = stacks.caller;
  device.stackBudgetBytes = stackLimits.budget;
  device.maxStackAllocaBytes = stackLimits.maxAlloca;
  target.memories = describeMemories(topology, limits.memoryBytes);

  if (Status status = verify(target); !status.ok())
    return internalError(std::string(status.message())).withContext("host");
  return target;
}

} // namespace plim::targets
