// Memory and time that a module with one constant of 100 MiB takes, by where the constant comes from.
//
//   text           dense_resource in hexadecimal
//   bytecode       a file whose resource is aligned to 64 bytes, as the engine wants it
//   bytecode4      the same, aligned to its elements only
//   cached         as bytecode, from the artifact cache
//   splat_init     a reduction whose init is a splat of 100 MiB: the result is all that it may take
//   resource_init  the same with a constant that is no splat
//
// Each in a fresh process. Counters in MiB: "engine" is the most that was resident before the load,
// "load" and "call" what the load and a call added to that, file pages that are mapped and touched
// included. A call of the first four reads one element. Times are of loadFile() and of the call, in
// milliseconds; files are in the page cache. A process counts pages that it shares with others, so
// "load" is what it would take if it were alone.

#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"
#include "ir/Pipelines/Pipelines.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace plim;
using namespace plim::bench;
using runtime::Buffer;
using runtime::ElementType;
using runtime::Scalar;
using runtime::Value;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t elementCount = 26'214'400; // of f32: 100 MiB

/// The constant is a splat here; what is no splat is put in its place.
constexpr const char *readSource = R"(
func.func @main(%i: index) -> f32 {
  %c = arith.constant dense<1.0> : tensor<26214400xf32>
  %x = tensor.extract %c[%i] : tensor<26214400xf32>
  return %x : f32
})";
constexpr const char *initSource = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<26214400xf32> {
  %c = arith.constant dense<1.0> : tensor<26214400xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4xf32>) outs(%c : tensor<26214400xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<26214400xf32>
  return %r : tensor<26214400xf32>
})";

/// `source` with elements 0, 1, 2 ... modulo 1000 for the splat, as text or bytecode.
std::string withResource(const char *source, size_t alignment, bool asText) {
  mlir::DialectRegistry registry;
  ir::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  module->walk([&](mlir::arith::ConstantOp constant) {
    auto type = mlir::dyn_cast<mlir::ShapedType>(constant.getType());
    if (!type)
      return;
    auto blob = mlir::HeapAsmResourceBlob::allocate(size_t(elementCount) * 4, alignment);
    auto elements = blob.getMutableData();
    for (int64_t i = 0; i < elementCount; ++i) {
      auto value = static_cast<float>(i % 1000);
      std::memcpy(elements.data() + 4 * i, &value, sizeof value);
    }
    constant.setValueAttr(mlir::DenseResourceElementsAttr::get(type, "weights", std::move(blob)));
  });
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (asText)
    module->print(stream);
  else if (mlir::failed(mlir::writeBytecodeToFile(*module, stream)))
    fail("cannot write bytecode");
  return bytes;
}

/// The most that was ever resident of this program, in MiB. (ru_maxrss would count its parent as well.)
double peakMiB() {
  std::ifstream stream("/proc/self/status");
  for (std::string word; stream >> word;)
    if (double kib = 0; word == "VmHWM:" && stream >> kib)
      return kib / 1024;
  fail("no VmHWM in /proc/self/status");
}

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

enum Figure { EngineMiB, LoadMiB, CallMiB, LoadMs, CallMs, FigureCount };
constexpr const char *figureNames[] = {"engine", "load", "call", "load_ms", "call_ms"};
using Figures = std::array<double, FigureCount>;

int runChild(const std::string &file, const std::string &cacheFolder) {
  Figures figures = {};
  auto engine = makeEngine(0, cacheFolder);
  // Code that every load runs is not what is measured.
  orFail(engine->load("func.func @main(%i: index) -> index {\n  return %i : index\n}", "warm"));
  figures[EngineMiB] = peakMiB();
  auto start = Clock::now();
  auto module = orFail(engine->loadFile(file));
  figures[LoadMs] = millisecondsSince(start);
  figures[LoadMiB] = peakMiB() - figures[EngineMiB];
  Function function = orFail(module->lookup("main"));
  bool isRead = !function.signature().arguments[0].isShaped;
  Value argument = isRead ? Value(Scalar{ElementType::Index, 4321}) : zeroTensor({4});
  start = Clock::now();
  std::vector<Value> results = orFail(function.call(std::span(&argument, 1)));
  figures[CallMs] = millisecondsSince(start);
  figures[CallMiB] = peakMiB() - figures[EngineMiB];
  float first = 0;
  if (isRead)
    std::memcpy(&first, &std::get<Scalar>(results[0]).bits, sizeof first);
  else
    std::memcpy(&first, static_cast<const float *>(std::get<Buffer>(results[0]).data()) + 4321,
                sizeof first);
  if (first != 321 && first != 1) // 1: of the splat
    fail("a wrong element: " + std::to_string(first));
  for (double figure : figures)
    std::printf("%.6f\n", figure);
  return 0;
}

Figures runProcess(const std::string &file, const std::string &cacheFolder) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + self + "' --child '" + file + "' '" + cacheFolder + "'";
  Figures figures = {};
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    fail("cannot start " + command);
  for (double &figure : figures)
    if (std::fscanf(pipe, "%lf", &figure) != 1)
      fail("no figures from " + command);
  if (pclose(pipe) != 0)
    fail("failed: " + command);
  return figures;
}

void measure(benchmark::State &state, const std::string &source, bool isCached) {
  std::string folder = (std::filesystem::temp_directory_path() / "plim-bench-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    fail("cannot make the folder " + folder);
  const std::string file = folder + "/module.mlir", cache = isCached ? folder + "/cache" : "";
  std::ofstream(file, std::ios::binary) << source;
  if (isCached)
    runProcess(file, cache);
  for ([[maybe_unused]] auto _ : state) {
    Figures figures = runProcess(file, cache);
    state.SetIterationTime(figures[LoadMs] * 1e-3);
    for (int i = 0; i < FigureCount; ++i)
      state.counters[figureNames[i]] = figures[i];
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void registerAll() {
  auto add = [](const char *name, auto makeSource, bool isCached = false) {
    benchmark::RegisterBenchmark(
        name, [=](benchmark::State &state) { measure(state, makeSource(), isCached); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
  };
  add("text", [] { return withResource(readSource, 64, true); });
  add("bytecode", [] { return withResource(readSource, 64, false); });
  add("bytecode4", [] { return withResource(readSource, 4, false); });
  add("cached", [] { return withResource(readSource, 64, false); }, true);
  add("splat_init", [] { return std::string(initSource); });
  add("resource_init", [] { return withResource(initSource, 64, false); });
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 4 && std::strcmp(argv[1], "--child") == 0)
    return runChild(argv[2], argv[3]);
  return plim::bench::runBenchmarks(argc, argv, registerAll);
}
