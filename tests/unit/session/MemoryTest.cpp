// Memory that the host lends: pools at load and per call, workspaces per call.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Two products whose operands lie where the attributes say. Results are exact.
std::string productsSource(const char *first, const char *second) {
  return std::string(R"(
!t = tensor<64x64xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() )") +
         first + R"( : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %f = tensor.empty() )" +
         second + R"( : !t
  %y = linalg.fill ins(%zero : f32) outs(%f : !t) -> !t
  %q = linalg.matmul ins(%p, %a : !t, !t) outs(%y : !t) -> !t
  %g = tensor.empty() : !t
  %w = linalg.fill ins(%zero : f32) outs(%g : !t) -> !t
  %r = linalg.matmul ins(%q, %p : !t, !t) outs(%w : !t) -> !t
  return %r : !t
}
)";
}

constexpr size_t productBytes = 64 * 64 * 4;

std::string pooledSource() {
  return productsSource(R"({plim.scope = "global.sram"})",
                        R"({plim.candidate_pools = ["dram", "sram"]})");
}

std::vector<Value> products() { return {smallIntegers({64, 64}), smallIntegers({64, 64})}; }

/// Aligned memory filled with a pattern.
class Block {
public:
  explicit Block(size_t bytes, size_t alignment = 64)
      : size(bytes), memory(static_cast<std::byte *>(
                         std::aligned_alloc(alignment, (bytes / alignment + 2) * alignment))) {
    std::memset(memory.get(), 0xa5, bytes);
  }
  HostMemory whole() const { return {memory.get(), size}; }
  HostMemory part(size_t offset, size_t bytes) const { return {memory.get() + offset, bytes}; }
  bool untouched() const {
    return std::all_of(memory.get(), memory.get() + size,
                       [](std::byte each) { return each == std::byte(0xa5); });
  }

private:
  struct Free {
    void operator()(std::byte *block) const { std::free(block); }
  };
  size_t size;
  std::unique_ptr<std::byte, Free> memory;
};

class PoolTest : public ::testing::Test {
protected:
  static std::shared_ptr<Engine> poolEngine(int threads = 2, std::string cacheFolder = "") {
    return makeEngine({.targetOverrides = {R"(memories=[
             {"name": "dram", "kind": "host", "accessible_by": ["host"]},
             {"name": "sram", "kind": "host", "bytes": 65536, "accessible_by": ["host"]}])"},
                       .threads = threads,
                       .cacheFolder = std::move(cacheFolder)});
  }

  static Status statusOf(const Function &function, const CallOptions &options) {
    return function.call(products(), options).status();
  }
  static std::vector<float> resultOf(const Function &function, const CallOptions &options = {}) {
    StatusOr<std::vector<Value>> results = function.call(products(), options);
    EXPECT_TRUE(results.ok()) << results.status().toString();
    return results.ok() ? elements<float>(results->at(0)) : std::vector<float>();
  }

  std::shared_ptr<Engine> engine = poolEngine();
  Block sram{productBytes}, dram{productBytes};
};

void expectStatus(const Status &status, StatusCode code, const char *text) {
  EXPECT_EQ(status.code(), code) << status.toString();
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST_F(PoolTest, BoundAtLoadOrAtTheCallTheResultIsThatWithoutPools) {
  std::vector<float> expected = resultOf(lookup(load(*engine, productsSource("", "")), "main"));
  Function plain = lookup(load(*engine, productsSource("", ""), {.oracle = true}), "main");
  EXPECT_EQ(resultOf(plain), expected);

  Function loaded = lookup(
      load(*engine, pooledSource(), {.pools = {{"sram", sram.whole()}, {"dram", dram.whole()}}}),
      "main");
  ASSERT_EQ(loaded.signature().pools.size(), 2u);
  EXPECT_EQ(resultOf(loaded), expected);
  EXPECT_FALSE(sram.untouched());
  EXPECT_FALSE(dram.untouched());

  Block otherSram(productBytes), otherDram(productBytes);
  Function perCall = lookup(load(*engine, pooledSource()), "main");
  EXPECT_EQ(
      resultOf(perCall, {.pools = {{"sram", otherSram.whole()}, {"dram", otherDram.whole()}}}),
      expected);
  EXPECT_FALSE(otherSram.untouched());
  EXPECT_FALSE(otherDram.untouched());
}

TEST_F(PoolTest, OneOfTheCallIsStrongerThanOneOfTheLoad) {
  std::shared_ptr<Module> module =
      load(*engine, pooledSource(), {.pools = {{"sram", sram.whole()}, {"dram", dram.whole()}}});
  Function main = lookup(module, "main");
  Block other(productBytes);
  resultOf(main, {.pools = {{"sram", other.whole()}}});
  EXPECT_TRUE(sram.untouched());
  EXPECT_FALSE(other.untouched());
  EXPECT_FALSE(dram.untouched());
}

/// x + w - x * w + t, with both constants in `sram`, w as a tensor and t as a table of a kernel's, and
/// with a temporary that may be there too.
constexpr const char *constantsSource = R"(
ml_program.global private @w(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>
    {plim.scope = "global.sram"}
memref.global "private" constant @t : memref<2x2xf32> = dense<[[10.0, 20.0], [30.0, 40.0]]>
    {plim.scope = "global.sram"}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %e = tensor.empty() {plim.scope = "global.sram"} : tensor<4xf32>
  %p = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = arith.addf %x, %w : tensor<4xf32>
  %d = arith.subf %s, %p : tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func @pick(%i: index, %j: index) -> f32 {
  %t = memref.get_global @t : memref<2x2xf32>
  %v = memref.load %t[%i, %j] : memref<2x2xf32>
  return %v : f32
}
)";

Scalar index(uint64_t value) { return {ElementType::Index, value}; }

float floatOf(const Value &value) {
  return std::bit_cast<float>(static_cast<uint32_t>(std::get<Scalar>(value).bits));
}

TEST_F(PoolTest, ConstantsTakeTheEndOfAPool) {
  Block block(64 + 2 * 64);
  LoadOptions pinned{.pools = {{"sram", block.whole()}}};
  for (const char *policy : {"auto", "heap"}) {
    pinned.policy = policy;
    std::shared_ptr<Module> module = load(*engine, constantsSource, pinned);
    Function main = lookup(module, "main"), pick = lookup(module, "pick");
    std::vector<Value> x = {smallIntegers({4})};
    std::vector<float> in = elements<float>(x[0]), expected;
    for (size_t i = 0; i < 4; ++i) {
      float w = static_cast<float>(i) + 1;
      expected.push_back(in[i] + w - in[i] * w);
    }
    EXPECT_EQ(elements<float>(callOk(main, x).at(0)), expected);
    EXPECT_EQ(floatOf(callOk(pick, {index(1), index(0)}).at(0)), 30);
    // They are where the pool ends, w first, and what is there is what the code reads.
    auto *end = reinterpret_cast<float *>(static_cast<std::byte *>(block.whole().data) + 64);
    EXPECT_EQ(end[3] + end[16 + 3], 4 + 40);
    end[16 + 2] = 31;
    EXPECT_EQ(floatOf(callOk(pick, {index(1), index(0)}).at(0)), 31);
    // The rest is for calls; another pool of a call's leaves the constants where they are.
    Block other(64);
    StatusOr<std::vector<Value>> again = main.call(x, {.pools = {{"sram", other.whole()}}});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(elements<float>(again->at(0)), expected);
    expectStatus(main.call(x, {.pools = {{"sram", block.part(64, 64)}}}).status(),
                 StatusCode::InvalidArgument, "overlaps the constants of the module");
  }
  EXPECT_EQ(elements<float>(callOk(lookup(load(*engine, constantsSource,
                                               {.oracle = true, .pools = pinned.pools}),
                                          "main"),
                                   {smallIntegers({4})})
                                .at(0))
                .size(),
            4u);
}

TEST_F(PoolTest, ConstantsOfTwoModulesDoNotShareMemory) {
  Block block(256);
  LoadOptions options{.pools = {{"sram", block.whole()}}};
  std::shared_ptr<Module> first = load(*engine, constantsSource, options);
  expectStatus(engine->load(constantsSource, "in.mlir", options).status(),
               StatusCode::InvalidArgument, "holds the constants of another module");
  EXPECT_EQ(floatOf(callOk(lookup(first, "pick"), {index(1), index(1)}).at(0)), 40);
  LoadOptions other{.pools = {{"sram", block.part(0, 128)}}};
  EXPECT_TRUE(engine->load(constantsSource, "in.mlir", other).ok());
  first.reset();
  EXPECT_TRUE(engine->load(constantsSource, "in.mlir", options).ok());
}

TEST_F(PoolTest, ConstantsOfNoBytesClaimNothing) {
  Block block(128);
  std::shared_ptr<Module> first =
      load(*engine, constantsSource, {.pools = {{"sram", block.whole()}}});
  constexpr const char *emptySource = R"(
ml_program.global private @t(dense<> : tensor<0xf32>) : tensor<0xf32> {plim.scope = "global.sram"}
func.func @empty() -> tensor<0xf32> {
  %t = ml_program.global_load_const @t : tensor<0xf32>
  return %t : tensor<0xf32>
}
)";
  // Its end is where the others begin.
  StatusOr<std::shared_ptr<Module>> empty =
      engine->load(emptySource, "in.mlir", {.pools = {{"sram", block.part(0, 0)}}});
  EXPECT_TRUE(empty.ok()) << empty.status().toString();
  empty = internalError("gone");
  EXPECT_FALSE(engine->load(constantsSource, "in.mlir", {.pools = {{"sram", block.whole()}}}).ok());
}

TEST_F(PoolTest, ConstantsNeedTheirPoolAtLoad) {
  auto statusWith = [&](const Pools &pools) {
    return engine->load(constantsSource, "in.mlir", {.pools = pools}).status();
  };
  expectStatus(statusWith({}), StatusCode::FailedPrecondition,
               "pool 'sram' holds 128 bytes of constants of in.mlir: bind it when the module is");
  Block block(256);
  expectStatus(statusWith({{"sram", block.part(0, 127)}}), StatusCode::ResourceExhausted,
               "the constants of in.mlir there need 128: 1 are missing");
  EXPECT_TRUE(block.untouched());
  // Room for the constants alone: the call misses the rest.
  Function main =
      lookup(load(*engine, constantsSource, {.pools = {{"sram", block.part(0, 128)}}}), "main");
  std::vector<Value> x = {smallIntegers({4})};
  expectStatus(main.call(x).status(), StatusCode::ResourceExhausted, "are missing");
}

TEST_F(PoolTest, ConstantsInPoolsComeOutOfTheCache) {
  testing::TemporaryFolder folder;
  Block block(192);
  for (bool fromCache : {false, true}) {
    std::shared_ptr<Module> module =
        load(*poolEngine(1, folder.path()), constantsSource, {.pools = {{"sram", block.whole()}}});
    EXPECT_EQ(module->statistics().fromCache, fromCache);
    EXPECT_EQ(floatOf(callOk(lookup(module, "pick"), {index(0), index(1)}).at(0)), 20);
  }
}

TEST_F(PoolTest, CallsOnPoolsOfTheLoadExcludeEachOther) {
  Function main = lookup(
      load(*engine, pooledSource(), {.pools = {{"sram", sram.whole()}, {"dram", dram.whole()}}}),
      "main");
  std::vector<float> expected = resultOf(main);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(resultOf(main), expected);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(PoolTest, WhatDoesNotFitIsSaidBeforeAnythingRuns) {
  Function main = lookup(load(*engine, pooledSource()), "main");
  const HostMemory good = sram.whole();
  expectStatus(statusOf(main, {.pools = {{"dram", dram.whole()}}}), StatusCode::FailedPrecondition,
               "'main' needs pool 'sram' with 16384 bytes, which is bound neither at load nor at "
               "the call");
  expectStatus(statusOf(main, {.pools = {{"dram", dram.whole()}, {"sram", sram.part(0, 16000)}}}),
               StatusCode::ResourceExhausted,
               "pool 'sram' has 16000 bytes, but 'main' needs 16384: 384 are missing");
  expectStatus(
      statusOf(main, {.pools = {{"dram", dram.whole()}, {"sram", sram.part(4, productBytes)}}}),
      StatusCode::InvalidArgument, "the memory of pool 'sram' is not aligned to 64 bytes");
  expectStatus(statusOf(main, {.pools = {{"dram", dram.whole()}, {"sram", {nullptr, 1 << 20}}}}),
               StatusCode::InvalidArgument, "the memory of pool 'sram' is null");
  expectStatus(statusOf(main, {.pools = {{"dram", good}, {"sram", good}}}),
               StatusCode::InvalidArgument, "overlap");
  Buffer inside = *Buffer::wrap(good.data, ElementType::F32, std::vector<int64_t>{64, 64},
                                /*readOnly=*/true, nullptr, nullptr);
  expectStatus(main.call(std::vector<Value>{smallIntegers({64, 64}), inside},
                         {.pools = {{"dram", dram.whole()}, {"sram", good}}})
                   .status(),
               StatusCode::InvalidArgument, "argument #1 (%b) of 'main' overlaps pool 'sram'");
  expectStatus(statusOf(main, {.pools = {{"scram", good}}}), StatusCode::InvalidArgument,
               "the module has no pool 'scram'; did you mean 'sram'?");
  expectStatus(engine->load(pooledSource(), "in.mlir", {.pools = {{"dran", good}}}).status(),
               StatusCode::InvalidArgument, "the module has no pool 'dran'; did you mean 'dram'?");
  expectStatus(
      engine->load(productsSource("", ""), "in.mlir", {.pools = {{"sram", good}}}).status(),
      StatusCode::InvalidArgument, "the module has no pool 'sram'");
  EXPECT_TRUE(sram.untouched());
  EXPECT_TRUE(dram.untouched());
}

TEST_F(PoolTest, AnAllocationMayAskForMoreAlignment) {
  std::shared_ptr<Module> module = load(*engine, R"(
func.func @kernel(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {alignment = 4096 : i64, plim.scope = "global.sram"} : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %v = memref.load %a[%c0] : memref<4xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %x[%c0] : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
})");
  Function kernel = lookup(module, "kernel");
  EXPECT_EQ(kernel.rawPointer(), nullptr);
  Buffer x = makeBuffer<float>({4}, {3, 1, 1, 1});
  std::vector<Value> arguments = {x};
  Block pages(8192, 4096);
  expectStatus(kernel.call(arguments, {.pools = {{"sram", pages.part(64, 4096)}}}).status(),
               StatusCode::InvalidArgument, "is not aligned to 4096 bytes, as 'kernel' needs it");
  EXPECT_EQ(elements<float>(x)[0], 3);
  EXPECT_TRUE(kernel.call(arguments, {.pools = {{"sram", pages.part(0, 16)}}}).ok());
  EXPECT_EQ(elements<float>(x)[0], 6);
}

TEST_F(PoolTest, OtherMemoriesAreAnotherArtifact) {
  TemporaryFolder folder;
  load(*poolEngine(1, folder.path()), pooledSource());
  // The same module where sram is too small for it.
  std::shared_ptr<Engine> other = makeEngine({.targetOverrides = {R"(memories=[
             {"name": "sram", "kind": "host", "bytes": 64, "accessible_by": ["host"]}])"},
                                              .cacheFolder = folder.path()});
  EXPECT_EQ(other->load(pooledSource(), "in.mlir").status().code(), StatusCode::InvalidArgument);
}

class WorkspaceTest : public ::testing::TestWithParam<int> {
protected:
  std::shared_ptr<Engine> engine = makeEngine({.threads = GetParam()});
};

TEST_P(WorkspaceTest, OfTheCallerGivesTheSameResults) {
  Function main = lookup(load(*engine, productsSource("", "")), "main");
  StatusOr<WorkspaceRequirement> need = main.workspaceRequirement();
  ASSERT_TRUE(need.ok()) << need.status().toString();
  EXPECT_GE(need->bytes, 2 * productBytes);
  EXPECT_EQ(need->alignment, 64u);
  Block workspace(need->bytes + 64);
  std::vector<Value> expected = callOk(main, products());
  StatusOr<std::vector<Value>> results =
      main.call(products(), {.workspace = workspace.part(0, need->bytes)});
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(elements<float>(results->at(0)), elements<float>(expected.at(0)));
  EXPECT_FALSE(workspace.untouched());
  auto *end = static_cast<std::byte *>(workspace.whole().data) + need->bytes;
  EXPECT_TRUE(std::all_of(end, end + 64, [](std::byte b) { return b == std::byte(0xa5); }));
}

TEST_P(WorkspaceTest, WhatDoesNotFitIsSaidBeforeAnythingRuns) {
  Function main = lookup(load(*engine, productsSource("", "")), "main");
  size_t bytes = main.workspaceRequirement()->bytes;
  Block workspace(bytes + 64);
  auto statusWith = [&](HostMemory memory) {
    return main.call(products(), {.workspace = memory}).status();
  };
  expectStatus(statusWith(workspace.part(0, bytes - 1)), StatusCode::ResourceExhausted,
               ": 1 are missing");
  expectStatus(statusWith({}), StatusCode::ResourceExhausted, "the workspace has 0 bytes");
  expectStatus(statusWith(workspace.part(8, bytes)), StatusCode::InvalidArgument, "not aligned");
  expectStatus(statusWith({nullptr, bytes}), StatusCode::InvalidArgument, "the workspace is null");
  EXPECT_TRUE(workspace.untouched());
}

TEST_P(WorkspaceTest, TemporariesWhoseSizesComeFromDataHaveNone) {
  Function main = lookup(load(*engine, R"(
!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : !t
  %first = tensor.extract %a[%c0, %c0] : !t
  %zero = arith.constant 0.0 : f32
  %nan = arith.cmpf uno, %first, %zero : f32
  %n = arith.select %nan, %c0, %rows : index
  %e = tensor.empty(%n, %n) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%p, %b : !t, !t) outs(%z : !t) -> !t
  return %q : !t
})"),
                         "main");
  StatusOr<WorkspaceRequirement> need = main.workspaceRequirement();
  ASSERT_FALSE(need.ok());
  expectStatus(need.status(), StatusCode::FailedPrecondition,
               "the size of a buffer has no bound that is known at load");
  EXPECT_THAT(std::string(need.status().message()), HasSubstr("in.mlir:"));
  Block workspace(1 << 20);
  expectStatus(main.call(products(), {.workspace = workspace.whole()}).status(),
               StatusCode::FailedPrecondition, "has no bound");
  EXPECT_TRUE(workspace.untouched());
  EXPECT_EQ(shapeOf(callOk(main, products()).at(0)), (std::vector<int64_t>{64, 64}));

  Function heap = lookup(load(*engine, productsSource("", ""), {.policy = "heap"}), "main");
  expectStatus(heap.workspaceRequirement().status(), StatusCode::FailedPrecondition, "policy heap");
}

TEST_P(WorkspaceTest, AFunctionWithoutTemporariesNeedsNothing) {
  Function saxpy = lookup(load(*engine, saxpySource), "saxpy");
  ASSERT_TRUE(saxpy.workspaceRequirement().ok());
  EXPECT_EQ(saxpy.workspaceRequirement()->bytes, 0u);
  Buffer y = makeBuffer<float>({2}, {1, 2});
  std::vector<Value> arguments = {scalarF32(2), makeBuffer<float>({2}, {10, 20}), y};
  EXPECT_TRUE(saxpy.call(arguments, {.workspace = HostMemory{}}).ok());
  EXPECT_EQ(elements<float>(y), (std::vector<float>{21, 42}));
}

/// An allocator of the host that keeps account, and fails when told to.
struct Account {
  runtime::Allocator allocator() {
    return {this,
            [](void *user, size_t bytes, size_t alignment, const char *) noexcept -> void * {
              auto &account = *static_cast<Account *>(user);
              if (account.fails)
                return nullptr;
              account.bytes += bytes;
              return std::aligned_alloc(alignment, bytes);
            },
            [](void *user, void *pointer, size_t bytes) noexcept {
              static_cast<Account *>(user)->bytes -= bytes;
              std::free(pointer);
            }};
  }
  std::atomic<size_t> bytes{0};
  std::atomic<bool> fails{false};
};

TEST(EngineMemory, ComesFromTheAllocatorOfTheHost) {
  for (const char *policy : {"auto", "heap"}) {
    Account account;
    {
      std::shared_ptr<Engine> engine =
          makeEngine({.policy = policy, .allocator = account.allocator()});
      Function main = lookup(load(*engine, productsSource("", "")), "main");
      EXPECT_EQ(account.bytes, 0u);
      account.fails = true;
      expectStatus(main.call(products()).status(), StatusCode::ResourceExhausted, "no memory for");
      account.fails = false;
      std::vector<Value> results = callOk(main, products());
      EXPECT_GE(account.bytes, productBytes);
      EXPECT_LE(engine->memoryStatistics().total().liveBytes, account.bytes);
    }
    EXPECT_EQ(account.bytes, 0u);
  }
  Account account;
  runtime::Allocator half = account.allocator();
  half.release = nullptr;
  expectStatus(Engine::create({.allocator = half}).status(), StatusCode::InvalidArgument,
               "both allocate and release");
}

TEST(EngineMemory, IsCountedSharedAndTrimmed) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function first = lookup(load(*engine, productsSource("", "")), "main");
  Function second = lookup(load(*engine, productsSource("", "")), "main");
  EXPECT_EQ(engine->memoryStatistics().total().allocations, 0u);
  std::vector<Value> results = callOk(first, products());
  runtime::MemoryPoolStatistics before = engine->memoryStatistics().total();
  EXPECT_GE(before.liveBytes, productBytes);
  EXPECT_GE(before.peakBytes, 3 * productBytes);
  EXPECT_GE(before.keptBytes, 2 * productBytes);
  results.clear();
  // The slab and the result of one module serve another.
  results = callOk(second, products());
  runtime::MemoryPoolStatistics after = engine->memoryStatistics().total();
  EXPECT_GT(after.poolHits, before.poolHits);
  EXPECT_EQ(after.allocations - after.poolHits, before.allocations - before.poolHits);
  EXPECT_EQ(after.peakBytes, before.peakBytes);
  engine->trimMemory();
  EXPECT_EQ(engine->memoryStatistics().total().keptBytes, 0u);
  EXPECT_EQ(elements<float>(results.at(0)), elements<float>(callOk(first, products()).at(0)));
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkspaceTest, ::testing::Values(1, 2));

} // namespace
} // namespace plim
