// What a call costs beside its work.
//
//   raw/sum, raw/axpy   a kernel's raw pointer, and a C function of the same signature, compiled by
//                       clang in another file, through a pointer, in turns. Aim: difference within
//                       5 ns ("extra_ns")
//   call/add16          callInto of one dispatch that adds 16 floats, inline. Aim: below 300 ns
//   call/scalar         callInto of a function that only returns a scalar
//   host/call           callInto of 100 calls of a function of the host application, each with the scalar that the
//                       one before gave back, beside the same with one. "host_ns" is the difference by the number
//                       of further calls; "serial_ns" that of functions that run once at a time
//   device/launch       callInto of 100 dependent dispatches of 16 floats that a device runs, whose launch is a C
//                       function that does the work, beside the same on the host. "launch_ns" is what a
//                       dispatch costs more
//   dispatch/chain      callInto of 100 dependent dispatches of 16 floats that do not fuse, beside the
//                       same with two. "dispatch_ns" is the difference by the number of further
//                       dispatches, the work on 16 floats included
//   dispatch/profiled   the same chain in an engine with a profiler that keeps spans ("spans"), in one whose
//                       profiler counts alone ("counts"), and without, in turns. "spans_ns" and
//                       "counts_ns" are what a dispatch costs more

#include "bench/harness/Contest.h"
#include "bench/harness/HandLoops.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include <nlohmann/json.hpp>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::ElementType;
using runtime::Scalar;
using runtime::Value;

namespace {

constexpr const char *source = R"(
func.func @sum(%a: i64, %b: i64) -> i64 {
  %sum = arith.addi %a, %b : i64
  return %sum : i64
}
func.func @axpy(%a: f32, %x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %xi = memref.load %x[%i] : memref<16xf32>
    %yi = memref.load %y[%i] : memref<16xf32>
    %product = arith.mulf %a, %xi : f32
    %sum = arith.addf %product, %yi : f32
    memref.store %sum, %y[%i] : memref<16xf32>
  }
  return
}
func.func @add16(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %sum = linalg.add ins(%a, %b : tensor<16xf32>, tensor<16xf32>)
      outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  return %sum : tensor<16xf32>
}
)";

/// Through a pointer that the compiler cannot see through, as the host's code has it.
template <typename FunctionT> FunctionT opaque(FunctionT function) {
  benchmark::DoNotOptimize(function);
  return function;
}

struct Loaded {
  std::shared_ptr<Engine> engine = makeEngine(1);
  std::shared_ptr<Module> module = orFail(engine->load(source, "calls.mlir"));

  Function function(const char *name) const { return orFail(module->lookup(name)); }
  template <typename FunctionT> FunctionT *raw(const char *name) const {
    void *pointer = function(name).rawPointer();
    if (!pointer)
      fail(std::string(name) + " has no raw pointer");
    return opaque(reinterpret_cast<FunctionT *>(pointer));
  }
};

constexpr int64_t rawCalls = 100000;
constexpr int64_t boundCalls = 10000;

void addExtra(benchmark::State &state) {
  state.counters["extra_ns"] = (state.counters["plimsoll_us"] - state.counters["c_us"]) * 1e3;
}

void rawSum(benchmark::State &state) {
  Loaded loaded;
  auto *ours = loaded.raw<int64_t(int64_t, int64_t)>("sum");
  if (ours(40, 2) != 42)
    fail("sum is wrong");
  auto turn = [](auto *function) {
    return [function] {
      int64_t value = 0;
      for (int64_t i = 0; i < rawCalls; ++i)
        value = function(value, i); // dependent: latency, as a caller sees it
      benchmark::DoNotOptimize(value);
    };
  };
  Contest contest(state);
  contest.add("plimsoll", turn(ours), 0, rawCalls);
  contest.add("c", turn(opaque(&plimBenchSum)), 0, rawCalls);
  contest.run();
  addExtra(state);
}

void rawAxpy(benchmark::State &state) {
  Loaded loaded;
  auto *ours = loaded.raw<void(float, const float *, float *)>("axpy");
  Buffer x = randomTensor({16}), y = zeroTensor({16}), z = zeroTensor({16});
  ours(0.5F, elements(x), elements(y));
  plimBenchAxpy(0.5F, elements(x), elements(z));
  checkClose("axpy", elements(y), {elements(z), 16}, 1e-6F);
  auto turn = [&](auto *function, float *to) {
    return [function, to, from = elements(x)] {
      for (int64_t i = 0; i < rawCalls; ++i)
        function(1e-9F, from, to);
    };
  };
  Contest contest(state);
  contest.add("plimsoll", turn(ours, elements(y)), 0, rawCalls);
  contest.add("c", turn(opaque(&plimBenchAxpy), elements(z)), 0, rawCalls);
  contest.run();
  addExtra(state);
}

auto callTurn(const Function &function, const std::vector<Value> &arguments,
              std::vector<Value> &results, int64_t calls) {
  return [&function, &arguments, &results, calls] {
    for (int64_t i = 0; i < calls; ++i)
      orFail(function.callInto(arguments, results));
  };
}

void callAdd(benchmark::State &state) {
  auto engine = makeEngine(static_cast<int>(state.range(0)));
  std::vector<Value> arguments = {randomTensor({16}), randomTensor({16})}, results(1);
  CheckedFunction checked = loadChecked(*engine, R"(
func.func @add16(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %sum = linalg.add ins(%a, %b : tensor<16xf32>, tensor<16xf32>)
      outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  return %sum : tensor<16xf32>
})",
                                        "add16", arguments, 0);
  Contest contest(state);
  contest.add("plimsoll", callTurn(checked.function, arguments, results, boundCalls), 0,
              boundCalls);
  contest.run();
}

void callScalar(benchmark::State &state) {
  Loaded loaded;
  Function function = loaded.function("sum");
  std::vector<Value> arguments = {Scalar{ElementType::I64, 40}, Scalar{ElementType::I64, 2}};
  std::vector<Value> results(1);
  orFail(function.callInto(arguments, results));
  if (std::get<Scalar>(results[0]).bits != 42)
    fail("sum is wrong");
  Contest contest(state);
  contest.add("plimsoll", callTurn(function, arguments, results, boundCalls), 0, boundCalls);
  contest.run();
}

plim_code addOne(plim_context *, void *, const plim_view *arguments, const plim_view *results) {
  *static_cast<int64_t *>(results[0].data) = *static_cast<int64_t *>(arguments[0].data) + 1;
  return 0;
}

void hostCalls(benchmark::State &state) {
  constexpr int64_t calls = 200, many = 100;
  auto engine = makeEngine(1);
  auto load = [&](int64_t count, HostFunctionKind kind) {
    std::string text = "func.func private @next(i64) -> i64\nfunc.func @main(%v0: i64) -> i64 {\n";
    for (int64_t i = 1; i <= count; ++i)
      text += "  %v" + std::to_string(i) + " = func.call @next(%v" + std::to_string(i - 1) +
              ") : (i64) -> i64\n";
    text += "  return %v" + std::to_string(count) + " : i64\n}\n";
    LoadOptions options;
    options.functions["next"] = {.function = &addOne, .kind = kind};
    return orFail(orFail(engine->load(text, "host", options))->lookup("main"));
  };
  const Function full = load(many, HostFunctionKind::ThreadSafe),
                 serial = load(many, HostFunctionKind::Serial),
                 one = load(1, HostFunctionKind::ThreadSafe);
  std::vector<Value> arguments = {Scalar{ElementType::I64, 0}}, results(1);
  orFail(full.callInto(arguments, results));
  if (std::get<Scalar>(results[0]).bits != many)
    fail("the host functions are wrong");
  Contest contest(state);
  contest.add("plimsoll", callTurn(full, arguments, results, calls), 0, calls);
  contest.add("serial", callTurn(serial, arguments, results, calls), 0, calls);
  contest.add("one", callTurn(one, arguments, results, calls), 0, calls);
  contest.run();
  auto each = [&](const char *name) {
    return (state.counters[name] - state.counters["one_us"]) * 1e3 / static_cast<double>(many - 1);
  };
  state.counters["host_ns"] = each("plimsoll_us");
  state.counters["serial_ns"] = each("serial_us");
}

plim_code negateBackwards(plim_context *, void *, const plim_view *arguments,
                          const plim_view *results) {
  const auto *x = static_cast<const float *>(arguments[0].data);
  auto *y = static_cast<float *>(results[0].data);
  for (int64_t i = 0; i < 16; ++i)
    y[i] = -x[15 - i];
  return 0;
}

void deviceLaunch(benchmark::State &state) {
  constexpr int64_t calls = 200, steps = 100;
  // Two of these do not fuse.
  std::string text = R"(#back = affine_map<(i) -> (15 - i)>
#id = affine_map<(i) -> (i)>
func.func @main(%v0: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
)";
  for (int64_t i = 0; i < steps; ++i)
    text +=
        "  %v" + std::to_string(i + 1) +
        " = linalg.generic {indexing_maps = [#back, #id], iterator_types = [\"parallel\"]} ins(%v" +
        std::to_string(i) +
        " : tensor<16xf32>) outs(%e : tensor<16xf32>) {\n  ^bb0(%x: f32, %o: f32):\n"
        "    %y = arith.negf %x : f32\n    linalg.yield %y : f32\n  } -> tensor<16xf32>\n";
  text += "  return %v" + std::to_string(steps) + " : tensor<16xf32>\n}\n";
  auto device = std::make_shared<Device>();
  device->name = "npu";
  device->compile = [](std::string_view, std::string_view) -> StatusOr<std::string> {
    return std::string();
  };
  device->load = [](std::string_view, std::string_view) -> StatusOr<HostFunction> {
    return HostFunction{.function = &negateBackwards};
  };
  EngineOptions options;
  options.threads = 1;
  options.devices = {device};
  auto engine = orFail(Engine::create(std::move(options)));
  LoadOptions onDevice;
  onDevice.device = "npu";
  const Function launched = orFail(orFail(engine->load(text, "chain", onDevice))->lookup("main")),
                 plain = orFail(orFail(engine->load(text, "chain"))->lookup("main"));
  std::vector<Value> arguments = {randomTensor({16})}, results(1), wanted(1);
  orFail(launched.callInto(arguments, results));
  orFail(plain.callInto(arguments, wanted));
  checkClose("chain", elements(std::get<Buffer>(results[0])),
             {elements(std::get<Buffer>(wanted[0])), 16}, 0);
  Contest contest(state);
  contest.add("plimsoll", callTurn(launched, arguments, results, calls), 0, calls);
  contest.add("host", callTurn(plain, arguments, results, calls), 0, calls);
  contest.run();
  state.counters["launch_ns"] =
      (state.counters["plimsoll_us"] - state.counters["host_us"]) * 1e3 / steps;
}

size_t countDispatches(const Module &module) {
  size_t count = 0;
  const nlohmann::json report = nlohmann::json::parse(module.report());
  for (const auto &function : report["functions"])
    count += function["dispatches"].size();
  return count;
}

void chainOfDispatches(benchmark::State &state) {
  constexpr int64_t calls = 500;
  const int64_t steps = state.range(0);
  auto engine = makeEngine(static_cast<int>(state.range(1)));
  std::vector<Value> arguments = {randomTensor({16})}, results(1);
  CheckedFunction full = loadChecked(*engine, dispatchChain(steps), "main", arguments, 1e-5F);
  CheckedFunction one = loadChecked(*engine, dispatchChain(1), "main", arguments, 1e-5F);
  const size_t dispatches = countDispatches(*full.module);
  if (dispatches != static_cast<size_t>(2 * steps))
    fail("the chain has " + std::to_string(dispatches) + " dispatches");
  Contest contest(state);
  contest.add("plimsoll", callTurn(full.function, arguments, results, calls), 0, calls);
  contest.add("one", callTurn(one.function, arguments, results, calls), 0, calls);
  contest.run();
  state.counters["dispatch_ns"] = (state.counters["plimsoll_us"] - state.counters["one_us"]) * 1e3 /
                                  static_cast<double>(2 * steps - 2);
}

void dispatchProfiled(benchmark::State &state) {
  constexpr int64_t calls = 20, steps = 50, dispatches = 2 * steps;
  std::vector<Value> arguments = {randomTensor({16})}, results(1);
  auto load = [&](size_t maxSpans, bool isProfiled) {
    EngineOptions options;
    options.threads = 1;
    if (isProfiled)
      options.profiler = std::make_shared<Profiler>(maxSpans);
    auto engine = orFail(Engine::create(std::move(options)));
    return loadChecked(*engine, dispatchChain(steps), "main", arguments, 1e-5F);
  };
  CheckedFunction plain = load(0, false), counts = load(0, true),
                  spans = load(Profiler::defaultMaxSpans, true);
  Contest contest(state);
  contest.add("plain", callTurn(plain.function, arguments, results, calls), 0, calls);
  contest.add("counts", callTurn(counts.function, arguments, results, calls), 0, calls);
  contest.add("spans", callTurn(spans.function, arguments, results, calls), 0, calls);
  contest.run();
  for (const char *name : {"counts", "spans"})
    state.counters[name + std::string("_ns")] =
        (state.counters[name + std::string("_us")] - state.counters["plain_us"]) * 1e3 / dispatches;
}

void registerAll() {
  auto add = [](const char *name, void (*function)(benchmark::State &), int64_t rounds) {
    return benchmark::RegisterBenchmark(name, function)
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond)
        ->Iterations(rounds);
  };
  add("raw/sum", rawSum, 101);
  add("raw/axpy", rawAxpy, 101);
  add("call/add16", callAdd, 101)->ArgName("threads")->Arg(1)->Arg(0);
  add("call/scalar", callScalar, 101);
  add("host/call", hostCalls, 101);
  add("device/launch", deviceLaunch, 101);
  add("dispatch/chain", chainOfDispatches, 51)
      ->ArgNames({"steps", "threads"})
      ->Args({50, 1})
      ->Args({50, 0});
  add("dispatch/profiled", dispatchProfiled, 201);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
