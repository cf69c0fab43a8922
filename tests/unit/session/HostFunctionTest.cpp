// Functions of the host application: what they get, when they run, and how they are bound.
#include "tests/unit/session/EngineFixture.h"
#include "tests/unit/session/HostViews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a function was given.
struct Record {
  std::atomic<int> calls{0};
  plim_context *context = nullptr;
  std::vector<int64_t> sizes, strides;
  std::vector<float> seen;
};

constexpr const char *kernelSource = R"(
func.func private @log_row(!plim.context, f32, memref<?x4xf32> {plim.access = #plim.access<readonly>}) -> i32
func.func @kernel(%a: memref<?x4xf32>, %s: f32) -> i32 {
  %context = plim.context : !plim.context
  %r = func.call @log_row(%context, %s, %a) : (!plim.context, f32, memref<?x4xf32>) -> i32
  %one = arith.constant 1 : i32
  %t = arith.addi %r, %one : i32
  return %t : i32
}
)";

plim_code logRow(plim_context *context, void *user, const plim_view *arguments,
                 const plim_view *results) {
  auto &record = *static_cast<Record *>(user);
  ++record.calls;
  record.context = context;
  record.sizes.assign(arguments[1].sizes, arguments[1].sizes + 2);
  record.seen = {at<float>(arguments[0])};
  for (int64_t i = 0; i < record.sizes[0] * record.sizes[1]; ++i)
    record.seen.push_back(at<float>(arguments[1], i));
  EXPECT_EQ(arguments[1].strides, nullptr);
  EXPECT_EQ(at<int32_t>(results[0]), 0);
  at<int32_t>(results[0]) = 41;
  return 0;
}

/// Names one function for a load.
LoadOptions binding(const char *name, HostFunction function) {
  LoadOptions options;
  options.functions[name] = std::move(function);
  return options;
}

TEST(HostFunctionTest, KernelsPassScalarsAndMemrefs) {
  auto engine = makeEngine();
  Record record;
  auto module = load(*engine, kernelSource, binding("log_row", {&logRow, &record}));
  Function kernel = lookup(module, "kernel");
  EXPECT_TRUE(kernel.signature().isKernel);
  EXPECT_TRUE(kernel.signature().rawTakesContext);
  EXPECT_EQ(kernel.signature().arguments[0].access, jit::Access::ReadOnly);
  EXPECT_GE(kernel.signature().stackBytes, PLIM_HOST_STACK);
  std::vector<Value> results =
      callOk(kernel, {makeBuffer<float>({1, 4}, {1, 2, 3, 4}), scalarF32(0.5f)});
  EXPECT_EQ(std::get<Scalar>(results[0]).bits, 42u);
  EXPECT_THAT(record.seen, ElementsAre(0.5f, 1, 2, 3, 4));
  EXPECT_THAT(record.sizes, ElementsAre(1, 4));
  ASSERT_NE(record.context, nullptr);
  EXPECT_EQ(record.calls, 1);
  callOk(kernel, {makeBuffer<float>({0, 4}, {}), scalarF32(2)});
  EXPECT_THAT(record.sizes, ElementsAre(0, 4));
  EXPECT_THAT(record.seen, ElementsAre(2));
}

TEST(HostFunctionTest, StridedMemrefsHaveTheirStrides) {
  auto engine = makeEngine();
  Record record;
  auto triple = [](plim_context *, void *user, const plim_view *arguments, const plim_view *) {
    auto &record = *static_cast<Record *>(user);
    record.sizes.assign(arguments[0].sizes, arguments[0].sizes + 2);
    record.strides.assign(arguments[0].strides, arguments[0].strides + 2);
    for (int64_t i = 0; i < record.sizes[0]; ++i)
      for (int64_t j = 0; j < record.sizes[1]; ++j)
        at<float>(arguments[0], i * record.strides[0] + j * record.strides[1]) *= 3;
    return plim_code(0);
  };
  auto module = load(*engine, R"(
    func.func private @triple(memref<?x?xf32, strided<[?, ?], offset: ?>>)
    func.func @part(%a: memref<4x4xf32>) {
      %s = memref.subview %a[1, 1] [2, 2] [2, 1] : memref<4x4xf32>
          to memref<2x2xf32, strided<[8, 1], offset: 5>>
      %c = memref.cast %s : memref<2x2xf32, strided<[8, 1], offset: 5>>
          to memref<?x?xf32, strided<[?, ?], offset: ?>>
      func.call @triple(%c) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
      return
    })",
                     binding("triple", {triple, &record}));
  Buffer a = makeBuffer<float>({4, 4}, std::vector<float>(16, 1));
  callOk(lookup(module, "part"), {a});
  EXPECT_THAT(record.sizes, ElementsAre(2, 2));
  EXPECT_THAT(record.strides, ElementsAre(8, 1));
  EXPECT_THAT(elements<float>(a), ElementsAre(1, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 3, 3, 1));
}

// Every type that can cross, there and back.
TEST(HostFunctionTest, ScalarsOfAllTypes) {
  struct Case {
    const char *type;
    ElementType element;
    size_t bytes;
    uint64_t bits;
  };
  for (const Case &c :
       {Case{"i1", ElementType::I1, 1, 1}, Case{"i8", ElementType::I8, 1, 0x85},
        Case{"i16", ElementType::I16, 2, 0x8765}, Case{"i32", ElementType::I32, 4, 0x87654321},
        Case{"i64", ElementType::I64, 8, 0x8765432112345678},
        Case{"index", ElementType::Index, 8, 0x1234567890},
        Case{"f16", ElementType::F16, 2, 0x3c01}, Case{"bf16", ElementType::BF16, 2, 0x3f81},
        Case{"f32", ElementType::F32, 4, 0x3f800001},
        Case{"f64", ElementType::F64, 8, 0x3ff0000000000001}}) {
    std::string type = c.type;
    auto engine = makeEngine();
    size_t bytes = c.bytes;
    auto same = [](plim_context *, void *user, const plim_view *arguments,
                   const plim_view *results) {
      size_t count = *static_cast<size_t *>(user);
      std::memcpy(results[0].data, arguments[0].data, count);
      std::memcpy(arguments[2].data, arguments[1].data, count);
      return plim_code(0);
    };
    std::string source =
        "func.func private @same(" + type + ", memref<" + type + ">, memref<" + type + ">) -> " +
        type + "\nfunc.func @f(%x: " + type + ", %a: memref<" + type + ">, %b: memref<" + type +
        ">) -> " + type + " {\n  %y = func.call @same(%x, %a, %b) : (" + type + ", memref<" + type +
        ">, memref<" + type + ">) -> " + type + "\n  return %y : " + type + "\n}\n";
    auto module = load(*engine, source, binding("same", {same, &bytes}));
    uint64_t from = c.bits, to = 0;
    auto wrap = [&](uint64_t &bits) {
      return *Buffer::wrap(&bits, c.element, {}, /*readOnly=*/false, nullptr, nullptr);
    };
    std::vector<Value> results =
        callOk(lookup(module, "f"), {Scalar{c.element, c.bits}, wrap(from), wrap(to)});
    EXPECT_EQ(std::get<Scalar>(results[0]).bits, c.bits) << type;
    EXPECT_EQ(to, c.bits) << type;
  }
}

constexpr const char *failingSource = R"(func.func private @fails(i32) -> i32
func.func private @after()
func.func @call(%x: i32) -> i32 {
  %r = func.call @fails(%x) : (i32) -> i32
  func.call @after() : () -> ()
  return %r : i32
}
func.func @outer(%x: i32, %t: tensor<2xf32>) -> (i32, tensor<2xf32>) {
  %r = func.call @call(%x) : (i32) -> i32
  return %r, %t : i32, tensor<2xf32>
}
)";

TEST(HostFunctionTest, FailuresEndTheCall) {
  auto engine = makeEngine();
  auto fails = [](plim_context *context, void *, const plim_view *arguments, const plim_view *) {
    int32_t code = at<int32_t>(arguments[0]);
    if (code == 100)
      return plim_rt_fail(context, plim_code(StatusCode::DataLoss), "the disk is full");
    if (code == 101) {
      plim_rt_fail(context, plim_code(StatusCode::DataLoss), "said, but not returned");
      return plim_code(0);
    }
    if (code == 102)
      throw std::runtime_error("out of a host function");
    return plim_code(code);
  };
  Record record;
  auto after = [](plim_context *, void *user, const plim_view *, const plim_view *) {
    ++static_cast<Record *>(user)->calls;
    return plim_code(0);
  };
  LoadOptions options = binding("fails", {fails});
  options.functions["after"] = {after, &record};
  auto module = load(*engine, failingSource, options);
  auto status = [&](const char *name, int32_t code) {
    std::vector<Value> arguments = {Scalar{ElementType::I32, static_cast<uint32_t>(code)}};
    if (std::string_view(name) == "outer")
      arguments.emplace_back(makeBuffer<float>({2}, {1, 2}));
    return callStatus(lookup(module, name), arguments);
  };
  for (const char *name : {"call", "outer"}) {
    EXPECT_TRUE(status(name, 0).ok());
    EXPECT_EQ(record.calls.exchange(0), 1);
    Status plain = status(name, int(StatusCode::NotFound));
    EXPECT_EQ(plain.code(), StatusCode::NotFound);
    EXPECT_EQ(plain.message(), "in.mlir:4:8: host function 'fails' failed");
    Status said = status(name, 100);
    EXPECT_EQ(said.code(), StatusCode::DataLoss);
    EXPECT_EQ(said.message(), "in.mlir:4:8: the disk is full");
    EXPECT_EQ(status(name, 101).message(), "in.mlir:4:8: said, but not returned");
    EXPECT_EQ(status(name, -3).code(), StatusCode::Unknown);
    EXPECT_EQ(status(name, 77).code(), StatusCode::Unknown);
    EXPECT_EQ(status(name, 102).message(), "in.mlir:4:8: host function 'fails' threw an exception");
    EXPECT_EQ(record.calls, 0);
  }
}

TEST(HostFunctionTest, AllThatAreUnboundAreNamedWithTheirCalls) {
  Status unbound = makeEngine()
                       ->load(R"(
func.func private @first(i32) -> i32
func.func private @unused(i32) -> i32
func.func private @second(tensor<?xf32>)
func.func @main(%a: i32, %t: tensor<?xf32>) -> i32 {
  %0 = func.call @first(%a) : (i32) -> i32
  %1 = func.call @first(%0) : (i32) -> i32
  func.call @second(%t) : (tensor<?xf32>) -> ()
  return %1 : i32
}
)",
                              "in.mlir", {})
                       .status();
  EXPECT_EQ(unbound.code(), StatusCode::FailedPrecondition);
  EXPECT_EQ(
      unbound.message(),
      "in.mlir:2:1: host function 'first' of type (i32) -> i32 is not bound; called at 6:8, 7:8\n"
      "in.mlir:4:1: host function 'second' of type (tensor<?xf32>) -> () is not bound; called at "
      "8:3");
}

TEST(HostFunctionTest, UnboundIsAnErrorOfTheLoad) {
  auto engine = makeEngine();
  Record record;
  Status unbound = engine->load(kernelSource, "in.mlir", {}).status();
  EXPECT_EQ(unbound.code(), StatusCode::FailedPrecondition);
  EXPECT_EQ(unbound.message(), "in.mlir:2:1: host function 'log_row' of type (f32, "
                               "memref<?x4xf32> readonly) -> i32 is not bound; called at 5:8");
  Status misspelt =
      engine->load(kernelSource, "in.mlir", binding("logrow", {&logRow, &record})).status();
  EXPECT_EQ(misspelt.code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(misspelt.message()), HasSubstr("; did you mean 'logrow'?"));
  EXPECT_EQ(engine->load(kernelSource, "in.mlir", binding("log_row", {})).status().code(),
            StatusCode::FailedPrecondition);
  // What nothing calls needs no function.
  load(*engine, R"(
    func.func private @unused(f32)
    func.func @f(%x: f32) -> f32 {
      return %x : f32
    })");
}

TEST(HostFunctionTest, SignaturesAreCompared) {
  auto engine = makeEngine();
  Record record;
  auto status = [&](const char *signature) {
    return engine
        ->load(kernelSource, "in.mlir",
               binding("log_row", {&logRow, &record, HostFunctionKind::ThreadSafe, signature}))
        .status();
  };
  EXPECT_TRUE(status("(f32, memref<?x4xf32> readonly) -> i32").ok());
  EXPECT_TRUE(status(" (f32,memref< ?x4xf32 > readonly)->i32 ").ok());
  Status wrong = status("(f32, memref<?x4xf32> readwrite) -> i32");
  EXPECT_EQ(wrong.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(
      wrong.message(),
      "in.mlir:2:1: host function 'log_row' is declared as (f32, memref<?x4xf32> readonly) -> "
      "i32, but the one that it is bound to is (f32, memref<?x4xf32> readwrite) -> i32");
  EXPECT_EQ(status("(f64, memref<?x4xf32> readonly) -> i32").code(), StatusCode::InvalidArgument);
}

constexpr const char *pureSource = R"(
func.func private @cost(f32) -> f32 attributes {plim.pure}
func.func @twice(%x: f32) -> f32 {
  %a = func.call @cost(%x) : (f32) -> f32
  %b = func.call @cost(%x) : (f32) -> f32
  %unused = func.call @cost(%a) : (f32) -> f32
  %r = arith.addf %a, %b : f32
  return %r : f32
}
)";

plim_code cost(plim_context *, void *user, const plim_view *arguments, const plim_view *results) {
  ++*static_cast<std::atomic<int> *>(user);
  at<float>(results[0]) = at<float>(arguments[0]) * 10;
  return 0;
}

TEST(HostFunctionTest, PureCallsAreMergedAndDropped) {
  auto engine = makeEngine();
  std::atomic<int> calls{0};
  Status wrong = engine->load(pureSource, "in.mlir", binding("cost", {&cost, &calls})).status();
  EXPECT_EQ(wrong.code(), StatusCode::InvalidArgument);
  EXPECT_THAT(std::string(wrong.message()),
              HasSubstr("in.mlir:2:1: host function 'cost' is declared pure"));
  for (bool isPure : {true, false}) {
    std::string source = pureSource;
    if (!isPure)
      source.erase(source.find(" attributes {plim.pure}"), 23);
    calls = 0;
    auto module = load(*engine, source, binding("cost", {&cost, &calls, HostFunctionKind::Pure}));
    std::vector<Value> results = callOk(lookup(module, "twice"), {scalarF32(1)});
    EXPECT_EQ(std::bit_cast<float>(uint32_t(std::get<Scalar>(results[0]).bits)), 20);
    EXPECT_EQ(calls, isPure ? 1 : 3);
  }
}

TEST(HostFunctionTest, AStopEndsTheWaitForATurn) {
  // The first call stays in the function until it is let go.
  struct Gate {
    std::atomic<int> inside{0};
    std::atomic<bool> isOpen{false};
  } gate;
  auto wait = [](plim_context *, void *user, const plim_view *arguments, const plim_view *results) {
    auto &state = *static_cast<Gate *>(user);
    ++state.inside;
    while (!state.isOpen)
      std::this_thread::yield();
    at<float>(results[0]) = at<float>(arguments[0]);
    return plim_code(0);
  };
  auto engine = makeEngine();
  auto module = load(*engine, R"(
func.func private @wait(f32) -> f32
func.func @f(%x: f32) -> f32 {
  %r = func.call @wait(%x) : (f32) -> f32
  return %r : f32
})",
                     binding("wait", {wait, &gate, HostFunctionKind::Serial}));
  Function f = lookup(module, "f");
  std::thread first([&] { callOk(f, {scalarF32(1)}); });
  while (gate.inside == 0)
    std::this_thread::yield();
  std::stop_source stop;
  std::thread second([&] {
    EXPECT_EQ(f.call(std::vector<Value>{scalarF32(2)}, {.stop = stop.get_token()}).status().code(),
              StatusCode::Cancelled);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop.request_stop();
  second.join();
  EXPECT_EQ(gate.inside, 1);
  gate.isOpen = true;
  first.join();
}

/// How many threads are in it, and the most there ever were.
struct Crowd {
  std::atomic<int> now{0}, most{0};
};

TEST(HostFunctionTest, SerialOnesTakeTurns) {
  auto crowd = [](plim_context *, void *user, const plim_view *, const plim_view *) {
    auto &state = *static_cast<Crowd *>(user);
    int now = ++state.now, most = state.most;
    while (now > most && !state.most.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --state.now;
    return plim_code(0);
  };
  constexpr const char *source = R"(
    func.func private @crowd()
    func.func @f() {
      func.call @crowd() : () -> ()
      return
    })";
  for (HostFunctionKind kind : {HostFunctionKind::Serial, HostFunctionKind::ThreadSafe}) {
    Crowd state;
    auto engine = makeEngine();
    // Two modules, one function.
    HostFunction function = {crowd, &state, kind};
    Function functions[] = {lookup(load(*engine, source, binding("crowd", function)), "f"),
                            lookup(load(*engine, source, binding("crowd", function)), "f")};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 4)
          std::this_thread::yield();
        for (int i = 0; i < 10; ++i)
          callOk(functions[t % 2], {});
      });
    for (std::thread &thread : threads)
      thread.join();
    if (kind == HostFunctionKind::Serial)
      EXPECT_EQ(state.most, 1);
    else
      EXPECT_GT(state.most, 1);
  }
}

TEST(HostFunctionTest, AsyncCallsAndCallsFromInside) {
  auto engine = makeEngine();
  auto inner = load(*engine, "func.func @add(%x: f32) -> f32 {\n  %y = arith.addf %x, %x : f32\n"
                             "  return %y : f32\n}\n");
  Function add = lookup(inner, "add");
  auto nested = [](plim_context *, void *user, const plim_view *arguments,
                   const plim_view *results) {
    StatusOr<std::vector<Value>> sum =
        static_cast<Function *>(user)->call(std::vector<Value>{scalarF32(at<float>(arguments[0]))});
    if (!sum.ok())
      return plim_code(sum.status().code());
    std::memcpy(results[0].data, &std::get<Scalar>((*sum)[0]).bits, sizeof(float));
    return plim_code(0);
  };
  auto module = load(*engine, R"(
    func.func private @nested(f32) -> f32
    func.func @f(%x: f32) -> f32 {
      %y = func.call @nested(%x) : (f32) -> f32
      return %y : f32
    })",
                     binding("nested", {nested, &add}));
  std::vector<Event> events;
  for (int i = 0; i < 50; ++i)
    events.push_back(lookup(module, "f").callAsync(std::vector<Value>{scalarF32(float(i))}));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(events[size_t(i)].wait().ok()) << events[size_t(i)].status().toString();
    EXPECT_EQ(std::get<Scalar>(events[size_t(i)].results()[0]), scalarF32(float(2 * i)));
  }
}

TEST(HostFunctionTest, LoadsOverrideTheEngineAndArtifactsHoldNoPointers) {
  TemporaryFolder cache;
  std::atomic<int> first{0}, second{0};
  for (int round = 0; round < 2; ++round) {
    EngineOptions options{.cacheFolder = cache.path()};
    options.functions["cost"] = {&cost, &first, HostFunctionKind::Pure};
    auto engine = makeEngine(options);
    auto module = load(*engine, pureSource);
    EXPECT_EQ(module->statistics().fromCache, round == 1);
    callOk(lookup(module, "twice"), {scalarF32(1)});
    EXPECT_EQ(first, round + 1);
    auto other =
        load(*engine, pureSource, binding("cost", {&cost, &second, HostFunctionKind::Pure}));
    EXPECT_TRUE(other->statistics().fromCache);
    callOk(lookup(other, "twice"), {scalarF32(1)});
    EXPECT_EQ(first, round + 1);
    EXPECT_EQ(second, round + 1);
  }
}

TEST(HostFunctionTest, ReportsListThem) {
  std::atomic<int> calls{0};
  auto engine = makeEngine();
  auto module = load(*engine, pureSource, binding("cost", {&cost, &calls, HostFunctionKind::Pure}));
  for (const char *part : {R"("externals":[{)", R"("location":"in.mlir:2:1")", R"("name":"cost")",
                           R"("pure":true)", R"x("type":"(f32) -> f32")x"})
    EXPECT_THAT(module->report(), HasSubstr(part));
}

// Effects of the host happen in the order of the source, whatever is parallel in between.
TEST(HostFunctionTest, CallsKeepTheirOrder) {
  std::vector<float> seen;
  auto note = [](plim_context *, void *user, const plim_view *arguments, const plim_view *) {
    static_cast<std::vector<float> *>(user)->push_back(at<float>(arguments[0]));
    return plim_code(0);
  };
  auto engine = makeEngine();
  auto module = load(*engine, R"(
    func.func private @note(tensor<64xf32>)
    func.func @f(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      func.call @note(%x) : (tensor<64xf32>) -> ()
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<64xf32> {
        %u = arith.addf %t, %t : tensor<64xf32>
        func.call @note(%u) : (tensor<64xf32>) -> ()
        func.call @note(%t) : (tensor<64xf32>) -> ()
        scf.yield %u : tensor<64xf32>
      }
      return %r : tensor<64xf32>
    })",
                     binding("note", {note, &seen}));
  Buffer x = makeBuffer<float>({64}, std::vector<float>(64, 1));
  callOk(lookup(module, "f"), {x, Scalar{ElementType::Index, 2}});
  EXPECT_THAT(seen, ElementsAre(1, 2, 1, 4, 2));
}

} // namespace
} // namespace plim
