#include "tools/ExplainCommand.h"

#include "tools/ExplainReport.h"
#include "tools/ExplainSummary.h"
#include "tools/MemoryLayout.h"
#include "tools/Progress.h"
#include "tools/ReportPage.h"
#include "tools/Text.h"

#include "llvm/Support/JSON.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

namespace plim::tools {
namespace {

using llvm::json::Array;
using llvm::json::Object;

template <typename NamesT> std::string join(const NamesT &names) {
  std::string list;
  for (const auto &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// "a, b", or "nobody".
std::string names(const Object &object, llvm::StringRef key) {
  std::vector<std::string> list;
  if (const Array *array = object.getArray(key))
    for (const llvm::json::Value &name : *array)
      list.push_back(name.getAsString().value_or("").str());
  return list.empty() ? "nobody" : join(list);
}

/// "4 x 128", with "all" for 0.
std::string extents(const Object &object, llvm::StringRef key) {
  std::string list;
  if (const Array *array = object.getArray(key))
    for (const llvm::json::Value &value : *array) {
      const int64_t extent = value.getAsInteger().value_or(0);
      list += (list.empty() ? "" : " x ") + (extent == 0 ? "all" : std::to_string(extent));
    }
  return list;
}

/// "in_place": "in place".
std::string words(const Object &object, llvm::StringRef key) {
  std::string name = text(object, key);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// "net.mlir:3:8, 4:8 and 12 more": a file that is the one before is not named again.
std::string placesIn(const Array &places) {
  constexpr size_t mostPlaces = 12;
  std::string list, file;
  for (size_t i = 0; i < std::min(places.size(), mostPlaces); ++i) {
    llvm::StringRef place = places[i].getAsString().value_or("");
    const llvm::StringRef name = place.rsplit(':').first.rsplit(':').first;
    list += i == 0 ? "" : ", ";
    list += name == file ? place.drop_front(name.size() + 1) : place;
    file = name.str();
  }
  if (places.size() > mostPlaces)
    list += " and " + std::to_string(places.size() - mostPlaces) + " more";
  return list;
}

/// How the code of a dispatch was made, a line for each decision.
void printDecision(const Object &decision, std::ostream &out) {
  const std::string what = text(decision, "what");
  out << "    " << what << (what == "stores" ? " " : " of ");
  if (what == "stores") {
    out << "past the caches";
  } else if (what == "workgroups") {
    out << extents(decision, "tiles") << " iterations";
  } else if (what == "panels") {
    const int64_t columns = number(decision, "columns");
    out << extents(decision, "depth") << " terms by "
        << (columns == 0 ? "all" : std::to_string(columns)) << " columns, "
        << words(decision, "panel") << ", rows " << words(decision, "rows");
    if (int64_t lines = number(decision, "lines"); lines > 1)
      out << ", " << lines << " lines together";
  } else {
    out << number(decision, "rows") << " rows by " << number(decision, "columns")
        << " columns, in vectors of " << number(decision, "lanes") << " elements";
    if (int64_t terms = number(decision, "terms"); terms > 0)
      out << ", " << terms << " terms at a time";
  }
  out << ": " << text(decision, "because") << "\n";
}

void printDispatch(const Object &dispatch, size_t position, std::ostream &out) {
  out << "  dispatch #" << position << " @" << text(dispatch, "name") << " on "
      << text(dispatch, "device") << ", from " << text(dispatch, "location");
  for (const char *order : {"after", "beside"}) {
    std::vector<std::string> others;
    if (const Array *positions = dispatch.getArray(order))
      for (const auto &other : *positions)
        others.push_back("#" + std::to_string(other.getAsInteger().value_or(0)));
    if (!others.empty())
      out << ", " << order << " " << join(others);
  }
  out << "\n";
  if (dispatch.get("refusal"))
    out << "    not on " << text(dispatch, "refusal") << "\n";
  if (const Array *places = dispatch.getArray("places"))
    out << "    made of what is at " << placesIn(*places) << "\n";
  forEach(dispatch, "apart", [&](const Object &apart) {
    out << "    apart from #" << number(apart, "from") << ": " << text(apart, "because") << "\n";
  });
  forEach(dispatch, "bindings", [&](const Object &binding) {
    std::string line = "    " + text(binding, "access");
    pad(line, 15);
    out << line << text(binding, "type") << "\n";
  });
  forEach(dispatch, "strategy", [&](const Object &decision) { printDecision(decision, out); });
}

void printFunction(const Object &function, std::ostream &out) {
  out << "function @" << text(function, "name") << ", " << text(function, "kind") << "\n";
  forEach(function, "arguments", [&](const Object &argument) {
    std::string line = "  argument #" + std::to_string(number(argument, "index"));
    pad(line, 15);
    line += text(argument, "access");
    pad(line, 26);
    out << line << text(argument, "type");
    if (auto result = argument.getInteger("donated_to"))
      out << ", donated to result #" << *result;
    out << "\n";
  });
  std::vector<const Object *> dispatches;
  std::vector<std::string> names;
  forEach(function, "dispatches", [&](const Object &dispatch) {
    dispatches.push_back(&dispatch);
    names.push_back(text(dispatch, "name"));
  });
  // Dispatches of one name are one code, and so have the same bindings and strategy.
  for (const Repetition &repetition : repetitionsIn(names)) {
    if (repetition.count > 1)
      out << "  dispatches #" << repetition.begin << " to #"
          << repetition.begin + repetition.length * repetition.count - 1 << ": " << repetition.count
          << " times "
          << (repetition.length == 1 ? "this one" : "these " + std::to_string(repetition.length))
          << "\n";
    for (size_t i = 0; i < repetition.length; ++i)
      printDispatch(*dispatches[repetition.begin + i], repetition.begin + i, out);
  }
}

void printCopy(const Object &copy, std::ostream &out) {
  const std::optional<int64_t> bytes = bytesOf(text(copy, "type"));
  out << "  " << text(copy, "type") << " in @" << text(copy, "function") << ", from "
      << text(copy, "location") << ", " << (bytes ? formatBytes(*bytes) : "bytes known at the call")
      << "\n    of " << text(copy, "of") << "\n";
  if (const std::string instead = text(copy, "instead"); !instead.empty())
    out << "    instead: " << instead << "\n";
}

/// Two are shown as they are.
constexpr size_t fewestEqual = 3;

/// What is the same of allocations that are one entry.
std::string keyOf(const Object &allocation) {
  std::string key;
  for (const char *each : {"type", "function", "scope", "reason", "level"})
    key += text(allocation, each) + "\n";
  return key + names(allocation, "accessors") + "\n" + names(allocation, "candidates") + "\n" +
         (allocation.getInteger("offset") ? "planned" : "") +
         (allocation.getInteger("slot") ? "slot" : "");
}

/// The places and lives of several are those of the memory's map.
void printAllocations(const std::vector<const Object *> &equal, std::ostream &out) {
  const Object &allocation = *equal.front();
  const bool isOne = equal.size() == 1;
  out << "  " << (isOne ? "" : std::to_string(equal.size()) + " times ") << text(allocation, "type")
      << " in @" << text(allocation, "function") << (isOne ? ", from " : ", the first from ")
      << text(allocation, "location") << "\n    " << text(allocation, "scope");
  if (auto offset = allocation.getInteger("offset"); offset && isOne)
    out << " at " << *offset;
  else if (allocation.getInteger("slot"))
    out << ", planned at the call";
  out << ": " << text(allocation, "reason") << " (" << text(allocation, "level") << ")\n    ";
  if (auto bytes = allocation.getInteger("bytes"))
    out << *bytes << " bytes" << (isOne ? "" : " each");
  else
    out << "no bound";
  if (const Array *life = allocation.getArray("lifetime"); life && isOne)
    out << ", live from step " << *(*life)[0].getAsInteger() << " to "
        << *(*life)[1].getAsInteger();
  out << ", used by " << names(allocation, "accessors") << ", could be in "
      << names(allocation, "candidates") << "\n";
}

void printAllocations(const Object &report, std::ostream &out) {
  std::vector<std::vector<const Object *>> groups;
  std::map<std::string, size_t> groupOf;
  forEach(report, "allocations", [&](const Object &allocation) {
    auto [it, isNew] = groupOf.try_emplace(keyOf(allocation), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(&allocation);
  });
  if (!groups.empty())
    out << "allocations\n";
  for (const std::vector<const Object *> &equal : groups) {
    if (equal.size() >= fewestEqual)
      printAllocations(equal, out);
    else
      for (const Object *allocation : equal)
        printAllocations({allocation}, out);
  }
}

void printStack(const Object &stack, std::ostream &out) {
  out << "stack, in bytes";
  if (number(stack, "lowerings") > 1)
    out << "; lowered again with " << number(stack, "reserve") << " left to frames";
  out << "\n";
  std::vector<std::vector<std::string>> rows = {
      {"function", "estimated", "proven", "with runtime", "budget"}};
  forEach(stack, "functions", [&](const Object &function) {
    std::vector<std::string> row = {"@" + text(function, "name")};
    for (const char *key : {"estimated", "proven", "call", "budget"})
      row.push_back(std::to_string(number(function, key)));
    rows.push_back(std::move(row));
  });
  writeTable(out, rows);
}

/// A line for each buffer, lowest first: its place, its lifetime as a bar, and a mark if it is live
/// at the time when most bytes are.
void printMap(const MemoryMap &map, std::ostream &out) {
  constexpr int64_t width = 32;
  out << map.name << ": " << map.peak << " bytes; " << map.lowerBound
      << " are live at once, those with a *\n";
  std::vector<std::vector<std::string>> rows = {{"offset", "bytes", "life", ""}};
  int64_t length = std::max<int64_t>(map.end - map.begin, 1);
  auto column = [&](int64_t position) {
    return static_cast<size_t>((position - map.begin) * width / length);
  };
  for (const MemoryMap::Buffer &buffer : map.buffers) {
    std::string bar(width, '.');
    size_t from = std::min<size_t>(column(buffer.lower), width - 1);
    size_t to = std::max(column(buffer.upper), from + 1);
    bar.replace(from, to - from, to - from, '=');
    rows.push_back({std::to_string(buffer.offset), std::to_string(buffer.bytes), bar,
                    (map.isAtFullest(buffer) ? "* " : "  ") + buffer.label});
  }
  writeTable(out, rows);
}

/// A line for each part of what the module puts there; many constants are one line.
void printLayout(const MemoryLayout &layout, std::ostream &out) {
  constexpr size_t mostConstants = 20;
  if (layout.parts.empty())
    return;
  out << "memory " << layout.memory << " of the target, " << layout.kind << ": " << layout.used;
  if (layout.capacity > 0)
    out << " of " << layout.capacity;
  out << " bytes";
  if (layout.missing() > 0)
    out << ", " << layout.missing() << " too many";
  out << "\n";
  std::vector<std::vector<std::string>> rows = {{"offset", "bytes", ""}};
  size_t constants = 0;
  int64_t others = 0;
  for (const MemoryLayout::Part &part : layout.parts)
    if (part.what != "constant" || ++constants <= mostConstants)
      rows.push_back({std::to_string(part.offset), std::to_string(part.bytes),
                      part.what + (part.name.empty() ? "" : " @" + part.name)});
    else
      others += part.bytes;
  if (others > 0)
    rows.push_back({"", std::to_string(others),
                    std::to_string(constants - mostConstants) + " more constants"});
  writeTable(out, rows);
}

void printData(const Object &data, std::ostream &out) {
  out << "data, in bytes\n";
  std::vector<std::vector<std::string>> rows = {
      {"constants", "parameters", "prepared", "variables"}, {}};
  for (const std::string &kind : rows[0])
    rows[1].push_back(std::to_string(number(data, kind)));
  if (int64_t count = number(data, "duplicate_constants"); count > 0) {
    rows[0].push_back("saved by " + std::to_string(count) + " shared");
    rows[1].push_back(std::to_string(number(data, "duplicate_constant_bytes")));
  }
  if (const Object *pools = data.getObject("constants_in_pools"))
    for (const auto &[pool, bytes] : *pools) {
      rows[0].push_back("constants in " + pool.str());
      rows[1].push_back(std::to_string(bytes.getAsInteger().value_or(0)));
    }
  writeTable(out, rows);
}

void printCosts(const PolicyCosts &costs, std::ostream &out) {
  std::map<std::string, int64_t> pools;
  for (const auto &[policy, cost] : costs)
    pools.insert(cost.pools.begin(), cost.pools.end());
  out << "policies: bytes at most of a call; scratch of a thread\n";
  std::vector<std::vector<std::string>> rows = {{"policy", "stack", "workspace", "scratch"}};
  for (const auto &[pool, bytes] : pools)
    rows[0].push_back(pool);
  rows[0].push_back("buffers from the allocator");
  for (const auto &[policy, cost] : costs) {
    std::string workspace = std::to_string(cost.workspace);
    if (cost.isPlannedAtCall && cost.workspace == 0)
      workspace = "at the call";
    else if (cost.isPlannedAtCall)
      workspace += " and at the call";
    std::vector<std::string> row = {policy, std::to_string(cost.stack), workspace,
                                    std::to_string(cost.scratch)};
    for (const auto &[pool, bytes] : pools) {
      auto it = cost.pools.find(pool);
      row.push_back(std::to_string(it == cost.pools.end() ? 0 : it->second));
    }
    row.push_back(std::to_string(cost.allocatorBuffers));
    rows.push_back(std::move(row));
  }
  writeTable(out, rows);
}

void print(const Object &report, const targets::TargetDescription &target, const PolicyCosts &costs,
           std::ostream &out) {
  printSummary(summaryOf(report, costs.front().second), out);
  forEach(report, "functions", [&](const Object &function) { printFunction(function, out); });
  forEach(report, "externals", [&](const Object &external) {
    out << "host function @" << text(external, "name")
        << (external.getBoolean("pure").value_or(false) ? ", pure" : "") << ", from "
        << text(external, "location") << "\n  " << text(external, "type") << "\n";
  });
  printAllocations(report, out);
  bool first = true;
  forEach(report, "copies", [&](const Object &copy) {
    if (std::exchange(first, false))
      out << "copies\n";
    printCopy(copy, out);
  });
  for (const MemoryMap &map : memoryMapsOf(report))
    printMap(map, out);
  // Of a board's memories, not of what an operating system divides.
  for (const MemoryLayout &layout : memoryLayoutsOf(report, target))
    if (layout.capacity > 0 && target.name != "host")
      printLayout(layout, out);
  if (const Object *stack = report.getObject("stack"))
    printStack(*stack, out);
  if (const Object *data = report.getObject("data"))
    printData(*data, out);
  printCosts(costs, out);
}

StatusOr<Object> reportFor(Engine &engine, const std::string &source, const ExplainOptions &options,
                           const std::string &policy, std::ostream &err) {
  LoadOptions load = loadOptions(options.module, err);
  std::optional<ProgressLine> line;
  if (options.progress) {
    line.emplace(err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  load.policy = policy;
  StatusOr<jit::Artifact> artifact = jit::isArtifact(source)
                                         ? jit::deserialize(source)
                                         : engine.compile(source, moduleName(options.module), load);
  if (!artifact.ok())
    return artifact.status();
  return parseReport(artifact->report);
}

Status explain(const ExplainOptions &options, std::ostream &out, std::ostream &err) {
  if (!options.page.empty())
    PLIM_RETURN_IF_ERROR(checkPage(options.page, options.module));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module));
  PLIM_ASSIGN_OR_RETURN(std::string source, readModule(options.module));
  std::string chosen = engine->options().policy;
  if (jit::isArtifact(source)) {
    PLIM_RETURN_IF_ERROR(checkPrecompiled(options.module));
    if (options.policies)
      return invalidArgumentError(moduleName(options.module) +
                                  " is compiled already, too late for --policies");
    PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact, jit::deserialize(source));
    chosen = artifact.policy;
  }
  if (options.policies && options.module.oracle)
    return invalidArgumentError("--oracle has no policies: every buffer is from the heap");
  PLIM_ASSIGN_OR_RETURN(Object report, reportFor(*engine, source, options, chosen, err));
  PolicyCosts costs = {{chosen, costOf(report)}};
  if (options.policies)
    for (const char *policy : {"auto", "stack", "workspace", "heap", "fixed:1024"}) {
      if (policy == chosen)
        continue;
      PLIM_ASSIGN_OR_RETURN(Object other, reportFor(*engine, source, options, policy, err));
      costs.emplace_back(policy, costOf(other));
    }
  if (!options.json && options.page.empty()) {
    print(report, engine->target(), costs, out);
    return okStatus();
  }
  completeReport(report, {.module = moduleName(options.module),
                          .source = source,
                          .target = engine->target(),
                          .costs = costs});
  if (options.json)
    out << toText(report);
  return options.page.empty() ? okStatus() : writePage(report, options.page);
}

} // namespace

int runExplainCommand(const ExplainOptions &options, std::ostream &out, std::ostream &err) {
  return exitStatus(err, explain(options, out, err));
}

} // namespace plim::tools
