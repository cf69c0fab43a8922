#include "tools/ExplainCommand.h"

#include "tools/ExplainSummary.h"
#include "tools/Progress.h"
#include "tools/Text.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <tuple>
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
  out << "  " << text(copy, "type") << " in @" << text(copy, "function") << ", from "
      << text(copy, "location") << "\n    of " << text(copy, "of") << "\n";
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

/// The buffers of one function that were planned at load into one memory.
struct MemoryMap {
  struct Buffer {
    int64_t offset, bytes, lower, upper;
    std::string label;
  };
  std::string name; // "memory of @main", "pool sram of @main"
  std::vector<Buffer> buffers;
  int64_t peak = 0;
  int64_t lowerBound = 0;     // the most bytes that are live at once
  int64_t fullest = 0;        // a time when they are
  int64_t begin = 0, end = 0; // of all lives

  bool isAtFullest(const Buffer &buffer) const {
    return buffer.lower <= fullest && fullest < buffer.upper;
  }
};

std::vector<MemoryMap> memoryMapsOf(const Object &report) {
  std::map<std::string, MemoryMap> maps;
  forEach(report, "allocations", [&](const Object &allocation) {
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
    map.buffers.push_back({*offset, number(allocation, "bytes"), *(*life)[0].getAsInteger(),
                           *(*life)[1].getAsInteger(),
                           text(allocation, "type") + ", from " + text(allocation, "location")});
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

/// A line for each buffer, lowest first: its place, its life as a bar, and whether it is one of those
/// that make the memory as large as it is.
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

Object toJson(const MemoryMap &map) {
  Array fullest;
  for (const MemoryMap::Buffer &buffer : map.buffers)
    if (map.isAtFullest(buffer))
      fullest.push_back(buffer.label);
  return Object{{"name", map.name},
                {"peak_bytes", map.peak},
                {"lower_bound_bytes", map.lowerBound},
                {"fullest_position", map.fullest},
                {"live_at_fullest", std::move(fullest)}};
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

void printCosts(const std::vector<std::pair<std::string, Cost>> &costs, std::ostream &out) {
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
    if (cost.isPlannedAtCall)
      workspace = cost.workspace == 0 ? "at the call" : workspace + " and at the call";
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

void print(const Object &report, const std::vector<std::pair<std::string, Cost>> &costs,
           std::ostream &out) {
  printSummary(report, costs.front().second, out);
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
  if (const Object *stack = report.getObject("stack"))
    printStack(*stack, out);
  if (const Object *data = report.getObject("data"))
    printData(*data, out);
  printCosts(costs, out);
}

StatusOr<llvm::json::Value> reportFor(Engine &engine, const std::string &source,
                                      const ExplainOptions &options, const std::string &policy,
                                      std::ostream &err) {
  LoadOptions load;
  std::optional<ProgressLine> line;
  if (options.progress) {
    line.emplace(err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  load.oracle = options.module.oracle;
  load.device = options.module.device;
  load.policy = policy;
  StatusOr<jit::Artifact> artifact = jit::isArtifact(source)
                                         ? jit::deserialize(source)
                                         : engine.compile(source, moduleName(options.module), load);
  if (!artifact.ok())
    return artifact.status();
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(artifact->report);
  if (!report)
    return internalError("malformed report: " + llvm::toString(report.takeError()));
  return std::move(*report);
}

Status explain(const ExplainOptions &options, std::ostream &out, std::ostream &err) {
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
  PLIM_ASSIGN_OR_RETURN(llvm::json::Value report, reportFor(*engine, source, options, chosen, err));
  Object &object = *report.getAsObject();
  std::vector<std::pair<std::string, Cost>> costs = {{chosen, costOf(object)}};
  if (options.policies)
    for (const char *policy : {"auto", "stack", "workspace", "heap", "fixed:1024"}) {
      if (policy == chosen)
        continue;
      PLIM_ASSIGN_OR_RETURN(llvm::json::Value other,
                            reportFor(*engine, source, options, policy, err));
      costs.emplace_back(policy, costOf(*other.getAsObject()));
    }
  if (!options.json) {
    print(object, costs, out);
    return okStatus();
  }
  Array policies;
  for (const auto &[policy, cost] : costs)
    policies.push_back(toJson(policy, cost));
  object["policies"] = std::move(policies);
  Array maps;
  for (const MemoryMap &map : memoryMapsOf(object))
    maps.push_back(toJson(map));
  object["memories"] = std::move(maps);
  std::string pretty;
  llvm::raw_string_ostream(pretty) << llvm::formatv("{0:2}", report) << "\n";
  out << pretty;
  return okStatus();
}

} // namespace

int runExplainCommand(const ExplainOptions &options, std::ostream &out, std::ostream &err) {
  Status status = explain(options, out, err);
  if (status.ok())
    return 0;
  err << "error: " << status.message() << "\n";
  return 1;
}

} // namespace plim::tools
