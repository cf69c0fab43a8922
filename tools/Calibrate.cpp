#include "tools/Calibrate.h"

#include "tools/ModuleCall.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace plim::tools {

namespace {

/// What is less than this is more than noise.
constexpr double slower = 0.995;

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StatusOr<ScratchTimes> measureSize(Engine &engine, int64_t bytes) {
  constexpr int rounds = 41;
  constexpr double burstSeconds = 1e-3;
  using Clock = std::chrono::steady_clock;
  std::vector<Function> functions; // on the stack, in the workspace
  for (const char *scope : {"global.stack", "global.workspace"}) {
    std::string source = scratchKernel(bytes, "plim.scope = \"" + std::string(scope) + "\"");
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, engine.load(source, "calibration"));
    PLIM_ASSIGN_OR_RETURN(Function function, module->lookup("main"));
    functions.push_back(std::move(function));
  }
  auto pool = std::make_shared<runtime::MemoryPool>();
  CallText call;
  for (const jit::ValueType &type : functions[0].signature().arguments)
    call.inputs.push_back(toString(type) + "=rnd:1");
  PLIM_ASSIGN_OR_RETURN(std::vector<runtime::Value> inputs, readInputs(call, pool));

  std::array<std::vector<double>, 2> seconds;
  std::vector<double> ratios;
  auto burst = [&](const Function &function, int64_t calls) -> StatusOr<double> {
    auto start = Clock::now();
    for (int64_t i = 0; i < calls; ++i)
      PLIM_RETURN_IF_ERROR(function.callInto(inputs, {}));
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(calls);
  };
  int64_t calls = 1;
  for (const Function &function : functions) {
    PLIM_ASSIGN_OR_RETURN(double cold, burst(function, 3));
    PLIM_ASSIGN_OR_RETURN(double warm, burst(function, 3));
    calls = std::max(calls, static_cast<int64_t>(burstSeconds / std::min(cold, warm)));
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t turn = 0; turn < 2; ++turn) {
      size_t which = (static_cast<size_t>(round) + turn) % 2;
      PLIM_ASSIGN_OR_RETURN(double time, burst(functions[which], calls));
      seconds[which].push_back(time);
    }
    ratios.push_back(seconds[1].back() / seconds[0].back());
  }
  return ScratchTimes{bytes, median(seconds[0]), median(seconds[1]), median(ratios)};
}

} // namespace

std::string scratchKernel(int64_t bytes, std::string_view attributes) {
  // As many elements as make the work large beside that of a call.
  int64_t length = bytes / 4, elements = std::max<int64_t>(4, (64 << 10) / length);
  auto vector = [](int64_t extent) { return "memref<" + std::to_string(extent) + "xf32>"; };
  std::string scratch = vector(length), each = vector(elements);
  return "func.func @main(%x: " + scratch + ", %shift: " + each + ", %y: " + each + R"() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = arith.constant )" +
         std::to_string(length) + " : index\n  %last = arith.constant " +
         std::to_string(length - 1) + " : index\n  %elements = arith.constant " +
         std::to_string(elements) + R"( : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %elements step %c1 {
    %s = memref.alloc() {)" +
         std::string(attributes) + "} : " + scratch + R"(
    %a = memref.load %shift[%i] : )" +
         each + R"(
    scf.for %j = %c0 to %length step %c1 {
      %v = memref.load %x[%j] : )" +
         scratch + R"(
      %w = arith.addf %v, %a : f32
      memref.store %w, %s[%j] : )" +
         scratch + R"(
    }
    %sum = scf.for %j = %c0 to %length step %c1 iter_args(%total = %zero) -> f32 {
      %k = arith.subi %last, %j : index
      %v = memref.load %s[%k] : )" +
         scratch + R"(
      %w = memref.load %s[%j] : )" +
         scratch + R"(
      %p = arith.mulf %v, %w fastmath<fast> : f32
      %q = arith.addf %total, %p fastmath<fast> : f32
      scf.yield %q : f32
    }
    memref.store %sum, %y[%i] : )" +
         each + R"(
    memref.dealloc %s : )" +
         scratch + R"(
  }
  return
}
)";
}

StatusOr<std::vector<ScratchTimes>> measureScratch() {
  ModuleOptions options;
  options.threads = 1;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options));
  int64_t most = engine->target().devices[0].stackBudgetBytes / 2;
  std::vector<ScratchTimes> times;
  for (int64_t bytes = 64; bytes <= most; bytes *= 2) {
    PLIM_ASSIGN_OR_RETURN(ScratchTimes next, measureSize(*engine, bytes));
    times.push_back(next);
  }
  return times;
}

int64_t chooseMaxStackAlloca(const std::vector<ScratchTimes> &times) {
  int64_t bytes = 0;
  for (const ScratchTimes &each : times) {
    if (each.ratio < slower)
      break;
    bytes = each.bytes;
  }
  return bytes;
}

} // namespace plim::tools
