// Engines and loading: options, parameters, policies, the cache, failures that leave the engine well.
#include "tests/unit/session/EngineFixture.h"
#include "tests/unit/tools/TemporaryFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The results of temporariesSource on small integers.
std::vector<float> runTemporaries(Engine &engine, const LoadOptions &options = {}) {
  std::shared_ptr<Module> module = load(engine, temporariesSource, options);
  if (!module)
    return {};
  std::vector<Value> results =
      callOk(lookup(module, "main"), {smallIntegers({8, 16}), smallIntegers({16, 16})});
  return results.empty() ? std::vector<float>() : elements<float>(results[0]);
}

std::vector<float> expectedTemporaries() {
  static const std::vector<float> expected = [] {
    Buffer x = smallIntegers({8, 16}), w = smallIntegers({16, 16});
    auto product = [&](const std::vector<float> &a) {
      const auto *b = static_cast<const float *>(w.data());
      std::vector<float> c(8 * 16, 0.0f);
      for (size_t i = 0; i < 8; ++i)
        for (size_t j = 0; j < 16; ++j)
          for (size_t k = 0; k < 16; ++k)
            c[i * 16 + j] += a[i * 16 + k] * b[k * 16 + j];
      return c;
    };
    std::vector<float> p = product(elements<float>(x)), r = product(product(p));
    for (size_t i = 0; i < r.size(); ++i)
      r[i] += p[i];
    return r;
  }();
  return expected;
}

/// Collects what an engine logs.
struct LogLines {
  Logger logger() {
    return Logger(LogLevel::Warning, [this](LogLevel, std::string_view message) {
      std::lock_guard<std::mutex> lock(mutex);
      lines.emplace_back(message);
    });
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

TEST(Engine, RefusesBadOptions) {
  EXPECT_EQ(Engine::create({.target = "no-such-tag"}).status().code(), StatusCode::NotFound);
  EXPECT_EQ(Engine::create({.target = "/no/such/file.json"}).status().code(), StatusCode::NotFound);
  EXPECT_EQ(Engine::create({.targetOverrides = {"no_such_field=1"}}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(Engine::create({.targetOverrides = {"vector_bits"}}).status().code(),
            StatusCode::InvalidArgument);
}

TEST(Engine, AFunctionThatIsNotThereIsSuggested) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, saxpySource);
  StatusOr<Function> function = module->lookup("saxyp");
  ASSERT_FALSE(function.ok());
  EXPECT_EQ(function.status().code(), StatusCode::NotFound);
  EXPECT_EQ(function.status().message(),
            "no public function 'saxyp' in in.mlir; did you mean 'saxpy'?");
  EXPECT_FALSE(module->lookup("").ok());
  ASSERT_EQ(module->functions().size(), 1u);
  EXPECT_EQ(module->functions()[0].name, "saxpy");
}

TEST(Engine, SourcesThatAreRefusedLeaveItUsable) {
  std::shared_ptr<Engine> engine = makeEngine();
  for (const char *source : {"func.func @f( {", "", "func.func private @f()",
                             "func.func @f(%x: memref<4xi5>) {\n return\n}",
                             "func.func private @g() -> memref<4xf32>\nfunc.func @f() {\n"
                             " %x = call @g() : () -> memref<4xf32>\n return\n}"}) {
    StatusOr<std::shared_ptr<Module>> module = engine->load(source, "bad.mlir");
    ASSERT_FALSE(module.ok()) << source;
    EXPECT_EQ(module.status().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(module.status().message()), StartsWith("bad.mlir:"));
    EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
  }
}

TEST(Engine, AFileThatIsTooLongIsNotRead) {
  // A terabyte without contents: to read it would take minutes, and memory that there is not.
  TemporaryFile file("");
  ASSERT_EQ(::truncate(file.path().c_str(), int64_t(1) << 40), 0);
  std::shared_ptr<Engine> engine = makeEngine();
  const std::string begin = file.path() + ":1:1: a text of 1099511627776 bytes, more than ";
  Status status = engine->loadFile(file.path()).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), begin + "max_text_bytes = 1073741824");
  ASSERT_EQ(status.diagnostics().size(), 1u);
  EXPECT_EQ(engine->loadFile(file.path(), {.limits = {"max_text_bytes=7"}}).status().message(),
            begin + "max_text_bytes = 7");
}

TEST(Engine, LoadsFiles) {
  std::shared_ptr<Engine> engine = makeEngine();
  TemporaryFile file(saxpySource);
  StatusOr<std::shared_ptr<Module>> module = engine->loadFile(file.path());
  ASSERT_TRUE(module.ok()) << module.status().toString();
  StatusOr<std::shared_ptr<Module>> missing = engine->loadFile("/no/such/file.mlir");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(HasSubstr("/no/such/file.mlir"), HasSubstr("No such file")));
  file.write("func.func");
  EXPECT_THAT(std::string(engine->loadFile(file.path()).status().message()),
              StartsWith(file.path() + ":1:"));
}

TEST(Engine, BindsParameters) {
  std::shared_ptr<Engine> engine = makeEngine();
  Buffer w = makeBuffer<float>({4}, {10, 20, 30, 40});
  std::shared_ptr<Module> module = load(*engine, parameterSource, {.parameters = {{"w", w}}});
  ASSERT_NE(module, nullptr);
  Buffer x = makeBuffer<float>({4}, {1, 2, 3, 4});
  w = Buffer(); // the module has its own handle
  EXPECT_EQ(elements<float>(callOk(lookup(module, "main"), {x}).at(0)),
            (std::vector<float>{11, 22, 33, 44}));
}

TEST(Engine, RefusesParametersThatDoNotFit) {
  std::shared_ptr<Engine> engine = makeEngine();
  Buffer w = makeBuffer<float>({4}, {1, 2, 3, 4});
  auto status = [&](Parameters parameters) {
    return engine->load(parameterSource, "in.mlir", {.parameters = std::move(parameters)}).status();
  };
  Status missing = status({});
  EXPECT_EQ(missing.code(), StatusCode::FailedPrecondition);
  EXPECT_EQ(missing.message(), "in.mlir:2:1: parameter 'w' of type 4xf32 is not bound");
  Status shape = status({{"w", makeBuffer<float>({3}, {1, 2, 3})}});
  EXPECT_EQ(shape.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(shape.message(), "in.mlir:2:1: parameter 'w' is 3xf32, expected 4xf32");
  EXPECT_EQ(status({{"w", makeBuffer<float>({4, 1}, {1, 2, 3, 4})}}).message(),
            "in.mlir:2:1: parameter 'w' is 4x1xf32, expected 4xf32");
  EXPECT_EQ(status({{"w", makeBuffer<int32_t>({4}, {1, 2, 3, 4})}}).message(),
            "in.mlir:2:1: parameter 'w' is 4xi32, expected 4xf32");
  Status extra = status({{"w", w}, {"v", w}});
  EXPECT_EQ(extra.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(extra.message(), "in.mlir: the module has no parameter 'v'; did you mean 'w'?");
  EXPECT_TRUE(status({{"w", w}}).ok());
}

TEST(Engine, EveryPolicyGivesTheSameResults) {
  for (const char *policy : {"auto", "stack", "workspace", "heap", "fixed:1024", "fixed:1"}) {
    SCOPED_TRACE(policy);
    std::shared_ptr<Engine> engine = makeEngine({.policy = policy});
    EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
    EXPECT_EQ(runTemporaries(*makeEngine(), {.policy = policy}), expectedTemporaries());
  }
  EXPECT_EQ(runTemporaries(*makeEngine(), {.oracle = true}), expectedTemporaries());
}

TEST(Engine, AModuleChoosesItsPolicyOverTheEngines) {
  std::shared_ptr<Engine> engine = makeEngine({.policy = "heap"});
  auto workspaceOf = [&](const LoadOptions &options) {
    return load(*engine, temporariesSource, options)->functions()[0].workspaceBytes;
  };
  EXPECT_EQ(workspaceOf({}), 0);
  EXPECT_GT(workspaceOf({.policy = "workspace"}), 0);
}

TEST(Engine, AnUnknownPolicyIsAnError) {
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<std::shared_ptr<Module>> module =
      engine->load(temporariesSource, "in.mlir", {.policy = "fastest"});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), StatusCode::InvalidArgument);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("'fastest'"));
}

TEST(Engine, EveryVectorWidthGivesTheSameResults) {
  std::shared_ptr<Engine> host = makeEngine();
  EXPECT_EQ(runTemporaries(*host), expectedTemporaries());
  const targets::DeviceDescription &device = host->target().devices[0];
  for (auto [bits, feature] : {std::pair<const char *, const char *>{"128", nullptr},
                               {"256", "avx2"},
                               {"512", "avx512f"}}) {
    if (feature && !device.hasFeature(feature))
      continue;
    SCOPED_TRACE(bits);
    std::shared_ptr<Engine> engine =
        makeEngine({.targetOverrides = {std::string("vector_bits=") + bits}});
    EXPECT_EQ(engine->target().devices[0].vectorBits, std::stoi(bits));
    EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
    Function matmul = lookup(load(*engine, matmulSource), "matmul");
    Buffer a = smallIntegers({37, 29}), b = smallIntegers({29, 41});
    EXPECT_EQ(elements<float>(callOk(matmul, {a, b}).at(0)),
              elements<float>(callOk(lookup(load(*host, matmulSource), "matmul"), {a, b}).at(0)));
  }
}

TEST(Engine, TwoWithDifferentOptionsLiveSideBySide) {
  std::shared_ptr<Engine> one = makeEngine({.threads = 1, .policy = "heap"});
  std::shared_ptr<Engine> two =
      makeEngine({.targetOverrides = {"vector_bits=128"}, .threads = 2, .policy = "stack"});
  EXPECT_EQ(one->threads(), 1);
  EXPECT_LE(two->threads(), 2);
  EXPECT_EQ(two->target().devices[0].vectorBits, 128);
  EXPECT_EQ(one->options().policy, "heap");
  EXPECT_EQ(two->options().policy, "stack");
  std::thread thread([&] {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(runTemporaries(*one), expectedTemporaries());
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(runTemporaries(*two), expectedTemporaries());
  thread.join();
  two.reset();
  EXPECT_EQ(runTemporaries(*one), expectedTemporaries());
}

TEST(Engine, ThreadsLoadAtOnce) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
        EXPECT_FALSE(engine->load("func.func", "bad.mlir").ok());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Engine, AnArtifactIsLinkedWithoutItsSource) {
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<jit::Artifact> artifact = engine->compile(parameterSource, "in.mlir", {});
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  StatusOr<jit::Artifact> copy = jit::deserialize(jit::serialize(*artifact));
  ASSERT_TRUE(copy.ok());
  StatusOr<std::shared_ptr<Module>> module =
      makeEngine()->link(*copy, {{"w", makeBuffer<float>({4}, {1, 1, 1, 1})}});
  ASSERT_TRUE(module.ok()) << module.status().toString();
  EXPECT_EQ(elements<float>(callOk(lookup(*module, "main"), {smallIntegers({4})}).at(0)),
            (std::vector<float>{-2, 3, 1, -1}));
  copy->requiredFeatures.push_back("avx9000");
  StatusOr<std::shared_ptr<Module>> other = engine->link(*copy, {});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("'avx9000'"));
}

TEST(Engine, GivesAssemblyReportAndTimes) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::string assembly;
  std::shared_ptr<Module> module = load(*engine, matmulSource, {.assembly = &assembly});
  EXPECT_THAT(assembly, HasSubstr("plim.entry.matmul"));
  EXPECT_THAT(module->report(), AllOf(StartsWith("{"), HasSubstr("\"matmul\"")));
  EXPECT_GT(module->statistics().compile.codegen, 0);
  EXPECT_GE(module->statistics().totalSeconds, module->statistics().linkSeconds);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
/// What `job` gives on a thread with that much stack.
Status onThread(size_t stackBytes, std::function<Status()> job) {
  struct Start {
    std::function<Status()> job;
    Status status;
  } start{std::move(job), okStatus()};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Its own, behind a guard: the C library keeps larger ones of threads that have ended.
  constexpr size_t guard = 4096;
  auto *memory = static_cast<char *>(
      mmap(nullptr, guard + stackBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_EQ(mprotect(memory + guard, stackBytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(pthread_attr_setstack(&attributes, memory + guard, stackBytes), 0);
  pthread_t thread;
  auto run = [](void *argument) -> void * {
    auto *start = static_cast<Start *>(argument);
    start->status = start->job();
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, run, &start), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  munmap(memory, guard + stackBytes);
  return start.status;
}

TEST(Engine, SmallThreadsMakeNoneAndLoadNothing) {
  std::shared_ptr<Engine> engine = makeEngine();
  const std::string artifact = [&] {
    StatusOr<jit::Artifact> compiled = engine->compile(sumSource, "in.mlir", {});
    return jit::serialize(*compiled);
  }();
  const std::pair<const char *, std::function<Status()>> jobs[] = {
      {"create", [] { return Engine::create({.threads = 1}).status(); }},
      {"load", [&] { return engine->load(sumSource, "in.mlir").status(); }},
      {"load code", [&] { return engine->load(artifact, "in.mlir").status(); }},
      {"load file", [&] { return engine->loadFile("/nowhere").status(); }},
      {"compile", [&] { return engine->compile(sumSource, "in.mlir", {}).status(); }}};
  for (const auto &[what, job] : jobs) {
    for (size_t kilobytes : {16, 20}) {
      Status status = onThread(kilobytes << 10, job);
      EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << what << kilobytes;
      EXPECT_THAT(std::string(status.message()), HasSubstr("bytes of stack left"));
    }
    for (size_t kilobytes : {36, 64})
      EXPECT_NE(onThread(kilobytes << 10, job).code(), StatusCode::ResourceExhausted) << what;
  }
}
#endif

TEST(Engine, HasTheThreadsOfThisMachineWhateverTheTarget) {
  auto threadsOf = [](EngineOptions options) {
    StatusOr<std::shared_ptr<Engine>> engine = Engine::create(std::move(options));
    return engine.ok() ? (*engine)->threads() : -1;
  };
  const int threads = threadsOf({});
  EXPECT_GE(threads, 1);
  for (const char *of : {"1", "64"})
    EXPECT_EQ(threadsOf({.targetOverrides = {std::string("hardware_threads=") + of}}), threads);
  EXPECT_EQ(threadsOf({.target = "x86-64"}), threads);
  EXPECT_EQ(threadsOf({.threads = 1}), 1);
}

TEST(EngineCache, TheSecondLoadComesFromTheCache) {
  TemporaryFolder folder;
  for (bool expected : {false, true}) {
    std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
    std::shared_ptr<Module> module = load(*engine, stateSource);
    EXPECT_EQ(module->statistics().fromCache, expected);
    EXPECT_EQ(module->statistics().compile.parse > 0, !expected);
    Buffer x = makeBuffer<float>({2}, {1, 2});
    EXPECT_EQ(elements<float>(callOk(lookup(module, "add"), {x}).at(0)),
              (std::vector<float>{11, 22}));
    EXPECT_EQ(elements<float>(callOk(lookup(module, "add"), {x}).at(0)),
              (std::vector<float>{12, 24}));
  }
  EXPECT_EQ(folder.files(".plimart").size(), 1u);
}

TEST(EngineCache, ParametersAreNotPartOfTheKey) {
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  Buffer zero = makeBuffer<float>({4}, {0, 0, 0, 0});
  for (float value : {1.0f, 2.0f}) {
    Buffer w = makeBuffer<float>({4}, {value, value, value, value});
    std::shared_ptr<Module> module = load(*engine, parameterSource, {.parameters = {{"w", w}}});
    EXPECT_EQ(elements<float>(callOk(lookup(module, "main"), {zero}).at(0))[0], value);
    EXPECT_EQ(module->statistics().fromCache, value == 2.0f);
  }
}

TEST(EngineCache, WhatChangesCodeIsPartOfTheKey) {
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  auto fromCache = [&](Engine &engine, const char *source, const LoadOptions &options = {}) {
    return load(engine, source, options)->statistics().fromCache;
  };
  EXPECT_FALSE(fromCache(*engine, temporariesSource));
  EXPECT_FALSE(fromCache(*engine, sumSource));
  EXPECT_FALSE(fromCache(*engine, temporariesSource, {.oracle = true}));
  EXPECT_FALSE(fromCache(*engine, temporariesSource, {.policy = "heap"}));
  EXPECT_TRUE(fromCache(*engine, temporariesSource, {.policy = "auto"}));
  std::shared_ptr<Engine> narrow =
      makeEngine({.targetOverrides = {"vector_bits=128"}, .cacheFolder = folder.path()});
  EXPECT_FALSE(fromCache(*narrow, temporariesSource) &&
               engine->target().devices[0].vectorBits != 128);
  StatusOr<std::shared_ptr<Module>> renamed = engine->load(temporariesSource, "other.mlir");
  ASSERT_TRUE(renamed.ok());
  EXPECT_FALSE((*renamed)->statistics().fromCache);
  EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
  EXPECT_EQ(runTemporaries(*narrow), expectedTemporaries());
}

TEST(EngineCache, EveryFieldOfTheTargetButForTheseIsPartOfTheKey) {
  const std::set<std::string, std::less<>> ignored = {
      "description",        "hardware_threads",   "numa_nodes",
      "clock_mhz",          "huge_page_bytes",    "main_thread_stack_bytes",
      "worker_stack_bytes", "caller_stack_bytes", "read_gbps",
      "write_gbps",         "latency_ns",         "numa_node"};
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  EXPECT_FALSE(load(*engine, sumSource)->statistics().fromCache);
  const nlohmann::json target = nlohmann::json::parse(targets::toJson(engine->target()));
  std::set<std::string> seen;
  const nlohmann::json fields = target.flatten();
  for (const auto &[path, value] : fields.items()) {
    if (path.find("/features/") != path.npos)
      continue; // LLVM prints what it does not know
    nlohmann::json changed = value;
    if (value.is_boolean())
      changed = !value.get<bool>();
    else if (value.is_number_integer())
      changed =
          value.get<int64_t>() > 0 ? 2 * value.get<int64_t>() : 64; // a power of two stays one
    else if (value.is_number())
      changed = value.get<double>() + 1;
    else if (path.ends_with("cpu"))
      changed = value == "x86-64-v2" ? "x86-64" : "x86-64-v2";
    else if (path.ends_with("kind"))
      changed = value == "host" ? "pinned" : "host";
    else if (value.is_string())
      changed = value.get<std::string>() + "x";
    nlohmann::json other = fields;
    other[path] = changed;
    StatusOr<targets::TargetDescription> description = targets::fromJson(other.unflatten().dump());
    if (!description.ok())
      continue; // no target, like a memory of a device that is not there
    std::shared_ptr<Engine> another =
        makeEngine({.description = *description, .cacheFolder = folder.path()});
    StatusOr<std::shared_ptr<Module>> module = another->load(sumSource, "in.mlir");
    if (!module.ok())
      continue; // no code for it
    std::string key = path.substr(path.rfind('/') + 1);
    if (key.find_first_not_of("0123456789") == key.npos) // of a list
      key = path.substr(0, path.rfind('/')), key = key.substr(key.rfind('/') + 1);
    seen.insert(key);
    EXPECT_EQ((*module)->statistics().fromCache, ignored.contains(path) || ignored.contains(key))
        << path << ": " << value << " became " << changed;
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"cores", "vector_bits", "bytes", "line_bytes",
                                             "stack_budget_bytes", "tune_cpu", "kind"}));
}

TEST(EngineCache, ABadEntryIsCompiledAnew) {
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
  EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
  ASSERT_EQ(folder.files(".plimart").size(), 1u);
  std::filesystem::resize_file(folder.files(".plimart")[0],
                               std::filesystem::file_size(folder.files(".plimart")[0]) / 2);
  std::shared_ptr<Module> module = load(*engine, temporariesSource);
  EXPECT_FALSE(module->statistics().fromCache);
  EXPECT_TRUE(load(*engine, temporariesSource)->statistics().fromCache);
}

TEST(EngineCache, AFolderThatOthersMayWriteIsLoggedAndNotUsed) {
  TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  LogLines log;
  std::shared_ptr<Engine> engine =
      makeEngine({.cacheFolder = folder.path(), .logger = log.logger()});
  ASSERT_NE(engine, nullptr);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr(folder.path())));
  EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
  EXPECT_TRUE(folder.files().empty());
}

TEST(EngineCache, AFolderThatVanishesIsLoggedAndTheLoadWorks) {
  LogLines log;
  auto folder = std::make_unique<TemporaryFolder>();
  std::shared_ptr<Engine> engine =
      makeEngine({.cacheFolder = folder->path(), .logger = log.logger()});
  folder.reset();
  EXPECT_EQ(runTemporaries(*engine), expectedTemporaries());
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("cannot create")));
}

TEST(EngineCache, IsNotUsedUnlessAskedFor) {
  LogLines log;
  std::shared_ptr<Engine> engine = makeEngine({.logger = log.logger()});
  EXPECT_FALSE(load(*engine, sumSource)->statistics().fromCache);
  EXPECT_FALSE(load(*engine, sumSource)->statistics().fromCache);
  EXPECT_THAT(log.lines, IsEmpty());
}

// The load is stronger than the engine, and an artifact in the cache is of its own limits.
TEST(LoadLimits, AreStrongerThanTheEngines) {
  constexpr std::string_view source = R"(
func.func @f(%x: memref<64xf32>, %i: index) {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %v = memref.load %a[%i] : memref<64xf32>
  memref.store %v, %x[%i] : memref<64xf32>
  memref.dealloc %a : memref<64xf32>
  return
})";
  TemporaryFolder folder;
  std::shared_ptr<Engine> engine =
      makeEngine({.limits = {"max_stack_alloca_bytes=8"}, .cacheFolder = folder.path()});
  using Limits = std::vector<std::string>;
  for (const auto &[limits, level] :
       {std::pair(Limits(), "engine"), std::pair(Limits{"max_stack_alloca_bytes=300"}, "load"),
        std::pair(Limits(), "engine")}) {
    std::shared_ptr<Module> module = load(*engine, source, {.limits = limits});
    ASSERT_TRUE(module);
    EXPECT_THAT(module->report(), HasSubstr("\"level\":\"" + std::string(level) + "\""));
  }
}

} // namespace
} // namespace plim
