// Targets for the tests of this folder: one with every field off its default, and random ones.
#pragma once

#include "targets/TargetDescription.h"

#include <random>

namespace plim::targets {

/// Two devices and two memories; every field of the first device differs from its default.
inline TargetDescription sampleTarget() {
  TargetDescription target;
  target.name = "sample";
  DeviceDescription &host = target.devices.emplace_back();
  host.name = "host";
  host.kind = DeviceKind::Npu;
  host.description = "A \"sample\" processor";
  host.triple = "x86_64-unknown-linux-gnu";
  host.cpu = "x86-64";
  host.tuneCpu = "sapphirerapids";
  host.features = {"-amx-tile", "+avx2", "+avx512f"};
  host.vectorBits = 512;
  host.cores = 4;
  host.hardwareThreads = 8;
  host.numaNodes = 2;
  host.clockMHz = 2600;
  host.pageBytes = 4096;
  host.hugePageBytes = {2 << 20, 1 << 30};
  host.caches = {{1, 48 << 10, 64, 1}, {2, 2 << 20, 64, 1}, {3, 105 << 20, 64, 4}};
  host.stackAddressable = false;
  host.mainThreadStackBytes = 8 << 20;
  host.workerStackBytes = 4 << 20;
  host.callerStackBytes = 1 << 20;
  host.maxStackAllocaBytes = 64 << 10;
  host.stackBudgetBytes = 256 << 10;
  host.externalWorkspaceOnly = true;
  host.workspaceAlignment = 128;
  host.scratchBytes = 1234;
  host.subgroupSize = 32;
  host.maxWorkgroupSize = 1024;
  host.unifiedAddressing = true;
  DeviceDescription &gpu = target.devices.emplace_back();
  gpu.name = "cuda0";
  gpu.kind = DeviceKind::Cuda;
  target.memories.push_back({.name = "dram",
                             .kind = MemoryKind::Pinned,
                             .bytes = int64_t{1} << 40,
                             .alignment = 4096,
                             .readGBps = 204.8,
                             .writeGBps = 0.1,
                             .latencyNs = 93.3,
                             .accessibleBy = {"host", "cuda0"},
                             .canMapReadOnly = true,
                             .numaNode = 1});
  target.memories.push_back({.name = "cuda0.global", .kind = MemoryKind::Device});
  return target;
}

/// A target that verifies, with values drawn from `random`.
inline TargetDescription randomTarget(std::mt19937_64 &random) {
  auto below = [&](int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
  };
  TargetDescription target;
  target.name = below(2) ? "" : "random";
  for (int64_t i = 0, count = 1 + below(3); i < count; ++i) {
    DeviceDescription &device = target.devices.emplace_back();
    device.name = "device" + std::to_string(i);
    device.kind = static_cast<DeviceKind>(below(4));
    device.description = below(2) ? "" : "quotes \" and \\ and \xc3\xa9 and\ttabs";
    for (int64_t f = 0, features = below(5); f < features; ++f)
      device.setFeature("f" + std::to_string(below(20)), below(2));
    device.vectorBits = below(INT64_MAX);
    device.cores = 1 + below(INT64_MAX);
    device.pageBytes = below(2) ? 0 : int64_t{1} << below(40);
    for (int64_t level = 1, levels = below(4); level <= levels; ++level)
      device.caches.push_back({level, 1 + below(1 << 30), 64, 1 + below(64)});
    device.stackAddressable = below(2);
    device.stackBudgetBytes = below(1 << 30);
    device.unifiedAddressing = below(2);
  }
  for (int64_t i = 0, count = below(4); i < count; ++i) {
    MemoryDescription &memory = target.memories.emplace_back();
    memory.name = "pool." + std::to_string(i);
    memory.kind = static_cast<MemoryKind>(below(7));
    memory.bytes = below(INT64_MAX);
    memory.alignment = int64_t{1} << below(30);
    memory.readGBps = std::uniform_real_distribution<double>(0, 1e12)(random);
    memory.latencyNs = std::uniform_real_distribution<double>(0, 1e-9)(random);
    for (const DeviceDescription &device : target.devices)
      if (below(2))
        memory.accessibleBy.push_back(device.name);
    memory.numaNode = below(3) - 1;
  }
  return target;
}

} // namespace plim::targets
