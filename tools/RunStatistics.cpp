#include "tools/RunStatistics.h"

#include "tools/Text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <string>

namespace plim::tools {

namespace {

std::string formatNanoseconds(int64_t nanoseconds) {
  return formatSeconds(static_cast<double>(nanoseconds) / 1e9);
}

void printLoad(const LoadStatistics &statistics, std::ostream &out) {
  out << "load: " << formatSeconds(statistics.totalSeconds);
  if (statistics.fromCache)
    out << " (from the cache";
  else
    out << " (parse " << formatSeconds(statistics.compile.parse) << ", lower "
        << formatSeconds(statistics.compile.lower) << ", optimise "
        << formatSeconds(statistics.compile.optimise) << ", codegen "
        << formatSeconds(statistics.compile.codegen);
  if (statistics.compile.cachedObjects > 0)
    out << ", " << statistics.compile.cachedObjects << " of " << statistics.compile.objects
        << " objects from the cache";
  out << ", link " << formatSeconds(statistics.linkSeconds) << ")\n";
}

void printDispatches(std::vector<Profiler::Counter> counters, double allSeconds,
                     std::ostream &out) {
  std::erase_if(counters, [](const Profiler::Counter &counter) {
    return counter.kind != Profiler::Kind::Dispatch;
  });
  if (counters.empty())
    return;
  std::sort(
      counters.begin(), counters.end(), [](const Profiler::Counter &a, const Profiler::Counter &b) {
        return a.totalNanoseconds != b.totalNanoseconds ? a.totalNanoseconds > b.totalNanoseconds
                                                        : a.name < b.name;
      });
  out << "dispatches, with their share of the calls\n";
  std::vector<std::vector<std::string>> rows = {
      {"dispatch", "runs", "workgroups", "minimum", "mean", "maximum", "share %", "GB/s"}};
  for (const Profiler::Counter &counter : counters) {
    const double total = static_cast<double>(counter.totalNanoseconds) / 1e9;
    rows.push_back({printable(counter.name), std::to_string(counter.runs),
                    std::to_string(counter.workgroups), formatNanoseconds(counter.minNanoseconds),
                    formatSeconds(total / static_cast<double>(counter.runs)),
                    formatNanoseconds(counter.maxNanoseconds),
                    formatNumber(100 * total / allSeconds),
                    formatNumber(static_cast<double>(counter.bytes) / 1e9 / total)});
  }
  writeTable(out, rows);
}

void printSpecializations(const SpecializationStatistics &statistics, std::ostream &out) {
  if (statistics.made == 0 && statistics.inWork == 0 && statistics.failed == 0)
    return;
  out << "code for certain extents: " << statistics.made << " made, " << statistics.inWork
      << " in work, " << statistics.failed << " failed, " << statistics.evicted << " evicted; "
      << statistics.calls << " calls took it\n";
}

} // namespace

double quantileOf(const std::vector<double> &sorted, double q) {
  auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

void printStatistics(RunStatistics statistics, std::ostream &out) {
  printLoad(statistics.load, out);
  printSpecializations(statistics.specializations, out);
  std::vector<double> &times = statistics.callSeconds;
  std::sort(times.begin(), times.end());
  const double total = std::accumulate(times.begin(), times.end(), 0.0);
  const auto count = static_cast<double>(times.size());
  out << "calls: " << times.size() << ", minimum " << formatSeconds(times.front());
  for (int percent : {50, 90, 99})
    out << ", p" << percent << " " << formatSeconds(quantileOf(times, percent / 100.0));
  out << ", maximum " << formatSeconds(times.back()) << ", mean " << formatSeconds(total / count)
      << "\n";
  // A call of less than the clock's step.
  const double seconds = std::max(total, 1e-9);
  out << "throughput: " << formatNumber(count / seconds) << " calls a second, "
      << formatNumber(count * static_cast<double>(statistics.callBytes) / seconds / 1e9)
      << " GB/s of arguments and results\n";
  const EngineMemoryStatistics &memory = statistics.memory;
  auto peak = [](const runtime::MemoryPoolStatistics &pool) {
    return formatBytes(static_cast<int64_t>(pool.peakBytes));
  };
  out << "memory at most: buffers " << peak(memory.buffers) << ", workspaces "
      << peak(memory.workspaces) << ", scratch " << peak(memory.scratch)
      << "; resident in the process " << formatBytes(statistics.residentBytes) << "\n";
  printDispatches(std::move(statistics.counters), seconds, out);
}

} // namespace plim::tools
