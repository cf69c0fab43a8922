// `plimsoll plan`: the static memory planner on its own, for problems in files of planner/Csv.h.
//
// Must not know how a plan is found: only the planner's entry point.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace plim::tools {

struct PlanOptions {
  std::string file;
  std::optional<int64_t> capacity; // bytes of the one pool, if none are named
  /// NAME[=[BYTES][:ALIGNMENT[:WEIGHT]]], best first. Without BYTES there is no limit. With a
  /// weight anywhere the plan is that of the least weighted sum of peaks.
  std::vector<std::string> pools;
  /// Placements to try. Without one, a million, or no limit where there is one of time.
  std::optional<int64_t> nodes;
  std::optional<double> seconds; // until the best plan so far is taken
  int threads = 0;               // that search; 0 for all
  /// Orders of the buffers that are searched side by side; 0: one, or with a time half of the threads.
  int orders = 0;
  std::string output;      // the solution; empty: none
  std::string svg;         // a picture of it; empty: none
  std::string certificate; // a proof that none is better; empty: none
};

/// The report goes to `out`, one diagnostic to `err`. 0, 1 if there is no plan or after another
/// error, 2 if a pool's text is wrong.
int runPlanCommand(const PlanOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
