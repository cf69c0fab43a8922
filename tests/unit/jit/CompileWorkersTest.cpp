// What a compile worker gives, and that whatever happens to it is a status.
#include "jit/CompileWorkers.h"

#include "targets/Resolve.h"
#include "tests/unit/jit/Sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace plim::jit {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const targets::TargetDescription &host() {
  static const targets::TargetDescription target = *targets::resolveTarget("host-cpu", {});
  return target;
}

StatusOr<Artifact> compileIn(CompileWorkers &workers, std::string_view source,
                             const CompileOptions &options = {}) {
  return workers.compile(source, "in.mlir", host(), options);
}

void expectWorks(CompileWorkers &workers) {
  StatusOr<Artifact> artifact = compileIn(workers, testing::saxpySource);
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  EXPECT_EQ(artifact->functions.at(0).name, "saxpy");
}

/// Code of the status, Ok if there was an artifact.
StatusCode codeOf(const StatusOr<Artifact> &artifact) {
  return artifact.ok() ? StatusCode::Ok : artifact.status().code();
}

/// The parser dies of it.
constexpr const char *crasher = "func.func @f() attributes {a = array<index: 1>} { return }\n";

/// One of the corpus.
std::string crasherText(const std::string &name) {
  std::ifstream file(std::string(PLIM_CRASHERS) + "/" + name + ".mlir");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Seconds in LLVM's code generator.
constexpr const char *slow = R"(
func.func @main(%x: memref<16384xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<16384xf32>, vector<16384xf32>
  %w = arith.addf %v, %v : vector<16384xf32>
  vector.store %w, %x[%c0] : memref<16384xf32>, vector<16384xf32>
  return
}
)";

size_t openDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto &each : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

/// This process's ends of sockets to workers.
std::vector<int> workerSockets() {
  std::vector<int> sockets;
  for (const auto &each : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(each.path().filename().string());
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET)
      sockets.push_back(descriptor);
  }
  return sockets;
}

TEST(CompileWorkers, GiveTheArtifactOfThisProcess) {
  CompileWorkers workers({});
  for (bool isStrict : {false, true})
    for (const char *policy : {"auto", "heap"}) {
      CompileOptions options;
      options.policy = policy;
      options.numerics = isStrict ? Numerics::Strict : Numerics::Default;
      std::string here, there;
      options.assembly = &here;
      StatusOr<Artifact> expected = compile(testing::sumSource, "in.mlir", host(), options);
      options.assembly = &there;
      CompileTimes times;
      StatusOr<Artifact> artifact =
          workers.compile(testing::sumSource, "in.mlir", host(), options, &times);
      ASSERT_TRUE(expected.ok() && artifact.ok()) << artifact.status().toString();
      EXPECT_EQ(serialize(*artifact), serialize(*expected));
      EXPECT_EQ(there, here);
      EXPECT_FALSE(there.empty());
      EXPECT_GT(times.codegen, 0);
    }
}

TEST(CompileWorkers, GiveTheIrOfThisProcess) {
  CompileWorkers workers({});
  std::string here, there;
  CompileOptions options;
  options.irAfter = {"Dispatch", "Conversion"};
  options.takeIr = [&](std::string_view stage, std::string_view text) {
    here.append(stage).append(text);
  };
  ASSERT_TRUE(compile(testing::sumSource, "in.mlir", host(), options).ok());
  options.takeIr = [&](std::string_view stage, std::string_view text) {
    there.append(stage).append(text);
  };
  ASSERT_TRUE(workers.compile(testing::sumSource, "in.mlir", host(), options).ok());
  EXPECT_EQ(there, here);
  EXPECT_FALSE(here.empty());
}

TEST(CompileWorkers, TellOfErrorsAsThisProcessDoes) {
  CompileWorkers workers({});
  for (const char *source : {"func.func @f(", "func.func @f() -> f32 { return }", "\xff\xfe"}) {
    Status expected = compile(source, "in.mlir", host(), {}).status();
    Status status = compileIn(workers, source).status();
    EXPECT_EQ(status.code(), expected.code());
    EXPECT_EQ(status.message(), expected.message());
  }
  expectWorks(workers);
}

TEST(CompileWorkers, SpecialiseAndTellOfProgress) {
  constexpr const char *source = R"(
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
)";
  CompileWorkers workers({.threads = 2});
  CompileOptions options;
  options.parallelFor = [](size_t, const std::function<void(size_t)> &) { FAIL(); };
  options.specialization = {"twice", {8}};
  double last = 0;
  options.progress = [&](const CompileProgress &progress) { last = progress.fraction; };
  StatusOr<Artifact> artifact = compileIn(workers, source, options);
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  EXPECT_EQ(artifact->functions.at(0).name, "twice");
  EXPECT_EQ(last, 1);
}

TEST(CompileWorkers, CompileOneFunctionOrNone) {
  constexpr const char *source = R"(
func.func @one() -> i32 {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @two() -> i32 {
  %c = arith.constant 2 : i32
  return %c : i32
}
)";
  CompileWorkers workers({});
  CompileOptions one, none;
  one.onlyFunction = "two";
  none.describesOnly = true;
  for (const CompileOptions &options : {one, none}) {
    StatusOr<Artifact> expected = compile(source, "in.mlir", host(), options);
    StatusOr<Artifact> artifact = compileIn(workers, source, options);
    ASSERT_TRUE(expected.ok() && artifact.ok()) << artifact.status().toString();
    EXPECT_EQ(serialize(*artifact), serialize(*expected));
    EXPECT_EQ(artifact->functions.size(), options.describesOnly ? 2U : 1U);
  }
}

TEST(CompileWorkers, SurviveEverythingOfTheCorpus) {
  CompileWorkers workers({});
  size_t count = 0, ended = 0;
  for (const auto &entry : std::filesystem::directory_iterator(PLIM_CRASHERS)) {
    StatusOr<Artifact> artifact = compileIn(workers, crasherText(entry.path().stem()));
    // What upstream dies of today it may refuse tomorrow.
    EXPECT_THAT(codeOf(artifact), AnyOf(Eq(StatusCode::Internal), Eq(StatusCode::ResourceExhausted),
                                        Eq(StatusCode::InvalidArgument), Eq(StatusCode::Ok)))
        << entry.path() << artifact.status().toString();
    // A sanitizer makes an exit of a signal.
    const std::string message(artifact.status().message());
    if (codeOf(artifact) == StatusCode::Internal)
      EXPECT_THAT(message, AllOf(StartsWith("in.mlir:"),
                                 AnyOf(HasSubstr(": the compiler ended by signal "),
                                       HasSubstr(": the compiler ended with exit code ")),
                                 HasSubstr(" while parsing")));
    ended += message.find("the compiler ended") != std::string::npos;
    expectWorks(workers);
    ++count;
  }
  EXPECT_GE(count, 10u);
  std::printf("%zu sources, %zu ended the compiler\n", count, ended);
}

TEST(CompileWorkers, TellWhatTheCompilerSaidBeforeItEnded) {
  CompileWorkers workers({});
  StatusOr<Artifact> artifact =
      compileIn(workers, "func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) {\n"
                         "  %r = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%y : "
                         "tensor<3x2xf32>) permutation = [1, O]\n"
                         "  return\n}\n");
  EXPECT_EQ(codeOf(artifact), StatusCode::InvalidArgument);
  // Upstream's parser goes on with what it has not read, and ends; or, one day, does not.
  EXPECT_THAT(std::string(artifact.status().message()),
              StartsWith("in.mlir:2:96: custom op 'linalg.transpose' expected integer value"));
  ASSERT_GE(artifact.status().diagnostics().size(), 1u);
  const Diagnostic &said = artifact.status().diagnostics()[0];
  EXPECT_EQ(said.severity, Diagnostic::Severity::Error);
  EXPECT_EQ(said.file, "in.mlir");
  EXPECT_EQ(said.line, 2u);
  EXPECT_EQ(said.column, 96u);
  EXPECT_EQ(said.endColumn, 97u);
  EXPECT_EQ(said.message, "custom op 'linalg.transpose' expected integer value");
  expectWorks(workers);
}

/// Where a text that ends the compiler ends it, of a status; nothing for other texts.
std::optional<Diagnostic> placeOfEnd(CompileWorkers &workers, std::string_view source,
                                     const CompileOptions &options = {}) {
  const Status status = compileIn(workers, source, options).status();
  if (status.code() != StatusCode::Internal || status.diagnostics().empty())
    return std::nullopt;
  const Diagnostic place = status.diagnostics()[0];
  EXPECT_EQ(std::string(status.message()), "in.mlir:" + std::to_string(place.line) + ":" +
                                               std::to_string(place.column) + ": " + place.message);
  EXPECT_THAT(place.message, HasSubstr(" while parsing"));
  EXPECT_EQ(place.severity, Diagnostic::Severity::Error);
  EXPECT_EQ(place.endLine, place.line);
  return place;
}

TEST(CompileWorkers, NameTheLineThatEndsTheParser) {
  WorkerOptions patient;
  patient.search = std::chrono::minutes(1); // a machine may be slow
  CompileWorkers workers(patient);
  struct Expected {
    const char *name;
    uint32_t line, column, endColumn;
  };
  for (const Expected &each : {Expected{"array_of_index", 2, 1, 91},
                               {"masked_read_modulo", 5, 3, 126},
                               {"reduce_scalar", 3, 3, 81}}) {
    const std::string text = crasherText(each.name);
    // As it is, far behind the beginning, without the end of its last line, and with lines of other systems.
    const size_t inFront = 1000;
    std::string behind, otherSystem;
    for (size_t i = 0; i < inFront; ++i)
      behind += "func.func private @f" + std::to_string(i) + "()\n";
    for (char c : text)
      otherSystem += c == '\n' ? std::string("\r\n") : std::string(1, c);
    for (const auto &[source, line] : {std::pair(text, each.line),
                                       {behind + text, each.line + inFront},
                                       {text.substr(0, text.size() - 1), each.line},
                                       {otherSystem, each.line}}) {
      const std::optional<Diagnostic> place = placeOfEnd(workers, source);
      ASSERT_TRUE(place) << each.name;
      EXPECT_EQ(place->file, "in.mlir");
      EXPECT_EQ(place->line, line) << each.name;
      EXPECT_EQ(place->column, each.column) << each.name;
      EXPECT_EQ(place->endColumn, each.endColumn) << each.name;
    }
  }
  // One line, the first and the last.
  EXPECT_EQ(placeOfEnd(workers, crasher).value().line, 1u);
  EXPECT_EQ(placeOfEnd(workers, std::string(crasher) + "func.func private @g()\n").value().line,
            1u);
  EXPECT_EQ(placeOfEnd(workers, "func.func private @g()\n" + std::string(crasher)).value().line,
            2u);
  expectWorks(workers);
}

TEST(CompileWorkers, AskTheHostForNothingWhileTheyLookForALine) {
  // What stands in front could be compiled.
  const std::string source = std::string(testing::saxpySource) + crasher;
  CompileWorkers workers({});
  size_t calls = 0;
  std::string assembly = "untouched";
  CompileOptions options;
  options.progress = [&](const CompileProgress &) { ++calls; };
  options.assembly = &assembly;
  options.engineLimits = {"max_operations=1000"};
  ASSERT_TRUE(placeOfEnd(workers, source, options));
  EXPECT_LE(calls, 1u);
  EXPECT_EQ(assembly, "untouched");
}

TEST(CompileWorkers, LookForALineOnlyWhileThereIsTime) {
  const std::string source = "func.func private @g()\n" + std::string(crasher);
  for (auto [search, isFound] : {std::pair(0, false), {60'000, true}}) {
    CompileWorkers workers({.search = std::chrono::milliseconds(search)});
    const Status status = compileIn(workers, source).status();
    EXPECT_EQ(status.code(), StatusCode::Internal);
    EXPECT_EQ(!status.diagnostics().empty(), isFound);
    EXPECT_THAT(
        std::string(status.message()),
        StartsWith(isFound ? "in.mlir:2:1: the compiler ended " : "in.mlir: the compiler ended "));
    expectWorks(workers);
  }
  // A text that takes longer to parse.
  std::string many;
  for (size_t i = 0; i < 100'000; ++i)
    many += "func.func private @f" + std::to_string(i) + "(memref<4xf32>)\n";
  CompileWorkers workers({.search = std::chrono::milliseconds(1)});
  const Status status = compileIn(workers, many + crasher).status();
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_THAT(std::string(status.message()), StartsWith("in.mlir: the compiler ended "));
  expectWorks(workers);
}

TEST(CompileWorkers, SurviveNestingOfEveryKind) {
  CompileWorkers workers({});
  // What stands in front, and what is repeated.
  const std::pair<const char *, const char *> kinds[] = {
      {"", "module {"},
      {"func.func @f() {", "scf.execute_region {"},
      {"#a = ", "["},
      {"#a = ", "{a = "},
      {"!t = ", "tuple<"},
      {"!t = ", "() -> ("},
      {"#m = affine_map<(i) -> ", "("},
      {"#m = affine_map<(i) -> (", "-"},
      {"#s = affine_set<(i) : (i ", "+ i "}};
  for (const auto &[front, repeated] : kinds)
    for (size_t depth : {100u, 10000u, 1000000u}) {
      std::string text = front;
      for (size_t i = 0; i < depth; ++i)
        text += repeated;
      StatusOr<Artifact> artifact = compileIn(workers, text);
      EXPECT_THAT(codeOf(artifact),
                  AnyOf(Eq(StatusCode::Internal), Eq(StatusCode::InvalidArgument)))
          << depth << " of '" << repeated << "'";
    }
  expectWorks(workers);
}

TEST(CompileWorkers, TellWhatTheCompilerTells) {
  CompileWorkers workers({});
  for (const char *source : {"func.func @f() { return }\nfunc.func @f() { return }",
                             "func.func @f() {\n  oops\n", "", "func.func private @f()"}) {
    Status here = jit::compile(source, "in.mlir", host(), {}).status();
    Status there = compileIn(workers, source).status();
    EXPECT_EQ(there.toString(), here.toString());
    EXPECT_TRUE(std::ranges::equal(there.diagnostics(), here.diagnostics())) << source;
    EXPECT_FALSE(here.ok());
  }
}

TEST(CompileWorkers, EndWhatTakesTooLong) {
  CompileWorkers workers({.deadline = std::chrono::milliseconds(200), .processes = 1});
  Status status = compileIn(workers, slow).status();
  EXPECT_EQ(status.code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(status.message(), "in.mlir: the compilation took longer than 200 ms");
  // The shorter one counts.
  for (auto [timeout, message] : {std::pair(100, "longer than 100 ms"), {3'600'000, "200 ms"}}) {
    CompileOptions options;
    options.timeout = std::chrono::milliseconds(timeout);
    EXPECT_THAT(std::string(compileIn(workers, slow, options).status().message()),
                EndsWith(message));
  }
  // Of something that began before.
  CompileOptions late;
  late.timeout = std::chrono::seconds(10);
  late.begin = std::chrono::steady_clock::now() - std::chrono::seconds(11);
  EXPECT_THAT(std::string(compileIn(workers, slow, late).status().message()),
              EndsWith("longer than 10000 ms"));

  CompileWorkers patient({});
  std::stop_source source;
  CompileOptions options;
  options.stop = source.get_token();
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  EXPECT_EQ(codeOf(compileIn(patient, slow, options)), StatusCode::Cancelled);
  expectWorks(patient);
}

TEST(CompileWorkers, LimitTheirMemory) {
#ifdef PLIM_ANY_ADDRESS_SPACE
  GTEST_SKIP() << "a sanitizer reserves more";
#endif
  CompileWorkers workers({.memoryBytes = int64_t(1) << 30});
  StatusOr<Artifact> artifact = compileIn(workers, R"(
func.func @main() -> tensor<700000000xf32> {
  %c = arith.constant dense<1.0> : tensor<700000000xf32>
  return %c : tensor<700000000xf32>
}
)");
  EXPECT_EQ(codeOf(artifact), StatusCode::ResourceExhausted) << artifact.status().toString();
  expectWorks(workers);
}

TEST(CompileWorkers, WithoutAProgramAreAnError) {
  CompileWorkers missing({.program = "/nowhere/worker"});
  Status status = compileIn(missing, testing::saxpySource).status();
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_EQ(status.message(),
            "the compile worker '/nowhere/worker' cannot be started: No such file or directory");
  CompileWorkers other({.program = "/bin/true"});
  EXPECT_EQ(codeOf(compileIn(other, testing::saxpySource)), StatusCode::Unavailable);
}

TEST(CompileWorkers, DoNotMindAHostThatClosesDescriptors) {
  CompileWorkers workers({.processes = 1});
  expectWorks(workers);
  const std::vector<int> sockets = workerSockets();
  ASSERT_EQ(sockets.size(), 1u);
  // Closed, and another file in its place, which must neither be written to nor closed.
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  ASSERT_EQ(::dup2(pipes[1], sockets[0]), sockets[0]);
  expectWorks(workers);
  EXPECT_EQ(::write(sockets[0], "x", 1), 1);
  ::close(sockets[0]);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

/// Compiles in so many processes at once.
void expectWorkAtOnce(CompileWorkers &workers, size_t count) {
  std::atomic<size_t> begun = 0;
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&] {
      CompileOptions options;
      options.progress = [&, hasBegun = false](const CompileProgress &) mutable {
        begun += !std::exchange(hasBegun, true);
        while (begun < count)
          std::this_thread::yield();
      };
      EXPECT_TRUE(compileIn(workers, testing::saxpySource, options).ok());
    });
}

TEST(CompileWorkers, AreStartedAnewWhenAllThatRestHaveEnded) {
  CompileWorkers workers({.processes = 4});
  expectWorkAtOnce(workers, 4);
  const std::vector<int> sockets = workerSockets();
  ASSERT_EQ(sockets.size(), 4u);
  // As if somebody had ended them.
  for (int socket : sockets)
    ASSERT_EQ(::shutdown(socket, SHUT_RDWR), 0);
  expectWorks(workers);
  EXPECT_EQ(workerSockets().size(), 1u);
}

TEST(CompileWorkers, AreOfTheProgramThatWasThereWhenTheyWereMade) {
  const std::string path = *workerPath();
  const char *given = std::getenv("PLIMSOLL_COMPILE_WORKER");
  const std::optional<std::string> before =
      given ? std::optional<std::string>(given) : std::nullopt;
  CompileWorkers found({.areShared = true});
  ::setenv("PLIMSOLL_COMPILE_WORKER", "/nowhere/worker", 1);
  CompileWorkers missing({.areShared = true});
  before ? ::setenv("PLIMSOLL_COMPILE_WORKER", before->c_str(), 1)
         : ::unsetenv("PLIMSOLL_COMPILE_WORKER");
  EXPECT_EQ(*found.program(), path);
  EXPECT_EQ(*missing.program(), "/nowhere/worker");
  expectWorks(found);
  EXPECT_EQ(codeOf(compileIn(missing, testing::saxpySource)), StatusCode::Unavailable);
  // One and the same, whoever found it.
  const size_t open = openDescriptors();
  CompileWorkers named({.program = path, .areShared = true});
  expectWorks(named);
  EXPECT_EQ(openDescriptors(), open);
  // Relative to the folder that the process was in.
  const std::filesystem::path was = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(path).parent_path());
  CompileWorkers relative(
      {.program = std::filesystem::path(path).filename().string(), .areShared = true});
  std::filesystem::current_path(was);
  expectWorks(relative);
  EXPECT_EQ(openDescriptors(), open);
}

TEST(CompileWorkers, RestAsManyAsOneMayHave) {
  const WorkerOptions shared = {.processes = 2, .areShared = true};
  CompileWorkers first(shared), second(shared);
  std::vector<std::jthread> threads;
  for (CompileWorkers *each : {&first, &second})
    threads.emplace_back([each] { expectWorkAtOnce(*each, 2); });
  threads.clear();
  EXPECT_EQ(workerSockets().size(), 2u);
}

TEST(CompileWorkers, AreNotSharedAcrossAFork) {
  CompileWorkers workers({.processes = 1});
  expectWorks(workers);
  // Both ask at once; each has to get its own answer, many times.
  auto works = [&] {
    for (int i = 0; i < 20; ++i) {
      const std::string name = "f" + std::to_string(::getpid()) + "_" + std::to_string(i);
      StatusOr<Artifact> artifact =
          compileIn(workers, "func.func @" + name +
                                 "() -> i32 { %c = arith.constant 1 : i32 "
                                 "return %c : i32 }");
      if (!artifact.ok() || artifact->functions.at(0).name != name)
        return false;
    }
    return true;
  };
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(works() ? 7 : 1);
  EXPECT_TRUE(works());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(CompileWorkers, AreSharedByThoseThatSay) {
  const WorkerOptions shared = {.areShared = true};
  auto first = std::make_unique<CompileWorkers>(shared);
  expectWorks(*first);
  const size_t before = openDescriptors(); // each process has some
  auto second = std::make_unique<CompileWorkers>(shared);
  expectWorks(*second);
  EXPECT_EQ(openDescriptors(), before);
  { // which end with their owner
    CompileWorkers own({});
    expectWorks(own);
    WorkerOptions other = shared;
    other.memoryBytes /= 2;
    CompileWorkers withLess(other);
    const size_t withOwn = openDescriptors();
    EXPECT_GT(withOwn, before);
    expectWorks(withLess);
    EXPECT_GT(openDescriptors(), withOwn);
  }
  EXPECT_EQ(openDescriptors(), before);
  // More than one may rest while more than one may compile, no longer.
  {
    WorkerOptions two = shared;
    two.processes = 2;
    CompileWorkers third(two);
    std::vector<std::thread> threads;
    for (CompileWorkers *each : {first.get(), second.get(), &third, &third})
      threads.emplace_back([each] { expectWorks(*each); });
    for (std::thread &thread : threads)
      thread.join();
  }
  EXPECT_LE(openDescriptors(), before + 2);
  // What ended in the hands of one is not lent to the other.
  EXPECT_EQ(codeOf(compileIn(*first, crasher)), StatusCode::Internal);
  expectWorks(*second);
  expectWorks(*first);
  first = nullptr;
  expectWorks(*second);
  // A child makes its own, while its parent's are in use.
  const pid_t child = ::fork();
  if (child == 0) {
    CompileWorkers workers(shared);
    ::_exit(codeOf(compileIn(workers, testing::saxpySource)) == StatusCode::Ok ? 7 : 1);
  }
  expectWorks(*second);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(CompileWorkers, AreSharedByThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 5; ++i) {
        CompileWorkers workers({.areShared = true}); // the first of all, or the last, now and then
        const std::string name = "f" + std::to_string(thread) + "_" + std::to_string(i);
        if (i % 2 == 1 && codeOf(compileIn(workers, crasher)) != StatusCode::Internal)
          ++wrong;
        StatusOr<Artifact> artifact =
            compileIn(workers, "func.func @" + name +
                                   "() -> i32 { %c = arith.constant 1 : i32 return %c : i32 }");
        if (!artifact.ok() || artifact->functions.at(0).name != name)
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CompileWorkers, DoNotNeedStandardStreams) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (int stream : {0, 1, 2})
          ::close(stream);
        CompileWorkers workers({});
        bool works = compileIn(workers, testing::saxpySource).ok();
        bool survives = codeOf(compileIn(workers, crasher)) == StatusCode::Internal;
        ::_exit(works && survives ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

/// Whether a host whose threads have small stacks compiles in a worker.
bool compilesWithSmallStacks() {
  const rlimit stack{256 << 10, RLIM_INFINITY};
  ::setrlimit(RLIMIT_STACK, &stack);
  CompileWorkers workers({.threads = 2});
  CompileOptions options;
  options.parallelFor = [](size_t, const std::function<void(size_t)> &) {};
  return compileIn(workers, testing::saxpySource, options).ok();
}

/// Whether a host that may write no large files is refused, and compiles again when it may.
bool livesWithSmallFiles() {
  CompileWorkers workers({});
  rlimit files{1000, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &files);
  const bool isRefused =
      codeOf(compileIn(workers, testing::saxpySource)) == StatusCode::ResourceExhausted;
  files.rlim_cur = RLIM_INFINITY;
  ::setrlimit(RLIMIT_FSIZE, &files);
  return isRefused && compileIn(workers, testing::saxpySource).ok();
}

TEST(CompileWorkers, DoNotDependOnLimitsOfTheHost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(compilesWithSmallStacks() ? 7 : 1), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(::_exit(livesWithSmallFiles() ? 7 : 1), ::testing::ExitedWithCode(7), "");
}

TEST(CompileWorkers, StopWhileTheyWaitForAProcess) {
  CompileWorkers workers({.processes = 1});
  std::stop_source first, second;
  CompileOptions held, waiting;
  held.stop = first.get_token();
  waiting.stop = second.get_token();
  std::atomic<bool> hasBegun = false;
  held.progress = [&](const CompileProgress &) { hasBegun = true; };
  std::jthread holder(
      [&] { EXPECT_EQ(codeOf(compileIn(workers, slow, held)), StatusCode::Cancelled); });
  while (!hasBegun)
    std::this_thread::yield();
  std::jthread later([&] { second.request_stop(); });
  EXPECT_EQ(codeOf(compileIn(workers, testing::saxpySource, waiting)), StatusCode::Cancelled);
  waiting.stop = {};
  waiting.timeout = std::chrono::milliseconds(20);
  EXPECT_EQ(codeOf(compileIn(workers, testing::saxpySource, waiting)),
            StatusCode::DeadlineExceeded);
  first.request_stop();
  holder.join();
  expectWorks(workers);
}

TEST(CompileWorkers, LeaveNothingBehind) {
  expectWorks(*std::make_unique<CompileWorkers>(WorkerOptions{}));
  const size_t before = openDescriptors();
  for (int i = 0; i < 20; ++i) {
    CompileWorkers workers({});
    EXPECT_EQ(codeOf(compileIn(workers, crasher)), StatusCode::Internal);
    expectWorks(workers);
  }
  EXPECT_EQ(openDescriptors(), before);
  // No child to wait for, dead or alive.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(CompileWorkers, ServeThreadsAtOnce) {
  CompileWorkers workers({.processes = 3});
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i) {
          bool isBad = (t + i) % 3 == 0;
          StatusCode code = codeOf(compileIn(workers, isBad ? crasher : testing::saxpySource));
          wrong += code != (isBad ? StatusCode::Internal : StatusCode::Ok);
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(CompileWorkers, UseTheCacheOfTheHost) {
  std::string folder = ::testing::TempDir() + "plim.workers.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  // Relative to a folder that the process leaves.
  const std::filesystem::path was = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const StatusOr<ArtifactCache> opened = ArtifactCache::open("cache", int64_t(1) << 30);
  std::filesystem::current_path(was);
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  const ArtifactCache &cache = *opened;
  CompileWorkers workers({});
  CompileOptions options;
  options.cache = &cache;
  for (bool isSecond : {false, true}) {
    CompileTimes times;
    ASSERT_TRUE(workers.compile(testing::matmulSource, "in.mlir", host(), options, &times).ok());
    EXPECT_EQ(times.objects, 2);
    EXPECT_EQ(times.cachedObjects, isSecond ? 2 : 0);
  }
  std::filesystem::remove_all(folder);
}

TEST(CompileWorkers, CompilersOfDevicesRunHere) {
  constexpr const char *source = R"(
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.addf %x, %x : tensor<8xf32>
  return %r : tensor<8xf32>
}
)";
  targets::TargetDescription target = host();
  targets::DeviceDescription &device = target.devices.emplace_back();
  device.name = "npu";
  device.kind = targets::DeviceKind::Npu;
  ASSERT_FALSE(target.memories.empty());
  target.memories[0].accessibleBy.push_back("npu");
  CompileWorkers workers({});
  CompileOptions options;
  options.preferredDevice = "npu";
  const pid_t self = getpid();
  pid_t asked = 0;
  options.devices.push_back({"npu", [&](std::string_view, std::string_view text) {
                               asked = getpid();
                               EXPECT_THAT(std::string(text), HasSubstr("arith.addf"));
                               return StatusOr<std::string>(std::string("code\0of it", 10));
                             }});
  StatusOr<Artifact> artifact = workers.compile(source, "in.mlir", target, options);
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  ASSERT_EQ(artifact->externals.size(), 1u);
  EXPECT_EQ(artifact->externals[0].code, std::string("code\0of it", 10));
  EXPECT_EQ(asked, self);
  options.devices[0].compile = [](std::string_view, std::string_view) {
    return StatusOr<std::string>(Status(StatusCode::DataLoss, "the device burns"));
  };
  Status status = workers.compile(source, "in.mlir", target, options).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("the device burns"));
}

} // namespace
} // namespace plim::jit
