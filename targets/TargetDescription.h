// TargetDescription: what the compiler may assume about a machine and its accelerators.
//
// A plain value: built by the probes (targets/host, cuda, vulkan) or from a named tag
// (targets/tags), overridden field by field, carried to the compiler as DLTI attributes
// (targets/dlti) and shown to people as JSON. Two equal descriptions compile the same module to
// the same code.
//
// This header must not know LLVM, MLIR or any probe. Values are not synchronised: share them const.
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plim::targets {

enum class DeviceKind { Cpu, Cuda, Vulkan, Npu };
enum class MemoryKind { Stack, Host, Pinned, Unified, Device, Scratch, Flash };

std::string_view deviceKindName(DeviceKind kind); // "cpu", "cuda", ...
std::string_view memoryKindName(MemoryKind kind); // "stack", "host", ...

/// One level of data cache, as seen by one core. Bytes.
struct CacheDescription {
  int64_t level = 0;
  int64_t bytes = 0;
  int64_t lineBytes = 0;
  /// How many cores share one such cache.
  int64_t sharedBy = 1;
  bool operator==(const CacheDescription &) const = default;
};

/// A memory and who can reach it.
struct MemoryDescription {
  std::string name = {}; // unique in a target: "dram", "sram", "cuda0.global"
  MemoryKind kind = MemoryKind::Host;
  int64_t bytes = 0;      // 0: unknown or unbounded
  int64_t alignment = 64; // bytes; a power of two
  double readGBps = 0;    // 0: unknown, in 10^9 bytes a second
  double writeGBps = 0;
  double latencyNs = 0;
  std::vector<std::string> accessibleBy = {}; // names of devices
  bool canMapReadOnly = false;
  int64_t numaNode = -1;
  bool operator==(const MemoryDescription &) const = default;
};

struct DeviceDescription {
  std::string name; // unique in a target: "host", "cuda0"
  DeviceKind kind = DeviceKind::Cpu;
  std::string description; // for people: what the vendor calls it

  // How code is generated for it.
  std::string triple;
  std::string cpu;                   // minimum ISA baseline: "x86-64"; never the masked model name
  std::string tuneCpu;               // scheduling model chosen from the features
  std::vector<std::string> features; // explicit, sorted by name: "+avx2", "-amx-tile"
  int64_t vectorBits = 0;            // preferred vector width; of SVE, the length of its registers

  // What it has.
  int64_t cores = 1;           // physical cores this process may use (multiprocessors on a GPU)
  int64_t hardwareThreads = 1; // logical processors this process may use, cgroup quota applied
  int64_t numaNodes = 1;
  int64_t clockMHz = 0;
  int64_t pageBytes = 0;
  std::vector<int64_t> hugePageBytes;
  std::vector<CacheDescription> caches; // level 1 first

  // Stack. Bytes. 0 for a device without one.
  bool stackAddressable = true;
  int64_t mainThreadStackBytes = 0;
  int64_t workerStackBytes = 0;    // of the threads that run dispatches
  int64_t callerStackBytes = 0;    // of the thread that built this description
  int64_t maxStackAllocaBytes = 0; // largest single stack allocation
  int64_t stackBudgetBytes = 0;    // whole call tree of a dispatch
  bool externalWorkspaceOnly = false;
  int64_t workspaceAlignment = 64;

  // Accelerators.
  int64_t scratchBytes = 0; // shared memory of one workgroup
  int64_t subgroupSize = 1; // warp
  int64_t maxWorkgroupSize = 1;
  bool unifiedAddressing = false;

  bool operator==(const DeviceDescription &) const = default;
  /// True if "+name" is among the features.
  bool hasFeature(std::string_view feature) const;
  /// Adds "+name" or "-name" to the features, in order, replacing the opposite.
  void setFeature(std::string_view feature, bool enabled);
  /// Bits of the scalable registers (SVE) that vectors of `vectorBits` take: its code is wrong where they have another
  /// length. 0: it has none, or other vectors, for which there is NEON.
  int64_t scalableVectorBits() const;
  /// What a machine needs for that besides `features`, "sve256"; empty for 0.
  std::string scalableVectorFeature() const;
};

struct TargetDescription {
  std::string name;                       // the tag it came from, "host" for this machine
  std::vector<DeviceDescription> devices; // devices[0] runs host code
  std::vector<MemoryDescription> memories;

  bool operator==(const TargetDescription &) const = default;
  const DeviceDescription *findDevice(std::string_view name) const;
  const MemoryDescription *findMemory(std::string_view name) const;
};

/// What code and reports may depend on: the rest, which the runtime alone needs, has the value that a description begins
/// with. The compiler is shown no more, so that this is all of the target that keys of compiled code have to hold.
TargetDescription compiledPart(TargetDescription target);

/// JSON with one key per field, in the order of the structs; pretty-printed with two spaces.
std::string toJson(const TargetDescription &target);

/// The inverse of toJson. A key that is absent keeps its default; features may come in any order.
/// Unknown or repeated keys, wrong types, a missing device, duplicate names, an `accessible_by`
/// that names no device, or an alignment that is no power of two are InvalidArgument with the path
/// of the offending key ("devices[0].caches[1].bytes").
StatusOr<TargetDescription> fromJson(std::string_view json);

/// Sets one field by its JSON path: overrideField(t, "devices.host.stack_budget_bytes=65536"),
/// "memories.dram.bytes=1024", "devices.host.caches[0].bytes=32768". A bare field name
/// ("vector_bits=256") means devices[0]. Values are JSON, or bare words for strings; `features`
/// takes "+a,-b" and edits the list. InvalidArgument for an unknown path or a bad value, or when
/// the result does not verify; `target` is then unchanged.
Status overrideField(TargetDescription &target, std::string_view assignment);

/// Every rule that fromJson enforces, for descriptions built by hand. Names are letters, digits,
/// '_', '-' and '.', and do not begin with "plim."; features are sorted by name.
Status verify(const TargetDescription &target);

} // namespace plim::targets
