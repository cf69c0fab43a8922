// What a call through the C interface costs beside the same call of the engine's own.
//
//   scalars         two i64, one result
//   tensors         two tensors of 16 floats, a new tensor
//   outputs         the same into a buffer of the host's
//
// Both in one program, in turns, with an engine each: the C side is the shared library. "extra_ns" is the
// difference. Aim: at most 60 ns.

#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"

#include "plimsoll/plimsoll.h"

#include <array>
#include <cstring>

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
func.func @add16(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %sum = linalg.add ins(%a, %b : tensor<16xf32>, tensor<16xf32>)
      outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  return %sum : tensor<16xf32>
}
)";

constexpr int64_t calls = 10000;

void require(plim_status *status) {
  if (status) [[unlikely]]
    fail(plim_status_message(status));
}

/// A function on both sides, with one thread each, so that nothing else runs.
struct Sides {
  explicit Sides(const char *name) {
    plim_engine_options options{};
    options.struct_size = sizeof options;
    options.threads = 1;
    require(plim_engine_create(&options, &engine));
    plim_module *loaded = nullptr;
    require(plim_module_load(engine, source, std::strlen(source), "calls.mlir", nullptr, &loaded));
    require(plim_module_function(loaded, name, &theirs));
    plim_module_release(loaded);
    own = orFail(module->lookup(name));
  }
  ~Sides() {
    plim_function_release(theirs);
    plim_engine_release(engine);
  }
  Sides(const Sides &) = delete;
  Sides &operator=(const Sides &) = delete;

  std::shared_ptr<Module> module = orFail(makeEngine(1)->load(source, "calls.mlir"));
  std::optional<Function> own;
  plim_engine *engine = nullptr;
  plim_function *theirs = nullptr;
};

template <typename OursT, typename TheirsT>
void compare(benchmark::State &state, TheirsT throughC, OursT direct) {
  auto turn = [](auto call) {
    return [call] {
      for (int64_t i = 0; i < calls; ++i)
        call();
    };
  };
  Contest contest(state);
  contest.add("c", turn(throughC), 0, calls);
  contest.add("engine", turn(direct), 0, calls);
  contest.run();
  state.counters["extra_ns"] = (state.counters["c_us"] - state.counters["engine_us"]) * 1e3;
}

void scalars(benchmark::State &state) {
  Sides sides("sum");
  std::array<Value, 2> arguments = {Scalar{ElementType::I64, 40}, Scalar{ElementType::I64, 2}};
  std::array<Value, 1> results;
  const plim_value given[] = {plim_value_i64(40), plim_value_i64(2)};
  plim_value result;
  require(plim_function_call(sides.theirs, given, 2, &result, 1, nullptr));
  if (result.as.i64 != 42)
    fail("sum is wrong");
  compare(
      state, [&] { require(plim_function_call(sides.theirs, given, 2, &result, 1, nullptr)); },
      [&] { orFail(sides.own->callInto(arguments, results)); });
}

/// The same elements on both sides.
struct Tensors {
  explicit Tensors(const Sides &sides) {
    const int64_t shape[] = {16};
    for (size_t i = 0; i < 2; ++i)
      require(plim_buffer_copy(sides.engine, PLIM_F32, 1, shape,
                               std::get<Buffer>(arguments[i]).data(), 64, &buffers[i]));
    require(plim_buffer_allocate(sides.engine, PLIM_F32, 1, shape, &buffers[2]));
    given = {plim_value_buffer(buffers[0]), plim_value_buffer(buffers[1])};
  }
  ~Tensors() {
    for (plim_buffer *buffer : buffers)
      plim_buffer_release(buffer);
  }
  Tensors(const Tensors &) = delete;
  Tensors &operator=(const Tensors &) = delete;

  std::array<Value, 2> arguments = {randomTensor({16}), randomTensor({16})};
  std::array<Value, 1> results;
  Buffer output = zeroTensor({16});
  std::array<plim_buffer *, 3> buffers{};
  std::array<plim_value, 2> given;
};

void tensors(benchmark::State &state) {
  Sides sides("add16");
  Tensors data(sides);
  plim_value result;
  require(plim_function_call(sides.theirs, data.given.data(), 2, &result, 1, nullptr));
  orFail(sides.own->callInto(data.arguments, data.results));
  if (std::memcmp(plim_buffer_data(result.as.buffer), std::get<Buffer>(data.results[0]).data(),
                  64) != 0)
    fail("add16 is wrong");
  plim_value_release(&result);
  compare(
      state,
      [&] {
        require(plim_function_call(sides.theirs, data.given.data(), 2, &result, 1, nullptr));
        plim_value_release(&result);
      },
      [&] {
        orFail(sides.own->callInto(data.arguments, data.results));
        data.results[0] = Value();
      });
}

void outputs(benchmark::State &state) {
  Sides sides("add16");
  Tensors data(sides);
  CallOptions options;
  options.outputs = {&data.output, 1};
  plim_call_options lent{};
  lent.struct_size = sizeof lent;
  lent.outputs = &data.buffers[2];
  lent.output_count = 1;
  auto throughC = [&] {
    require(plim_function_call(sides.theirs, data.given.data(), 2, nullptr, 0, &lent));
  };
  auto direct = [&] { orFail(sides.own->callInto(data.arguments, data.results, options)); };
  throughC();
  direct();
  if (std::memcmp(plim_buffer_data(data.buffers[2]), data.output.data(), 64) != 0)
    fail("add16 is wrong");
  compare(state, throughC, direct);
}

void registerAll() {
  auto add = [](const char *name, void (*function)(benchmark::State &)) {
    benchmark::RegisterBenchmark(name, function)
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond)
        ->Iterations(101);
  };
  add("capi/scalars", scalars);
  add("capi/tensors", tensors);
  add("capi/outputs", outputs);
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
