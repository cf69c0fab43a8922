#include "tools/Ceilings.h"

#include <algorithm>
#include <chrono>

namespace plim::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t productSize = 1024;
/// Of an array: at least that much, as much as the largest cache holds, but no more than what every machine has.
constexpr int64_t leastArrayBytes = int64_t(64) << 20, mostArrayBytes = int64_t(256) << 20;

int64_t arrayBytesFor(const targets::DeviceDescription &device) {
  int64_t bytes = leastArrayBytes;
  for (const targets::CacheDescription &cache : device.caches)
    bytes = std::max(bytes, cache.bytes);
  return std::min(bytes, mostArrayBytes);
}

std::string sumOfArrays(int64_t length) {
  const std::string type = "tensor<" + std::to_string(length) + "xf32>";
  return "func.func @main(%x: " + type + ", %y: " + type + ") -> " + type +
         " {\n  %sum = arith.addf %x, %y : " + type + "\n  return %sum : " + type + "\n}\n";
}

std::string productOfMatrices(int64_t size) {
  const std::string extent = std::to_string(size);
  const std::string type = "tensor<" + extent + "x" + extent + "xf32>";
  return "func.func @main(%x: " + type + ", %y: " + type + ") -> " + type + R"( {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : )" +
         type + R"(
  %filled = linalg.fill ins(%zero : f32) outs(%empty : )" +
         type + ") -> " + type + R"(
  %product = linalg.matmul ins(%x, %y : )" +
         type + ", " + type + ") outs(%filled : " + type + ") -> " + type + R"(
  return %product : )" +
         type + "\n}\n";
}

/// Of the fastest of a few calls.
StatusOr<double> secondsOf(Engine &engine, const std::string &source) {
  constexpr double leastSeconds = 0.5;
  constexpr int leastCalls = 3;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, engine.load(source, "ceiling"));
  PLIM_ASSIGN_OR_RETURN(Function function, module->lookup("main"));
  auto pool = std::make_shared<runtime::MemoryPool>();
  CallText call;
  for (const jit::ValueType &type : function.signature().arguments)
    call.inputs.push_back(toString(type) + "=rnd:1");
  PLIM_ASSIGN_OR_RETURN(std::vector<runtime::Value> inputs, readInputs(call, pool));
  std::vector<runtime::Value> results(1);
  PLIM_RETURN_IF_ERROR(function.callInto(inputs, results)); // warms up
  double best = 0, all = 0;
  for (int calls = 0; calls < leastCalls || all < leastSeconds; ++calls) {
    const Clock::time_point start = Clock::now();
    PLIM_RETURN_IF_ERROR(function.callInto(inputs, results));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = calls == 0 ? seconds : std::min(best, seconds);
    all += seconds;
  }
  return std::max(best, 1e-9);
}

} // namespace

StatusOr<Ceilings> measureCeilings(const ModuleOptions &options) {
  ModuleOptions own;
  own.target = options.target;
  own.overrides = options.overrides;
  own.threads = options.threads;
  own.inProcess = options.inProcess;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(own));
  Ceilings ceilings{.arrayBytes = arrayBytesFor(engine->target().devices[0]),
                    .productSize = productSize};
  PLIM_ASSIGN_OR_RETURN(const double sum, secondsOf(*engine, sumOfArrays(ceilings.arrayBytes / 4)));
  PLIM_ASSIGN_OR_RETURN(const double product, secondsOf(*engine, productOfMatrices(productSize)));
  ceilings.memoryGBps = 3 * static_cast<double>(ceilings.arrayBytes) / sum / 1e9;
  ceilings.productGops =
      2 * static_cast<double>(productSize * productSize * productSize) / product / 1e9;
  return ceilings;
}

} // namespace plim::tools
