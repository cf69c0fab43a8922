// Modules whose functions are compiled when they are called first.
#include "tests/unit/session/EngineFixture.h"

#include "jit/Artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <stop_token>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char *severalSource = R"(
func.func private @scaled(%x: tensor<?xf32>, %f: f32) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf32>) {
  ^bb0(%u: f32):
    %p = arith.mulf %u, %f : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @three(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = arith.constant 3.0 : f32
  %r = func.call @scaled(%x, %c) : (tensor<?xf32>, f32) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @six(%x: tensor<?xf32>) -> tensor<?xf32> {
  %t = func.call @three(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %r = arith.addf %t, %t : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @bad(%x: f32) -> f32 {
  %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>
  %c = arith.constant 0 : index
  %r = tensor.extract %a[%c, %c, %c] : tensor<4294967296x4294967296x16xf32>
  return %r : f32
}
func.func @given(%x: tensor<4xf32> {plim.donate = 0 : index},
                 %y: tensor<?xf32> {plim.bounds = [{max = 8}]}) -> (tensor<4xf32>, index) {
  %c = arith.constant 0 : index
  %n = tensor.dim %y, %c : tensor<?xf32>
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r, %n : tensor<4xf32>, index
}
func.func @first(%x: memref<?xf32>) -> f32 {
  %c = arith.constant 0 : index
  %u = memref.load %x[%c] : memref<?xf32>
  return %u : f32
})";

std::vector<Value> oneTwo() { return {makeBuffer<float>({2}, {1, 2})}; }

/// How often each function of "in.mlir" was compiled.
uint64_t loadsOf(const Profiler &profiler, const std::string &function) {
  for (const Profiler::Counter &counter : profiler.counters())
    if (counter.kind == Profiler::Kind::Load && counter.name == "load " + function + " of in.mlir")
      return counter.runs;
  return 0;
}

TEST(Lazy, CompilesWhatIsCalled) {
  auto profiler = std::make_shared<Profiler>();
  std::shared_ptr<Engine> engine = makeEngine({.profiler = profiler});
  std::shared_ptr<Module> module = load(*engine, severalSource, {.lazy = true});
  EXPECT_TRUE(module->isLazy());
  EXPECT_FALSE(load(*engine, saxpySource)->isLazy());
  EXPECT_EQ(module->statistics().compile.objects, 0);
  Function six = lookup(module, "six"), three = lookup(module, "three");
  module.reset(); // functions keep it
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(elements<float>(callOk(six, oneTwo())[0]), ElementsAre(6, 12));
  EXPECT_EQ(loadsOf(*profiler, "six"), 1U);
  EXPECT_EQ(loadsOf(*profiler, "three"), 0U);
  EXPECT_THAT(elements<float>(callOk(three, oneTwo())[0]), ElementsAre(3, 6));
  EXPECT_EQ(loadsOf(*profiler, "three"), 1U);
  EXPECT_EQ(loadsOf(*profiler, "bad"), 0U);
}

TEST(Lazy, SignaturesAreThereAtOnce) {
  std::string source = severalSource;
  const size_t begin = source.find("func.func @bad");
  source.erase(begin, source.find("func.func @given") - begin);
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> eager = load(*engine, source);
  std::shared_ptr<Module> lazy = load(*engine, source, {.lazy = true});
  ASSERT_EQ(lazy->functions().size(), eager->functions().size());
  for (size_t i = 0; i < eager->functions().size(); ++i) {
    const jit::FunctionSignature &want = eager->functions()[i], &have = lazy->functions()[i];
    EXPECT_EQ(have.name, want.name);
    EXPECT_EQ(have.location, want.location);
    EXPECT_EQ(have.results, want.results);
    ASSERT_EQ(have.arguments.size(), want.arguments.size());
    for (size_t j = 0; j < want.arguments.size(); ++j) {
      jit::ValueType type = have.arguments[j];
      if (type.isMemref) {
        EXPECT_EQ(type.access, jit::Access::ReadWrite);
        type.access = want.arguments[j].access;
      }
      type.isRead = want.arguments[j].isRead;
      EXPECT_EQ(type, want.arguments[j]) << have.name << " #" << j;
    }
  }
  EXPECT_EQ(lazy->lookup("seven").status().code(), StatusCode::NotFound);
  EXPECT_EQ(lazy->report(), "");
}

TEST(Lazy, ACallThatCannotBeCompilesNothing) {
  auto profiler = std::make_shared<Profiler>();
  std::shared_ptr<Engine> engine = makeEngine({.profiler = profiler});
  std::shared_ptr<Module> module = load(*engine, severalSource, {.lazy = true});
  Function bad = lookup(module, "bad"), given = lookup(module, "given");
  EXPECT_THAT(std::string(callStatus(bad, oneTwo()).message()), HasSubstr("argument #0 (%x)"));
  EXPECT_THAT(std::string(callStatus(given, {makeBuffer<float>({4}, {1, 2, 3, 4}),
                                             makeBuffer<float>({9}, std::vector<float>(9))})
                              .message()),
              HasSubstr("bounds"));
  EXPECT_EQ(loadsOf(*profiler, "bad") + loadsOf(*profiler, "given"), 0U);
  // What it does to a memref is found out.
  float value = 5;
  StatusOr<Buffer> readOnly =
      Buffer::wrap(&value, ElementType::F32, std::array<int64_t, 1>{1}, true, nullptr, nullptr);
  ASSERT_TRUE(readOnly.ok());
  EXPECT_EQ(std::get<Scalar>(callOk(lookup(module, "first"), {*readOnly})[0]).bits,
            scalarF32(5).bits);
}

TEST(Lazy, ErrorsOfTheSourceAreTheLoads) {
  std::shared_ptr<Engine> engine = makeEngine();
  auto statusOf = [&](const char *source, LoadOptions options = {}) {
    options.lazy = true;
    return engine->load(source, "in.mlir", options).status();
  };
  for (auto [source, text] :
       {std::pair("func.func @f(", "in.mlir:1:"),
        {"func.func @f() {\n  return %x : f32\n}", "in.mlir:2:10: "},
        {"func.func private @f()", "no public function"},
        {"func.func @f(%x: tensor<4xi5>) { return }", "unsupported element type 'i5'"},
        {"func.func @f(%x: tensor<*xf32>) { return }", "ranked tensors"},
        {"func.func @f(%x: tensor<4xf32> {plim.donate = 3 : index}) { return }", "is donated"}}) {
    Status status = statusOf(source);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << source;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
  Status variable = statusOf(stateSource);
  EXPECT_EQ(variable.code(), StatusCode::Unimplemented);
  EXPECT_THAT(std::string(variable.message()),
              AllOf(StartsWith("in.mlir:"), HasSubstr("variables")));
  EXPECT_FALSE(variable.diagnostics().empty());
  EXPECT_EQ(
      statusOf("memref.global @g : memref<4xf32> = dense<1.0>\nfunc.func @f() { return }").code(),
      StatusCode::Unimplemented);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(statusOf(severalSource, {.stop = stop.get_token()}).code(), StatusCode::Cancelled);
}

TEST(Lazy, ErrorsOfLoweringAreTheCalls) {
  auto profiler = std::make_shared<Profiler>();
  std::shared_ptr<Engine> engine = makeEngine({.profiler = profiler});
  EXPECT_EQ(engine->load(severalSource, "in.mlir").status().code(), StatusCode::InvalidArgument);
  std::shared_ptr<Module> module = load(*engine, severalSource, {.lazy = true});
  Function bad = lookup(module, "bad");
  for (int i = 0; i < 3; ++i) {
    Status status = callStatus(bad, {scalarF32(1)});
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith("in.mlir:22:"), HasSubstr("is larger than")));
    ASSERT_FALSE(status.diagnostics().empty());
    EXPECT_EQ(status.diagnostics()[0].line, 22U);
  }
  EXPECT_EQ(loadsOf(*profiler, "bad"), 1U); // it is refused once
  EXPECT_EQ(bad.workspaceRequirement().status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(bad.rawPointer(), nullptr);
  EXPECT_EQ(bad.stackBytes(), 0U);
  EXPECT_THAT(elements<float>(callOk(lookup(module, "six"), oneTwo())[0]), ElementsAre(6, 12));
}

TEST(Lazy, FirstCallsAtOnceCompileOnce) {
  for (int threads : {1, 3}) {
    auto profiler = std::make_shared<Profiler>();
    std::shared_ptr<Engine> engine = makeEngine({.threads = threads, .profiler = profiler});
    std::shared_ptr<Module> module = load(*engine, severalSource, {.lazy = true});
    Function six = lookup(module, "six"), three = lookup(module, "three");
    std::vector<std::jthread> callers;
    for (int i = 0; i < 6; ++i)
      callers.emplace_back([&, i] {
        const Function &function = i % 2 == 0 ? six : three;
        EXPECT_EQ(elements<float>(callOk(function, oneTwo())[0])[0], i % 2 == 0 ? 6 : 3);
      });
    std::vector<Event> events;
    const std::vector<Value> arguments = oneTwo();
    for (int i = 0; i < 6; ++i)
      events.push_back((i % 2 == 0 ? six : three).callAsync(arguments));
    for (const Event &event : events)
      EXPECT_TRUE(event.wait().ok()) << event.wait().toString();
    callers.clear();
    EXPECT_EQ(loadsOf(*profiler, "six"), 1U);
    EXPECT_EQ(loadsOf(*profiler, "three"), 1U);
  }
}

/// A function that takes a while to be compiled.
std::string slowSource() {
  std::string body;
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i + 7), m = std::to_string(i + 9), k = std::to_string(i);
    const std::string vector = "tensor<" + n + "xf32>", matrix = "tensor<" + n + "x" + m + "xf32>";
    body += "  %z" + k + " = arith.constant dense<0.0> : " + vector + "\n  %m" + k +
            " = tensor.splat %x : " + matrix + "\n  %r" + k +
            " = linalg.reduce { arith.addf } ins(%m" + k + " : " + matrix + ") outs(%z" + k +
            " : " + vector + ") dimensions = [1]\n  %e" + k + " = tensor.extract %r" + k +
            "[%c] : " + vector + "\n  %s" + std::to_string(i + 1) + " = arith.addf %s" + k +
            ", %e" + k + " : f32\n";
  }
  return "func.func @slow(%x: f32) -> f32 {\n  %c = arith.constant 0 : index\n  %s0 = "
         "arith.constant "
         "0.0 : f32\n" +
         body + "  return %s100 : f32\n}\n";
}

TEST(Lazy, ACallThatCompilesOrWaitsCanBeStopped) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, slowSource(), {.lazy = true});
  Function slow = lookup(module, "slow");
  const std::vector<Value> arguments = {scalarF32(0)};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(slow.call(arguments, {.stop = stop.get_token()}).status().code(),
            StatusCode::Cancelled);
  EXPECT_EQ(slow.stackBytes(), 0U);
  // Of two that begin at once one compiles and one waits: whichever is stopped, the other goes on.
  std::stop_source second;
  std::promise<Status> ended;
  std::jthread stopped(
      [&] { ended.set_value(slow.call(arguments, {.stop = second.get_token()}).status()); });
  std::jthread other([&] { callOk(slow, arguments); });
  second.request_stop();
  EXPECT_EQ(ended.get_future().get().code(), StatusCode::Cancelled);
  other.join();
  EXPECT_GT(slow.stackBytes(), 0U);
  Event event = slow.callAsync(arguments);
  EXPECT_TRUE(event.wait().ok());
}

TEST(Lazy, ParametersAndHostFunctionsAreThoseOfTheLoad) {
  constexpr const char *source = R"(
ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
func.func private @host(%x: i32) -> i32
func.func @weigh(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ml_program.global_load_const @w : tensor<2xf32>
  %r = arith.mulf %x, %w : tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ml_program.global_load_const @w : tensor<2xf32>
  %r = arith.addf %x, %w : tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @ask(%x: i32) -> i32 {
  %r = func.call @host(%x) : (i32) -> i32
  return %r : i32
})";
  std::shared_ptr<Engine> engine = makeEngine();
  LoadOptions options = {.lazy = true};
  // What is missing only some functions miss.
  std::shared_ptr<Module> without = load(*engine, source, options);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(callStatus(lookup(without, "weigh"), oneTwo()).toString(),
                AllOf(HasSubstr("parameter 'w'"), HasSubstr("is not bound")));
  EXPECT_EQ(callStatus(lookup(without, "ask"), {Scalar{ElementType::I32, 1}}).code(),
            StatusCode::FailedPrecondition);
  options.parameters["v"] = std::get<Buffer>(oneTwo()[0]);
  EXPECT_THAT(engine->load(source, "in.mlir", options).status().toString(),
              HasSubstr("no parameter 'v'"));
  options.parameters.clear();
  options.parameters["w"] = makeBuffer<float>({2}, {10, 20});
  std::shared_ptr<Module> with = load(*engine, source, options);
  options.parameters.clear();
  EXPECT_THAT(elements<float>(callOk(lookup(with, "weigh"), oneTwo())[0]), ElementsAre(10, 40));
  EXPECT_THAT(elements<float>(callOk(lookup(with, "add"), oneTwo())[0]), ElementsAre(11, 22));
}

TEST(Lazy, KernelsAndStates) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, severalSource, {.lazy = true});
  Function first = lookup(module, "first");
  using Raw = float(float *, int64_t);
  auto *raw = reinterpret_cast<Raw *>(first.rawPointer());
  ASSERT_NE(raw, nullptr);
  float values[2] = {7, 8};
  EXPECT_EQ(raw(values, 2), 7);
  EXPECT_GT(first.stackBytes(), 0U);
  EXPECT_EQ(lookup(module, "three").rawPointer(), nullptr);
  // A state of the module's has nothing in it, and fits.
  StatusOr<std::shared_ptr<ModuleState>> state = module->createState();
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(lookup(module, "six").call(oneTwo(), {.state = *state}).ok());
  EXPECT_TRUE(lookup(module, "three").workspaceRequirement(oneTwo()).ok());
  // Donated memory is the call's.
  Buffer donated = makeBuffer<float>({4}, {1, 2, 3, 4});
  std::vector<Value> results =
      callOk(lookup(module, "given"), {donated, makeBuffer<float>({3}, {0, 0, 0})});
  EXPECT_EQ(std::get<Buffer>(results[0]).data(), donated.data());
}

TEST(Lazy, WithEachKindOfEngineAndLoad) {
  const auto six = [](const std::shared_ptr<Module> &module) {
    return elements<float>(callOk(lookup(module, "six"), oneTwo())[0]);
  };
  EXPECT_THAT(six(load(*makeEngine({.checked = true}), severalSource, {.lazy = true})),
              ElementsAre(6, 12));
  std::shared_ptr<Engine> engine = makeEngine();
  EXPECT_THAT(six(load(*engine, severalSource, {.oracle = true, .lazy = true})),
              ElementsAre(6, 12));
  EXPECT_THAT(six(load(*engine, severalSource, {.policy = "heap", .lazy = true})),
              ElementsAre(6, 12));
  // By the workers of an arena all of whose threads may wait for the function.
  EXPECT_THAT(
      six(load(*makeEngine({.workers = {.ofCaller = true}}), severalSource, {.lazy = true})),
      ElementsAre(6, 12));
  LoadOptions own = {.lazy = true};
  own.specialization = {Specialization::OnRequest};
  std::shared_ptr<Module> module = load(*engine, severalSource, own);
  EXPECT_EQ(module->specializationStatistics().made, 0);
  EXPECT_TRUE(lookup(module, "six").specialize(oneTwo()).ok());
  EXPECT_TRUE(lookup(module, "three").specialize(oneTwo()).ok());
  EXPECT_THAT(six(module), ElementsAre(6, 12));
  EXPECT_EQ(module->specializationStatistics().made, 2);
  EXPECT_EQ(module->specializationStatistics().calls, 1);
  EXPECT_EQ(lookup(load(*engine, severalSource, {.lazy = true}), "six").specialize(oneTwo()).code(),
            StatusCode::FailedPrecondition);
}

TEST(Lazy, ComesFromTheCache) {
  TemporaryFolder folder;
  for (bool isSecond : {false, true}) {
    auto profiler = std::make_shared<Profiler>();
    std::shared_ptr<Engine> engine =
        makeEngine({.cacheFolder = folder.path(), .profiler = profiler});
    std::shared_ptr<Module> module = load(*engine, severalSource, {.lazy = true});
    EXPECT_EQ(module->statistics().fromCache, isSecond);
    EXPECT_THAT(elements<float>(callOk(lookup(module, "six"), oneTwo())[0]), ElementsAre(6, 12));
    uint64_t hits = 0;
    for (const Profiler::Counter &counter : profiler->counters())
      hits += counter.name == "cache hit" ? counter.runs : 0;
    EXPECT_EQ(hits, isSecond ? 2U : 0U);
  }
}

TEST(Lazy, IsForLoadsOfSources) {
  std::shared_ptr<Engine> engine = makeEngine();
  LoadOptions lazy = {.lazy = true};
  EXPECT_EQ(engine->compile(saxpySource, "in.mlir", lazy).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(engine->exportCode(saxpySource, "in.mlir", "x", lazy).status().code(),
            StatusCode::InvalidArgument);
  StatusOr<jit::Artifact> artifact = engine->compile(saxpySource, "in.mlir", {});
  ASSERT_TRUE(artifact.ok());
  EXPECT_THAT(engine->load(jit::serialize(*artifact), "in.mlir", lazy).status().toString(),
              HasSubstr("too late for: lazy"));
  std::string assembly;
  LoadOptions given = lazy;
  given.assembly = &assembly;
  EXPECT_THAT(engine->load(saxpySource, "in.mlir", given).status().toString(),
              HasSubstr("takes no assembly"));
  given = lazy;
  given.irAfter = {"Import"};
  EXPECT_THAT(engine->load(saxpySource, "in.mlir", given).status().toString(),
              HasSubstr("takes no IR"));
  given = lazy;
  given.pools["sram"] = {&assembly, 8};
  EXPECT_THAT(engine->load(saxpySource, "in.mlir", given).status().toString(),
              HasSubstr("takes no pools"));
  given = lazy;
  given.device = "npu";
  EXPECT_EQ(engine->load(saxpySource, "in.mlir", given).status().code(),
            StatusCode::InvalidArgument);
}

TEST(Lazy, LoadsByItself) {
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<Event> event = engine->loadAsync(
      [](Engine &own, const LoadOptions &options) {
        return own.load(std::string(severalSource), "in.mlir", options);
      },
      {.lazy = true});
  ASSERT_TRUE(event.ok());
  ASSERT_TRUE(event->wait().ok());
  StatusOr<std::shared_ptr<Module>> module = event->module();
  ASSERT_TRUE(module.ok());
  // The options of the load went with it; those of its functions stay.
  EXPECT_THAT(elements<float>(callOk(lookup(*module, "six"), oneTwo())[0]), ElementsAre(6, 12));
}

} // namespace
} // namespace plim
