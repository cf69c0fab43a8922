// The C++ wrapper, as a host uses it: through the shared library, with nothing but public headers.
#include "plimsoll/plimsoll.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

namespace {

using namespace plimsoll;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char *source = R"(
func.func @scale(%a: f32, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%u: f32, %o: f32):
    %p = arith.mulf %a, %u : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @sum(%a: i64, %b: i64) -> i64 {
  %s = arith.addi %a, %b : i64
  return %s : i64
}
func.func @first(%x: memref<?xf64>, %i: index) -> (f64, index, i1) {
  %v = memref.load %x[%i] : memref<?xf64>
  %t = arith.constant true
  return %v, %i, %t : f64, index, i1
}
func.func @fill(%v: i8, %x: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi8>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %v, %x[%i] : memref<?xi8>
  }
  return
}
)";

template <typename T> T orFail(Result<T> result) {
  if (!result)
    ADD_FAILURE() << result.status().message();
  return *std::move(result);
}

class WrapperTest : public testing::Test {
protected:
  Function lookup(const char *name) { return orFail(module.function(name)); }

  Engine engine = orFail(Engine::create({.threads = 2}));
  Module module = orFail(engine.load(source, "test.mlir"));
};

TEST_F(WrapperTest, TypedCalls) {
  EXPECT_EQ(orFail(lookup("sum").call<int64_t>(int64_t(40), int64_t(2))), 42);
  const std::vector<float> x = {1, 2, 3};
  Buffer scaled = orFail(lookup("scale").call<Buffer>(2.0F, x));
  EXPECT_THAT(orFail(scaled.elements<float>()), ElementsAre(2, 4, 6));
  EXPECT_THAT(scaled.shape(), ElementsAre(3));
  const double doubles[] = {1.5, 2.5};
  auto [value, index, flag] =
      orFail(lookup("first").call<std::tuple<double, Index, bool>>(doubles, Index{1}));
  EXPECT_EQ(value, 2.5);
  EXPECT_EQ(index.value, 1);
  EXPECT_TRUE(flag);
  std::vector<int8_t> bytes(5);
  EXPECT_TRUE(lookup("fill").call<void>(int8_t(7), bytes).ok());
  EXPECT_THAT(bytes, ElementsAre(7, 7, 7, 7, 7));
}

TEST_F(WrapperTest, RefusesOtherTypes) {
  Function sum = lookup("sum");
  Result<float> wrong = sum.call<float>(int64_t(1), int64_t(2));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.status().code(), PLIM_INVALID_ARGUMENT);
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("other types"));
  EXPECT_THAT(std::string(sum.call<int64_t>(1, 2).status().message()),
              HasSubstr("argument #0 (%a) of 'sum' is i32, expected i64"));
  EXPECT_THAT(
      std::string(sum.call<std::tuple<Index, Index>>(int64_t(1), int64_t(2)).status().message()),
      HasSubstr("'sum' has 1 results, asked for as 2"));
  // What is const is not written.
  const std::vector<int8_t> constant(3);
  EXPECT_THAT(std::string(lookup("fill").call<void>(int8_t(1), constant).message()),
              HasSubstr("read-only"));
  EXPECT_EQ(Function().call<void>().code(), PLIM_INVALID_ARGUMENT);
  EXPECT_EQ(lookup("scale").call<Buffer>(1.0F, Buffer()).status().code(), PLIM_INVALID_ARGUMENT);
}

TEST_F(WrapperTest, WrongResultsAreToldBeforeTheCall) {
  std::vector<int8_t> bytes(2);
  EXPECT_THAT(lookup("fill").call<float>(int8_t(7), bytes).status().message(),
              HasSubstr("'fill' has 0 results, asked for as 1"));
  EXPECT_THAT(bytes, ElementsAre(0, 0)); // nothing has run
  const double x[] = {1};
  using Wrong = std::tuple<double, int64_t, bool>;
  EXPECT_THAT(
      lookup("first").call<Wrong>(x, Index{0}).status().message(),
      HasSubstr(
          "the results of 'first' have other types than they were asked for as: f64, index, i1"));
  EXPECT_EQ(Function().call<float>().status().code(), PLIM_INVALID_ARGUMENT);
  static_assert(ResultType<Index> && ResultType<Buffer> && ResultType<bool>);
  static_assert(!ResultType<std::string> && !ResultType<std::vector<float>> &&
                !ResultType<long double>);
}

TEST_F(WrapperTest, SignaturesAreComparedAtLookUp) {
  auto sum = orFail(module.function<int64_t(int64_t, int64_t)>("sum"));
  EXPECT_EQ(*sum(40, 2), 42);
  EXPECT_EQ(sum.function().name(), "sum");
  auto scale = orFail(module.function<Buffer(float, std::span<const float>)>("scale"));
  const std::vector<float> x = {1, 2};
  EXPECT_THAT(orFail(orFail(scale(2, x)).elements<float>()), ElementsAre(2, 4));
  EXPECT_THAT(orFail(orFail(scale(2, {})).elements<float>()), ElementsAre());
  std::vector<int8_t> bytes(2);
  auto fill = orFail(module.function<void(int8_t, std::span<int8_t>)>("fill"));
  EXPECT_TRUE(fill(7, bytes).ok());
  EXPECT_THAT(bytes, ElementsAre(7, 7));
  const double y[] = {1.5};
  auto first = orFail(module.function<std::tuple<double, Index, bool>(Buffer, Index)>("first"));
  EXPECT_EQ(std::get<0>(orFail(first(orFail(Buffer::wrap(std::span(y))), Index{0}))), 1.5);

  auto refuses = [&]<typename SignatureT>(SignatureT *, const char *name, const char *message) {
    auto typed = module.function<SignatureT>(name);
    EXPECT_FALSE(typed);
    EXPECT_THAT(std::string(typed.status().message()), HasSubstr(message));
  };
  refuses(static_cast<float (*)(int64_t, int64_t)>(nullptr), "sum",
          "results of 'sum' have other types");
  refuses(static_cast<void (*)(int64_t, int64_t)>(nullptr), "sum",
          "'sum' has 1 results, asked for as 0");
  refuses(static_cast<int64_t (*)(int64_t)>(nullptr), "sum",
          "'sum' has 2 arguments, asked for as 1");
  refuses(static_cast<int64_t (*)(int64_t, int32_t)>(nullptr), "sum",
          "argument #1 (%b) of 'sum' is i64, and was asked for as another type");
  refuses(static_cast<int64_t (*)(int64_t, Buffer)>(nullptr), "sum",
          "argument #1 (%b) of 'sum' is i64");
  refuses(static_cast<Buffer (*)(float, std::span<const double>)>(nullptr), "scale",
          "argument #1 (%x) of 'scale' is ?xf32");
  refuses(static_cast<void (*)(int8_t, std::span<const int8_t>)>(nullptr), "fill",
          "argument #1 (%x) of 'fill' is ?xi8, which is written");
  refuses(static_cast<void (*)()>(nullptr), "summ", "'sum'");
  EXPECT_EQ(Function().typed<void()>().status().code(), PLIM_INVALID_ARGUMENT);
  EXPECT_EQ((TypedFunction<int64_t(int64_t)>()(1).status().code()), PLIM_INVALID_ARGUMENT);
}

TEST_F(WrapperTest, TypedCallsThatRunByThemselves) {
  const std::vector<float> x = {1, 2};
  std::vector<float> y(2);
  auto scale = orFail(module.function<Buffer(float, std::span<const float>)>("scale"));
  TypedEvent<Buffer> event = orFail(scale.callAsync(2, x));
  EXPECT_THAT(orFail(orFail(event.result()).elements<float>()), ElementsAre(2, 4));
  const Buffer outputs[] = {orFail(Buffer::wrap(std::span(y)))};
  TypedEvent<void> into =
      orFail(lookup("scale").callAsyncTyped<void>({.call = {.outputs = outputs}}, 3.0F, x));
  EXPECT_TRUE(into.result().ok());
  EXPECT_THAT(y, ElementsAre(3, 6));
  TypedEvent<int64_t> sum = orFail(lookup("sum").callAsync<int64_t>(int64_t(40), int64_t(2)));
  EXPECT_EQ(orFail(sum.result()), 42);
  EXPECT_EQ(orFail(sum.result()), 42); // again
  EXPECT_THAT(lookup("sum").callAsync<float>(int64_t(40), int64_t(2)).status().message(),
              HasSubstr("other types"));
  const double one[] = {1};
  auto first = orFail(lookup("first").callAsync<std::tuple<double, Index, bool>>(one, Index{4}));
  EXPECT_FALSE(first.result().ok()); // out of range
  EXPECT_EQ(TypedEvent<float>().result().status().code(), PLIM_INVALID_ARGUMENT);
  static_assert(detail::stays<std::vector<float> &> && detail::stays<float> &&
                detail::stays<std::span<float>>);
  static_assert(!detail::stays<std::vector<float>>);
}

TEST_F(WrapperTest, ThrowsByChoice) {
  EXPECT_EQ(lookup("sum").call<int64_t>(int64_t(40), int64_t(2)).value(), 42);
  Result<Module> bad = engine.load("func.func @f() {\n  return %x : i32\n}", "bad.mlir");
  try {
    static_cast<void>(bad.value());
    ADD_FAILURE();
  } catch (const std::exception &error) {
    EXPECT_THAT(error.what(), HasSubstr("bad.mlir:2:"));
    const auto &own = dynamic_cast<const Error &>(error);
    EXPECT_EQ(own.code(), PLIM_INVALID_ARGUMENT);
    EXPECT_EQ(own.status().line(), 2U);
    EXPECT_EQ(own.status().message(), bad.status().message());
  }
  EXPECT_THROW(static_cast<void>(module.function("summ").value()), Error);
  EXPECT_THROW(Status(PLIM_UNKNOWN, "own").orThrow(), Error);
  EXPECT_NO_THROW(Status().orThrow());
  const Result<int> seven = 7;
  EXPECT_EQ(seven.value(), 7);
}

TEST_F(WrapperTest, LoadsThatAreNotToTakeLong) {
  LoadOptions options;
  options.timeout = std::chrono::nanoseconds(1);
  EXPECT_EQ(engine.load(source, "test.mlir", options).status().code(), PLIM_DEADLINE_EXCEEDED);
  options.timeout = std::chrono::hours(1);
  EXPECT_TRUE(engine.load(source, "test.mlir", options).ok());
}

TEST_F(WrapperTest, LoadsThatRunByThemselves) {
  std::atomic<int> steps = 0;
  LoadEvent event;
  {
    LoadOptions options;
    options.progress = [&steps, kept = std::make_shared<int>()](double) { ++steps; };
    event = orFail(engine.loadAsync(std::string(source), "test.mlir", options));
  } // the source and the options may go
  const Module loaded = orFail(event.result());
  EXPECT_GT(steps, 0);
  EXPECT_TRUE(event.isDone());
  EXPECT_EQ(loaded.functionNames(), module.functionNames());
  EXPECT_TRUE(event.result().ok());

  const LoadEvent wrong = orFail(engine.loadFileAsync("/no/such/file.mlir"));
  EXPECT_EQ(wrong.result().status().code(), PLIM_NOT_FOUND);
  EXPECT_EQ(LoadEvent().result().status().code(), PLIM_INVALID_ARGUMENT);
  LoadOptions late;
  late.timeout = std::chrono::nanoseconds(1);
  EXPECT_EQ(orFail(engine.loadAsync(source, "test.mlir", late)).result().status().code(),
            PLIM_DEADLINE_EXCEEDED);
  EXPECT_EQ(Engine().loadAsync(source, "test.mlir").status().code(), PLIM_INVALID_ARGUMENT);
}

TEST_F(WrapperTest, LazyLoads) {
  LoadOptions options;
  options.lazy = true;
  const Module lazy = orFail(engine.load(source, "test.mlir", options));
  EXPECT_EQ(lazy.functionNames(), module.functionNames());
  EXPECT_EQ(lazy.explain().status().code(), PLIM_FAILED_PRECONDITION);
  EXPECT_EQ(orFail(lazy.function("scale")).stackBytes(), 0U);
}

TEST_F(WrapperTest, CallsIntoBuffers) {
  std::vector<float> x = {1, 2, 3}, y(3);
  const Buffer outputs[] = {orFail(Buffer::wrap(std::span(y)))};
  EXPECT_TRUE(lookup("scale").callInto(outputs, 3.0F, x).ok());
  EXPECT_THAT(y, ElementsAre(3, 6, 9));
  Stop stop = orFail(Stop::create());
  EXPECT_TRUE(stop.request().ok());
  CallOptions options;
  options.stop = &stop;
  EXPECT_EQ(lookup("scale").callTyped<Buffer>(options, 3.0F, x).status().code(), PLIM_CANCELLED);
}

TEST_F(WrapperTest, Reflection) {
  EXPECT_THAT(module.functionNames(), ElementsAre("scale", "sum", "first", "fill"));
  Function scale = lookup("scale");
  EXPECT_EQ(scale.name(), "scale");
  EXPECT_EQ(scale.argumentCount(), 2U);
  EXPECT_EQ(orFail(scale.argumentType(1)).rank, 1U);
  EXPECT_EQ(scale.argumentType(2).status().code(), PLIM_OUT_OF_RANGE);
  EXPECT_EQ(orFail(scale.resultType(0)).shape[0], PLIM_DYNAMIC);
  auto *sum = lookup("sum").rawPointer<int64_t(int64_t, int64_t)>();
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(sum(1, 2), 3);
  EXPECT_THAT(std::string(orFail(module.explain()).text()), HasSubstr("\"functions\""));
  EXPECT_GT(orFail(module.statistics()).total_seconds, 0);
  Result<Function> none = module.function("summ");
  EXPECT_EQ(none.status().code(), PLIM_NOT_FOUND);
}

TEST_F(WrapperTest, StatusesSayWhere) {
  Result<Module> bad = engine.load("func.func @f() {\n  return %x : i32\n}", "bad.mlir");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.status().file(), "bad.mlir");
  EXPECT_EQ(bad.status().line(), 2U);
  EXPECT_GT(bad.status().column(), 0U);
  Status moved = bad.status().ok() ? Status() : Status(PLIM_UNKNOWN, "own");
  EXPECT_EQ(moved.code(), PLIM_UNKNOWN);
  Status other = std::move(moved);
  EXPECT_EQ(other.message(), "own");
  EXPECT_EQ(other.file(), "");
}

TEST_F(WrapperTest, BuffersAreShared) {
  const int64_t shape[] = {2, 3};
  Buffer buffer = orFail(Buffer::allocate(engine, PLIM_I32, shape));
  std::span<int32_t> elements = orFail(buffer.mutableElements<int32_t>());
  std::iota(elements.begin(), elements.end(), 0);
  Buffer same = buffer;
  buffer = Buffer();
  EXPECT_FALSE(buffer);
  EXPECT_THAT(orFail(same.elements<int32_t>()), ElementsAre(0, 1, 2, 3, 4, 5));
  Buffer copy = orFail(Buffer::copy(engine, orFail(same.elements<int32_t>()), shape));
  EXPECT_NE(copy.data(), same.data());
  const int64_t columns[] = {3, 2}, strides[] = {1, 3};
  Buffer transposed = orFail(
      Buffer::wrap(orFail(copy.elements<int32_t>()), std::span(columns), std::span(strides)));
  EXPECT_FALSE(transposed.isDense());
  EXPECT_TRUE(transposed.isReadOnly());
  EXPECT_EQ(transposed.elements<int32_t>().status().message(), "the buffer is not dense");
  EXPECT_EQ(copy.elements<float>().status().message(), "the buffer has elements of i32, not f32");
  EXPECT_EQ(copy.mutableElements<float>().status().code(), PLIM_INVALID_ARGUMENT);
  EXPECT_EQ(Buffer().elements<float>().status().message(), "there is no buffer");
  const float constant[] = {1};
  Buffer readOnly = orFail(Buffer::wrap(std::span(constant)));
  EXPECT_THAT(orFail(readOnly.elements<float>()), ElementsAre(1));
  EXPECT_EQ(readOnly.mutableElements<float>().status().message(), "the buffer is read-only");
  Buffer back = orFail(Buffer::fromDlpack(orFail(copy.toDlpack())));
  EXPECT_EQ(back.data(), copy.data());
}

TEST_F(WrapperTest, EventsAndStates) {
  std::vector<float> x = {1, 2};
  const Argument arguments[] = {2.0F, x};
  Function scale = lookup("scale");
  Event first = orFail(scale.callAsync(arguments));
  const Event after[] = {first};
  Event second =
      orFail(scale.callAsync(arguments, {.priority = PLIM_PRIORITY_HIGH, .after = after}));
  std::atomic<int> told = 0;
  EXPECT_TRUE(second.then([&](const Event &event) { told += event.isDone() ? 1 : 0; }).ok());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_TRUE(orFail(second.waitFor(1'000'000'000)));
  std::vector<Value> results = orFail(second.results(1));
  EXPECT_THAT(orFail(results[0].takeBuffer().elements<float>()), ElementsAre(2, 4));
  EXPECT_FALSE(results[0].isBuffer());
  EXPECT_TRUE(second.cancel().ok());
  while (told == 0) {
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(orFail(scale.callWith(arguments)).size(), 1U);
  State state = orFail(module.createState());
  EXPECT_EQ(state.variable("none").status().code(), PLIM_NOT_FOUND);
  EXPECT_TRUE(state.reset().ok());
}

TEST(WrapperOptionsTest, ReachTheEngine) {
  int lines = 0, calls = 0, steps = 0;
  HostFunctions functions = orFail(HostFunctions::create());
  EXPECT_TRUE(functions
                  .add("next",
                       [&](plim_host_call *call, const plim_host_value *,
                           const plim_host_value *results) -> plim_code {
                         if (++calls == 3)
                           return plim_host_call_fail(call, PLIM_OUT_OF_RANGE, "no more");
                         *static_cast<int32_t *>(results[0].data) = calls;
                         return PLIM_OK;
                       })
                  .ok());
  Target target = orFail(Target::create("host-cpu", {"vector_bits=128"}));
  Target same = orFail(Target::fromJson(orFail(target.describe()).text()));
  EngineOptions options;
  options.flags = PLIM_ENGINE_TRACE;
  options.target = &same;
  options.threads = 1;
  options.policy = "workspace";
  options.cacheFolder = "/proc/no/folder";
  options.log = [&](plim_log_level, std::string_view) { ++lines; };
  options.hostFunctions = &functions;
  Engine engine = orFail(Engine::create(options));
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(engine.threads(), 1U);
  LoadOptions loadOptions;
  loadOptions.progress = [&](double) { ++steps; };
  Module module = orFail(engine.load("func.func private @next() -> i32\n"
                                     "func.func @main() -> i32 {\n"
                                     "  %r = func.call @next() : () -> i32\n"
                                     "  return %r : i32\n}\n",
                                     "main.mlir", loadOptions));
  EXPECT_GT(steps, 0);
  Function main = orFail(module.function("main"));
  EXPECT_EQ(orFail(main.call<int32_t>()), 1);
  EXPECT_EQ(orFail(main.call<int32_t>()), 2);
  Result<int32_t> failed = main.call<int32_t>();
  EXPECT_EQ(failed.status().code(), PLIM_OUT_OF_RANGE);
  EXPECT_EQ(failed.status().message(), "main.mlir:3:8: no more");
  EXPECT_THAT(std::string(orFail(engine.statistics()).text()), HasSubstr("\"runs\": 3"));
  EXPECT_THAT(std::string(orFail(engine.trace()).text()), HasSubstr("traceEvents"));
  EXPECT_TRUE(engine.trim().ok());
  EXPECT_EQ(orFail(engine.memoryStatistics()).kept_bytes, 0U);
  EXPECT_EQ(orFail(orFail(engine.target()).describe()).text(), orFail(target.describe()).text());
}

TEST(WrapperOptionsTest, DevicesRunDispatches) {
  std::string compiled;
  int launches = 0;
  DeviceOptions npu;
  npu.name = "npu";
  npu.version = "2";
  npu.compile = [&](plim_device_job *job, const std::string &name, std::string_view text) {
    if (text.find("linalg.abs") != std::string_view::npos)
      return plim_device_job_fail(job, PLIM_UNIMPLEMENTED, "no signs");
    compiled = name;
    return plim_device_job_write(job, name.data(), name.size());
  };
  npu.load = [&](plim_device_job *job, const std::string &name, std::span<const std::byte> code,
                 DeviceFunction &function) -> plim_code {
    if (code.size() != name.size())
      return plim_device_job_fail(job, PLIM_DATA_LOSS, "wrong size");
    function.function = [&](plim_host_call *, const plim_host_value *arguments,
                            const plim_host_value *results) -> plim_code {
      ++launches;
      for (int i = 0; i < 2; ++i)
        static_cast<float *>(results[0].data)[i] = -static_cast<float *>(arguments[0].data)[i];
      return PLIM_OK;
    };
    return PLIM_OK;
  };
  EngineOptions options;
  options.devices = {orFail(Device::create(npu))};
  Engine engine = orFail(Engine::create(options));
  auto sourceOf = [](const char *operation, const char *annotation) {
    return std::string("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                       "  %e = tensor.empty() : tensor<2xf32>\n  %r = linalg.") +
           operation + annotation +
           " ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>\n"
           "  return %r : tensor<2xf32>\n}\n";
  };
  LoadOptions onDevice;
  onDevice.device = "npu";
  Function negate =
      orFail(orFail(engine.load(sourceOf("negf", ""), "main.mlir", onDevice)).function("main"));
  const std::vector<float> x = {1, -2};
  Buffer negated = orFail(negate.call<Buffer>(x));
  EXPECT_EQ(compiled, "main_elementwise_0");
  EXPECT_THAT(orFail(negated.elements<float>()), ElementsAre(-1, 2));
  EXPECT_EQ(launches, 1);
  EXPECT_THAT(
      std::string(
          engine.load(sourceOf("abs", " {plim.device = \"npu\"}"), "main.mlir").status().message()),
      HasSubstr("does not take this: no signs"));
  npu.load = nullptr; // one that is compiled for, and runs elsewhere
  EXPECT_EQ(Device::create(npu).status().code(), PLIM_OK);
  npu.compile = nullptr;
  EXPECT_EQ(Device::create(npu).status().code(), PLIM_INVALID_ARGUMENT);
}

TEST(WrapperOptionsTest, ParametersAndPools) {
  Parameters parameters = orFail(Parameters::create());
  const float w[] = {10, 20};
  EXPECT_TRUE(parameters.set("w", orFail(Buffer::wrap(std::span(w)))).ok());
  EXPECT_THAT(parameters.names(), ElementsAre("w"));
  EXPECT_EQ(orFail(parameters.value("w")).data(), w);
  EXPECT_EQ(parameters.loadNpy("x", "/no/file").code(), PLIM_NOT_FOUND);
  EXPECT_EQ(parameters.loadSafetensors("/no/file").code(), PLIM_NOT_FOUND);
  Engine engine = orFail(Engine::create());
  LoadOptions options;
  options.parameters = &parameters;
  Module module = orFail(engine.load(
      "ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>\n"
      "func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %w = ml_program.global_load_const @w : tensor<2xf32>\n"
      "  %r = arith.addf %x, %w : tensor<2xf32>\n"
      "  return %r : tensor<2xf32>\n}\n",
      "add.mlir", options));
  Buffer sum = orFail(orFail(module.function("add")).call<Buffer>(std::vector<float>{1, 2}));
  EXPECT_THAT(orFail(sum.elements<float>()), ElementsAre(11, 22));
  alignas(PLIM_MEMORY_ALIGNMENT) std::byte memory[64];
  options = {};
  options.pools = {{"sram", memory}};
  EXPECT_THAT(engine.load(source, "sum.mlir", options).status().message(),
              HasSubstr("no pool 'sram'"));
  options.pools = {{"sram", {}}};
  EXPECT_THAT(engine.load(source, "sum.mlir", options).status().message(),
              HasSubstr("pool 'sram' is null"));
}

TEST(WrapperOptionsTest, Limits) {
  Engine engine = orFail(Engine::create({.limits = {.maxOperations = 1}}));
  EXPECT_THAT(engine.load(source, "sum.mlir").status().message(), HasSubstr("operations"));
  EXPECT_TRUE(engine.load(source, "sum.mlir", {.limits = {.maxOperations = 100}}).ok());
  EXPECT_EQ(engine.load(source, "sum.mlir", {.limits = {.maxTextBytes = 0}}).status().code(),
            PLIM_INVALID_ARGUMENT);
  const LoadOptions odd{.limits = {.externalWorkspaceOnly = false, .workspaceAlignment = 48}};
  EXPECT_THAT(engine.load(source, "sum.mlir", odd).status().message(),
              HasSubstr("workspace_alignment"));
}

TEST(WrapperOptionsTest, Artifacts) {
  Engine engine = orFail(Engine::create());
  Bytes artifact = orFail(engine.compile(source, "sum.mlir"));
  EXPECT_EQ(artifact.data().size(), artifact.text().size());
  Module module = orFail(engine.load(artifact.text(), "sum"));
  EXPECT_EQ(*orFail(module.function("sum")).call<int64_t>(int64_t(40), int64_t(2)), 42);
  EXPECT_TRUE(Bytes().data().empty());
}

} // namespace
