// Devices of the host application: what they compile, what they run, and how they fail.
#include "jit/Artifact.h"
#include "tests/unit/session/EmulatedDevice.h"
#include "tests/unit/session/EngineFixture.h"
#include "tests/unit/session/HostViews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace plim {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// The product is for the device, the rest for whoever wants it.
constexpr const char *layerSource = R"(
func.func @layer(%x: tensor<?x8xf32>, %w: tensor<8x16xf32>, %b: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %p = linalg.matmul {plim.device = "npu"} ins(%x, %w : tensor<?x8xf32>, tensor<8x16xf32>) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
  %r = linalg.add ins(%p, %b : tensor<?x16xf32>, tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}
)";

/// Negates, on whatever device.
constexpr const char *negateSource = R"(
func.func @negate(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
)";

/// The same, for the device alone.
std::string negateOnDevice() {
  std::string source = negateSource;
  return source.replace(source.find("negf"), 4, "negf {plim.device = \"npu\"}");
}

struct DeviceTest : ::testing::Test {
  std::shared_ptr<DeviceLog> log = std::make_shared<DeviceLog>();

  std::shared_ptr<Engine> engineWith(std::shared_ptr<const Device> device,
                                     EngineOptions options = {}) {
    options.devices = {std::move(device)};
    return makeEngine(std::move(options));
  }
  std::shared_ptr<Engine> engineWithDevice(EngineOptions options = {}) {
    return engineWith(makeEmulatedDevice("npu", log), std::move(options));
  }
  /// A device that takes everything and runs this function instead.
  static std::shared_ptr<Device> deviceThatRuns(plim_host_function function, void *user = nullptr,
                                                HostFunctionKind kind = {}) {
    auto device = std::make_shared<Device>();
    device->name = "npu";
    device->compile = [](std::string_view name, std::string_view) -> StatusOr<std::string> {
      return std::string(name);
    };
    device->load = [=](std::string_view, std::string_view) -> StatusOr<HostFunction> {
      return HostFunction{.function = function, .user = user, .kind = kind};
    };
    return device;
  }
  /// One that compiles nothing, for this reason.
  static std::shared_ptr<Device> deviceThatSays(Status status) {
    std::shared_ptr<Device> device = deviceThatRuns(nullptr);
    device->compile = [=](std::string_view, std::string_view) -> StatusOr<std::string> {
      return status;
    };
    return device;
  }
  static Status loadStatus(Engine &engine, std::string_view source, LoadOptions options = {}) {
    return engine.load(source, "in.mlir", options).status();
  }
};

plim_code negate(plim_context *, void *, const plim_view *arguments, const plim_view *results) {
  for (int64_t i = 0; i < arguments[0].sizes[0]; ++i)
    at<float>(results[0], i) = -at<float>(arguments[0], i);
  return 0;
}

TEST_F(DeviceTest, RunsWhatTheSourceGivesIt) {
  auto engine = engineWithDevice();
  auto module = load(*engine, layerSource);
  Function layer = lookup(module, "layer");
  ASSERT_THAT(log->texts, SizeIs(1));
  // Named operations, and nothing that only we know.
  EXPECT_THAT(log->texts[0], HasSubstr("linalg.matmul"));
  EXPECT_THAT(log->texts[0], Not(HasSubstr("plim")));
  EXPECT_THAT(log->texts[0], Not(HasSubstr("linalg.add")));
  EXPECT_EQ(log->loads, 1);
  Function oracle = lookup(load(*engine, layerSource, {.oracle = true}), "layer");
  int launches = 0;
  for (int64_t rows : {0, 1, 2, 7, 31, 64}) {
    std::vector<Value> arguments = {smallIntegers({rows, 8}), smallIntegers({8, 16}),
                                    smallIntegers({rows, 16})};
    EXPECT_EQ(elements<float>(callOk(layer, arguments)[0]),
              elements<float>(callOk(oracle, arguments)[0]));
    EXPECT_EQ(log->launches, ++launches) << rows;
  }
  EXPECT_THAT(module->report(), HasSubstr(R"("device":"npu")"));
  EXPECT_THAT(module->report(), HasSubstr(R"("device":"host")"));
  EXPECT_THAT(module->report(), HasSubstr(R"("externals":[])"));
}

TEST_F(DeviceTest, TakesWhatIsLeft) {
  auto engine = engineWithDevice();
  auto module = load(*engine, layerSource, {.device = "npu"});
  EXPECT_EQ(log->loads, 2); // the sum as well
  Function layer = lookup(module, "layer");
  Function oracle = lookup(load(*engine, layerSource, {.oracle = true, .device = "npu"}), "layer");
  EXPECT_EQ(log->loads, 2);
  std::vector<Value> arguments = {smallIntegers({5, 8}), smallIntegers({8, 16}),
                                  smallIntegers({5, 16})};
  EXPECT_EQ(elements<float>(callOk(layer, arguments)[0]),
            elements<float>(callOk(oracle, arguments)[0]));
  EXPECT_EQ(log->launches, 2);
}

TEST_F(DeviceTest, EveryPolicyAndCheckedEngines) {
  const std::vector<Value> arguments = {smallIntegers({3, 8}), smallIntegers({8, 16}),
                                        smallIntegers({3, 16})};
  std::vector<float> wanted;
  for (const char *policy : {"auto", "stack", "workspace", "heap", "fixed:100", "checked"}) {
    EngineOptions options;
    options.checked = policy == std::string_view("checked");
    if (!options.checked)
      options.policy = policy;
    auto engine = engineWithDevice(options);
    if (wanted.empty())
      wanted = elements<float>(
          callOk(lookup(load(*engine, layerSource, {.oracle = true}), "layer"), arguments)[0]);
    int before = log->launches;
    Function layer = lookup(load(*engine, layerSource, {.device = "npu"}), "layer");
    EXPECT_EQ(elements<float>(callOk(layer, arguments)[0]), wanted) << policy;
    EXPECT_EQ(log->launches, before + 2) << policy;
  }
}

TEST_F(DeviceTest, SeveralDevicesAndEvents) {
  auto other = std::make_shared<DeviceLog>();
  auto engine =
      makeEngine({.devices = {makeEmulatedDevice("npu", log), makeEmulatedDevice("dsp", other)}});
  auto module = load(*engine, layerSource, {.device = "dsp"});
  Function layer = lookup(module, "layer");
  const std::vector<Value> arguments = {smallIntegers({3, 8}), smallIntegers({8, 16}),
                                        smallIntegers({3, 16})};
  Function oracle = lookup(load(*engine, layerSource, {.oracle = true}), "layer");
  const std::vector<float> wanted = elements<float>(callOk(oracle, arguments)[0]);
  std::vector<Event> events;
  for (int i = 0; i < 8; ++i)
    events.push_back(layer.callAsync(arguments));
  for (Event &event : events) {
    ASSERT_TRUE(event.wait().ok());
    EXPECT_EQ(elements<float>(event.results()[0]), wanted);
  }
  EXPECT_EQ(log->launches, 8);
  EXPECT_EQ(other->launches, 8);
}

TEST_F(DeviceTest, WhatItDoesNotTakeTheHostRuns) {
  auto engine = engineWith(deviceThatSays(unimplementedError("no such gate")));
  auto module = load(*engine, negateSource, {.device = "npu"});
  EXPECT_THAT(module->report(), HasSubstr(R"("refusal":"npu: no such gate")"));
  EXPECT_THAT(
      elements<float>(callOk(lookup(module, "negate"), {makeBuffer<float>({2}, {1, 2})})[0]),
      ElementsAre(-1, -2));
  // But not what is the device's alone.
  EXPECT_EQ(loadStatus(*engine, negateOnDevice()).toString(),
            "invalid argument: in.mlir:6:8: device 'npu' does not take this: no such gate");
}

TEST_F(DeviceTest, ChecksOfIndicesStayOnTheHost) {
  auto engine = engineWithDevice();
  auto module = load(*engine, gatherSource, {.device = "npu"});
  EXPECT_THAT(log->texts, IsEmpty());
  EXPECT_THAT(module->report(), HasSubstr("npu: it checks indices while it runs"));
}

TEST_F(DeviceTest, FailuresOfCompilersFailTheLoad) {
  auto engine = engineWith(deviceThatSays(resourceExhaustedError("the board is full")));
  for (const LoadOptions &options : {LoadOptions(), LoadOptions{.device = "npu"}})
    EXPECT_THAT(
        loadStatus(*engine, options.device.empty() ? negateOnDevice() : negateSource, options)
            .toString(),
        HasSubstr("in.mlir:6:8: device 'npu' does not compile this: the board is full"));
}

TEST_F(DeviceTest, FailuresOfLoadingFailTheLoad) {
  std::shared_ptr<Device> device = deviceThatRuns(nullptr);
  auto engine = engineWith(device);
  EXPECT_EQ(loadStatus(*engine, negateOnDevice()).toString(),
            "internal error: in.mlir:6:8: device 'npu' has made no function of its code");
  device->load = [](std::string_view, std::string_view) -> StatusOr<HostFunction> {
    return dataLossError("bad magic");
  };
  EXPECT_EQ(loadStatus(*engine, negateOnDevice()).toString(),
            "data loss: in.mlir:6:8: device 'npu' does not load its code: bad magic");
}

TEST_F(DeviceTest, ExceptionsAreFailures) {
  std::shared_ptr<Device> device = deviceThatRuns(&negate);
  auto engine = engineWith(device);
  auto load = device->load;
  device->load = [](std::string_view, std::string_view) -> StatusOr<HostFunction> {
    throw std::runtime_error("no wires");
  };
  EXPECT_EQ(
      loadStatus(*engine, negateOnDevice()).toString(),
      "unknown: in.mlir:6:8: device 'npu' does not load its code: it threw an exception: no wires");
  device->load = load;
  device->compile = [](std::string_view, std::string_view) -> StatusOr<std::string> { throw 7; };
  EXPECT_EQ(
      loadStatus(*engine, negateOnDevice()).toString(),
      "invalid argument: in.mlir:6:8: device 'npu' does not compile this: it threw an exception");
}

TEST_F(DeviceTest, FailuresOfLaunchesFailTheCall) {
  int how = 0;
  auto launch = [](plim_context *context, void *user, const plim_view *arguments,
                   const plim_view *results) -> plim_code {
    switch (*static_cast<int *>(user)) {
    case 0:
      return static_cast<plim_code>(StatusCode::Unavailable);
    case 1:
      return plim_rt_fail(context, static_cast<plim_code>(StatusCode::Unavailable),
                          "the queue is gone");
    case 2:
      throw std::runtime_error("against the rules");
    default:
      return negate(context, user, arguments, results);
    }
  };
  auto engine = engineWith(deviceThatRuns(launch, &how));
  Function function = lookup(load(*engine, negateOnDevice()), "negate");
  std::vector<Value> arguments = {makeBuffer<float>({2}, {1, 2})};
  EXPECT_EQ(callStatus(function, arguments).toString(),
            "unavailable: in.mlir:6:8: device 'npu' failed");
  how = 1;
  EXPECT_EQ(callStatus(function, arguments).toString(),
            "unavailable: in.mlir:6:8: the queue is gone");
  how = 2;
  EXPECT_EQ(callStatus(function, arguments).toString(),
            "unknown: in.mlir:6:8: device 'npu' threw an exception");
  how = 3;
  EXPECT_THAT(elements<float>(callOk(function, arguments)[0]), ElementsAre(-1, -2));
}

TEST_F(DeviceTest, EnginesRefuseDevicesThatCannotBe) {
  auto statusWith = [](Devices devices) {
    EngineOptions options;
    options.devices = std::move(devices);
    return Engine::create(options).status().toString();
  };
  std::shared_ptr<Device> device = deviceThatRuns(&negate);
  EXPECT_EQ(statusWith({device, device}), "invalid argument: device 'npu' is there twice");
  EXPECT_EQ(statusWith({nullptr}), "invalid argument: a device needs a name, and compile or load");
  for (const char *name : {"", "a b", "plim.x"}) {
    auto other = std::make_shared<Device>(*device);
    other->name = name;
    EXPECT_THAT(statusWith({other}), HasSubstr("invalid argument")) << name;
  }
  auto host = std::make_shared<Device>(*device);
  host->name = "host";
  EXPECT_THAT(statusWith({host}), HasSubstr("device 'host' is a CPU of target"));
  auto mute = std::make_shared<Device>(*device);
  mute->load = nullptr;
  EXPECT_THAT(loadStatus(*engineWith(mute), negateOnDevice()).toString(),
              AllOf(HasSubstr("failed precondition"), HasSubstr("device 'npu' has no load")));
  mute->compile = nullptr;
  EXPECT_EQ(statusWith({mute}), "invalid argument: a device needs a name, and compile or load");

  auto engine = engineWith(device);
  EXPECT_THAT(loadStatus(*engine, negateSource, {.device = "npv"}).toString(),
              HasSubstr("the engine has no compiler for a device 'npv'; did you mean 'npu'?"));
  EXPECT_THAT(loadStatus(*makeEngine(), negateOnDevice()).toString(),
              HasSubstr("device 'npu' is not part of target"));
}

TEST_F(DeviceTest, TargetsMayDescribeThem) {
  // Whatever the target says of who reaches what, launches reach the memory of the host.
  targets::TargetDescription target = makeEngine()->target();
  targets::DeviceDescription &npu = target.devices.emplace_back();
  npu.name = "npu";
  npu.kind = targets::DeviceKind::Npu;
  npu.description = "of the board";
  EngineOptions options;
  options.description = target;
  std::shared_ptr<Engine> engine = engineWithDevice(options);
  EXPECT_EQ(engine->target().findDevice("npu")->description, "of the board");
  Function function = lookup(load(*engine, negateOnDevice()), "negate");
  EXPECT_THAT(elements<float>(callOk(function, {makeBuffer<float>({2}, {1, 2})})[0]),
              ElementsAre(-1, -2));
  EXPECT_EQ(log->launches, 1);
  // The engine has no device of that name: nobody compiles for it.
  EXPECT_THAT(loadStatus(*makeEngine(options), negateOnDevice()).toString(),
              HasSubstr("device 'npu' is an accelerator that the engine has no compiler for"));
}

TEST_F(DeviceTest, NobodyCompilesForAGpuThatTheHostBringsWithoutACompiler) {
  EngineOptions options;
  options.description = makeEngine()->target();
  targets::DeviceDescription &gpu = options.description->devices.emplace_back();
  gpu.name = "cuda0";
  gpu.kind = targets::DeviceKind::Cuda;
  gpu.triple = "nvptx64-nvidia-cuda";
  gpu.cpu = "sm_80";
  gpu.maxWorkgroupSize = 1024;
  std::string source = negateSource;
  source.replace(source.find("negf"), 4, "negf {plim.device = \"cuda0\"}");
  StatusOr<jit::Artifact> own = makeEngine(options)->compile(source, "in.mlir", {});
  ASSERT_TRUE(own.ok()) << own.status().toString();
  EXPECT_THAT(own->externals, SizeIs(1));

  auto device = std::make_shared<Device>(*makeEmulatedDevice("cuda0", log));
  device->compile = nullptr;
  auto engine = engineWith(device, options);
  EXPECT_THAT(engine->compile(source, "in.mlir", {}).status().toString(),
              HasSubstr("device 'cuda0' is an accelerator that the engine has no compiler for"));
  EXPECT_TRUE(engine->load(negateSource, "in.mlir", {}).ok());
}

TEST_F(DeviceTest, CompiledModulesCarryTheirCode) {
  auto engine = engineWithDevice();
  StatusOr<jit::Artifact> artifact = engine->compile(negateOnDevice(), "in.mlir", {});
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  const std::string bytes = jit::serialize(*artifact);
  EXPECT_EQ(log->loads, 0);

  // Where it runs there need be no compiler.
  auto device = std::make_shared<Device>(*makeEmulatedDevice("npu", log));
  device->compile = nullptr;
  auto other = engineWith(device);
  Function function = lookup(load(*other, bytes), "negate");
  EXPECT_THAT(elements<float>(callOk(function, {makeBuffer<float>({2}, {1, 2})})[0]),
              ElementsAre(-1, -2));
  EXPECT_EQ(log->launches, 1);
  EXPECT_THAT(loadStatus(*other, negateSource, {.device = "npu"}).toString(),
              HasSubstr("no compiler for a device 'npu'"));
  EXPECT_EQ(loadStatus(*makeEngine(), bytes).toString(),
            "failed precondition: in.mlir:6:8: this is compiled for device 'npu', which the engine "
            "does not have");
  EXPECT_THAT(loadStatus(*engine, bytes, {.device = "npu"}).toString(),
              HasSubstr("is compiled already"));
}

TEST_F(DeviceTest, TheCacheKnowsItsVersion) {
  TemporaryFolder folder;
  for (const auto &[version, texts] :
       {std::pair("1", size_t(1)), {"1", size_t(1)}, {"2", size_t(2)}}) {
    auto device = std::make_shared<Device>(*makeEmulatedDevice("npu", log));
    device->version = version;
    auto engine = engineWith(device, {.cacheFolder = folder.path()});
    Function function = lookup(load(*engine, negateOnDevice()), "negate");
    EXPECT_THAT(elements<float>(callOk(function, {makeBuffer<float>({1}, {3})})[0]),
                ElementsAre(-3));
    EXPECT_EQ(log->texts.size(), texts);
  }
  // Nor are the choices of who runs what the same.
  auto engine = engineWithDevice({.cacheFolder = folder.path()});
  load(*engine, negateSource);
  size_t before = log->texts.size();
  load(*engine, negateSource, {.device = "npu"});
  EXPECT_EQ(log->texts.size(), before + 1);
}

TEST_F(DeviceTest, CodeGoesWithItsModule) {
  auto engine = engineWithDevice();
  auto module = load(*engine, negateOnDevice());
  EXPECT_EQ(log->loaded, 1);
  Function function = lookup(module, "negate");
  module = nullptr;
  engine = nullptr;
  EXPECT_THAT(elements<float>(callOk(function, {makeBuffer<float>({1}, {3})})[0]), ElementsAre(-3));
  EXPECT_EQ(log->loaded, 1);
  function = lookup(load(*makeEngine(), negateSource), "negate");
  EXPECT_EQ(log->loaded, 0);
}

TEST_F(DeviceTest, EqualDispatchesAreCompiledOnce) {
  constexpr const char *twice = R"(
func.func @twice(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.sub {plim.device = "npu"} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %b = linalg.sub {plim.device = "npu"} ins(%t, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}
)";
  auto engine = engineWithDevice();
  Function function = lookup(load(*engine, twice), "twice");
  EXPECT_THAT(log->texts, SizeIs(1));
  std::vector<Value> arguments = {smallIntegers({4, 4}), smallIntegers({4, 4})};
  Function oracle = lookup(load(*engine, twice, {.oracle = true}), "twice");
  EXPECT_EQ(elements<float>(callOk(function, arguments)[0]),
            elements<float>(callOk(oracle, arguments)[0]));
  EXPECT_EQ(log->launches, 2);
}

TEST_F(DeviceTest, SpecializationsHaveCodeOfTheirOwn) {
  auto engine = engineWithDevice({.specialization = {Specialization::OnRequest}});
  Function function = lookup(load(*engine, negateOnDevice()), "negate");
  std::vector<Value> arguments = {makeBuffer<float>({3}, {1, 2, 3})};
  ASSERT_TRUE(function.specialize(arguments).ok());
  ASSERT_THAT(log->texts, SizeIs(2));
  EXPECT_THAT(log->texts[1], HasSubstr("tensor<3xf32>"));
  EXPECT_EQ(log->loaded, 2);
  EXPECT_THAT(elements<float>(callOk(function, arguments)[0]), ElementsAre(-1, -2, -3));
  EXPECT_EQ(log->launches, 1);
}

TEST_F(DeviceTest, LoadingMayCallBack) {
  std::shared_ptr<Module> module;
  int asked = 0;
  std::shared_ptr<Device> device = deviceThatRuns(&negate);
  auto load = device->load;
  device->load = [&](std::string_view name, std::string_view code) {
    if (module) // of a specialisation
      asked += module->specializationStatistics().failed == 0;
    return load(name, code);
  };
  auto engine = engineWith(device, {.specialization = {Specialization::OnRequest}});
  module = testing::load(*engine, negateOnDevice());
  Function function = lookup(module, "negate");
  for (int64_t n : {1, 2, 3}) {
    ASSERT_TRUE(function.specialize(std::vector<Value>{smallIntegers({n})}).ok());
    EXPECT_EQ(asked, n);
  }
  module = nullptr;
}

/// Memory of a device, at addresses that nothing else may look at.
struct Sram {
  std::atomic<int> blocks{0}, most{0}, refused{0};
  int room = 1;

  runtime::Allocator allocator() {
    return {.user = this,
            .allocate = [](void *user, size_t, size_t, const char *) noexcept -> void * {
              auto &sram = *static_cast<Sram *>(user);
              if (++sram.blocks > sram.room) {
                --sram.blocks;
                ++sram.refused;
                return nullptr;
              }
              sram.most = std::max<int>(sram.most, sram.blocks);
              return reinterpret_cast<void *>(uintptr_t{1} << 20);
            },
            .release = [](void *user, void *,
                          size_t) noexcept { --static_cast<Sram *>(user)->blocks; }};
  }
};

plim_code doNothing(plim_context *, void *, const plim_view *, const plim_view *) { return 0; }

/// Its first launch goes on when three others had no memory.
plim_code waitForThree(plim_context *, void *user, const plim_view *, const plim_view *) {
  auto &sram = *static_cast<Sram *>(user);
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (sram.refused < 3 && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
  return 0;
}

TEST_F(DeviceTest, CallsWaitForMemory) {
  Sram sram;
  std::shared_ptr<Device> device = deviceThatRuns(&waitForThree, &sram);
  device->memory = sram.allocator();
  auto engine = engineWith(device, {.description = boardTarget()});
  auto module = load(*engine, temporariesSource, {.device = "npu"});
  EXPECT_THAT(module->report(), HasSubstr("global.npu.sram"));
  Function function = lookup(module, "main");
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        callOk(function, {smallIntegers({8, 16}), smallIntegers({16, 16})});
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_GE(sram.refused, 3); // all of them came while the first held it
  EXPECT_EQ(sram.most, 1);
  EXPECT_EQ(sram.blocks, 1);
  function = lookup(load(*makeEngine(), negateSource), "negate");
  module = nullptr;
  EXPECT_EQ(sram.blocks, 0);
}

TEST_F(DeviceTest, SpecializationsMayUseMemoryThatTheGeneralCodeDoesNot) {
  Sram sram;
  sram.room = 2;
  std::shared_ptr<Device> device = deviceThatRuns(&doNothing);
  device->memory = sram.allocator();
  auto engine = engineWith(
      device, {.description = boardTarget(), .specialization = {Specialization::OnRequest}});
  auto module = load(*engine, dynamicProductsSource, {.device = "npu"});
  EXPECT_THAT(module->report(), Not(HasSubstr("global.npu.sram")));
  Function function = lookup(module, "main");
  std::vector<Value> arguments = {smallIntegers({9, 16}), smallIntegers({16, 16})};
  callOk(function, arguments);
  EXPECT_EQ(sram.blocks, 0);
  Status status = function.specialize(arguments);
  ASSERT_TRUE(status.ok()) << status.toString();
  callOk(function, arguments);
  EXPECT_EQ(sram.blocks, 1);
}

/// Launches that wait for each other.
struct Meeting {
  std::atomic<int> inside{0};
  std::atomic<bool> together{false}, alone{true};

  static plim_code launch(plim_context *context, void *user, const plim_view *arguments,
                          const plim_view *results) {
    auto &meeting = *static_cast<Meeting *>(user);
    if (++meeting.inside > 1)
      meeting.together = true;
    auto end = std::chrono::steady_clock::now() +
               (meeting.alone ? std::chrono::milliseconds(1) : std::chrono::milliseconds(5000));
    while (!meeting.together && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    plim_code code = negate(context, nullptr, arguments, results);
    --meeting.inside;
    return code;
  }
};

constexpr const char *besideSource = R"(
func.func @beside(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.negf {plim.device = "npu"} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.negf {plim.device = "npu"} ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
)";

TEST_F(DeviceTest, LaunchesRunAtTheSameTime) {
  Meeting meeting;
  meeting.alone = false;
  auto engine = engineWith(deviceThatRuns(&Meeting::launch, &meeting));
  Function function = lookup(load(*engine, besideSource), "beside");
  callOk(function, {smallIntegers({4}), smallIntegers({4})});
  EXPECT_TRUE(meeting.together);
}

TEST_F(DeviceTest, UnlessTheyTakeTurns) {
  Meeting meeting;
  // Whatever they run: the second is another dispatch, and each has data of its own.
  std::shared_ptr<Device> device = deviceThatRuns(nullptr);
  device->load = [&](std::string_view, std::string_view) -> StatusOr<HostFunction> {
    auto own = std::make_shared<Meeting *>(&meeting);
    return HostFunction{.function =
                            [](plim_context *context, void *user, const plim_view *arguments,
                               const plim_view *results) {
                              return Meeting::launch(context, *static_cast<Meeting **>(user),
                                                     arguments, results);
                            },
                        .user = own.get(),
                        .kind = HostFunctionKind::Serial,
                        .owner = own};
  };
  auto engine = engineWith(device);
  std::string source = besideSource;
  source.replace(source.rfind("linalg.negf"), 11, "linalg.abs");
  Function function = lookup(load(*engine, source), "beside");
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        callOk(function, {smallIntegers({4}), smallIntegers({4})});
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_FALSE(meeting.together);
}

} // namespace
} // namespace plim
