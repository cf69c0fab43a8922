#include "jit/Session.h"

#include "engine/runtime/RuntimeSymbols.h"
#include "jit/Compiler.h"
#include "targets/Resolve.h"
#include "tests/unit/jit/Sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLIM_MEASURES_MEMORY 0
#else
#define PLIM_MEASURES_MEMORY 1
#endif

namespace plim::jit {
namespace {

using ::testing::HasSubstr;

using SaxpyFn = void (*)(float a, float *x, int64_t xSize, float *y, int64_t ySize);
using SumFn = double (*)(const double *x, int64_t size);

std::vector<HostSymbol> runtimeSymbols() {
  std::vector<HostSymbol> symbols;
  for (const runtime::RuntimeSymbol &symbol : runtime::runtimeSymbols())
    symbols.push_back({symbol.name, symbol.address});
  return symbols;
}

std::shared_ptr<Session> makeSession(SessionOptions options = {}) {
  StatusOr<std::shared_ptr<Session>> session = Session::create(runtimeSymbols(), options);
  EXPECT_TRUE(session.ok()) << session.status().toString();
  return *session;
}

Artifact compiled(const char *source) {
  StatusOr<Artifact> artifact =
      compile(source, "in.mlir", *targets::resolveTarget("host-cpu", {}), {});
  EXPECT_TRUE(artifact.ok()) << artifact.status().toString();
  return *artifact;
}

std::unique_ptr<LinkedModule> linked(Session &session, const Artifact &artifact) {
  StatusOr<std::unique_ptr<LinkedModule>> module = session.link(artifact, {});
  EXPECT_TRUE(module.ok()) << module.status().toString();
  return module.ok() ? std::move(*module) : nullptr;
}

double sumOf(const LinkedModule &module) {
  const double values[] = {1, 2, 3.5};
  return reinterpret_cast<SumFn>(module.raw("sum"))(values, 3);
}

int64_t residentBytes() {
  std::ifstream stream("/proc/self/statm");
  int64_t total = 0, resident = 0;
  stream >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Mappings of this process whose permissions are all of `permissions`.
std::string mappingsWith(const std::string &permissions) {
  std::ifstream stream("/proc/self/maps");
  std::string found;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string range, have;
    words >> range >> have;
    bool all = true;
    for (char permission : permissions)
      all &= have.find(permission) != std::string::npos;
    if (all)
      found += line + "\n";
  }
  return found;
}

/// The permissions of the mapping that holds `address`.
std::string permissionsAt(const void *address) {
  std::ifstream stream("/proc/self/maps");
  for (std::string line; std::getline(stream, line);) {
    uintptr_t begin = 0, end = 0;
    char dash;
    std::string permissions;
    std::istringstream words(line);
    words >> std::hex >> begin >> dash >> end >> permissions;
    auto wanted = reinterpret_cast<uintptr_t>(address);
    if (begin <= wanted && wanted < end)
      return permissions;
  }
  return "none";
}

TEST(Session, WithoutExecutableMemoryThereIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int refuseExecutableMemory = 65; // PR_SET_MDWE, of Linux 6.3
  auto create = [] {
    if (::prctl(refuseExecutableMemory, 1, 0, 0, 0) != 0)
      ::_exit(7); // an older one
    StatusOr<std::shared_ptr<Session>> session = Session::create({});
    ::_exit(session.status().code() == StatusCode::Unavailable ? 7 : 1);
  };
  EXPECT_EXIT(create(), ::testing::ExitedWithCode(7), "");
}

TEST(Session, AKernelIsCalledLikeAFunctionOfC) {
  std::shared_ptr<Session> session = makeSession();
  auto module = linked(*session, compiled(testing::saxpySource));
  ASSERT_NE(module, nullptr);
  ASSERT_NE(module->raw("saxpy"), nullptr);
  EXPECT_NE(module->entry("saxpy"), nullptr);
  float x[] = {1, 2, 3}, y[] = {10, 20, 30};
  reinterpret_cast<SaxpyFn>(module->raw("saxpy"))(2, x, 3, y, 3);
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{12, 24, 36}));
  EXPECT_EQ(module->raw("other"), nullptr);
  EXPECT_EQ(module->entry("other"), nullptr);
}

TEST(Session, AScalarComesBackAsOneOfC) {
  std::shared_ptr<Session> session = makeSession();
  auto module = linked(*session, compiled(testing::sumSource));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(sumOf(*module), 6.5);
}

TEST(Session, OneArtifactIsLinkedTwice) {
  std::shared_ptr<Session> session = makeSession();
  Artifact artifact = compiled(testing::sumSource);
  auto first = linked(*session, artifact), second = linked(*session, artifact);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->raw("sum"), second->raw("sum"));
  first.reset();
  EXPECT_EQ(sumOf(*second), 6.5);
}

TEST(Session, AModuleKeepsItsSession) {
  std::shared_ptr<Session> session = makeSession();
  auto module = linked(*session, compiled(testing::sumSource));
  session.reset();
  EXPECT_EQ(sumOf(*module), 6.5);
}

TEST(Session, TwoSessionsLiveSideBySide) {
  Artifact artifact = compiled(testing::sumSource);
  std::shared_ptr<Session> one = makeSession(), two = makeSession();
  auto first = linked(*one, artifact), second = linked(*two, artifact);
  ASSERT_TRUE(first && second);
  first.reset();
  one.reset();
  EXPECT_EQ(sumOf(*second), 6.5);
}

TEST(Session, AParameterMustBeBound) {
  std::shared_ptr<Session> session = makeSession();
  Artifact artifact = compiled(testing::parameterSource);
  StatusOr<std::unique_ptr<LinkedModule>> module = session->link(artifact, {});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("parameter 'w'"));
  alignas(64) float w[4] = {};
  DataBinding other[] = {{"v", w}};
  EXPECT_FALSE(session->link(artifact, other).ok());
  DataBinding bound[] = {{"w", w}};
  EXPECT_TRUE(session->link(artifact, bound).ok());
}

TEST(Session, ASymbolThatNobodyGivesIsNamed) {
  // A session without the runtime: what allocates a result is missing.
  StatusOr<std::shared_ptr<Session>> bare = Session::create({});
  ASSERT_TRUE(bare.ok());
  Artifact artifact = compiled(testing::matmulSource);
  StatusOr<std::unique_ptr<LinkedModule>> module = (*bare)->link(artifact, {});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), StatusCode::Internal);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("plim_rt_"));
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("in.mlir"));
  // The session goes on.
  auto good = linked(**bare, compiled("func.func @sum(%x: memref<?xf64>) -> f64 {\n"
                                      "  %z = arith.constant 6.5 : f64\n  return %z : f64\n}\n"));
  if (good)
    EXPECT_EQ(sumOf(*good), 6.5);
}

TEST(Session, AFunctionThatIsMissingIsNamed) {
  std::shared_ptr<Session> session = makeSession();
  Artifact artifact = compiled(testing::sumSource);
  artifact.functions.push_back(artifact.functions[0]);
  artifact.functions.back().name = "absent";
  StatusOr<std::unique_ptr<LinkedModule>> module = session->link(artifact, {});
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("absent"));
}

TEST(Session, ObjectsThatAreNoneAreRefused) {
  std::shared_ptr<Session> session = makeSession();
  for (const std::string &object : {std::string(), std::string("no object"),
                                    std::string("\x7f"
                                                "ELF"),
                                    std::string(4096, '\0')}) {
    Artifact artifact = compiled(testing::sumSource);
    artifact.objects = {object};
    StatusOr<std::unique_ptr<LinkedModule>> module = session->link(artifact, {});
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.status().code(), StatusCode::Internal) << module.status().toString();
  }
  auto good = linked(*session, compiled(testing::sumSource));
  ASSERT_NE(good, nullptr);
  EXPECT_EQ(sumOf(*good), 6.5);
}

TEST(Session, NothingIsWritableAndExecutable) {
  std::shared_ptr<Session> session = makeSession();
  auto module = linked(*session, compiled(testing::sumSource));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(mappingsWith("wx"), "");
  EXPECT_EQ(permissionsAt(module->raw("sum")).substr(0, 3), "r-x");
}

TEST(Session, UnloadedCodeIsUnmapped) {
  std::shared_ptr<Session> session = makeSession();
  auto module = linked(*session, compiled(testing::sumSource));
  ASSERT_NE(module, nullptr);
  void *code = module->raw("sum");
  module.reset();
  EXPECT_EQ(permissionsAt(code).find('x'), std::string::npos);
}

TEST(Session, ThreeHundredLoadsLeaveNoMemoryBehind) {
  if (!PLIM_MEASURES_MEMORY)
    GTEST_SKIP() << "a sanitizer keeps freed memory";
  std::shared_ptr<Session> session = makeSession();
  Artifact artifact = compiled(testing::stateSource);
  // Large, so that a module that stays is noticed.
  artifact.symbols.push_back(
      {"ballast", DataKind::Variable, {"i8", true, false, {1 << 20}, {}}, 1 << 20, 0, -1, "", ""});
  artifact.data.resize(1 << 20);
  auto cycle = [&](int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_NE(linked(*session, artifact), nullptr);
  };
  cycle(50);
  int64_t before = residentBytes();
  cycle(300);
  int64_t growth = residentBytes() - before;
  RecordProperty("growthKiB", static_cast<int>(growth / 1024));
  EXPECT_LT(growth, int64_t(8) << 20);
}

TEST(Session, ThreadsLinkAndUnloadAtOnce) {
  std::shared_ptr<Session> session = makeSession();
  Artifact artifact = compiled(testing::sumSource);
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        auto module = linked(*session, artifact);
        bad += !module || sumOf(*module) != 6.5;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(bad.load(), 0);
}

TEST(Session, PerfAndTheDebuggerLearnTheNames) {
  std::shared_ptr<Session> session = makeSession({.debugger = true, .perfMap = true});
  auto module = linked(*session, compiled(testing::sumSource));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(sumOf(*module), 6.5);
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("plim.raw.sum"));
  std::remove(path.c_str());
}

} // namespace
} // namespace plim::jit
