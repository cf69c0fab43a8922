#include "tools/RunStatistics.h"

#include "tools/Text.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <string>

namespace plim::tools {

namespace {

std::string formatMicroseconds(int64_t nanoseconds) {
  return formatNumber(static_cast<double>(nanoseconds) / 1e3);
}

void printLoad(const LoadStatistics &statistics, std::ostream &out) {
  auto ms = [](double seconds) { return seconds * 1e3; };
  out << std::fixed << std::setprecision(2) << "load: " << ms(statistics.totalSeconds) << " ms";
  if (statistics.fromCache)
    out << " (from the cache";
  else
    out << " (parse " << ms(statistics.compile.parse) << ", lower " << ms(statistics.compile.lower)
        << ", optimise " << ms(statistics.compile.optimise) << ", codegen "
        << ms(statistics.compile.codegen);
  if (statistics.compile.cachedObjects > 0)
    out << ", " << statistics.compile.cachedObjects << " of " << statistics.compile.objects
        << " objects from the cache";
  out << ", link " << ms(statistics.linkSeconds) << ")\n";
}

void printDispatches(std::vector<Profiler::Counter> counters, double allMicroseconds,
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
  out << "dispatches, times in us, with their share of the calls\n";
  std::vector<std::vector<std::string>> rows = {
      {"dispatch", "runs", "workgroups", "minimum", "mean", "maximum", "share %", "GB/s"}};
  for (const Profiler::Counter &counter : counters) {
    double total = static_cast<double>(counter.totalNanoseconds) / 1e3;
    rows.push_back({printable(counter.name), std::to_string(counter.runs),
                    std::to_string(counter.workgroups), formatMicroseconds(counter.minNanoseconds),
                    formatNumber(total / static_cast<double>(counter.runs)),
                    formatMicroseconds(counter.maxNanoseconds),
                    formatNumber(100 * total / allMicroseconds),
                    formatNumber(static_cast<double>(counter.bytes) / 1e3 / total)});
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
  std::vector<double> &times = statistics.callMicroseconds;
  std::sort(times.begin(), times.end());
  const double total = std::accumulate(times.begin(), times.end(), 0.0);
  const auto count = static_cast<double>(times.size());
  out << "calls: " << times.size() << ", in us: minimum " << formatNumber(times.front());
  for (int percent : {50, 90, 99})
    out << ", p" << percent << " " << formatNumber(quantileOf(times, percent / 100.0));
  out << ", maximum " << formatNumber(times.back()) << ", mean " << formatNumber(total / count)
      << "\n";
  // A call of less than the clock's step.
  const double seconds = std::max(total, 1e-3) / 1e6;
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
  printDispatches(std::move(statistics.counters), std::max(total, 1e-3), out);
}

} // namespace plim::tools
