// What an engine tells its profiler, and the host of a compilation.
#include "support/Profiler.h"

#include "support/Trace.h"
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Kind = Profiler::Kind;

/// Two products that may run at the same time, and one that needs both; large enough for workers.
constexpr const char *productsSource = R"(
!t = tensor<128x128xf32>
func.func @main(%a: !t, %b: !t, %c: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%a, %c : !t, !t) outs(%z : !t) -> !t
  %r = linalg.matmul ins(%p, %q : !t, !t) outs(%z : !t) -> !t
  return %r : !t
})";

std::vector<Value> products() { return std::vector<Value>(3, smallIntegers({128, 128})); }

/// Names and runs of what is of one kind.
std::map<std::string, uint64_t> runsOf(const Profiler &profiler, Kind kind) {
  std::map<std::string, uint64_t> runs;
  for (const Profiler::Counter &counter : profiler.counters())
    if (counter.kind == kind)
      runs[counter.name] += counter.runs;
  return runs;
}

uint64_t sum(const std::map<std::string, uint64_t> &runs) {
  uint64_t total = 0;
  for (const auto &[name, count] : runs)
    total += count;
  return total;
}

uint64_t dispatchesOf(const Module &module) {
  uint64_t count = 0;
  const nlohmann::json report = nlohmann::json::parse(module.report());
  for (const auto &function : report["functions"])
    count += function["dispatches"].size();
  return count;
}

/// In each row, spans lie in each other or apart.
void expectNested(const Profiler::Snapshot &snapshot) {
  std::map<uint32_t, std::vector<const Profiler::Span *>> open;
  for (const Profiler::Span &span : snapshot.spans) {
    if (span.what->kind == Kind::Memory)
      continue;
    std::vector<const Profiler::Span *> &outer = open[span.row];
    while (!outer.empty() && outer.back()->end <= span.begin)
      outer.pop_back();
    if (!outer.empty())
      EXPECT_LE(span.end, outer.back()->end)
          << span.what->name << " in " << outer.back()->what->name;
    outer.push_back(&span);
  }
}

class EngineProfiler : public ::testing::TestWithParam<int> {
protected:
  std::shared_ptr<Profiler> profiler = std::make_shared<Profiler>();
  std::shared_ptr<Engine> engine = makeEngine({.threads = GetParam(), .profiler = profiler});
};

TEST_P(EngineProfiler, CountsTheBytesOfBindings) {
  // One is read, one written, one both; of sizes that only the call knows.
  Function function = lookup(load(*engine, R"(
    func.func @main(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %a, %c0 : tensor<?x3xf32>
      %e = tensor.empty(%n) : tensor<?x3xf32>
      %r:2 = linalg.generic {
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
                           affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<?x3xf32>) outs(%e, %b : tensor<?x3xf32>, tensor<?x3xf32>) {
      ^bb0(%x: f32, %o: f32, %y: f32):
        %s = arith.addf %x, %y : f32
        linalg.yield %x, %s : f32, f32
      } -> (tensor<?x3xf32>, tensor<?x3xf32>)
      return %r#0, %r#1 : tensor<?x3xf32>, tensor<?x3xf32>
    })"),
                             "main");
  callOk(function, {smallIntegers({5, 3}), smallIntegers({5, 3})});
  uint64_t bytes = 0;
  for (const Profiler::Counter &counter : profiler->counters())
    if (counter.kind == Kind::Dispatch)
      bytes += counter.bytes;
  // The argument must stay, so it is read beside a result of its own.
  EXPECT_EQ(bytes, 15 * (4 + 4 + 4 + 4));
}

TEST_P(EngineProfiler, CountsEveryDispatchOnce) {
  for (auto [source, arguments] :
       {std::pair<const char *, std::vector<Value>>(productsSource, products()),
        {temporariesSource, {smallIntegers({8, 16}), smallIntegers({16, 16})}}}) {
    uint64_t before = sum(runsOf(*profiler, Kind::Dispatch));
    uint64_t callsBefore = sum(runsOf(*profiler, Kind::Call));
    std::shared_ptr<Module> module = load(*engine, source);
    Function function = lookup(module, "main");
    constexpr uint64_t calls = 20;
    for (uint64_t i = 0; i < calls; ++i)
      callOk(function, arguments);
    EXPECT_EQ(sum(runsOf(*profiler, Kind::Call)) - callsBefore, calls);
    EXPECT_EQ(sum(runsOf(*profiler, Kind::Dispatch)) - before, calls * dispatchesOf(*module));
  }
  EXPECT_EQ(runsOf(*profiler, Kind::Range).empty(), engine->threads() == 1);
  EXPECT_EQ(runsOf(*profiler, Kind::Schedule).empty(), engine->threads() == 1);
  Profiler::Snapshot snapshot = profiler->snapshot();
  expectNested(snapshot);
  EXPECT_EQ(snapshot.droppedSpans, 0U);
  EXPECT_THAT(snapshot.rows, Contains("caller 1"));
  EXPECT_THAT(snapshot.rows, Contains("compiler 1"));
}

TEST_P(EngineProfiler, RangesAddUpToTheirDispatches) {
  Function function = lookup(load(*engine, productsSource), "main");
  for (int i = 0; i < 20; ++i)
    callOk(function, products());
  std::map<std::string, uint64_t> dispatched, inRanges;
  for (const Profiler::Counter &counter : profiler->counters()) {
    if (counter.kind == Kind::Dispatch) {
      dispatched[counter.name] = counter.workgroups;
      EXPECT_THAT(counter.location, StartsWith("in.mlir:"));
      EXPECT_LE(counter.minNanoseconds, counter.maxNanoseconds);
      EXPECT_LE(counter.maxNanoseconds, counter.totalNanoseconds);
    }
    if (counter.kind == Kind::Range)
      inRanges[counter.name] = counter.workgroups;
  }
  ASSERT_FALSE(dispatched.empty());
  for (const auto &[name, workgroups] : inRanges)
    EXPECT_EQ(workgroups, dispatched[name]) << name;
}

TEST_P(EngineProfiler, ConcurrentCallsAreAllCounted) {
  std::shared_ptr<Module> module = load(*engine, productsSource);
  Function function = lookup(module, "main");
  constexpr int threads = 3, calls = 20;
  std::vector<std::thread> hosts;
  for (int t = 0; t < threads; ++t)
    hosts.emplace_back([&] {
      for (int i = 0; i < calls; ++i)
        callOk(function, products());
    });
  for (int i = 0; i < 20; ++i)
    profiler->snapshot();
  for (std::thread &host : hosts)
    host.join();
  EXPECT_EQ(sum(runsOf(*profiler, Kind::Dispatch)), threads * calls * dispatchesOf(*module));
  expectNested(profiler->snapshot());
}

TEST_P(EngineProfiler, OutlivesWhatItTellsOf) {
  callOk(lookup(load(*engine, productsSource), "main"), products());
  engine = nullptr; // and with it the module's code and names
  std::ostringstream out;
  writeTrace(*profiler, out);
  nlohmann::json trace = nlohmann::json::parse(out.str());
  std::map<std::string, int> categories;
  int memory = 0;
  for (const nlohmann::json &event : trace["traceEvents"]) {
    if (event["ph"] == "X")
      ++categories[event["cat"].get<std::string>()];
    memory += event["ph"] == "C";
  }
  EXPECT_EQ(categories["call"], 1);
  EXPECT_GT(categories["dispatch"] + categories["range"], 0);
  EXPECT_GT(categories["compile"], 10);
  EXPECT_EQ(categories["load"], 2); // it, and linking
  EXPECT_GT(memory, 0);
}

TEST_P(EngineProfiler, TellsOfPassesJobsAndTheCache) {
  TemporaryFolder folder;
  engine = makeEngine({.threads = GetParam(), .cacheFolder = folder.path(), .profiler = profiler});
  load(*engine, matmulSource);
  std::map<std::string, uint64_t> loads = runsOf(*profiler, Kind::Load);
  EXPECT_EQ(loads["load in.mlir"], 1U);
  EXPECT_EQ(loads["cache miss"], 1U);
  EXPECT_EQ(loads["store in cache"], 1U);
  std::map<std::string, uint64_t> compiled = runsOf(*profiler, Kind::Compile);
  for (const char *name : {"parse", "plim-form-dispatches", "plim-schedule", "translate",
                           "host code: optimise", "host code: generate code"})
    EXPECT_EQ(compiled.count(name), 1U) << name;
  load(*engine, matmulSource);
  EXPECT_EQ(runsOf(*profiler, Kind::Load)["cache hit"], 1U);
  EXPECT_EQ(runsOf(*profiler, Kind::Compile), compiled);
  expectNested(profiler->snapshot());
}

TEST_P(EngineProfiler, WhatFailsIsCountedToo) {
  EXPECT_FALSE(engine->load("func.func @f(", "in.mlir").ok());
  EXPECT_EQ(runsOf(*profiler, Kind::Load)["load in.mlir"], 1U);
  Function function = lookup(load(*engine, matmulSource), "matmul");
  EXPECT_FALSE(function.call({}).ok());
  EXPECT_EQ(runsOf(*profiler, Kind::Call)["matmul"], 1U);
  expectNested(profiler->snapshot());
}

TEST_P(EngineProfiler, CallsThatTakeTurnsWait) {
  Function add = lookup(load(*engine, stateSource), "add");
  callOk(add, {smallIntegers({2})});
  EXPECT_EQ(sum(runsOf(*profiler, Kind::Wait)), 1U);
}

TEST_P(EngineProfiler, HostFunctionsAreMeasured) {
  LoadOptions options;
  options.functions["twice"] = {.function = [](plim_context *, void *, const plim_view *arguments,
                                               const plim_view *results) -> plim_code {
    *static_cast<float *>(results[0].data) = 2 * *static_cast<float *>(arguments[0].data);
    return 0;
  }};
  Function main = lookup(load(*engine, R"(func.func private @twice(f32) -> f32
func.func @main(%x: f32) -> f32 {
  %a = func.call @twice(%x) : (f32) -> f32
  %b = func.call @twice(%a) : (f32) -> f32
  return %b : f32
})",
                              options),
                         "main");
  EXPECT_EQ(std::get<Scalar>(callOk(main, {scalarF32(3)}).at(0)).bits, scalarF32(12).bits);
  EXPECT_EQ(runsOf(*profiler, Kind::Host)["twice"], 2U);
  for (const Profiler::Counter &counter : profiler->counters())
    if (counter.kind == Kind::Host)
      EXPECT_THAT(counter.location, StartsWith("in.mlir:"));
  expectNested(profiler->snapshot());
}

TEST_P(EngineProfiler, SeveralEnginesShareOne) {
  std::shared_ptr<Engine> other = makeEngine({.threads = 1, .profiler = profiler});
  for (Engine *each : {engine.get(), other.get()})
    callOk(lookup(load(*each, matmulSource), "matmul"),
           {smallIntegers({4, 4}), smallIntegers({4, 4})});
  EXPECT_EQ(runsOf(*profiler, Kind::Call)["matmul"], 2U);
}

INSTANTIATE_TEST_SUITE_P(Threads, EngineProfiler, ::testing::Values(1, 2));

/// Loads with progress; what was told.
std::vector<jit::CompileProgress> progressOf(Engine &engine, const char *source) {
  std::vector<jit::CompileProgress> steps;
  std::atomic<int> inside{0};
  LoadOptions options;
  options.progress = [&](const jit::CompileProgress &progress) {
    EXPECT_EQ(inside.fetch_add(1), 0) << "two threads at once";
    steps.push_back(progress);
    inside.fetch_sub(1);
  };
  static_cast<void>(engine.load(source, "in.mlir", options));
  return steps;
}

TEST(CompileProgress, GoesFromNothingToAll) {
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads});
    std::vector<jit::CompileProgress> steps = progressOf(*engine, temporariesSource);
    const auto jobs = std::ranges::find_if(
        steps, [](const jit::CompileProgress &step) { return step.total > 0; });
    // Passes, then jobs.
    ASSERT_GE(jobs - steps.begin(), 10);
    ASSERT_GE(steps.end() - jobs, 3);
    EXPECT_EQ(steps.front().fraction, 0);
    for (auto step = steps.begin(); step != steps.end(); ++step) {
      EXPECT_TRUE(step == steps.begin() || step->fraction > std::prev(step)->fraction);
      if (step < jobs) {
        EXPECT_EQ(step->done, 0U);
        EXPECT_LT(step->fraction, 0.5);
        continue;
      }
      EXPECT_EQ(step->done, size_t(step - jobs));
      EXPECT_EQ(step->total, size_t(steps.end() - jobs) - 1);
    }
    EXPECT_EQ(steps.back().fraction, 1);
  }
}

TEST(CompileProgress, IsSilentWhereNothingIsCompiled) {
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  EXPECT_THAT(progressOf(*engine, "func.func @f("), SizeIs(1)); // that it begins
  EXPECT_THAT(progressOf(*engine, matmulSource), Not(IsEmpty()));
  EXPECT_THAT(progressOf(*engine, matmulSource), IsEmpty());
}

TEST(CompileProgress, EndsWithAFailure) {
  // No code generator of LLVM's knows it.
  std::shared_ptr<Engine> engine = makeEngine({.targetOverrides = {"triple=nothing-unknown-none"}});
  std::vector<jit::CompileProgress> steps = progressOf(*engine, temporariesSource);
  ASSERT_GE(steps.size(), 1U);
  EXPECT_EQ(steps.back().done, 0U);
}

} // namespace
} // namespace plim
