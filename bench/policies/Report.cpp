#include "bench/policies/Report.h"

#include "tools/Text.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <ostream>
#include <thread>

namespace plim::bench {

void print(const Result &result, std::ostream &out) {
  out << result.name << ", " << result.threads << (result.threads == 1 ? " thread" : " threads")
      << "\n";
  std::vector<std::vector<std::string>> rows = {
      {"policy", "median", "p99", "by " + result.laps[0].policy, "+-", "stack", "workspace", "heap",
       "faults", "allocations", "off by", "may be"}};
  for (const Lap &lap : result.laps)
    rows.push_back({lap.policy, tools::formatSeconds(lap.medianSeconds),
                    tools::formatSeconds(lap.p99Seconds), tools::formatNumber(lap.versusFirst),
                    tools::formatNumber(lap.versusSpread / 2), tools::formatBytes(lap.stackBytes),
                    tools::formatBytes(static_cast<int64_t>(lap.workspaceBytes)),
                    tools::formatBytes(static_cast<int64_t>(lap.heapBytes)),
                    tools::formatNumber(lap.pageFaults), tools::formatNumber(lap.allocations),
                    tools::formatNumber(lap.difference), tools::formatNumber(lap.differenceBound)});
  tools::writeTable(out, rows);
  out << std::flush;
}

std::string toJson(const std::vector<Result> &results) {
  llvm::json::Array benchmarks;
  for (const Result &result : results)
    for (const Lap &lap : result.laps)
      benchmarks.push_back(llvm::json::Object{
          {"name", result.name + "/" + lap.policy + "/threads:" + std::to_string(result.threads)},
          {"run_type", "iteration"},
          {"iterations", lap.calls},
          {"real_time", lap.medianSeconds * 1e6},
          {"cpu_time", lap.medianSeconds * 1e6},
          {"time_unit", "us"},
          {"threads", result.threads},
          {"p99_us", lap.p99Seconds * 1e6},
          {"versus_first", lap.versusFirst},
          {"versus_spread", lap.versusSpread},
          {"stack_bytes", lap.stackBytes},
          {"workspace_bytes", static_cast<int64_t>(lap.workspaceBytes)},
          {"heap_bytes", static_cast<int64_t>(lap.heapBytes)},
          {"page_faults", lap.pageFaults},
          {"allocations", lap.allocations},
          {"difference", lap.difference},
          {"difference_bound", lap.differenceBound}});
  llvm::json::Object context{
      {"executable", "plimsoll-bench"},
      {"num_cpus", static_cast<int64_t>(std::thread::hardware_concurrency())}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", llvm::json::Value(llvm::json::Object{{"context", std::move(context)},
                                                      {"benchmarks", std::move(benchmarks)}}));
  return text;
}

} // namespace plim::bench
