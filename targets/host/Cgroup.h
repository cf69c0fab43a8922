// The share of the machine that the control groups of this process allow.
//
// Knows the files of cgroup v1 and v2; must not know what the numbers are used for. Stateless.
#pragma once

#include <cstdint>
#include <filesystem>

namespace plim::targets::host {

struct CgroupLimits {
  double cpus = 0;         // processor time per unit of time; 0: no limit
  int64_t memoryBytes = 0; // 0: no limit
};

/// The tightest limits from this process's group up to the root. `root` is "/" but in tests: the
/// folder that holds proc/self/cgroup and sys/fs/cgroup. Files that are absent or do not parse are
/// no limit.
CgroupLimits readCgroupLimits(const std::filesystem::path &root);

} // namespace plim::targets::host
