#include "tools/ExplainSummary.h"

#include "tools/Text.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

namespace plim::tools {

namespace {

using llvm::json::Object;

/// "1 copy", "2 copies".
std::string counted(int64_t count, const std::string &one, const std::string &many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

struct Counts {
  int64_t dispatches = 0;
  std::set<std::string> codes;
  int64_t bytes = 0;
  bool areBytesOpen = false;
  std::map<std::string, int64_t> refused; // dispatches, by device
  int64_t unbounded = 0;                  // buffers
  int64_t copies = 0, copiedBytes = 0;
  bool areCopiesOpen = false;
};

Counts countsOf(const Object &report) {
  Counts counts;
  auto add = [](int64_t &sum, bool &isOpen, const std::string &type) {
    std::optional<int64_t> bytes = bytesOf(type);
    isOpen |= !bytes || __builtin_add_overflow(sum, *bytes, &sum);
  };
  forEach(report, "functions", [&](const Object &function) {
    forEach(function, "dispatches", [&](const Object &dispatch) {
      ++counts.dispatches;
      counts.codes.insert(text(dispatch, "name"));
      const std::string refusal = text(dispatch, "refusal");
      if (!refusal.empty())
        ++counts.refused[refusal.substr(0, refusal.find(':'))];
      forEach(dispatch, "bindings", [&](const Object &binding) {
        add(counts.bytes, counts.areBytesOpen, text(binding, "type"));
      });
    });
  });
  forEach(report, "copies", [&](const Object &copy) {
    ++counts.copies;
    add(counts.copiedBytes, counts.areCopiesOpen, text(copy, "type"));
  });
  forEach(report, "allocations", [&](const Object &allocation) {
    // A result comes from the allocator with a bound as well.
    counts.unbounded += !allocation.getInteger("bytes") &&
                        text(allocation, "reason") != "it may outlive the block that allocates it";
  });
  return counts;
}

/// "64 KiB", "at least 64 KiB", or "known at the call".
std::string formatOpenBytes(int64_t bytes, bool isOpen) {
  if (isOpen)
    return bytes == 0 ? "known at the call" : "at least " + formatBytes(bytes);
  return formatBytes(bytes);
}

std::string memoryOf(const Cost &cost) {
  std::vector<std::string> parts;
  if (cost.workspace > 0 || !cost.isPlannedAtCall)
    parts.push_back(formatBytes(cost.workspace) + " of workspace");
  if (cost.isPlannedAtCall)
    parts.push_back("workspace that is planned at the call");
  for (const auto &[pool, bytes] : cost.pools)
    parts.push_back(formatBytes(bytes) + " of pool " + pool);
  if (cost.scratch > 0)
    parts.push_back(formatBytes(cost.scratch) + " of scratch for each thread");
  parts.push_back(formatBytes(cost.stack) + " of stack");
  if (cost.allocatorBuffers > 0)
    parts.push_back(counted(cost.allocatorBuffers, "buffer", "buffers") + " from the allocator");
  return llvm::join(parts, ", ");
}

std::vector<std::string> adviceOf(const Counts &counts, bool isTimed) {
  std::vector<std::string> advice;
  if (counts.copies > 0)
    advice.push_back(
        "look at the copies below, each with what it is of, some with what would avoid it");
  for (const auto &[device, count] : counts.refused)
    advice.push_back("see why " + counted(count, "dispatch is", "dispatches are") + " not on " +
                     device);
  if (counts.unbounded > 0)
    advice.push_back("give " + counted(counts.unbounded, "buffer that has", "buffers that have") +
                     " no bound one with plim.max_bytes, or run --specialize");
  advice.push_back("explain --policies for what each policy would cost");
  if (counts.dispatches > 0)
    advice.push_back(
        isTimed
            ? "look at the dispatches that take most of the time, far from what the machine can do"
            : "profile for times against what the machine can do, and when they were");
  return advice;
}

} // namespace

std::optional<int64_t> bytesOf(llvm::StringRef type) {
  if (!type.consume_front("memref<"))
    return std::nullopt;
  int64_t elements = 1;
  while (true) {
    int64_t extent = 0;
    if (type.starts_with("?") || type.starts_with("*"))
      return std::nullopt;
    if (type.consumeInteger(10, extent) || !type.consume_front("x"))
      break;
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
      return std::nullopt;
  }
  int64_t bits = 64; // index
  const bool isComplex = type.consume_front("complex<");
  if (!type.starts_with("index")) {
    if (!type.consume_front("bf"))
      type = type.drop_front(1); // i or f
    if (type.consumeInteger(10, bits))
      return std::nullopt;
  }
  // Elements of fewer bits have a byte each.
  const int64_t each = std::max<int64_t>(bits, 8) / 8 * (isComplex ? 2 : 1);
  return __builtin_mul_overflow(elements, each, &elements) ? std::nullopt : std::optional(elements);
}

std::string text(const Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}

int64_t number(const Object &object, llvm::StringRef key) {
  return object.getInteger(key).value_or(0);
}

Cost costOf(const Object &report) {
  Cost cost;
  if (const Object *stack = report.getObject("stack"))
    forEach(*stack, "functions", [&](const Object &function) {
      cost.stack = std::max(cost.stack, number(function, "proven"));
    });
  forEach(report, "functions", [&](const Object &function) {
    cost.workspace = std::max(cost.workspace, number(function, "workspace_bytes"));
    if (const Object *pools = function.getObject("pool_bytes"))
      for (const auto &[pool, bytes] : *pools) {
        int64_t &most = cost.pools[pool.str()];
        most = std::max(most, bytes.getAsInteger().value_or(0));
      }
  });
  forEach(report, "allocations", [&](const Object &allocation) {
    cost.isPlannedAtCall |= allocation.getInteger("slot").has_value();
    cost.allocatorBuffers += !allocation.getInteger("offset") && !allocation.getInteger("slot") &&
                             text(allocation, "scope") != "global.stack";
  });
  forEach(report, "scratch", [&](const Object &dispatch) {
    cost.scratch = std::max(cost.scratch, number(dispatch, "bytes"));
  });
  return cost;
}

std::vector<Repetition> repetitionsIn(const std::vector<std::string> &names) {
  std::vector<Repetition> repetitions;
  for (size_t begin = 0; begin < names.size();) {
    Repetition best{.begin = begin};
    size_t saved = 1; // one alone is no layer
    for (size_t length = 1; begin + 2 * length <= names.size(); ++length) {
      size_t end = begin + length;
      while (end < names.size() && names[end] == names[end - length])
        ++end;
      const size_t count = (end - begin) / length;
      if ((count - 1) * length > saved) {
        saved = (count - 1) * length;
        best.length = length;
        best.count = count;
      }
    }
    repetitions.push_back(best);
    begin += best.length * best.count;
  }
  return repetitions;
}

std::vector<SummaryRow> summaryOf(const Object &report, const Cost &cost, const std::string &time) {
  const Counts counts = countsOf(report);
  std::string copies = "none";
  if (counts.copies > 0)
    copies = std::to_string(counts.copies) + ", of " +
             (counts.areCopiesOpen && counts.copiedBytes == 0
                  ? "which the bytes are known at the call"
                  : formatOpenBytes(counts.copiedBytes, counts.areCopiesOpen));
  return {
      {"dispatches",
       {std::to_string(counts.dispatches) + ", of " +
        counted(static_cast<int64_t>(counts.codes.size()), "kind", "kinds")}},
      {"bytes",
       {formatOpenBytes(counts.bytes, counts.areBytesOpen) + ", each buffer of a dispatch once"}},
      {"peak of a call", {memoryOf(cost)}},
      {"copies", {copies}},
      {"time", {time.empty() ? "not known before it runs" : time}},
      {"to try", adviceOf(counts, !time.empty())}};
}

void printSummary(const std::vector<SummaryRow> &rows, std::ostream &out) {
  out << "summary\n";
  for (const SummaryRow &row : rows) {
    std::string label = row.label;
    for (const std::string &words : row.lines) {
      std::string line = std::string(tableIndent, ' ') + std::exchange(label, "");
      pad(line, 18);
      out << line << words << "\n";
    }
  }
}

} // namespace plim::tools
