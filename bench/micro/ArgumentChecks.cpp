// What a call pays to know whether its arguments overlap, and what a kernel gains.
//
//   check/apart    the comparison of N buffers of rank 2, dense, none of which overlap, as a call binds
//                  them: in the order of their addresses, and in another. Aim: below 50 ns for 8
//   check/columns  the same where all are columns of one matrix: no interval tells them apart
//   kernel/NAME    callInto of a kernel on buffers of the same contents that are apart, and on ones of
//                  which the last, that it reads alone, begins an element before the end of the one that
//                  it writes: the variant that may assume nothing. 4096 turns

#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"
#include "engine/session/Overlap.h"

#include <algorithm>
#include <array>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::ElementType;
using runtime::Value;

namespace {

constexpr int64_t checks = 100000;

void checkTurns(benchmark::State &state, const std::vector<Value> &values) {
  jit::ValueType written;
  written.access = jit::Access::ReadWrite;
  const std::vector<jit::ValueType> types(values.size(), written);
  if (!session::areApart(values, types))
    fail("the buffers overlap");
  Contest contest(state);
  contest.add(
      "plimsoll",
      [&] {
        for (int64_t i = 0; i < checks; ++i) {
          const Value *data = values.data();
          benchmark::DoNotOptimize(data);
          benchmark::DoNotOptimize(session::areApart({data, values.size()}, types));
        }
      },
      0, checks);
  contest.run();
  state.counters["ns"] = state.counters["plimsoll_us"] * 1e3;
}

void checkApart(benchmark::State &state) {
  std::vector<Value> values;
  for (int64_t i = 0; i < state.range(0); ++i)
    values.push_back(zeroTensor({16, 16}));
  std::sort(values.begin(), values.end(), [](const Value &a, const Value &b) {
    return elements(std::get<Buffer>(a)) < elements(std::get<Buffer>(b));
  });
  // From both ends to the middle.
  if (state.range(1) == 0)
    for (size_t i = 1; i < values.size(); i += 2)
      std::swap(values[i], values[values.size() - 1 - i / 2]);
  checkTurns(state, values);
}

void checkColumns(benchmark::State &state) {
  const int64_t count = state.range(0), shape[] = {64, 1}, strides[] = {count, 1};
  Buffer matrix = zeroTensor({64, count});
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(orFail(Buffer::wrapStrided(elements(matrix) + i, ElementType::F32, shape,
                                                strides, false, nullptr, nullptr)));
  checkTurns(state, values);
}

/// `body` computes %value at %i from the arguments; it goes to %y.
std::string kernel(std::string_view body) {
  return R"(
!i = memref<4096xi32>
!f = memref<4096xf32>
func.func @main(%k: !i, %x: !f, %y: !f, %w: !f) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4095 : index
  scf.for %i = %c0 to %n step %c1 {
)" + std::string(body) +
         R"(
    memref.store %value, %y[%i] : !f
  }
  return
})";
}

// Loads at indices from data cannot be compared with the stores before the loop.
constexpr const char *gather = R"(
    %index = memref.load %k[%i] : !i
    %at = arith.index_cast %index : i32 to index
    %a = memref.load %x[%at] : !f
    %b = memref.load %w[%at] : !f
    %value = arith.mulf %a, %b : f32)";

constexpr const char *triad = R"(
    %a = memref.load %x[%i] : !f
    %b = memref.load %w[%i] : !f
    %value = arith.addf %a, %b : f32)";

// An invariant that has to be read again in each turn, unless nothing stores to it.
constexpr const char *reload = R"(
    %a = memref.load %x[%i] : !f
    %b = memref.load %w[%c1] : !f
    %value = arith.addf %a, %b : f32)";

void kernelTurns(benchmark::State &state, const char *body) {
  constexpr int64_t count = 4096, calls = 200;
  auto engine = makeEngine(1);
  auto module = orFail(engine->load(kernel(body), "kernel.mlir"));
  Function function = orFail(module->lookup("main"));
  Buffer x = randomTensor({count}), memory = zeroTensor({2 * count}), apart = zeroTensor({count});
  Buffer k = orFail(Buffer::allocate(std::make_shared<runtime::MemoryPool>(), ElementType::I32,
                                     std::array<int64_t, 1>{count}));
  for (int64_t i = 0; i < count; ++i)
    static_cast<int32_t *>(k.mutableData())[i] = static_cast<int32_t>(i * 641 % count);
  auto at = [&](int64_t offset) -> Buffer {
    const int64_t shape[] = {count};
    return orFail(
        Buffer::wrap(elements(memory) + offset, ElementType::F32, shape, false, nullptr, nullptr));
  };
  // The last element of the one, which no turn writes, is the first of the other.
  std::vector<Value> disjoint = {k, x, at(0), apart};
  std::vector<Value> overlapping = {k, x, at(0), at(count - 1)};
  auto turn = [&](const std::vector<Value> &arguments) {
    return [&] {
      for (int64_t i = 0; i < calls; ++i)
        orFail(function.callInto(arguments, {}));
    };
  };
  turn(disjoint)();
  std::vector<float> expected(elements(memory), elements(memory) + count - 1);
  turn(overlapping)();
  checkClose("kernel", elements(memory), expected, 0);
  Contest contest(state);
  contest.add("apart", turn(disjoint), 0, calls);
  contest.add("overlapping", turn(overlapping), 0, calls);
  contest.run();
}

void registerAll() {
  auto add = [](const char *name, auto function) {
    return benchmark::RegisterBenchmark(name, function)
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond)
        ->Iterations(101);
  };
  add("check/apart", checkApart)
      ->ArgNames({"buffers", "in_order"})
      ->ArgsProduct({{2, 8, 16}, {1, 0}});
  add("check/columns", checkColumns)->ArgName("buffers")->Arg(2)->Arg(8);
  add("kernel/gather", [](benchmark::State &state) { kernelTurns(state, gather); });
  add("kernel/triad", [](benchmark::State &state) { kernelTurns(state, triad); });
  add("kernel/reload", [](benchmark::State &state) { kernelTurns(state, reload); });
}

} // namespace

int main(int argc, char **argv) { return plim::bench::runBenchmarks(argc, argv, registerAll); }
