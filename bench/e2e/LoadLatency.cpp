// Time from a module's text to its function, by stage.
//
//   cold            first load of a fresh process, no cache
//   cached_cold     first load of a fresh process, artifact in the cache
//   warm            further loads of one process, no cache
//   cached          further loads of one process, artifact in the cache
//   edited          the same after an edit, each time another: a function more, and the code of the rest in the cache
//
// Time of an iteration is load() alone. Counters are medians in milliseconds: parse, lower,
// optimise, codegen, link as the engine reports them (optimise and codegen are summed over modules
// that are compiled at once), "create" for Engine::create, "call" for the first call, and for fresh
// processes "process", all of it from start to exit, the loading of the shared libraries included.
// "aim" is what the small kernel must stay below.
//
// A fresh process is this program itself with --child; files are in the page cache.

#include "bench/e2e/Modules.h"
#include "bench/harness/Contest.h"
#include "bench/harness/Main.h"
#include "bench/harness/Workload.h"
#include "engine/io/Npy.h"
#include "engine/io/Safetensors.h"

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

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Program {
  std::string source;
  std::string function = "main";
  Parameters parameters;
  std::vector<Value> arguments;
};

Value tensor(std::vector<int64_t> shape) { return zeroTensor(std::move(shape)); }

Program makeProgram(const std::string &name) {
  Program program;
  if (name == "saxpy") {
    program.source = saxpyKernel();
    program.arguments = {Scalar{ElementType::F32, 0}, tensor({1024}), tensor({1024})};
  } else if (name == "add") {
    program.source = addTensors();
    program.arguments = {tensor({16}), tensor({16})};
  } else if (name == "dense") {
    program.source = denseModule(128, 256, 512);
    program.arguments = {tensor({128, 512}), tensor({512, 256}), tensor({256})};
  } else if (name == "digits") {
    const std::string folder = PLIM_DIGITS_FOLDER;
    std::ifstream file(folder + "/digits.mlir");
    std::ostringstream text;
    text << file.rdbuf();
    program.source = text.str();
    program.function = "classify";
    auto weights = orFail(io::SafetensorsFile::open(folder + "/weights.safetensors"));
    for (const auto &[parameter, entry] : weights.entries())
      program.parameters[parameter] = orFail(weights.tensor(parameter));
    program.arguments = {tensor({1, 8, 8, 1})};
  } else {
    fail("no program '" + name + "'");
  }
  return program;
}

/// In milliseconds.
enum Stage { Parse, Lower, Optimise, Codegen, Link, Load, Create, Call, Process, StageCount };
constexpr const char *stageNames[] = {"parse", "lower",  "optimise", "codegen", "link",
                                      "load",  "create", "call",     "process"};
using Times = std::array<double, StageCount>;

void loadOnce(Engine &engine, const Program &program, bool wantCached, Times &times) {
  LoadOptions options;
  options.parameters = program.parameters;
  auto module = orFail(engine.load(program.source, "benchmark", options));
  const LoadStatistics &statistics = module->statistics();
  if (statistics.fromCache != wantCached)
    fail(wantCached ? "the load missed the cache" : "the load hit the cache");
  times[Parse] = statistics.compile.parse * 1e3;
  times[Lower] = statistics.compile.lower * 1e3;
  times[Optimise] = statistics.compile.optimise * 1e3;
  times[Codegen] = statistics.compile.codegen * 1e3;
  times[Link] = statistics.linkSeconds * 1e3;
  times[Load] = statistics.totalSeconds * 1e3;
  Function function = orFail(module->lookup(program.function));
  auto start = Clock::now();
  orFail(function.call(program.arguments));
  times[Call] = millisecondsSince(start);
}

int runChild(const std::string &name, const std::string &cacheFolder, bool wantCached) {
  Program program = makeProgram(name);
  Times times = {};
  auto start = Clock::now();
  auto engine = makeEngine(0, cacheFolder);
  times[Create] = millisecondsSince(start);
  loadOnce(*engine, program, wantCached, times);
  for (double value : times)
    std::printf("%.6f\n", value);
  return 0;
}

/// A folder of its own, gone at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string text = (std::filesystem::temp_directory_path() / "plim-bench-XXXXXX").string();
    if (!mkdtemp(text.data()))
      fail("cannot make the folder " + text);
    path = text;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

Times runProcess(const std::string &name, const std::string &cacheFolder, bool wantCached) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + self + "' --child " + name + " '" + cacheFolder + "' " +
                              (wantCached ? "cached" : "compiled");
  Times times = {};
  auto start = Clock::now();
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    fail("cannot start " + command);
  for (double &value : times)
    if (std::fscanf(pipe, "%lf", &value) != 1)
      fail("no times from " + command);
  if (pclose(pipe) != 0)
    fail("failed: " + command);
  times[Process] = millisecondsSince(start);
  return times;
}

void report(benchmark::State &state, const std::vector<Times> &all, double aim) {
  for (int stage = 0; stage < StageCount; ++stage) {
    std::vector<double> values;
    for (const Times &times : all)
      values.push_back(times[stage]);
    if (double median = quantile(values, 0.5); median > 0)
      state.counters[stageNames[stage]] = median;
  }
  if (aim > 0)
    state.counters["aim"] = aim;
}

void loadFresh(benchmark::State &state, const std::string &name, bool cached, double aim) {
  TemporaryFolder folder;
  if (cached)
    runProcess(name, folder.path, false);
  std::vector<Times> all;
  for ([[maybe_unused]] auto _ : state) {
    all.push_back(runProcess(name, cached ? folder.path : "", cached));
    state.SetIterationTime(all.back()[Load] * 1e-3);
  }
  report(state, all, aim);
}

void loadAgain(benchmark::State &state, const std::string &name, bool cached, double aim) {
  TemporaryFolder folder;
  Program program = makeProgram(name);
  auto engine = makeEngine(0, cached ? folder.path : "");
  Times first = {};
  loadOnce(*engine, program, false, first);
  std::vector<Times> all;
  for ([[maybe_unused]] auto _ : state) {
    all.emplace_back();
    loadOnce(*engine, program, cached, all.back());
    state.SetIterationTime(all.back()[Load] * 1e-3);
  }
  report(state, all, aim);
}

void loadEdited(benchmark::State &state, const std::string &name, bool, double aim) {
  TemporaryFolder folder;
  const Program program = makeProgram(name);
  auto engine = makeEngine(0, folder.path);
  Times first = {};
  loadOnce(*engine, program, false, first);
  std::vector<Times> all;
  for ([[maybe_unused]] auto _ : state) {
    Program edited = program;
    const std::string type = "tensor<" + std::to_string(1000 + all.size()) + "xf32>";
    edited.source += "func.func @edit(%x: " + type + ") -> " + type +
                     " {\n  %r = math.absf %x : " + type + "\n  return %r : " + type + "\n}\n";
    all.emplace_back();
    loadOnce(*engine, edited, false, all.back());
    state.SetIterationTime(all.back()[Load] * 1e-3);
  }
  report(state, all, aim);
}

void registerAll() {
  for (const char *name : {"saxpy", "add", "dense", "digits"}) {
    const std::string text = name;
    // The aims are those for a small kernel.
    const bool isSmall = text == "saxpy";
    auto add = [&](const char *kind, auto function, bool cached, double aim, int64_t rounds) {
      benchmark::RegisterBenchmark(
          (text + "/" + kind).c_str(),
          [=](benchmark::State &state) { function(state, text, cached, isSmall ? aim : 0); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(rounds);
    };
    add("cold", loadFresh, false, 40, 9);
    add("cached_cold", loadFresh, true, 2, 9);
    add("warm", loadAgain, false, 0, 11);
    add("cached", loadAgain, true, 2, 31);
    add("edited", loadEdited, true, 0, 11);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 5 && std::strcmp(argv[1], "--child") == 0)
    return runChild(argv[2], argv[3], std::strcmp(argv[4], "cached") == 0);
  return plim::bench::runBenchmarks(argc, argv, registerAll);
}
