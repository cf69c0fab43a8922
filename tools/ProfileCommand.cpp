#include "tools/ProfileCommand.h"

#include "tools/Ceilings.h"
#include "tools/EarlyChecks.h"
#include "tools/ExplainReport.h"
#include "tools/Progress.h"
#include "tools/ReportPage.h"
#include "tools/RunStatistics.h"
#include "tools/Text.h"
#include "tools/Timeline.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

namespace plim::tools {

namespace {

using llvm::json::Array;
using llvm::json::Object;
using runtime::Value;

/// Of the calls, unless it is told how many.
constexpr double measuredSeconds = 1;
constexpr size_t leastCalls = 5, mostCalls = 200;
/// In a page, of some 40 bytes each.
constexpr size_t mostSpans = 40000;

/// By name: dispatches of one name are one code, which is what the profiler counts.
using DispatchCounters = std::map<std::string, Profiler::Counter>;

DispatchCounters dispatchCountersOf(const Profiler &profiler) {
  DispatchCounters counters;
  for (Profiler::Counter &counter : profiler.counters())
    if (counter.kind == Profiler::Kind::Dispatch)
      counters.try_emplace(counter.name, std::move(counter));
  return counters;
}

/// What was counted since `before`; least and most are those of all.
DispatchCounters difference(DispatchCounters counters, const DispatchCounters &before) {
  for (auto &[key, counter] : counters)
    if (auto earlier = before.find(key); earlier != before.end()) {
      counter.runs -= earlier->second.runs;
      counter.workgroups -= earlier->second.workgroups;
      counter.bytes -= earlier->second.bytes;
      counter.totalNanoseconds -= earlier->second.totalNanoseconds;
    }
  std::erase_if(counters, [](const auto &entry) { return entry.second.runs == 0; });
  return counters;
}

double meanSecondsOf(const Profiler::Counter &counter) {
  return static_cast<double>(counter.totalNanoseconds) / static_cast<double>(counter.runs) / 1e9;
}

Object measuredOf(const Profiler::Counter &counter, double runsPerCall) {
  return Object{{"runs", static_cast<int64_t>(counter.runs)},
                {"runs_per_call", runsPerCall},
                {"mean_seconds", meanSecondsOf(counter)},
                {"min_seconds", static_cast<double>(counter.minNanoseconds) / 1e9},
                {"bytes", static_cast<int64_t>(counter.bytes / counter.runs)},
                {"workgroups", static_cast<int64_t>(counter.workgroups / counter.runs)}};
}

/// To the dispatches of the function that was called, and of those that it may call: the other public ones did not run.
void addMeasured(Object &report, const DispatchCounters &counters, const Module &module,
                 std::string_view called, size_t calls) {
  std::vector<Object *> ran;
  std::map<std::string, size_t> sharing; // dispatches of one name
  for (llvm::json::Value &each : *report.getArray("functions")) {
    Object &function = *each.getAsObject();
    const std::string name = text(function, "name");
    const bool isPublic = std::ranges::any_of(
        module.functions(), [&](const auto &signature) { return signature.name == name; });
    if (isPublic && name != called)
      continue;
    for (llvm::json::Value &dispatch : *function.getArray("dispatches")) {
      ran.push_back(dispatch.getAsObject());
      ++sharing[text(*ran.back(), "name")];
    }
  }
  for (Object *dispatch : ran) {
    const std::string name = text(*dispatch, "name");
    if (auto counter = counters.find(name); counter != counters.end())
      (*dispatch)["measured"] =
          measuredOf(counter->second, static_cast<double>(counter->second.runs) /
                                          static_cast<double>(calls * sharing[name]));
  }
}

/// Times of calls, in order.
struct Calls {
  std::vector<double> seconds; // sorted
  double median() const { return quantileOf(seconds, 0.5); }
};

StatusOr<Calls> measureCalls(const Function &function, const std::vector<Value> &inputs,
                             int64_t repeat) {
  using Clock = std::chrono::steady_clock;
  std::vector<Value> results(function.signature().results.size());
  Calls calls;
  double all = 0;
  const auto isEnough = [&] {
    const size_t count = calls.seconds.size();
    return repeat > 0 ? count >= static_cast<size_t>(repeat)
                      : count >= mostCalls || (count >= leastCalls && all >= measuredSeconds);
  };
  while (!isEnough()) {
    const Clock::time_point start = Clock::now();
    PLIM_RETURN_IF_ERROR(function.callInto(inputs, results));
    calls.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    all += calls.seconds.back();
  }
  std::sort(calls.seconds.begin(), calls.seconds.end());
  return calls;
}

Object profileOf(const Engine &engine, const Function &function, const Calls &calls,
                 const Ceilings &ceilings, const Profiler &profiler) {
  return Object{{"function", function.signature().name},
                {"threads", engine.threads()},
                {"ceilings", Object{{"memory_gbps", ceilings.memoryGBps},
                                    {"memory_bytes", ceilings.arrayBytes},
                                    {"product_gops", ceilings.productGops},
                                    {"product_size", ceilings.productSize}}},
                {"calls", Object{{"count", static_cast<int64_t>(calls.seconds.size())},
                                 {"min_seconds", calls.seconds.front()},
                                 {"median_seconds", calls.median()},
                                 {"max_seconds", calls.seconds.back()}}},
                {"timeline", timelineOf(profiler.snapshot(), mostSpans)}};
}

/// The dispatches of one code.
struct Row {
  double seconds = 0, bytes = 0, operations = 0; // of a call
  double count = 0;
  bool areOperationsKnown = true;
};

void printDispatches(const Object &report, const Ceilings &ceilings, std::ostream &out) {
  std::map<std::string, Row> rows;
  double all = 0;
  forEach(report, "functions", [&](const Object &function) {
    forEach(function, "dispatches", [&](const Object &dispatch) {
      const Object *measured = dispatch.getObject("measured");
      if (!measured)
        return;
      Row &row = rows[text(dispatch, "name")];
      const double runs = measured->getNumber("runs_per_call").value_or(1);
      row.count += runs;
      // The fastest run, as ceilings are: others have what else the machine did in them.
      const double seconds = runs * measured->getNumber("min_seconds").value_or(0);
      row.seconds += seconds;
      row.bytes += runs * static_cast<double>(number(*measured, "bytes"));
      row.operations += runs * static_cast<double>(number(dispatch, "operations"));
      row.areOperationsKnown &= dispatch.getInteger("operations").has_value();
      all += seconds;
    });
  });
  if (rows.empty())
    return;
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.seconds != b.second.seconds ? a.second.seconds > b.second.seconds
                                                : a.first < b.first;
  });
  out << "dispatches of a call, by their code, at their fastest; memory does "
      << formatNumber(ceilings.memoryGBps) << " GB/s here, products "
      << formatNumber(ceilings.productGops) << " Gop/s\n";
  std::vector<std::vector<std::string>> table = {
      {"dispatch", "times", "time", "share %", "GB/s", "% of memory", "Gop/s", "% of products"}};
  for (const auto &[name, row] : sorted) {
    const double seconds = std::max(row.seconds, 1e-9);
    const double bandwidth = row.bytes / seconds / 1e9, rate = row.operations / seconds / 1e9;
    const auto known = [&](double value) {
      return row.areOperationsKnown ? formatNumber(value) : std::string("-");
    };
    table.push_back({printable(name), formatNumber(row.count), formatSeconds(row.seconds),
                     formatNumber(100 * row.seconds / all), formatNumber(bandwidth),
                     formatNumber(100 * bandwidth / ceilings.memoryGBps), known(rate),
                     known(100 * rate / ceilings.productGops)});
  }
  writeTable(out, table);
}

Status profile(const ProfileOptions &options, std::ostream &out, std::ostream &err) {
  // First: a typo should not cost a compilation.
  if (!options.page.empty())
    PLIM_RETURN_IF_ERROR(checkPage(options.page, options.module));
  auto pool = std::make_shared<runtime::MemoryPool>();
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> inputs, readInputs(options.call, pool));
  auto profiler = std::make_shared<Profiler>();
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module, profiler));
  LoadOptions load = loadOptions(options.module, err);
  std::optional<ProgressLine> line;
  if (options.progress) {
    line.emplace(err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  PLIM_ASSIGN_OR_RETURN(load.parameters, readParameters(options.call, pool));
  std::vector<runtime::Buffer> pools; // must outlive the module
  PLIM_ASSIGN_OR_RETURN(load.pools, makePools(options.call, pool, pools));
  PLIM_ASSIGN_OR_RETURN(ModuleText source, readModuleText(options.module));
  PLIM_RETURN_IF_ERROR(
      checkCall(source.text, moduleName(options.module), options.call.function, {}));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        loadModuleText(source, options.module, *engine, load));
  line.reset();
  if (module->statistics().precompiled)
    PLIM_RETURN_IF_ERROR(checkPrecompiled(options.module));
  PLIM_ASSIGN_OR_RETURN(Function function, chooseFunction(*module, options.call));
  PLIM_RETURN_IF_ERROR(completeInputs(function.signature(), pool, inputs));

  PLIM_RETURN_IF_ERROR(measureCalls(function, inputs, 1).status()); // warms up
  const DispatchCounters before = dispatchCountersOf(*profiler);
  PLIM_ASSIGN_OR_RETURN(const Calls calls, measureCalls(function, inputs, options.repeat));
  const DispatchCounters counters = difference(dispatchCountersOf(*profiler), before);
  PLIM_ASSIGN_OR_RETURN(const Ceilings ceilings, measureCeilings(options.module));

  PLIM_ASSIGN_OR_RETURN(Object report, parseReport(module->report()));
  addMeasured(report, counters, *module, function.signature().name, calls.seconds.size());
  const PolicyCosts costs = {{engine->options().policy, costOf(report)}};
  const std::string time = formatSeconds(calls.median()) + " a call of @" +
                           function.signature().name + ", the median of " +
                           std::to_string(calls.seconds.size());
  if (!options.json && options.page.empty()) {
    printSummary(summaryOf(report, costs.front().second, time), out);
    printDispatches(report, ceilings, out);
    return okStatus();
  }
  completeReport(report, {.module = moduleName(options.module),
                          .source = source.text,
                          .target = engine->target(),
                          .costs = costs,
                          .time = time});
  report["profile"] = profileOf(*engine, function, calls, ceilings, *profiler);
  if (options.json)
    out << toText(report);
  return options.page.empty() ? okStatus() : writePage(report, options.page);
}

} // namespace

int runProfileCommand(const ProfileOptions &options, std::ostream &out, std::ostream &err) {
  return exitStatus(err, profile(options, out, err));
}

} // namespace plim::tools
