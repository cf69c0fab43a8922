#include "tools/ExplainReport.h"

#include "tools/MemoryLayout.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace plim::tools {

namespace {

using llvm::json::Array;
using llvm::json::Object;

/// Limits of a source that is shown: longer lines hold constants, and nobody reads more lines.
constexpr size_t longestLine = 400, mostLines = 20000;

Object toJson(const MemoryMap &map) {
  Array fullest, buffers;
  for (const MemoryMap::Buffer &buffer : map.buffers) {
    buffers.push_back(buffer.index);
    if (map.isAtFullest(buffer))
      fullest.push_back(buffer.label);
  }
  return Object{{"name", map.name},
                {"function", map.function},
                {"begin", map.begin},
                {"end", map.end},
                {"buffers", std::move(buffers)},
                {"peak_bytes", map.peak},
                {"lower_bound_bytes", map.lowerBound},
                {"fullest_position", map.fullest},
                {"live_at_fullest", std::move(fullest)}};
}

Object toJson(const MemoryLayout &layout) {
  Array parts;
  for (const MemoryLayout::Part &part : layout.parts)
    parts.push_back(Object{
        {"what", part.what}, {"name", part.name}, {"offset", part.offset}, {"bytes", part.bytes}});
  return Object{{"memory", layout.memory},
                {"kind", layout.kind},
                {"bytes", layout.capacity},
                {"used_bytes", layout.used},
                {"parts", std::move(parts)}};
}

Object toJson(const std::string &policy, const Cost &cost) {
  Object pools;
  for (const auto &[pool, bytes] : cost.pools)
    pools[pool] = bytes;
  return Object{{"policy", policy},
                {"stack_bytes", cost.stack},
                {"workspace_bytes", cost.workspace},
                {"planned_at_call", cost.isPlannedAtCall},
                {"scratch_bytes", cost.scratch},
                {"pool_bytes", std::move(pools)},
                {"allocator_buffers", cost.allocatorBuffers}};
}

/// The lines of a text, as far as people read them; nothing of bytecode and compiled code.
Object sourceOf(const std::string &name, std::string_view source) {
  Array lines;
  bool isCut = false;
  while (!source.empty()) {
    if (lines.size() == mostLines) {
      isCut = true;
      break;
    }
    const size_t length = source.find('\n');
    const std::string_view line = source.substr(0, length);
    std::string text = llvm::json::fixUTF8(
        llvm::StringRef(line).take_front(longestLine)); // which may end within a letter
    lines.push_back(line.size() > longestLine ? text + " ..." : text);
    source.remove_prefix(std::min(source.size(), std::max(line.size() + 1, size_t(1))));
  }
  return Object{{"name", name}, {"lines", std::move(lines)}, {"cut", isCut}};
}

bool isText(std::string_view source) {
  return !source.empty() && source.substr(0, 4096).find('\0') == std::string_view::npos;
}

/// Repetitions of dispatches, and the bytes of what they are bound to.
void completeFunction(Object &function) {
  std::vector<std::string> names;
  if (Array *dispatches = function.getArray("dispatches"))
    for (llvm::json::Value &dispatch : *dispatches) {
      names.push_back(text(*dispatch.getAsObject(), "name"));
      if (Array *bindings = dispatch.getAsObject()->getArray("bindings"))
        for (llvm::json::Value &binding : *bindings)
          if (std::optional<int64_t> bytes = bytesOf(text(*binding.getAsObject(), "type")))
            (*binding.getAsObject())["bytes"] = *bytes;
    }
  Array repetitions;
  for (const Repetition &each : repetitionsIn(names))
    repetitions.push_back(
        Object{{"begin", each.begin}, {"length", each.length}, {"count", each.count}});
  function["repetitions"] = std::move(repetitions);
}

} // namespace

std::vector<MemoryMap> memoryMapsOf(const Object &report) {
  std::map<std::string, MemoryMap> maps;
  int64_t next = 0;
  forEach(report, "allocations", [&](const Object &allocation) {
    const int64_t index = next++;
    const Array *life = allocation.getArray("lifetime");
    auto offset = allocation.getInteger("offset");
    if (!life || !offset)
      return;
    std::string place = text(allocation, "scope");
    place = place.starts_with("global.") ? place.substr(7) : place;
    place = place == "workspace" || place == "workgroup" ? "memory" : "pool " + place;
    std::string name = place + " of @" + text(allocation, "function");
    MemoryMap &map = maps[name];
    map.name = name;
    map.function = text(allocation, "function");
    map.buffers.push_back({*offset, number(allocation, "bytes"), *(*life)[0].getAsInteger(),
                           *(*life)[1].getAsInteger(),
                           text(allocation, "type") + ", from " + text(allocation, "location"),
                           index});
  });
  std::vector<MemoryMap> list;
  for (auto &[name, map] : maps) {
    std::sort(map.buffers.begin(), map.buffers.end(), [](const auto &a, const auto &b) {
      return std::tuple(a.offset, a.lower) < std::tuple(b.offset, b.lower);
    });
    map.begin = std::numeric_limits<int64_t>::max();
    for (const MemoryMap::Buffer &buffer : map.buffers) {
      map.peak = std::max(map.peak, buffer.offset + buffer.bytes);
      map.begin = std::min(map.begin, buffer.lower);
      map.end = std::max(map.end, buffer.upper);
      // Memory is fullest where some life begins.
      int64_t live = 0;
      for (const MemoryMap::Buffer &other : map.buffers)
        if (other.lower <= buffer.lower && buffer.lower < other.upper)
          live += other.bytes;
      if (live > map.lowerBound) {
        map.lowerBound = live;
        map.fullest = buffer.lower;
      }
    }
    list.push_back(std::move(map));
  }
  return list;
}

StatusOr<Object> parseReport(const std::string &text) {
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(text);
  if (!report)
    return internalError("malformed report: " + llvm::toString(report.takeError()));
  return std::move(*report->getAsObject());
}

void completeReport(Object &report, const ReportContext &context) {
  report["module"] = llvm::json::fixUTF8(context.module);
  report["target"] = context.target.name;
  report["machine"] = llvm::StringRef(context.target.devices[0].description).trim();
  if (isText(context.source))
    report["source"] = sourceOf(llvm::json::fixUTF8(context.module), context.source);
  Array summary;
  for (const SummaryRow &row : summaryOf(report, context.costs.front().second, context.time))
    summary.push_back(Object{{"label", row.label}, {"lines", Array(row.lines)}});
  report["summary"] = std::move(summary);
  if (Array *copies = report.getArray("copies"))
    for (llvm::json::Value &copy : *copies)
      if (std::optional<int64_t> bytes = bytesOf(text(*copy.getAsObject(), "type")))
        (*copy.getAsObject())["bytes"] = *bytes;
  if (Array *functions = report.getArray("functions"))
    for (llvm::json::Value &function : *functions)
      completeFunction(*function.getAsObject());
  Array policies, memories, layout;
  for (const MemoryLayout &memory : memoryLayoutsOf(report, context.target))
    layout.push_back(toJson(memory));
  for (const auto &[policy, cost] : context.costs)
    policies.push_back(toJson(policy, cost));
  for (const MemoryMap &map : memoryMapsOf(report))
    memories.push_back(toJson(map));
  report["policies"] = std::move(policies);
  report["memories"] = std::move(memories);
  report["layout"] = std::move(layout);
}

std::string toText(const Object &report) {
  return llvm::formatv("{0:2}\n", llvm::json::Value(Object(report))).str();
}

} // namespace plim::tools
