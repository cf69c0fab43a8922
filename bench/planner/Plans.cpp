// Size and time of plans, beside those of the classical rules (Heuristics.h).
//
//   INSTANCE/solve      with the default budget, 1 thread
//   INSTANCE/solve2     the same with 2 threads: the same plan
//   INSTANCE/50ms, /1s  stopped after that time, 1 thread, no other budget
//   INSTANCE/RULE       a classical rule
//   INSTANCE/replan     three sizes have changed: from the plan of before, without further search
//   MODULES/modules     all the problems of the modules together
//   trims.N/400k        400,000 nodes: what was cut and then trimmed, so that hardly two buffers match
//   pinwheels.N/400k    the same, but cut in a way that leaves no two pieces that make a rectangle
//   gaps.N/proofs       20 problems whose best peak may be above the bound, 2 million nodes each: "proved",
//                       and "above" how many of those have a best peak above the load
//
// Instances: the .csv files of ../shared/data/planner, if that folder is there, families made by
// Instances.cpp, and what the engine's passes make of modules: of hourglasses made here, of
// examples/digits and of all in tests/conformance. "pass" is what they take in the engine. To be
// run at the root of the checkout.
//
// Counters: "peak" in bytes, "bound", what no plan is below as far as known, "over" their quotient,
// "nodes" placements tried, "MB" the most memory that the process had so far. A plan that the
// verifier finds wrong ends the program. At the end stands the geometric mean of "over" for each
// planner over the instances of each group.

#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"
#include "bench/planner/Heuristics.h"
#include "bench/planner/Instances.h"
#include "bench/planner/ModuleProblems.h"
#include "planner/Csv.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <sys/resource.h>

using namespace plim;
using namespace plim::bench;
using planner::Plan;
using planner::Problem;

namespace {

struct Instance {
  std::string name;
  Problem problem;
};

using Clock = std::chrono::steady_clock;
using Solver = std::function<Plan(const Problem &)>;

Plan solveWith(const Problem &problem, unsigned threads) {
  planner::Options options;
  options.threads = threads;
  return planner::solve(problem, options);
}

Plan solveFor(const Problem &problem, double seconds) {
  planner::Options options;
  options.nodes = std::numeric_limits<uint64_t>::max();
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  options.stop = [end] { return Clock::now() >= end; };
  return planner::solve(problem, options);
}

/// Peak over bound by group, planner and instance.
std::map<std::string, std::map<std::string, std::map<std::string, double>>> ratios;

void checkPlan(const std::string &what, const Problem &problem, const Plan &plan) {
  if (std::string fault = planner::verify(problem, plan); !fault.empty())
    fail(what + ": " + fault);
}

/// In megabytes, of the process so far.
double mostMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/// What no plan is below: the rules give no bound.
int64_t boundOf(const Instance &instance) {
  static std::map<std::string, int64_t> bounds;
  auto [known, isNew] = bounds.emplace(instance.name, 0);
  if (isNew) {
    planner::Options options;
    options.nodes = 0;
    known->second = planner::solve(instance.problem, options).lowerBounds[0];
  }
  return known->second;
}

struct Group {
  std::string name;
  std::vector<Instance> instances;
};

void runOne(benchmark::State &state, const std::string &group, const Instance &instance,
            const std::string &planner, const Solver &solver) {
  Plan plan;
  for ([[maybe_unused]] auto _ : state)
    plan = solver(instance.problem);
  checkPlan(instance.name + "/" + planner, instance.problem, plan);
  int64_t bound = boundOf(instance);
  double over = bound > 0 ? double(plan.peaks[0]) / double(bound) : 1;
  state.counters["peak"] = double(plan.peaks[0]);
  state.counters["bound"] = double(bound);
  state.counters["over"] = over;
  state.counters["nodes"] = double(plan.nodes);
  ratios[group][planner][instance.name] = over;
}

void add(const std::string &group, const Instance &instance, const std::string &planner,
         const Solver &solver, bool isLong) {
  auto *made = benchmark::RegisterBenchmark(
      (instance.name + "/" + planner).c_str(),
      [=](benchmark::State &state) { runOne(state, group, instance, planner, solver); });
  made->Unit(benchmark::kMillisecond)->UseRealTime();
  if (isLong)
    made->Iterations(1);
}

void addInstance(const std::string &group, const Instance &instance) {
  bool isLarge = instance.problem.buffers.size() > 2000;
  add(group, instance, "solve", [](const Problem &p) { return solveWith(p, 1); }, true);
  add(group, instance, "solve2", [](const Problem &p) { return solveWith(p, 2); }, true);
  if (!isLarge) {
    add(group, instance, "50ms", [](const Problem &p) { return solveFor(p, 0.05); }, true);
    add(group, instance, "1s", [](const Problem &p) { return solveFor(p, 1); }, true);
  }
  for (Rule rule : rules)
    add(
        group, instance, nameOf(rule), [=](const Problem &p) { return planByRule(p, rule); },
        isLarge);
}

/// Three sizes of `before` have changed. The counter "over_greedy" is the peak by that of a plan
/// made greedily afresh.
void replan(benchmark::State &state, const Problem &before) {
  Plan old = solveWith(before, 1);
  checkPlan("replan", before, old);
  Problem after = before;
  size_t count = after.buffers.size();
  for (size_t index : {count / 5, count / 2, count - count / 7})
    after.buffers[index].bytes = after.buffers[index].bytes * 3 / 2;
  planner::Options options;
  options.nodes = 0;
  options.warmStart = &old;
  Plan plan;
  for ([[maybe_unused]] auto _ : state)
    plan = planner::solve(after, options);
  checkPlan("replan", after, plan);
  state.counters["peak"] = double(plan.peaks[0]);
  state.counters["over"] = double(plan.peaks[0]) / double(plan.lowerBounds[0]);
  state.counters["over_greedy"] =
      double(plan.peaks[0]) / double(planner::planGreedy(after).peaks[0]);
}

/// All the modules of a folder together: one iteration plans every one of their problems.
void planModules(benchmark::State &state, const std::vector<ModuleProblem> &problems) {
  std::vector<Plan> plans(problems.size());
  for ([[maybe_unused]] auto _ : state)
    for (size_t i = 0; i < problems.size(); ++i)
      plans[i] = planner::solve(problems[i].problem);
  double buffers = 0, peak = 0, bound = 0, pass = 0;
  for (size_t i = 0; i < problems.size(); ++i) {
    checkPlan(problems[i].name, problems[i].problem, plans[i]);
    buffers += double(problems[i].problem.buffers.size());
    peak += double(plans[i].peaks[0]);
    bound += double(plans[i].lowerBounds[0]);
    pass += double(problems[i].plannedBytes);
  }
  state.counters["problems"] = double(problems.size());
  state.counters["buffers"] = buffers;
  state.counters["peak"] = peak;
  state.counters["bound"] = bound;
  state.counters["pass"] = pass;
  state.counters["over"] = bound > 0 ? peak / bound : 1;
}

void planTrimmed(benchmark::State &state, const Problem &problem) {
  planner::Options options;
  options.nodes = 400'000;
  Plan plan;
  for ([[maybe_unused]] auto _ : state)
    plan = planner::solve(problem, options);
  checkPlan("trimmed", problem, plan);
  state.counters["peak"] = double(plan.peaks[0]);
  state.counters["over"] = double(plan.peaks[0]) / double(plan.lowerBounds[0]);
  state.counters["nodes"] = double(plan.nodes);
}

void proveGaps(benchmark::State &state, int count, int64_t load, int64_t largest, int64_t slack) {
  double proved = 0, above = 0, nodes = 0, most = 0;
  for ([[maybe_unused]] auto _ : state)
    for (int seed = 1; seed <= 20; ++seed) {
      Problem problem = gaps(count, seed, load, largest, slack);
      planner::Options options;
      options.nodes = 0;
      int64_t bound = planner::solve(problem, options).lowerBounds[0];
      options.nodes = 2'000'000;
      Plan plan = planner::solve(problem, options);
      checkPlan("gaps", problem, plan);
      proved += plan.status == planner::Status::Optimal;
      above += plan.status == planner::Status::Optimal && plan.peaks[0] > bound;
      nodes += double(plan.nodes);
      most = std::max(most, double(plan.nodes));
    }
  state.counters["proved"] = proved;
  state.counters["above"] = above;
  state.counters["nodes"] = nodes;
  state.counters["most"] = most;
}

void planLarge(benchmark::State &state, int count, double share, double seconds) {
  Problem problem = scatter(count, share);
  Plan plan;
  for ([[maybe_unused]] auto _ : state)
    plan = solveFor(problem, seconds);
  state.counters["MB"] = mostMemory();
  checkPlan("scatter", problem, plan);
  state.counters["peak"] = double(plan.peaks[0]);
  state.counters["over"] = double(plan.peaks[0]) / double(plan.lowerBounds[0]);
  state.counters["pairs"] = double(countPairs(problem));
  state.counters["nodes"] = double(plan.nodes);
}

/// The problems in the .csv files of a folder, by name; none if there is no folder.
std::vector<Instance> readFolder(const std::string &folder) {
  std::vector<Instance> instances;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".csv")
      continue;
    Instance &instance = instances.emplace_back();
    instance.name = entry.path().stem();
    auto fault = planner::readCsv(orFail(Engine::readSource(entry.path())), instance.problem);
    if (fault)
      fail(entry.path().string() + ":" + std::to_string(fault->line) + ": " + fault->message);
  }
  std::sort(instances.begin(), instances.end(),
            [](const Instance &a, const Instance &b) { return a.name < b.name; });
  return instances;
}

std::vector<ModuleProblem> problemsOfFolder(const std::filesystem::path &folder) {
  std::vector<ModuleProblem> problems;
  std::error_code ignored;
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder, ignored))
    if (entry.path().extension() == ".mlir")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto &path : paths)
    for (ModuleProblem &problem : problemsOf(orFail(Engine::readSource(path)), path.stem()))
      problems.push_back(std::move(problem));
  return problems;
}

void registerAll() {
  std::vector<Group> groups = {{"public", readFolder("../shared/data/planner")}, {"made", {}}};
  for (int count : {100, 500, 2000}) {
    groups[1].instances.push_back({"layers." + std::to_string(count), layers(count)});
    groups[1].instances.push_back({"cuts." + std::to_string(count), cuts(count)});
    groups[1].instances.push_back({"scatter." + std::to_string(count), scatter(count, 0.05)});
  }
  for (const Group &group : groups)
    for (const Instance &instance : group.instances)
      addInstance(group.name, instance);
  addInstance("large", {"layers.20000", layers(20'000)});

  for (auto [count, share] : {std::pair(20'000, 0.031), std::pair(60'000, 0.0515)})
    benchmark::RegisterBenchmark(("scatter." + std::to_string(count) + "/4s").c_str(),
                                 [=](benchmark::State &s) { planLarge(s, count, share, 4); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(1);
  for (int count : {60, 100, 245, 250, 255, 260, 490, 500, 505, 510, 520, 990, 1000, 1010})
    benchmark::RegisterBenchmark(("trims." + std::to_string(count) + "/400k").c_str(),
                                 [=](benchmark::State &s) { planTrimmed(s, trims(count)); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  for (int count : {21, 61, 101, 245, 501, 1001})
    benchmark::RegisterBenchmark(("pinwheels." + std::to_string(count) + "/400k").c_str(),
                                 [=](benchmark::State &s) { planTrimmed(s, pinwheels(count)); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  struct GapFamily {
    int count, load, largest, slack;
  };
  for (GapFamily f : {GapFamily{21, 24, 12, 0}, {32, 64, 24, 2}, {43, 24, 12, 0}, {43, 64, 24, 2}})
    benchmark::RegisterBenchmark(
        ("gaps." + std::to_string(f.count) + "." + std::to_string(f.load) + "/proofs").c_str(),
        [=](benchmark::State &s) { proveGaps(s, f.count, f.load, f.largest, f.slack); })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  for (const char *name : {"layers.500", "cuts.500"})
    benchmark::RegisterBenchmark(
        (std::string(name) + "/replan").c_str(),
        [=](benchmark::State &s) { replan(s, *name == 'l' ? layers(500) : cuts(500)); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  auto addModules = [](const std::string &name,
                       const std::function<std::vector<ModuleProblem>()> &make) {
    benchmark::RegisterBenchmark((name + "/modules").c_str(),
                                 [=](benchmark::State &s) { planModules(s, make()); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  for (int count : {2, 8})
    addModules("hourglass." + std::to_string(count), [=] {
      return problemsOf(hourglassModule(count), "hourglass." + std::to_string(count));
    });
  addModules("digits", [] {
    return problemsOf(orFail(Engine::readSource("examples/digits/digits.mlir")), "digits");
  });
  addModules("conformance", [] { return problemsOfFolder("tests/conformance"); });
}

void printMeans() {
  for (const auto &[group, planners] : ratios) {
    std::printf("\npeak over lower bound, geometric mean, %s instances\n", group.c_str());
    for (const auto &[planner, instances] : planners) {
      double sum = 0;
      for (const auto &[instance, over] : instances)
        sum += std::log(over);
      std::printf("  %-18s %.4f of %zu\n", planner.c_str(),
                  std::exp(sum / double(instances.size())), instances.size());
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  int status = plim::bench::runBenchmarks(argc, argv, registerAll);
  printMeans();
  return status;
}
