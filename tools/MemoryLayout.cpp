#include "tools/MemoryLayout.h"

#include "tools/ExplainSummary.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <set>

namespace plim::tools {

namespace {

using enum targets::MemoryKind;
using targets::MemoryDescription;

/// Those of the dispatches, and the one of the host code.
std::set<std::string> devicesOf(const llvm::json::Object &report,
                                const targets::TargetDescription &target) {
  std::set<std::string> devices = {target.devices[0].name};
  forEach(report, "functions", [&](const llvm::json::Object &function) {
    forEach(function, "dispatches", [&](const llvm::json::Object &dispatch) {
      if (std::string device = text(dispatch, "device"); target.findDevice(device))
        devices.insert(device);
    });
  });
  return devices;
}

class Layouts {
public:
  explicit Layouts(const targets::TargetDescription &target) : target(target) {
    for (const MemoryDescription &memory : target.memories) {
      MemoryLayout &layout = all.emplace_back();
      layout.memory = memory.name;
      layout.kind = memoryKindName(memory.kind);
      layout.capacity = memory.bytes;
    }
  }

  /// The memory of that name; null if there is none.
  MemoryLayout *find(const std::string &name) {
    auto found =
        std::ranges::find_if(all, [&](const auto &layout) { return layout.memory == name; });
    return found == all.end() ? nullptr : &*found;
  }

  /// Memory that can be written, reached by all of `devices`, with room for a block of so many
  /// bytes: memory beside the processor first.
  MemoryLayout *writable(const std::set<std::string> &devices, int64_t bytes) {
    for (bool isScratch : {true, false})
      for (const MemoryDescription &memory : target.memories)
        if (memory.kind != Flash && memory.kind != Stack && (memory.kind == Scratch) == isScratch &&
            isReached(memory, devices) && (memory.bytes == 0 || memory.bytes >= bytes))
          return find(memory.name);
    return nullptr;
  }

  MemoryLayout *readOnly(const std::set<std::string> &devices) {
    for (const MemoryDescription &memory : target.memories)
      if (memory.kind == Flash && isReached(memory, devices))
        return find(memory.name);
    return writable(devices, 0);
  }

  void add(MemoryLayout *layout, const char *what, const std::string &name, int64_t bytes) {
    if (!layout || bytes == 0)
      return;
    const MemoryDescription *memory = target.findMemory(layout->memory);
    const auto alignment =
        uint64_t(std::max(memory->alignment, target.devices[0].workspaceAlignment));
    const auto offset = int64_t(llvm::alignTo(uint64_t(layout->used), alignment));
    layout->parts.push_back({what, name, offset, bytes});
    layout->used = offset + bytes;
  }

  std::vector<MemoryLayout> all;

private:
  static bool isReached(const MemoryDescription &memory, const std::set<std::string> &devices) {
    return std::ranges::all_of(devices, [&](const std::string &device) {
      return std::ranges::find(memory.accessibleBy, device) != memory.accessibleBy.end();
    });
  }

  const targets::TargetDescription &target;
};

} // namespace

std::vector<MemoryLayout> memoryLayoutsOf(const llvm::json::Object &report,
                                          const targets::TargetDescription &target) {
  Layouts layouts(target);
  const std::set<std::string> devices = devicesOf(report, target);
  const std::set<std::string> host = {target.devices[0].name};
  if (const llvm::json::Object *data = report.getObject("data"))
    forEach(*data, "symbols", [&](const llvm::json::Object &symbol) {
      const std::string kind = text(symbol, "kind"), pool = text(symbol, "pool");
      if (kind == "constant")
        layouts.add(pool.empty() ? layouts.readOnly(devices) : layouts.find(pool), "constant",
                    text(symbol, "name"), number(symbol, "bytes"));
      else if (kind == "variable")
        layouts.add(layouts.writable(host, number(symbol, "bytes")), "variable",
                    text(symbol, "name"), number(symbol, "bytes"));
    });
  const Cost cost = costOf(report);
  for (const auto &[pool, bytes] : cost.pools)
    layouts.add(layouts.find(pool), "pool", "", bytes);
  const int64_t workspace = cost.workspace + cost.scratch;
  layouts.add(layouts.writable(devices, workspace), "workspace", "", workspace);
  layouts.add(layouts.writable(host, cost.stack), "stack", "", cost.stack);
  return std::move(layouts.all);
}

} // namespace plim::tools
