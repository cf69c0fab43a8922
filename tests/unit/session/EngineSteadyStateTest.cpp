// A call in steady state takes no memory from the system: this program replaces malloc to count.
#include "tests/unit/engine/AllocationCounter.h"
#include "tests/unit/engine/PaintedStack.h"
#include "tests/unit/session/EngineFixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stop_token>

namespace plim {
namespace {

using namespace testing;

/// malloc calls of `calls` calls, results replaced each time.
int64_t allocationsOf(const Function &function, const std::vector<Value> &arguments, int calls,
                      const CallOptions &options = {}) {
  std::vector<Value> results(function.signature().results.size());
  int64_t before = allocationCount.load();
  for (int i = 0; i < calls; ++i) {
    Status status = function.callInto(arguments, results, options);
    if (!status.ok())
      ADD_FAILURE() << status.toString();
  }
  return allocationCount.load() - before;
}

class EngineSteadyState : public ::testing::Test {
protected:
  void SetUp() override {
    if (!PLIM_COUNTS_ALLOCATIONS)
      GTEST_SKIP() << "malloc belongs to the sanitizer";
  }
};

class EngineSteadyStatePolicy : public EngineSteadyState,
                                public ::testing::WithParamInterface<const char *> {};

TEST_P(EngineSteadyStatePolicy, OneThreadAllocatesNothing) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1, .policy = GetParam()});
  std::shared_ptr<Module> temporaries = load(*engine, temporariesSource);
  std::shared_ptr<Module> matmul = load(*engine, matmulSource);
  std::shared_ptr<Module> late = load(*engine, dynamicProductsSource);
  EXPECT_GT(allocationCount.load(), 0) << "the counter does not count";
  for (auto &[function, arguments] : std::vector<std::pair<Function, std::vector<Value>>>{
           {lookup(temporaries, "main"), {smallIntegers({8, 16}), smallIntegers({16, 16})}},
           {lookup(matmul, "matmul"), {smallIntegers({31, 40}), smallIntegers({40, 33})}},
           {lookup(late, "main"), {smallIntegers({9, 16}), smallIntegers({16, 16})}}}) {
    allocationsOf(function, arguments, 5);
    EXPECT_EQ(allocationsOf(function, arguments, 500), 0) << function.signature().name;
  }
}

// Not heap: that policy asks the system for every buffer, to be compared with.
INSTANTIATE_TEST_SUITE_P(Policies, EngineSteadyStatePolicy,
                         ::testing::Values("auto", "stack", "workspace", "fixed:1024"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST_F(EngineSteadyState, FunctionsOfALazyModuleAllocateNothing) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function matmul = lookup(load(*engine, matmulSource, {.lazy = true}), "matmul");
  const std::vector<Value> arguments = {smallIntegers({31, 40}), smallIntegers({40, 33})};
  allocationsOf(matmul, arguments, 5);
  EXPECT_EQ(allocationsOf(matmul, arguments, 500), 0);
}

TEST_F(EngineSteadyState, KernelsAndStateAllocateNothing) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function saxpy = lookup(load(*engine, saxpySource), "saxpy");
  Function add = lookup(load(*engine, stateSource), "add");
  std::vector<Value> saxpyArguments = {scalarF32(1), smallIntegers({100}), smallIntegers({100})};
  std::vector<Value> addArguments = {smallIntegers({2})};
  allocationsOf(saxpy, saxpyArguments, 5);
  allocationsOf(add, addArguments, 5);
  EXPECT_EQ(allocationsOf(saxpy, saxpyArguments, 500), 0);
  EXPECT_EQ(allocationsOf(add, addArguments, 500), 0);
}

TEST_F(EngineSteadyState, AProfilerAllocatesNothing) {
  for (size_t maxSpans : {Profiler::defaultMaxSpans, size_t(0)}) {
    auto profiler = std::make_shared<Profiler>(maxSpans);
    std::shared_ptr<Engine> engine = makeEngine({.threads = 1, .profiler = profiler});
    Function temporaries = lookup(load(*engine, temporariesSource), "main");
    Function add = lookup(load(*engine, stateSource), "add");
    std::vector<Value> arguments = {smallIntegers({8, 16}), smallIntegers({16, 16})};
    std::vector<Value> addArguments = {smallIntegers({2})};
    allocationsOf(temporaries, arguments, 5);
    allocationsOf(add, addArguments, 5);
    EXPECT_EQ(allocationsOf(temporaries, arguments, 500), 0);
    EXPECT_EQ(allocationsOf(add, addArguments, 500), 0);
    EXPECT_EQ(profiler->droppedSpans() == 0, maxSpans != 0);
  }
}

TEST_F(EngineSteadyState, AProfilerOfSeveralThreadsComesToRest) {
  std::shared_ptr<Engine> engine =
      makeEngine({.threads = 2, .profiler = std::make_shared<Profiler>()});
  Function matmul = lookup(load(*engine, matmulSource), "matmul");
  std::vector<Value> arguments = {smallIntegers({128, 128}), smallIntegers({128, 128})};
  for (int i = 0; i < 20 && allocationsOf(matmul, arguments, 200) != 0; ++i) {
  }
  EXPECT_LE(allocationsOf(matmul, arguments, 500), 2);
}

TEST_F(EngineSteadyState, OutputsOverArgumentsAllocateNothing) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function matmul = lookup(load(*engine, matmulSource), "matmul");
  std::vector<Value> arguments = {smallIntegers({16, 16}), smallIntegers({16, 16})};
  std::vector<Buffer> output = {std::get<Buffer>(arguments[0])};
  allocationsOf(matmul, arguments, 5, {.outputs = output});
  EXPECT_EQ(allocationsOf(matmul, arguments, 500, {.outputs = output}), 0);
}

TEST_F(EngineSteadyState, TensorsOverMemrefsAllocateNothing) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function mixed = lookup(load(*engine, R"(
func.func @mixed(%m: memref<8xf32>, %t: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %m[%c0] : memref<8xf32>
  %r = arith.addf %t, %t : tensor<8xf32>
  return %r : tensor<8xf32>
})"),
                          "mixed");
  Buffer both = smallIntegers({8});
  allocationsOf(mixed, {both, both}, 5);
  EXPECT_EQ(allocationsOf(mixed, {both, both}, 500), 0);
}

TEST_F(EngineSteadyState, CallsFromASmallStackAllocateNothing) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  StatusOr<jit::Artifact> artifact = engine->compile(saxpySource, "in.mlir", {});
  ASSERT_TRUE(artifact.ok());
  artifact->functions[0].stackBytes = 1 << 20;
  Function saxpy = lookup(*engine->link(*artifact, {}), "saxpy");
  std::vector<Value> arguments = {scalarF32(1), smallIntegers({100}), smallIntegers({100})};
  PaintedStack stack(64 << 10);
  stack.run([&] {
    allocationsOf(saxpy, arguments, 5);
    EXPECT_EQ(allocationsOf(saxpy, arguments, 500), 0);
  });
}

// Calls that are timed, and calls that take code for their extents.
TEST_F(EngineSteadyState, SpecializationAllocatesNothing) {
  // Without room for more, however long a call may take on a loaded machine.
  std::shared_ptr<Engine> engine =
      makeEngine({.threads = 1, .specialization = {.mode = Specialization::Hot, .atMost = 1}});
  std::shared_ptr<Module> module = load(*engine, dynamicProductsSource);
  Function main = lookup(module, "main");
  std::vector<Value> special = {smallIntegers({9, 16}), smallIntegers({16, 16})};
  Status status = main.specialize(special);
  ASSERT_TRUE(status.ok()) << status.toString();
  std::vector<Value> general = {smallIntegers({2, 2}), smallIntegers({2, 2})};
  for (const std::vector<Value> &arguments : {special, general}) {
    allocationsOf(main, arguments, 20);
    EXPECT_EQ(allocationsOf(main, arguments, 500), 0);
  }
  EXPECT_EQ(module->specializationStatistics().calls, 520);
  EXPECT_EQ(module->specializationStatistics().made, 1);
}

TEST_F(EngineSteadyState, LaunchesOfDevicesAllocateNothing) {
  auto device = std::make_shared<Device>();
  device->name = "npu";
  device->compile = [](std::string_view, std::string_view) -> StatusOr<std::string> {
    return std::string();
  };
  device->load = [](std::string_view, std::string_view) -> StatusOr<HostFunction> {
    return HostFunction{.function = [](plim_context *, void *, const plim_view *,
                                       const plim_view *) -> plim_code { return 0; }};
  };
  // Its memory is no address at all.
  device->memory = {.allocate = [](void *, size_t, size_t, const char *) noexcept -> void * {
                      return reinterpret_cast<void *>(uintptr_t{4096});
                    },
                    .release = [](void *, void *, size_t) noexcept {}};
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine =
        makeEngine({.description = boardTarget(), .threads = threads, .devices = {device}});
    std::shared_ptr<Module> module = load(*engine, temporariesSource, {.device = "npu"});
    EXPECT_NE(module->report().find("global.npu.sram"), std::string::npos) << module->report();
    Function function = lookup(module, "main");
    std::vector<Value> arguments = {smallIntegers({8, 16}), smallIntegers({16, 16})};
    allocationsOf(function, arguments, 50);
    EXPECT_EQ(allocationsOf(function, arguments, 500), 0) << threads;
  }
}

TEST_F(EngineSteadyState, SeveralThreadsComeToRest) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 2});
  Function matmul = lookup(load(*engine, matmulSource), "matmul");
  std::vector<Value> arguments = {smallIntegers({128, 128}), smallIntegers({128, 128})};
  // Which worker comes first, and which task pool of oneTBB's grows, varies: warm up until calm.
  for (int i = 0; i < 20 && allocationsOf(matmul, arguments, 200) != 0; ++i) {
  }
  EXPECT_LE(allocationsOf(matmul, arguments, 500), 2);
}

TEST_F(EngineSteadyState, GroupsOfDispatchesComeToRest) {
  constexpr const char *source = R"(
!t = tensor<96x96xf32>
func.func @two(%a: !t, %b: !t, %c: !t) -> (!t, !t) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%a, %c : !t, !t) outs(%z : !t) -> !t
  return %p, %q : !t, !t
})";
  std::vector<Value> arguments(3, smallIntegers({96, 96}));
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads});
    Function two = lookup(load(*engine, source), "two");
    for (int i = 0; i < 20 && allocationsOf(two, arguments, 200) != 0; ++i) {
    }
    EXPECT_LE(allocationsOf(two, arguments, 500), threads == 1 ? 0 : 2);
  }
}

/// What an iteration makes anew has a size that only the call knows.
TEST_F(EngineSteadyState, IterationsWithTensorsOfTheirOwnComeToRest) {
  constexpr const char *source = R"(
!t = tensor<?x?xf32>
func.func @turn(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : !t
  %n = tensor.dim %x, %c1 : !t
  %last = arith.subi %n, %c1 : index
  %e = tensor.empty(%m, %n) : !t
  %r = scf.forall (%i) in (%m) shared_outs(%o = %e) -> (!t) {
    %own = tensor.empty(%n) : tensor<?xf32>
    %line = scf.for %j = %c0 to %n step %c1 iter_args(%t = %own) -> (tensor<?xf32>) {
      %k = arith.subi %last, %j : index
      %v = tensor.extract %x[%i, %k] : !t
      %u = tensor.insert %v into %t[%j] : tensor<?xf32>
      scf.yield %u : tensor<?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %line into %o[%i, 0] [1, %n] [1, 1] : tensor<?xf32> into !t
    }
  }
  return %r : !t
})";
  std::vector<Value> arguments = {smallIntegers({50, 300})};
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads});
    Function turn = lookup(load(*engine, source), "turn");
    for (int i = 0; i < 20 && allocationsOf(turn, arguments, 200) != 0; ++i) {
    }
    EXPECT_LE(allocationsOf(turn, arguments, 500), threads == 1 ? 0 : 2);
  }
}

TEST_F(EngineSteadyState, EventsComeToRest) {
  std::vector<Value> arguments = {scalarF32(1), smallIntegers({100}), smallIntegers({100})};
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads});
    Function saxpy = lookup(load(*engine, saxpySource), "saxpy");
    std::stop_source stop;
    int64_t callbacks = 0;
    // Chains of three, with a callback each, and a call alone.
    auto allocations = [&](int turns) {
      int64_t before = allocationCount.load();
      for (int i = 0; i < turns; ++i) {
        Event last;
        for (int j = 0; j < 3; ++j)
          last = saxpy.callAsync(arguments, {.call = {.stop = stop.get_token()},
                                             .after = std::span(&last, last ? 1 : 0)});
        last.then([&callbacks](const Event &) { ++callbacks; });
        EXPECT_TRUE(last.wait().ok());
        EXPECT_TRUE(saxpy.callAsync(arguments, {.priority = runtime::Priority::High}).wait().ok());
      }
      return allocationCount.load() - before;
    };
    // How many there are at once depends on when the worker comes.
    int64_t least = INT64_MAX;
    for (int i = 0; i < 20 && least != 0; ++i)
      least = std::min(least, allocations(500));
    EXPECT_EQ(least, 0);
    EXPECT_GE(callbacks, 500);
  }
}

/// A kernel with temporaries in its dispatch, in the slab and in a pool.
constexpr const char *kernelSource = R"(
func.func @kernel(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() {plim.scope = "global.sram"} : memref<64x64xf32>
  %b = memref.alloc() {plim.scope = "global.workspace"} : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<64x64xf32>)
  linalg.matmul ins(%x, %x : memref<64x64xf32>, memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  linalg.fill ins(%zero : f32) outs(%b : memref<64x64xf32>)
  linalg.matmul ins(%a, %x : memref<64x64xf32>, memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  memref.copy %b, %y : memref<64x64xf32> to memref<64x64xf32>
  memref.dealloc %a : memref<64x64xf32>
  memref.dealloc %b : memref<64x64xf32>
  return
})";

TEST_F(EngineSteadyState, LentPoolsAndWorkspacesAllocateNothing) {
  std::shared_ptr<Engine> engine =
      makeEngine({.targetOverrides =
                      {R"(memories=[{"name": "sram", "kind": "host", "accessible_by": ["host"]}])"},
                  .threads = 1});
  Function kernel = lookup(load(*engine, kernelSource), "kernel");
  std::vector<Value> arguments = {smallIntegers({64, 64}), smallIntegers({64, 64})};
  alignas(64) static std::byte memory[64 * 64 * 4];
  StatusOr<WorkspaceRequirement> need = kernel.workspaceRequirement();
  ASSERT_TRUE(need.ok()) << need.status().toString();
  EXPECT_GE(need->bytes, sizeof memory);
  auto pool = std::make_shared<runtime::MemoryPool>();
  void *workspace = pool->allocate(need->bytes);
  CallOptions options = {.pools = {{"sram", {memory, sizeof memory}}},
                         .workspace = HostMemory{workspace, need->bytes}};
  // Nothing is to be warmed up but the thread, whose first call asks for the bounds of its stack.
  allocationsOf(kernel, arguments, 1, options);
  EXPECT_EQ(allocationsOf(kernel, arguments, 100, options), 0);
  options.workspace = std::nullopt;
  allocationsOf(kernel, arguments, 5, options);
  EXPECT_EQ(allocationsOf(kernel, arguments, 100, options), 0);
  pool->release(workspace);
}

} // namespace
} // namespace plim
