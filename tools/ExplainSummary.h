// What a report comes to: the first lines of `plimsoll explain`, and what a module costs under a
// policy.
//
// Reads the JSON that the compiler leaves, as ExplainReport does. Any thread.
#pragma once

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace plim::tools {

// Of a report: "" and 0 for what is not there.
std::string text(const llvm::json::Object &object, llvm::StringRef key);
int64_t number(const llvm::json::Object &object, llvm::StringRef key);

template <typename VisitT>
void forEach(const llvm::json::Object &object, llvm::StringRef key, VisitT visit) {
  if (const llvm::json::Array *array = object.getArray(key))
    for (const llvm::json::Value &value : *array)
      visit(*value.getAsObject());
}

/// What a module takes: the most of any function, constants and parameters of all.
struct Cost {
  int64_t stack = 0;     // proven
  int64_t workspace = 0; // of a call, as far as that is known at load
  bool isPlannedAtCall = false;
  int64_t scratch = 0; // of a thread
  std::map<std::string, int64_t> pools;
  int64_t allocatorBuffers = 0; // allocations without a place that was planned
};

/// Of a report as the compiler leaves it.
Cost costOf(const llvm::json::Object &report);

/// `count` times the same `length` dispatches from `begin` on, such as the layers of a network.
struct Repetition {
  size_t begin = 0, length = 1, count = 1;
};

/// All of `names`, in order, in as few and as long repetitions as are found from left to right.
std::vector<Repetition> repetitionsIn(const std::vector<std::string> &names);

/// The bytes of a type of the report, "memref<4x?xf32, strided<...>>"; nothing where an extent is
/// open.
std::optional<int64_t> bytesOf(llvm::StringRef type);

struct SummaryRow {
  std::string label;
  std::vector<std::string> lines;
};

/// How many dispatches and bytes, the memory of a call, copies, and what to try. Without a `time`
/// none is known.
std::vector<SummaryRow> summaryOf(const llvm::json::Object &report, const Cost &cost,
                                  const std::string &time = "");
void printSummary(const std::vector<SummaryRow> &rows, std::ostream &out);

} // namespace plim::tools
