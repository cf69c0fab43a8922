// Code for certain extents: what it shares with the general code, when it is made, found and thrown
// away.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Variables, a parameter, constants small and large, a host function; functions that use some of
/// them.
constexpr const char *everythingSource = R"(
ml_program.global private mutable @first(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @second(dense<[10.0, 20.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
memref.global "private" constant @large : memref<4096xf32> = dense<3.0>
func.func private @twice(tensor<2xf32>) -> tensor<2xf32>
func.func @touch(%x: tensor<2xf32>) -> tensor<2xf32> {
  %old = ml_program.global_load @first : tensor<2xf32>
  %new = arith.addf %old, %x : tensor<2xf32>
  ml_program.global_store @first = %new : tensor<2xf32>
  return %new : tensor<2xf32>
}
func.func @main(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %old = ml_program.global_load @second : tensor<2xf32>
  %w = ml_program.global_load_const @w : tensor<2xf32>
  %new = arith.addf %old, %w : tensor<2xf32>
  ml_program.global_store @second = %new : tensor<2xf32>
  %doubled = func.call @twice(%new) : (tensor<2xf32>) -> tensor<2xf32>
  %g = memref.get_global @large : memref<4096xf32>
  %last = arith.constant 4095 : index
  %three = memref.load %g[%last] : memref<4096xf32>
  %small = arith.constant dense<[[0.5, 1.5]]> : tensor<1x2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %doubled, %small : tensor<?x2xf32>, tensor<2xf32>, tensor<1x2xf32>)
      outs(%e : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %three : f32
    %q = arith.addf %p, %b : f32
    %s = arith.addf %q, %c : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  return %r, %new : tensor<?x2xf32>, tensor<2xf32>
}
)";

plim_code twice(plim_context *, void *, const plim_view *arguments, const plim_view *results) {
  for (int i = 0; i < 2; ++i)
    static_cast<float *>(results[0].data)[i] = 2 * static_cast<float *>(arguments[0].data)[i];
  return 0;
}

/// x * y + x, of any length.
constexpr const char *chainSource = R"(
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %p = arith.mulf %x, %y : tensor<?xf32>
  %s = arith.addf %p, %x : tensor<?xf32>
  return %s : tensor<?xf32>
}
)";

LoadOptions onRequest(int atMost = 8) {
  return {.specialization = SpecializationOptions{Specialization::OnRequest, atMost}};
}
LoadOptions hot(int atMost = 8) {
  return {.specialization = SpecializationOptions{Specialization::Hot, atMost}};
}

void specializeOk(const Function &function, const std::vector<Value> &arguments) {
  Status status = function.specialize(arguments);
  EXPECT_TRUE(status.ok()) << status.toString();
}

std::vector<Value> vectors(int64_t n) { return {smallIntegers({n}), smallIntegers({n})}; }

std::vector<float> chainOf(const std::vector<Value> &arguments) {
  std::vector<float> x = elements<float>(arguments[0]), y = elements<float>(arguments[1]);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = x[i] * y[i] + x[i];
  return x;
}

/// Collects what an engine logs.
struct LogLines {
  Logger logger() {
    return Logger(LogLevel::Warning, [this](LogLevel, std::string_view message) {
      std::lock_guard<std::mutex> lock(mutex);
      lines.emplace_back(message);
    });
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

/// Calls until `isDone`, or until it has taken too long.
template <typename CallT, typename DoneT> bool callUntil(CallT &&call, DoneT &&isDone) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!isDone()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    for (int i = 0; i < 50; ++i)
      call();
  }
  return true;
}

TEST(Specialization, CallsTakeTheCodeForTheirExtents) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, matmulSource, onRequest());
  Function matmul = lookup(module, "matmul");
  auto argumentsOf = [](int64_t m, int64_t k, int64_t n) {
    return std::vector<Value>{smallIntegers({m, k}), smallIntegers({k, n})};
  };
  int64_t calls = 0;
  for (auto [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {17, 13, 19},
                         {64, 64, 64},
                         {5, 128, 3},
                         {130, 7, 257}}) {
    std::vector<Value> arguments = argumentsOf(m, k, n);
    std::vector<float> expected = elements<float>(callOk(matmul, arguments).at(0));
    EXPECT_EQ(module->specializationStatistics().calls, calls);
    specializeOk(matmul, arguments);
    std::vector<Value> results = callOk(matmul, arguments);
    EXPECT_EQ(elements<float>(results.at(0)), expected);
    EXPECT_THAT(shapeOf(results.at(0)), ElementsAre(m, n));
    EXPECT_EQ(module->specializationStatistics().calls, ++calls);
    // Others do not.
    callOk(matmul, argumentsOf(m + 1, k, n));
    EXPECT_EQ(module->specializationStatistics().calls, calls);
  }
  EXPECT_EQ(module->specializationStatistics().made, 5);
  // There already.
  specializeOk(matmul, argumentsOf(64, 64, 64));
  EXPECT_EQ(module->specializationStatistics().made, 5);
  // Without elements there is nothing to compute, and nothing to gain; one extent may be 0.
  specializeOk(matmul, argumentsOf(0, 0, 0));
  EXPECT_EQ(module->specializationStatistics().made, 5);
  specializeOk(matmul, argumentsOf(0, 3, 4));
  EXPECT_EQ(module->specializationStatistics().made, 6);
  EXPECT_THAT(shapeOf(callOk(matmul, argumentsOf(0, 3, 4)).at(0)), ElementsAre(0, 4));
  specializeOk(matmul, argumentsOf(3, 0, 4));
  EXPECT_THAT(elements<float>(callOk(matmul, argumentsOf(3, 0, 4)).at(0)), Each(0));
  EXPECT_EQ(module->specializationStatistics().made, 7);
}

TEST(Specialization, DataIsThatOfTheModule) {
  EngineOptions options;
  options.functions["twice"] = {.function = &twice};
  std::shared_ptr<Engine> engine = makeEngine(options);
  LoadOptions load = onRequest();
  Buffer w = makeBuffer<float>({2}, {100, 200});
  load.parameters["w"] = w;
  StatusOr<std::shared_ptr<Module>> module = engine->load(everythingSource, "in.mlir", load);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  Function main = lookup(*module, "main"), touch = lookup(*module, "touch");
  Buffer x = makeBuffer<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(elements<float>(callOk(main, {x}).at(1)), ElementsAre(110, 220));
  specializeOk(main, {x});
  std::vector<Value> results = callOk(main, {x});
  EXPECT_THAT(elements<float>(results.at(1)), ElementsAre(210, 420));
  EXPECT_THAT(elements<float>(results.at(0)),
              ElementsAre(3 + 420 + 0.5f, 6 + 840 + 1.5f, 9 + 420 + 0.5f, 12 + 840 + 1.5f));
  EXPECT_EQ((*module)->specializationStatistics().calls, 1);
  // The variable goes on where the general code left it, and the other way round.
  EXPECT_THAT(elements<float>(callOk(main, {makeBuffer<float>({1, 2}, {0, 0})}).at(1)),
              ElementsAre(310, 620));
  EXPECT_THAT(elements<float>(callOk(main, {x}).at(1)), ElementsAre(410, 820));
  EXPECT_THAT(elements<float>(callOk(touch, {makeBuffer<float>({2}, {1, 1})}).at(0)),
              ElementsAre(2, 3));
  // So do states.
  StatusOr<std::shared_ptr<ModuleState>> state = (*module)->createState();
  ASSERT_TRUE(state.ok());
  StatusOr<std::vector<Value>> other = main.call(std::vector<Value>{x}, {.state = *state});
  ASSERT_TRUE(other.ok()) << other.status().toString();
  EXPECT_THAT(elements<float>(other->at(1)), ElementsAre(110, 220));
  EXPECT_THAT(elements<float>(callOk(main, {x}).at(1)), ElementsAre(510, 1020));
}

TEST(Specialization, ErrorsStayTheSame) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, matmulSource, onRequest());
  Function matmul = lookup(module, "matmul");
  std::vector<Value> wrong = {smallIntegers({4, 5}), smallIntegers({6, 7})};
  Status before = callStatus(matmul, wrong);
  EXPECT_FALSE(before.ok());
  (void)matmul.specialize(wrong);
  EXPECT_EQ(callStatus(matmul, wrong).toString(), before.toString());
  // Those of arguments come first.
  std::vector<Value> scalar = {scalarF32(1), smallIntegers({6, 7})};
  EXPECT_EQ(matmul.specialize(scalar).toString(), callStatus(matmul, scalar).toString());
}

TEST(Specialization, AnIndexOutOfRangeStillFailsTheCall) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, gatherSource, onRequest());
  Function main = lookup(module, "main");
  std::vector<Value> good = {makeBuffer<float>({3}, {1, 2, 3}), makeBuffer<int32_t>({2}, {2, 0})};
  std::vector<Value> bad = {good[0], makeBuffer<int32_t>({2}, {0, 3})};
  Status before = callStatus(main, bad);
  EXPECT_FALSE(before.ok());
  specializeOk(main, good);
  EXPECT_EQ(callStatus(main, bad).toString(), before.toString());
  EXPECT_THAT(elements<float>(callOk(main, good).at(0)), ElementsAre(3, 1));
  EXPECT_EQ(module->specializationStatistics().calls, 2);
}

TEST(Specialization, KernelsOverlapAndKeepTheirPointers) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, saxpySource, onRequest());
  Function saxpy = lookup(module, "saxpy");
  void *raw = saxpy.rawPointer();
  std::vector<Value> apart = {scalarF32(2), makeBuffer<float>({3}, {1, 2, 3}),
                              makeBuffer<float>({3}, {10, 20, 30})};
  specializeOk(saxpy, apart);
  callOk(saxpy, apart);
  EXPECT_THAT(elements<float>(apart[2]), ElementsAre(12, 24, 36));
  // Both the same memory.
  Buffer same = makeBuffer<float>({3}, {1, 2, 3});
  callOk(saxpy, {scalarF32(2), same, same});
  EXPECT_THAT(elements<float>(same), ElementsAre(3, 6, 9));
  EXPECT_EQ(module->specializationStatistics().calls, 2);
  EXPECT_EQ(saxpy.rawPointer(), raw);
}

TEST(Specialization, DonationsAndOutputsKeepTheirMemory) {
  constexpr const char *source = R"(
func.func @main(%x: tensor<?xf32> {plim.donate = 0}, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = arith.addf %x, %y : tensor<?xf32>
  %b = arith.mulf %a, %y : tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
)";
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, source, onRequest());
  Function main = lookup(module, "main");
  for (bool isSpecial : {false, true}) {
    Buffer x = makeBuffer<float>({3}, {1, 2, 3}), y = makeBuffer<float>({3}, {10, 20, 30});
    Buffer output = makeBuffer<float>({3}, {0, 0, 0});
    if (isSpecial)
      specializeOk(main, {x, y});
    std::vector<Buffer> outputs = {Buffer(), output};
    StatusOr<std::vector<Value>> results =
        main.call(std::vector<Value>{x, y}, {.outputs = outputs});
    ASSERT_TRUE(results.ok()) << results.status().toString();
    EXPECT_EQ(std::get<Buffer>(results->at(0)).data(), x.data());
    EXPECT_EQ(std::get<Buffer>(results->at(1)).data(), output.data());
    EXPECT_THAT(elements<float>(x), ElementsAre(11, 22, 33));
    EXPECT_THAT(elements<float>(output), ElementsAre(110, 440, 990));
    std::vector<Buffer> wrong = {Buffer(), makeBuffer<float>({2}, {0, 0})};
    Status status = main.call(std::vector<Value>{x, y}, {.outputs = wrong}).status();
    EXPECT_THAT(status.toString(), HasSubstr("result #1"));
  }
  EXPECT_EQ(module->specializationStatistics().calls, 2);
}

TEST(Specialization, AWorkspaceOfTheCallersHasToDoForTheGeneralCode) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  std::shared_ptr<Module> module = load(*engine, dynamicProductsSource, onRequest());
  Function main = lookup(module, "main");
  std::vector<Value> arguments = {smallIntegers({9, 16}), smallIntegers({16, 16})};
  StatusOr<WorkspaceRequirement> need = main.workspaceRequirement(arguments);
  ASSERT_TRUE(need.ok()) << need.status().toString();
  std::vector<float> expected = elements<float>(callOk(main, arguments).at(0));
  std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(64, (need->bytes + 63) / 64 * 64), &std::free);
  auto callWith = [&](size_t bytes) {
    return main.call(arguments, {.workspace = HostMemory{memory.get(), bytes}});
  };
  Status before = callWith(need->bytes - 64).status();
  EXPECT_EQ(before.code(), StatusCode::ResourceExhausted) << before.toString();
  specializeOk(main, arguments);
  EXPECT_EQ(main.workspaceRequirement(arguments)->bytes, need->bytes);
  EXPECT_EQ(callWith(need->bytes - 64).status().toString(), before.toString());
  StatusOr<std::vector<Value>> results = callWith(need->bytes);
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(elements<float>(results->at(0)), expected);
}

// A scalar is no extent: the slab is still planned at the call, with plans of the code's own.
TEST(Specialization, SizesMayStillDependOnTheCall) {
  constexpr const char *source = R"(
!t = tensor<?x?xf32>
func.func @main(%a: !t, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : !t
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %o = tensor.empty(%m, %n) : !t
  %ones = linalg.fill ins(%one : f32) outs(%o : !t) -> !t
  %z = linalg.fill ins(%zero : f32) outs(%o : !t) -> !t
  %p = linalg.matmul ins(%a, %ones : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%a, %p : !t, !t) outs(%z : !t) -> !t
  return %q : !t
}
)";
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, source, onRequest());
  Function main = lookup(module, "main");
  Buffer a = smallIntegers({5, 5});
  auto resultOf = [&](uint64_t n) {
    return elements<float>(callOk(main, {a, Scalar{ElementType::Index, n}}).at(0));
  };
  std::vector<std::vector<float>> expected;
  for (uint64_t n : {1, 7, 40})
    expected.push_back(resultOf(n));
  specializeOk(main, {a, Scalar{ElementType::Index, 7}});
  size_t i = 0;
  for (uint64_t n : {1, 7, 40})
    EXPECT_EQ(resultOf(n), expected[i++]);
  EXPECT_EQ(module->specializationStatistics().calls, 3);
}

// Where the general code cannot know that a buffer fits a pool, code for the extents must not ask
// for it.
TEST(Specialization, PoolsAreThoseOfTheGeneralCode) {
  auto sourceWith = [](const std::string &attributes) {
    return std::string(R"(
memref.global "private" constant @w : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]> {plim.scope = "global.sram"}
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) )") +
           attributes + R"( : memref<?xf32>
  %w = memref.get_global @w : memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %w[%c1] : memref<4xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %t[%i] : memref<?xf32>
  }
  memref.copy %t, %y : memref<?xf32> to memref<?xf32>
  memref.dealloc %t : memref<?xf32>
  return
}
)";
  };
  LogLines log;
  std::shared_ptr<Engine> engine = makeEngine({.targetOverrides = {R"(memories=[
             {"name": "dram", "kind": "host", "accessible_by": ["host"]},
             {"name": "sram", "kind": "host", "bytes": 65536, "accessible_by": ["host"]}])"},
                                               .logger = log.logger()});
  std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, 8192), &std::free);
  // An alternative that only a size known at load can have; a bound.
  for (const char *attributes : {R"({plim.candidate_pools = ["sram", "dram", "workspace"]})",
                                 R"({plim.scope = "global.sram", plim.max_bytes = 4096 : i64})"}) {
    LoadOptions options = onRequest();
    options.pools["sram"] = {memory.get(), 8192};
    StatusOr<std::shared_ptr<Module>> module =
        engine->load(sourceWith(attributes), "in.mlir", options);
    ASSERT_TRUE(module.ok()) << module.status().toString();
    Function main = lookup(*module, "main");
    std::vector<Value> arguments = {makeBuffer<float>({3}, {1, 2, 3}),
                                    makeBuffer<float>({3}, {0, 0, 0})};
    Status status = main.specialize(arguments);
    if (!status.ok())
      EXPECT_EQ(status.code(), StatusCode::FailedPrecondition) << status.toString();
    callOk(main, arguments);
    EXPECT_THAT(elements<float>(arguments[1]), ElementsAre(3, 4, 5));
    EXPECT_EQ((*module)->specializationStatistics().calls, status.ok() ? 1 : 0);
  }
}

TEST(Specialization, TheLeastRecentlyUsedGoes) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, chainSource, onRequest(2));
  Function main = lookup(module, "main");
  for (int64_t n : {3, 4, 5, 6}) {
    specializeOk(main, vectors(n));
    EXPECT_EQ(elements<float>(callOk(main, vectors(n)).at(0)), chainOf(vectors(n)));
  }
  SpecializationStatistics statistics = module->specializationStatistics();
  EXPECT_EQ(statistics.made, 4);
  EXPECT_EQ(statistics.evicted, 2);
  EXPECT_EQ(statistics.calls, 4);
  for (int64_t n : {3, 4, 5, 6})
    EXPECT_EQ(elements<float>(callOk(main, vectors(n)).at(0)), chainOf(vectors(n)));
  EXPECT_EQ(module->specializationStatistics().calls, 6);
  // 5 is the older one, but in use of late.
  for (int i = 0; i < 200; ++i)
    callOk(main, vectors(5));
  specializeOk(main, vectors(7));
  int64_t before = module->specializationStatistics().calls;
  for (int64_t n : {5, 6, 7})
    callOk(main, vectors(n));
  EXPECT_EQ(module->specializationStatistics().calls, before + 2);
  callOk(main, vectors(5));
  EXPECT_EQ(module->specializationStatistics().calls, before + 3);
}

TEST(Specialization, NobodyHasItWhoDidNotAsk) {
  std::shared_ptr<Engine> engine = makeEngine(), checked = makeEngine({.checked = true});
  LoadOptions oracle = onRequest();
  oracle.oracle = true;
  for (const std::shared_ptr<Module> &module :
       {load(*engine, chainSource), load(*engine, chainSource, oracle),
        load(*engine, chainSource, onRequest(0)), load(*checked, chainSource, hot())}) {
    Function main = lookup(module, "main");
    EXPECT_EQ(main.specialize(vectors(3)).code(), StatusCode::FailedPrecondition);
    callOk(main, vectors(3));
    EXPECT_EQ(module->specializationStatistics().made, 0);
  }
  // Nothing is open.
  specializeOk(lookup(load(*engine, temporariesSource), "main"),
               {smallIntegers({8, 16}), smallIntegers({16, 16})});
}

TEST(Specialization, HotExtentsGetItInTheBackground) {
  for (int threads : {1, 2}) {
    std::shared_ptr<Engine> engine =
        makeEngine({.threads = threads, .specialization = {.mode = Specialization::Hot}});
    std::shared_ptr<Module> module = load(*engine, chainSource);
    Function main = lookup(module, "main");
    int64_t made = 0;
    for (int64_t n : {777, 555}) { // the second while nothing is to do there
      std::vector<Value> arguments = vectors(n), results(1);
      std::vector<float> expected = chainOf(arguments);
      auto call = [&] {
        Status status = main.callInto(arguments, results);
        EXPECT_TRUE(status.ok()) << status.toString();
      };
      const int64_t before = module->specializationStatistics().calls;
      ASSERT_TRUE(
          callUntil(call, [&] { return module->specializationStatistics().calls > before; }));
      EXPECT_EQ(elements<float>(results.at(0)), expected);
      SpecializationStatistics statistics = module->specializationStatistics();
      EXPECT_EQ(statistics.made, ++made);
      EXPECT_EQ(statistics.inWork, 0);
      EXPECT_EQ(statistics.failed, 0);
    }
  }
}

// It comes back to itself.
TEST(Specialization, WhatFailsIsLoggedOnceAndNotTriedAgain) {
  constexpr const char *source = R"(
func.func @main(%x: tensor<?xf32>, %n: i32) -> tensor<?xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %more = arith.cmpi sgt, %n, %zero : i32
  %r = scf.if %more -> tensor<?xf32> {
    %m = arith.subi %n, %one : i32
    %y = arith.addf %x, %x : tensor<?xf32>
    %z = func.call @main(%y, %m) : (tensor<?xf32>, i32) -> tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  } else {
    %y = arith.addf %x, %x : tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
)";
  LogLines log;
  // It may ask for the statistics, which count the failure already.
  std::weak_ptr<Module> failing;
  int64_t failedThen = -1;
  Logger logger(LogLevel::Warning, [&](LogLevel level, std::string_view message) {
    if (std::shared_ptr<Module> module = failing.lock())
      failedThen = module->specializationStatistics().failed;
    log.logger().log(level, message);
  });
  {
    std::shared_ptr<Engine> engine = makeEngine({.logger = logger});
    std::shared_ptr<Module> module = load(*engine, source, hot());
    failing = module;
    Function main = lookup(module, "main");
    std::vector<Value> arguments = {makeBuffer<float>({2}, {1, 2}), Scalar{ElementType::I32, 2}};
    std::vector<Value> results(1);
    auto call = [&] {
      Status status = main.callInto(arguments, results);
      EXPECT_TRUE(status.ok()) << status.toString();
    };
    ASSERT_TRUE(callUntil(call, [&] { return module->specializationStatistics().failed > 0; }));
    for (int i = 0; i < 50000; ++i)
      call();
    EXPECT_EQ(module->specializationStatistics().failed, 1);
    EXPECT_EQ(module->specializationStatistics().made, 0);
    EXPECT_THAT(elements<float>(results.at(0)), ElementsAre(8, 16));
    Status status = main.specialize(arguments);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("in.mlir:2:1"));
  }
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("main(2)")));
  EXPECT_EQ(failedThen, 1);
}

TEST(Specialization, ModulesAndEnginesMayGoWhileItIsMade) {
  for (int round = 0; round < 8; ++round) {
    LogLines log;
    {
      std::shared_ptr<Engine> engine = makeEngine({.logger = log.logger()});
      std::shared_ptr<Module> module = load(*engine, chainSource, hot());
      Function main = lookup(module, "main");
      std::vector<Value> arguments = vectors(1000 + round), results(1);
      auto call = [&] { EXPECT_TRUE(main.callInto(arguments, results).ok()); };
      ASSERT_TRUE(callUntil(call, [&] {
        SpecializationStatistics statistics = module->specializationStatistics();
        return statistics.inWork + statistics.made > 0;
      }));
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
    }
    EXPECT_THAT(log.lines, IsEmpty());
  }
}

TEST(Specialization, AForkedChildGoesOnWithTheGeneralCode) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  std::shared_ptr<Module> module = load(*engine, chainSource, hot());
  auto main = std::make_unique<Function>(lookup(module, "main"));
  std::vector<Value> arguments = vectors(500), results(1);
  auto call = [&] { EXPECT_TRUE(main->callInto(arguments, results).ok()); };
  ASSERT_TRUE(callUntil(call, [&] {
    SpecializationStatistics statistics = module->specializationStatistics();
    return statistics.inWork + statistics.made > 0;
  }));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    for (int i = 0; i < 2000; ++i)
      call();
    bool ok = elements<float>(results.at(0)) == chainOf(arguments);
    // It waits for no thread of the parent's.
    main.reset();
    module.reset();
    engine.reset();
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Specialization, ComesFromTheCache) {
  TemporaryFolder folder;
  for (bool isSecond : {false, true}) {
    auto profiler = std::make_shared<Profiler>();
    std::shared_ptr<Engine> engine =
        makeEngine({.cacheFolder = folder.path(), .profiler = profiler});
    std::shared_ptr<Module> module = load(*engine, chainSource, onRequest());
    Function main = lookup(module, "main");
    size_t before = folder.files(".plimart").size();
    specializeOk(main, vectors(12));
    specializeOk(main, vectors(13));
    EXPECT_EQ(folder.files(".plimart").size(), before + (isSecond ? 0 : 2));
    EXPECT_EQ(elements<float>(callOk(main, vectors(13)).at(0)), chainOf(vectors(13)));
    EXPECT_EQ(elements<float>(callOk(main, vectors(12)).at(0)), chainOf(vectors(12)));
    EXPECT_EQ(module->specializationStatistics().calls, 2);
    // The module itself was never parsed the second time.
    EXPECT_EQ(module->statistics().fromCache, isSecond);
  }
}

// Callers, code that comes in the background, on request, and goes.
TEST(Specialization, ManyThreadsWhileCodeComesAndGoes) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, chainSource, hot(2));
  Function main = lookup(module, "main");
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::vector<Value>> arguments;
      std::vector<std::vector<float>> expected;
      for (int64_t n = 1; n <= 6; ++n) {
        arguments.push_back(vectors(n * 10 + t % 2));
        expected.push_back(chainOf(arguments.back()));
      }
      std::vector<Value> results(1);
      for (size_t i = 0; !stop; ++i) {
        size_t which = i / 64 % arguments.size();
        if (!main.callInto(arguments[which], results).ok() ||
            elements<float>(results[0]) != expected[which])
          ++wrong;
      }
    });
  for (int round = 0; round < 24; ++round) {
    Status status = main.specialize(vectors(round % 6 * 10 + 10));
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::ResourceExhausted) << status.toString();
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  SpecializationStatistics statistics = module->specializationStatistics();
  EXPECT_GT(statistics.calls, 0);
  EXPECT_GT(statistics.evicted, 0);
  EXPECT_LE(statistics.made - statistics.evicted, 2);
}

TEST(Specialization, EventsTakeIt) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, chainSource, onRequest());
  Function main = lookup(module, "main");
  specializeOk(main, vectors(30));
  Event event = main.callAsync(vectors(30));
  ASSERT_TRUE(event.wait().ok());
  EXPECT_EQ(elements<float>(event.results()[0]), chainOf(vectors(30)));
  EXPECT_EQ(module->specializationStatistics().calls, 1);
}

} // namespace
} // namespace plim
