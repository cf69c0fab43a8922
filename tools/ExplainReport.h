// The report of a module as `plimsoll explain --json` prints it and the page shows it: what the
// compiler left, and what follows from it. docs/reference/report.md has all fields.
//
// Must not know how anything is printed. Any thread.
#pragma once

#include "support/Status.h"
#include "targets/TargetDescription.h"
#include "tools/ExplainSummary.h"

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim::tools {

/// What a module takes under each policy, that of the report first.
using PolicyCosts = std::vector<std::pair<std::string, Cost>>;

/// The buffers of one function that were planned at load into one memory.
struct MemoryMap {
  struct Buffer {
    int64_t offset, bytes, lower, upper;
    std::string label;
    int64_t index; // among the allocations of the report
  };
  std::string name; // "memory of @main", "pool sram of @main"
  std::string function;
  std::vector<Buffer> buffers; // lowest first
  int64_t peak = 0;
  int64_t lowerBound = 0;     // the most bytes that are live at once
  int64_t fullest = 0;        // a time when they are
  int64_t begin = 0, end = 0; // of all lives

  bool isAtFullest(const Buffer &buffer) const {
    return buffer.lower <= fullest && fullest < buffer.upper;
  }
};

/// One for each function and memory in which something was planned.
std::vector<MemoryMap> memoryMapsOf(const llvm::json::Object &report);

/// Of Artifact::report, which the compiler wrote: Internal for anything else.
StatusOr<llvm::json::Object> parseReport(const std::string &text);

/// What a report is completed with. Borrows all but the texts.
struct ReportContext {
  std::string module;      // its name
  std::string_view source; // "" or what is no text: left out
  const targets::TargetDescription &target;
  const PolicyCosts &costs;
  std::string time = ""; // of a call, in words, where it was measured
};

/// Adds the fields that the compiler does not write.
void completeReport(llvm::json::Object &report, const ReportContext &context);

/// On several lines, with one at the end.
std::string toText(const llvm::json::Object &report);

} // namespace plim::tools
