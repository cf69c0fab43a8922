#include "tools/TargetsCommand.h"

#include "targets/Calibration.h"
#include "targets/Resolve.h"
#include "tools/Calibrate.h"
#include "tools/Text.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ostream>

namespace plim::tools {
namespace {

using namespace targets;

constexpr size_t textColumn = 18;
constexpr size_t lineEnd = 96;

/// "1 core", "2 cores".
std::string count(int64_t number, const std::string &noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string join(const std::vector<std::string> &parts, std::string_view separator) {
  std::string text;
  for (const std::string &part : parts)
    text.append(text.empty() ? "" : separator).append(part);
  return text;
}

/// A label and its text, folded between words; nothing for an empty text.
void row(std::ostream &out, std::string_view label, std::string_view text) {
  if (text.empty())
    return;
  std::string line(tableIndent, ' ');
  line += label;
  pad(line, textColumn);
  bool first = true;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!first && line.size() + 1 + word.size() > lineEnd) {
      out << line << "\n";
      line.assign(textColumn, ' ');
      first = true;
    }
    line.append(first ? "" : " ").append(word);
    first = false;
  }
  out << line << "\n";
}

std::string describeCode(const DeviceDescription &device) {
  std::vector<std::string> parts;
  if (!device.cpu.empty())
    parts.push_back(device.cpu + (device.features.empty() ? "" : " and the features below"));
  if (!device.tuneCpu.empty() && device.tuneCpu != device.cpu)
    parts.push_back("tuned for " + device.tuneCpu);
  if (device.vectorBits > 0)
    parts.push_back(std::to_string(device.vectorBits) + "-bit vectors");
  return join(parts, ", ");
}

std::string describeCores(const DeviceDescription &device) {
  std::vector<std::string> parts = {
      count(device.cores, device.kind == DeviceKind::Cuda ? "multiprocessor" : "core")};
  if (device.hardwareThreads != device.cores)
    parts.push_back(count(device.hardwareThreads, "hardware thread"));
  if (device.numaNodes > 1)
    parts.push_back(count(device.numaNodes, "NUMA node"));
  if (device.clockMHz > 0)
    parts.push_back(std::to_string(device.clockMHz) + " MHz");
  return join(parts, ", ");
}

std::string describePages(const DeviceDescription &device) {
  if (device.pageBytes == 0)
    return "";
  std::vector<std::string> parts = {formatBytes(device.pageBytes)};
  for (int64_t bytes : device.hugePageBytes)
    parts.push_back(formatBytes(bytes));
  return join(parts, ", ");
}

std::string describeCache(const CacheDescription &cache) {
  std::string text = formatBytes(cache.bytes);
  if (cache.lineBytes > 0)
    text += ", lines of " + formatBytes(cache.lineBytes);
  return text + (cache.sharedBy == 1 ? ", one core's own"
                                     : ", shared by " + count(cache.sharedBy, "core"));
}

void reportStack(std::ostream &out, const DeviceDescription &device) {
  if (!device.stackAddressable) {
    row(out, "stack", "not for allocations");
    return;
  }
  row(out, "stacks",
      "main thread " + formatBytes(device.mainThreadStackBytes) + ", workers " +
          formatBytes(device.workerStackBytes) + ", caller " +
          formatBytes(device.callerStackBytes));
  row(out, "stack limits",
      formatBytes(device.stackBudgetBytes) + " for a call tree, " +
          formatBytes(device.maxStackAllocaBytes) + " for one allocation");
}

void reportFeatures(std::ostream &out, const DeviceDescription &device) {
  std::vector<std::string> has, lacks;
  for (const std::string &feature : device.features)
    (feature.starts_with('+') ? has : lacks).push_back(feature.substr(1));
  row(out, "has", join(has, " "));
  row(out, "lacks", join(lacks, " "));
}

void reportDevice(std::ostream &out, const DeviceDescription &device) {
  out << "device " << device.name << " (" << deviceKindName(device.kind) << ")";
  if (!device.description.empty())
    out << ": " << device.description;
  out << "\n";
  row(out, "triple", device.triple);
  row(out, "code", describeCode(device));
  // Vulkan does not tell the number of its cores.
  if (device.kind != DeviceKind::Vulkan)
    row(out, "cores", describeCores(device));
  row(out, "pages", describePages(device));
  for (const CacheDescription &cache : device.caches)
    row(out, "cache L" + std::to_string(cache.level), describeCache(cache));
  if (device.kind == DeviceKind::Cpu)
    reportStack(out, device);
  row(out, "workspace",
      "aligned to " + formatBytes(device.workspaceAlignment) +
          (device.externalWorkspaceOnly ? ", given by the host application only" : ""));
  if (device.maxWorkgroupSize > 1)
    row(out, "workgroup",
        "up to " + std::to_string(device.maxWorkgroupSize) + " invocations in subgroups of " +
            std::to_string(device.subgroupSize) + ", scratch " + formatBytes(device.scratchBytes));
  if (device.unifiedAddressing)
    row(out, "addresses", "one space with the host");
  reportFeatures(out, device);
  out << "\n";
}

void reportMemories(std::ostream &out, const std::vector<MemoryDescription> &memories) {
  if (memories.empty())
    return;
  auto known = [](double value) { return value > 0 ? formatNumber(value) : "-"; };
  std::vector<std::vector<std::string>> table = {
      {"name", "kind", "size", "aligned", "read GB/s", "write GB/s", "ns", "reached by"}};
  for (const MemoryDescription &memory : memories) {
    std::string users = memory.accessibleBy.empty() ? "nothing" : join(memory.accessibleBy, ", ");
    table.push_back({memory.name, std::string(memoryKindName(memory.kind)),
                     memory.bytes > 0 ? formatBytes(memory.bytes) : "-",
                     formatBytes(memory.alignment), known(memory.readGBps), known(memory.writeGBps),
                     known(memory.latencyNs), users});
  }
  out << "memories\n";
  writeTable(out, table);
}

void reportTags(std::ostream &out, const std::vector<TagInfo> &tags) {
  for (const TagInfo &tag : tags) {
    out << tag.name << "\n";
    row(out, "is", tag.about);
    row(out, "also", join(tag.aliases, ", "));
    row(out, "inherits", tag.inherits);
  }
}

int listTags(bool json, std::ostream &out, std::ostream &err) {
  StatusOr<Registry> registry = makeRegistry(nullptr);
  if (!registry.ok())
    return exitStatus(err, registry.status());
  if (json)
    out << targets::toJson(registry->tags()) << "\n";
  else
    reportTags(out, registry->tags());
  return 0;
}

Status calibrate(std::ostream &out) {
  std::string path = calibrationPath();
  if (path.empty())
    return failedPreconditionError("no folder to keep the calibration in: set XDG_CONFIG_HOME or "
                                   "HOME");
  PLIM_ASSIGN_OR_RETURN(TargetDescription host, resolveTarget("host-cpu", {}));
  PLIM_ASSIGN_OR_RETURN(std::vector<ScratchTimes> times, measureScratch());
  std::vector<std::vector<std::string>> rows = {
      {"scratch", "on the stack", "in the workspace", "workspace by stack"}};
  for (const ScratchTimes &each : times)
    rows.push_back({formatBytes(each.bytes), formatSeconds(each.stackSeconds),
                    formatSeconds(each.workspaceSeconds), formatNumber(each.ratio)});
  writeTable(out, rows);
  Calibration calibration{host.devices[0].description, chooseMaxStackAlloca(times)};
  PLIM_RETURN_IF_ERROR(writeCalibration(path, calibration));
  out << "the largest single stack allocation is " << formatBytes(calibration.maxStackAllocaBytes)
      << ", kept in " << path << "\n";
  return okStatus();
}

} // namespace

int runTargetsCommand(const TargetsOptions &options, std::ostream &out, std::ostream &err) {
  if (options.tags)
    return listTags(options.json, out, err);
  if (options.calibrate)
    return exitStatus(err, calibrate(out));

  std::vector<Status> warnings;
  StatusOr<TargetDescription> target = resolveTarget(options.target, options.overrides, &warnings);
  for (const Status &warning : warnings)
    err << "warning: " << warning.message() << "\n";
  if (!target.ok())
    return exitStatus(err, target.status());
  if (options.json) {
    out << toJson(*target) << "\n";
    return 0;
  }
  out << "target " << (target->name.empty() ? options.target : target->name) << "\n\n";
  for (const DeviceDescription &device : target->devices)
    reportDevice(out, device);
  reportMemories(out, target->memories);
  return 0;
}

} // namespace plim::tools
