#include "tools/RunCommand.h"

#include "tools/CompileCommand.h"
#include "tools/ExplainCommand.h"

#include "tests/unit/jit/Sources.h"
#include "tests/unit/tools/Outcome.h"
#include "tests/unit/tools/TemporaryFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace plim::tools {
namespace {

using plim::testing::Outcome;
using plim::testing::outcomeOf;
using plim::testing::TemporaryFile;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Outcome run(const RunOptions &options) { return outcomeOf(runRunCommand, options); }

Outcome explain(const ExplainOptions &options) { return outcomeOf(runExplainCommand, options); }

/// Fails with one diagnostic and without results.
void expectFailure(const RunOptions &options, const ::testing::Matcher<std::string> &matcher) {
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), matcher));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

class RunCommandTest : public ::testing::Test {
protected:
  RunOptions optionsFor(std::string_view source) {
    module.write(source);
    RunOptions options;
    options.module.file = module.path();
    return options;
  }
  TemporaryFile module;
};

TEST_F(RunCommandTest, CheckedModeNamesTheKernelAndTheArgument) {
  RunOptions options = optionsFor(R"(
func.func @store(%m: memref<?xf32>, %i: index) {
  %v = arith.constant 1.0 : f32
  memref.store %v, %m[%i] : memref<?xf32>
  return
})");
  options.module.checked = true;
  options.call.inputs = {"5xf32=0", "index=5"};
  expectFailure(options,
                HasSubstr(":2:1: kernel 'store' accesses byte 1 behind the end of argument "
                          "#0, which has 20 bytes"));
  options.call.inputs = {"5xf32=0", "index=4"};
  EXPECT_THAT(run(options).out, HasSubstr("[0, 0, 0, 0, 1]"));
}

TEST_F(RunCommandTest, PrintsResults) {
  RunOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x3xf32=1 2 3 4 5 6", "3x1xf32=1"};
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "result[0]: 2x1xf32=[[6], [15]]\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(RunCommandTest, PrintsWhatAKernelLeavesInItsBuffers) {
  RunOptions options = optionsFor(testing::saxpySource);
  options.call.inputs = {"f32=2", "2xf32=1 2", "2xf32=10 20"};
  EXPECT_EQ(run(options).out, "arg[1]: 2xf32=[1, 2]\narg[2]: 2xf32=[12, 24]\n");
  options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2.5"};
  EXPECT_EQ(run(options).out, "arg[0]: 2xf64=[1, 2.5]\nresult[0]: f64=3.5\n");
}

TEST_F(RunCommandTest, ATextOfRankZeroMayMeanATensor) {
  RunOptions options = optionsFor("func.func @main(%x: tensor<f32>, %k: f32) -> (tensor<f32>, f32) "
                                  "{\n  return %x, %k : tensor<f32>, f32\n}\n");
  options.call.inputs = {"f32=3", "f32=4"};
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("result[0]: "), HasSubstr("result[1]: f32=4")));
}

TEST_F(RunCommandTest, OracleThreadsPolicyAndOverridesChangeNoResult) {
  RunOptions options = optionsFor(testing::temporariesSource);
  options.call.inputs = {"8x16xf32=0.5", "16x16xf32=0.25"};
  std::string expected = run(options).out;
  EXPECT_THAT(expected, StartsWith("result[0]: 8x16xf32=[[34, 34"));
  RunOptions other = options;
  other.module.oracle = true;
  EXPECT_EQ(run(other).out, expected);
  other = options;
  other.module.threads = 1;
  other.module.policy = "heap";
  other.module.overrides = {"vector_bits=128"};
  other.repeat = 3;
  EXPECT_EQ(run(other).out, expected);
}

TEST_F(RunCommandTest, WritesOutputsAndReadsThemAgain) {
  TemporaryFile product;
  std::string npy = product.path() + ".npy";
  RunOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x2xf32=1 2 3 4", "2x2xf32=0 1 1 0"};
  options.outputs = {"@" + npy};
  ASSERT_EQ(run(options).status, 0);
  options.outputs.clear();
  options.call.inputs[0] = "@" + npy;
  EXPECT_EQ(run(options).out, "result[0]: 2x2xf32=[[1, 2], [3, 4]]\n");
  std::filesystem::remove(npy);
}

TEST_F(RunCommandTest, PrintsLargeResultsInPart) {
  RunOptions options = optionsFor("func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {\n"
                                  "  return %x : tensor<?xi32>\n}\n");
  options.call.inputs = {"1001xi32=7"};
  EXPECT_EQ(run(options).out, "result[0]: 1001xi32=[7, 7, 7, ..., 7, 7, 7]\n");
  options.print = Print::Full;
  EXPECT_THAT(run(options).out, ContainsRegex("^result.0.: 1001xi32=.7(, 7)+]\n$"));
  options.print = Print::None;
  EXPECT_EQ(run(options).out, "");
}

TEST_F(RunCommandTest, LooksAtOutputsBeforeTheWork) {
  // The module is wrong too, and nobody has read it.
  RunOptions options = optionsFor("func.func");
  options.outputs = {"@/no/such/folder/x.npy"};
  expectFailure(options, HasSubstr("cannot write '/no/such/folder/x.npy': No such file"));
  options.outputs = {"@"};
  expectFailure(options, HasSubstr("cannot write '': No such file"));
  options.outputs = {::testing::TempDir()};
  expectFailure(options, HasSubstr("': Is a directory"));
  options.outputs = {};
  options.assembly = "/no/such/folder/x.s";
  expectFailure(options, HasSubstr("cannot write '/no/such/folder/x.s'"));
  CompileOptions compile;
  compile.module = options.module;
  compile.output = "/no/such/folder/x.plimart";
  std::ostringstream err;
  EXPECT_EQ(runCompileCommand(compile, err), 1);
  EXPECT_EQ(err.str(),
            "error: cannot write '/no/such/folder/x.plimart': No such file or directory\n");
}

TEST_F(RunCommandTest, AFileThatCanBeWrittenIsLeftAsItIs) {
  TemporaryFile file("kept");
  EXPECT_TRUE(checkWritable(file.path()).ok());
  EXPECT_EQ(file.read(), "kept");
  const std::string fresh = file.path() + ".new";
  EXPECT_TRUE(checkWritable(fresh).ok());
  EXPECT_FALSE(std::filesystem::exists(fresh));
  EXPECT_TRUE(checkWritable("in-this-folder").ok());
}

TEST_F(RunCommandTest, TooManyOutputsAreToldBeforeTheCall) {
  RunOptions options = optionsFor("func.func @main(%x: i32) {\n"
                                  "  %z = arith.constant 0 : i32\n"
                                  "  %q = arith.divsi %x, %z : i32\n"
                                  "  return\n}\n");
  options.call.inputs = {"i32=1"};
  options.outputs = {::testing::TempDir() + "none.npy"};
  expectFailure(options, HasSubstr("--output given 1 times, but there are 0 results"));
}

TEST_F(RunCommandTest, BindsParameters) {
  RunOptions options = optionsFor(testing::parameterSource);
  options.call.inputs = {"4xf32=1 2 3 4"};
  options.call.parameters = {"w=4xf32=10 20 30 40"};
  EXPECT_EQ(run(options).out, "result[0]: 4xf32=[11, 22, 33, 44]\n");
  options.call.parameters = {};
  expectFailure(options, HasSubstr("parameter 'w' of type 4xf32 is not bound"));
  options.call.parameters = {"w"};
  expectFailure(options, HasSubstr("must be NAME=VALUE"));
  options.call.parameters = {"w=f32=1"};
  expectFailure(options, HasSubstr("parameter 'w' must be a tensor"));
  options.call.parameters = {"w=4xf32=1", "w=4xf32=2"};
  expectFailure(options, HasSubstr("parameter 'w' is bound twice"));
  options.call.parameters = {"w=@/no/such.npy"};
  expectFailure(options, HasSubstr("/no/such.npy: No such file"));
  options.call.parameters = {"w=4xf32=1", "u=4xf32=2"};
  expectFailure(options, HasSubstr("no parameter 'u'; did you mean 'w'?"));
  options.call.parameters = {"w=4xf33=1"};
  expectFailure(options, HasSubstr("parameter 'w'"));
  options.call.parameters = {};
  options.call.parameterFiles = {"/no/such.safetensors"};
  expectFailure(options, HasSubstr("/no/such.safetensors"));
}

TEST_F(RunCommandTest, PerfAndTheDebuggerLearnOfDispatches) {
  RunOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x3xf32=1", "3x4xf32=1"};
  const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::filesystem::remove(map);
  EXPECT_EQ(run(options).status, 0);
  EXPECT_FALSE(std::filesystem::exists(map));
  options.module.perfMap = options.module.debugger = true;
  EXPECT_EQ(run(options).status, 0);
  std::stringstream text;
  text << std::ifstream(map).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(" plim.dispatch.matmul_"));
  std::filesystem::remove(map);
}

TEST_F(RunCommandTest, StatisticsGoToStandardError) {
  RunOptions options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2"};
  options.repeat = 5;
  options.stats = true;
  Outcome outcome = run(options);
  EXPECT_THAT(outcome.err,
              AllOf(StartsWith("load: "), HasSubstr("\ncalls: 5, minimum "), HasSubstr(", p50 "),
                    HasSubstr(", p90 "), HasSubstr(", p99 "), HasSubstr(", maximum "),
                    HasSubstr(", mean "), HasSubstr("\nthroughput: "),
                    HasSubstr(" calls a second, "), HasSubstr("\nmemory at most: buffers "),
                    HasSubstr("; resident in the process "), Not(HasSubstr("dispatches"))));
  EXPECT_THAT(outcome.out, HasSubstr("result[0]: f64=3\n"));
}

TEST_F(RunCommandTest, StatisticsTellOfDispatches) {
  RunOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x3xf32=1", "3x4xf32=1"};
  options.repeat = 7;
  options.stats = true;
  Outcome outcome = run(options);
  EXPECT_THAT(outcome.err,
              ContainsRegex("\ndispatches, [^\n]*\n  dispatch +runs +workgroups +"
                            "minimum +mean +maximum +share % +GB/s\n  matmul_[a-z_0-9]+ +7 "));
}

TEST_F(RunCommandTest, StatisticsShowNamesAsText) {
  std::string source = testing::matmulSource;
  for (size_t at; (at = source.find("@matmul")) != std::string::npos;)
    source.replace(at, 7, "@\"red\\1B[31m\"");
  RunOptions options = optionsFor(source);
  options.call.inputs = {"2x3xf32=1", "3x4xf32=1"};
  options.stats = true;
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("red\\x1b[31m"), Not(HasSubstr("\x1b"))));
}

TEST_F(RunCommandTest, WritesATrace) {
  TemporaryFile file;
  RunOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x3xf32=1", "3x4xf32=1"};
  options.repeat = 3;
  options.trace = file.path();
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  int calls = 0;
  nlohmann::json trace = nlohmann::json::parse(file.read());
  for (const nlohmann::json &event : trace["traceEvents"])
    calls += event["ph"] == "X" && event["cat"] == "call" && event["name"] == "matmul";
  EXPECT_EQ(calls, 3);
}

TEST_F(RunCommandTest, WritesATraceOfWhatFails) {
  TemporaryFile file;
  RunOptions options = optionsFor("func.func @f(");
  options.trace = file.path();
  expectFailure(options, HasSubstr(module.path() + ":1:"));
  EXPECT_THAT(nlohmann::json::parse(file.read())["traceEvents"], Not(::testing::IsEmpty()));
}

TEST_F(RunCommandTest, ATraceThatCannotBeWrittenIsAnError) {
  RunOptions options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2"};
  options.trace = "/no/such/folder/trace.json";
  expectFailure(options, HasSubstr("cannot write '/no/such/folder/trace.json': No such file"));
  if (std::filesystem::exists("/dev/full")) {
    options.trace = "/dev/full";
    Outcome outcome = run(options);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("cannot write '/dev/full'"));
    EXPECT_THAT(outcome.out, HasSubstr("result[0]: f64=3\n"));
  }
}

TEST_F(RunCommandTest, WritesAssembly) {
  RunOptions options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2"};
  options.assembly = "-";
  EXPECT_THAT(run(options).out, HasSubstr("plim.raw.sum"));
  TemporaryFile file;
  options.assembly = file.path();
  EXPECT_EQ(run(options).status, 0);
  EXPECT_THAT(file.read(), HasSubstr("plim.raw.sum"));
  options.assembly = "/no/such/folder/x.s";
  expectFailure(options, HasSubstr("/no/such/folder/x.s"));
}

TEST_F(RunCommandTest, CachesInTheGivenFolder) {
  std::string folder = module.path() + ".cache";
  RunOptions options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2"};
  options.module.cache = true;
  options.module.cacheFolder = folder;
  options.stats = true;
  EXPECT_THAT(run(options).err, Not(HasSubstr("from the cache")));
  EXPECT_THAT(run(options).err, HasSubstr("from the cache"));
  std::filesystem::remove_all(folder);
}

TEST_F(RunCommandTest, ChoosesTheFunction) {
  std::string two = std::string(testing::sumSource) + testing::saxpySource;
  RunOptions options = optionsFor(two);
  options.call.inputs = {"2xf64=1 2"};
  expectFailure(options, HasSubstr("has 2 public functions: choose one with --function"));
  options.call.function = "sum";
  EXPECT_EQ(run(options).status, 0);
  options.call.function = "sun";
  expectFailure(options, AllOf(HasSubstr("no public function 'sun'"), HasSubstr("'sum'")));
}

TEST_F(RunCommandTest, LooksForTheFunctionBeforeTheWork) {
  // The modules do not compile, and nobody has tried.
  const std::string broken = "func.func @first() { broken }\n";
  for (std::string_view source : {"func.func @second(%x: tensor<2xf32> {a = \")\"}) -> (f32 {b = "
                                  "[1, 2]}, tensor<2xf32>) {\n}\n",
                                  "func.func\n  @\"second\" (%m: memref<?xf32, affine_map<(i) -> "
                                  "(i)>>) attributes {c} {\n}\n"}) {
    RunOptions options = optionsFor(broken + std::string(source));
    options.call.function = "secnd";
    expectFailure(options, AllOf(HasSubstr("no public function 'secnd' in "),
                                 HasSubstr("; did you mean 'second'?")));
    options.call.function = "second";
    expectFailure(options, Not(HasSubstr("no public function")));
  }
  // Of what is not sure the compiler has the last word.
  for (std::string_view source :
       {"\"func.func\"() ({ broken }) {sym_name = \"f\"} : () -> ()",
        "func.func @\"\\67\"() { broken }", "broken", "ML\xefR\0broken"}) {
    RunOptions options = optionsFor(source);
    options.call.function = "g";
    expectFailure(options, Not(HasSubstr("no public function")));
  }
}

TEST_F(RunCommandTest, LooksForTypesOfOutputsBeforeTheWork) {
  const std::string file = ::testing::TempDir() + "never.npy";
  const auto refused = [&](std::string_view results, size_t outputs) {
    RunOptions options = optionsFor("func.func private @other() -> bf16\n"
                                    "func.func @f(%x: f32) -> " +
                                    std::string(results) + " { broken }");
    options.outputs.assign(outputs, file);
    const std::string err = run(options).err;
    return err.find("never.npy: NumPy has no type for elements of") != std::string::npos;
  };
  EXPECT_TRUE(refused("bf16", 1));
  EXPECT_TRUE(refused("tensor<?x3xbf16>", 1));
  EXPECT_TRUE(refused("(f32, memref<2xf8E5M2, strided<[1]>> {a = \"x\"})", 2));
  EXPECT_TRUE(refused("(tensor<i4>)", 1));
  EXPECT_FALSE(refused("(f32, bf16)", 1));
  EXPECT_FALSE(refused("tensor<2xcomplex<f32>>", 1));
  EXPECT_FALSE(refused("tensor<2x3xindex>", 1));
  EXPECT_FALSE(refused("!alias", 1));
  EXPECT_FALSE(refused("tensor<2", 1));
  EXPECT_FALSE(std::filesystem::exists(file));

  // What the text does not tell the signature does, before the call, which would fail.
  RunOptions options = optionsFor("!t = tensor<1xbf16>\n"
                                  "func.func @f(%x: !t, %i: i32) -> !t {\n"
                                  "  %z = arith.constant 0 : i32\n"
                                  "  %q = arith.divsi %i, %z : i32\n"
                                  "  %c = arith.index_cast %q : i32 to index\n"
                                  "  %e = tensor.extract %x[%c] : !t\n"
                                  "  %r = tensor.from_elements %e : !t\n"
                                  "  return %r : !t\n}\n");
  options.call.inputs = {"1xbf16=1", "i32=1"};
  options.outputs = {file};
  expectFailure(options, HasSubstr("never.npy: NumPy has no type for elements of bf16"));
}

TEST_F(RunCommandTest, SaysWhatIsWrong) {
  RunOptions options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2 3"};
  expectFailure(options, HasSubstr("input #0"));
  options.call.inputs = {"2xf64=1 2", "f32=1"};
  expectFailure(options, HasSubstr("'sum' takes 1 arguments, got 2"));
  options.call.inputs = {"2xf32=1 2"};
  expectFailure(options, HasSubstr("argument #0 (%x) of 'sum' is 2xf32, expected ?xf64"));
  options.call.inputs = {"2xf64=1 2"};
  options.module.policy = "fastest";
  expectFailure(options, HasSubstr("'fastest'"));
  options.module.policy = "auto";
  options.module.target = "pdp-11";
  expectFailure(options, HasSubstr("pdp-11"));
  options.module.target = "host-cpu";
  options.module.overrides = {"colour=red"};
  expectFailure(options, HasSubstr("colour"));
  options.module.overrides = {};
  options.module.file = "/no/such.mlir";
  expectFailure(options, HasSubstr("/no/such.mlir"));
  options = optionsFor("func.func @f( {");
  expectFailure(options, StartsWith("error: " + module.path() + ":1:14: "));
}

TEST_F(RunCommandTest, WhatIsCompiledAlreadyTakesNoOptionsOfTheCompiler) {
  RunOptions options = optionsFor(testing::sumSource);
  TemporaryFile artifact;
  CompileOptions compile;
  compile.module.file = module.path();
  compile.module.policy = "heap";
  compile.output = artifact.path();
  std::ostringstream err;
  ASSERT_EQ(runCompileCommand(compile, err), 0) << err.str();

  options.module.file = artifact.path();
  options.module.threads = 1;
  options.call.inputs = {"2xf64=1 2"};
  EXPECT_THAT(run(options).out, HasSubstr("result[0]: f64=3"));
  auto expectLate = [&](const std::string &names, auto set) {
    RunOptions late = options;
    set(late.module);
    const std::string message =
        "error: " + artifact.path() + " is compiled already, too late for: " + names + "\n";
    expectFailure(late, Eq(message));
    if (late.module.specialization != Specialization::None)
      return;
    ExplainOptions explained;
    explained.module = late.module;
    Outcome outcome = explain(explained);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, message);
  };
  // Even what it was compiled with.
  expectLate("--policy", [](ModuleOptions &module) { module.policy = "heap"; });
  expectLate("--target", [](ModuleOptions &module) { module.target = "host-cpu"; });
  expectLate("--set, --limit", [](ModuleOptions &module) {
    module.overrides = {"vector_bits=128"};
    module.limits = {"stack_budget_bytes=4096"};
  });
  expectLate("--specialize-hot",
             [](ModuleOptions &module) { module.specialization = Specialization::Hot; });
  RunOptions late = options;
  late.specialize = true;
  expectFailure(late, HasSubstr("too late for: specialization"));
  late = options;
  late.module.oracle = true;
  expectFailure(late, HasSubstr("too late for: oracle"));
}

TEST_F(RunCommandTest, LazilyWhatIsCalledIsCompiledAlone) {
  RunOptions options = optionsFor(R"(func.func @one() -> i32 {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @bad(%x: f32) -> f32 {
  %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>
  %c = arith.constant 0 : index
  %r = tensor.extract %a[%c, %c, %c] : tensor<4294967296x4294967296x16xf32>
  return %r : f32
}
)");
  options.call.function = "one";
  expectFailure(options, HasSubstr(":6:8: "));
  options.lazy = true;
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "result[0]: i32=1\n");
  options.call.function = "bad";
  options.call.inputs = {"f32=1"};
  expectFailure(options, HasSubstr(":6:8: "));
}

TEST_F(RunCommandTest, OutputsMustHaveResults) {
  RunOptions options = optionsFor(testing::sumSource);
  options.call.inputs = {"2xf64=1 2"};
  options.outputs = {"/tmp/a.npy", "/tmp/b.npy"};
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--output given 2 times, but there are 1 results"));
  options.outputs = {"/no/such/folder/a.npy"};
  EXPECT_EQ(run(options).status, 1);
}

TEST_F(RunCommandTest, AFailureInsideTheFunctionIsLocated) {
  RunOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x3xf32=1", "4x5xf32=1"};
  expectFailure(options, StartsWith("error: " + module.path() + ":10:8: "));
}

TEST_F(RunCommandTest, GivesPools) {
  RunOptions options = optionsFor(R"(
func.func @main(%x: memref<4xf32>) {
  %a = memref.alloc() {plim.scope = "global.sram"} : memref<4xf32>
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>)
  memref.copy %a, %x : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
})");
  options.module.overrides = {
      R"(memories=[{"name": "sram", "kind": "host", "accessible_by": ["host"]}])"};
  options.call.inputs = {"4xf32=1 2 3 4"};
  options.call.pools = {"sram=16"};
  Outcome outcome = run(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2, 4, 6, 8"));
  options.call.pools = {"sram=15"};
  expectFailure(options, HasSubstr(": 1 are missing"));
  options.call.pools = {"dram=15"};
  expectFailure(options, HasSubstr("no pool 'dram'"));
  for (const char *bad : {"sram", "sram=", "sram=x", "sram=-1", "sram=4k"}) {
    options.call.pools = {bad};
    expectFailure(options, HasSubstr("must be NAME=BYTES"));
  }
}

TEST_F(RunCommandTest, ExplainTellsWhoSetALimit) {
  module.write("func.func @f(%x: memref<64xf32>, %i: index) {\n"
               "  %a = memref.alloc() : memref<64xf32>\n"
               "  memref.copy %x, %a : memref<64xf32> to memref<64xf32>\n"
               "  %v = memref.load %a[%i] : memref<64xf32>\n"
               "  memref.store %v, %x[%i] : memref<64xf32>\n"
               "  memref.dealloc %a : memref<64xf32>\n"
               "  return\n"
               "}\n");
  ExplainOptions options;
  options.module.file = module.path();
  options.module.limits = {"max_stack_alloca_bytes=8", "max_stack_alloca_bytes=255"};
  Outcome outcome = explain(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("256 bytes exceed the limit of 255 for one stack allocation "
                                     "(engine)"));
  for (auto [limit, message] : {std::pair("stack=3", "unknown limit 'stack'"),
                                {"stack_budget_bytes=-1", "not negative"},
                                {"stack_budget_bytes", "must be NAME=NUMBER"},
                                {"=3", "must be NAME=NUMBER"},
                                {"external_workspace_only=1", "must be true or false"}}) {
    options.module.limits = {limit};
    outcome = explain(options);
    EXPECT_EQ(outcome.status, 1) << limit;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), HasSubstr(message)));
  }
}

TEST_F(RunCommandTest, ExplainShowsEqualLayersOnce) {
  std::string source =
      "func.func @main(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {\n"
      "  %z = arith.constant 0.0 : f32\n"
      "  %e = tensor.empty() : tensor<16x16xf32>\n"
      "  %i = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>\n";
  std::string last = "%x";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    source += "  %m" + n + " = linalg.matmul ins(" + last +
              ", %w : tensor<16x16xf32>, tensor<16x16xf32>) " +
              "outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>\n" + //
              "  %t" + n + " = math.tanh %m" + n + " : tensor<16x16xf32>\n";
    last = "%t" + n;
  }
  module.write(source + "  return " + last + " : tensor<16x16xf32>\n}\n");
  ExplainOptions options;
  options.module.file = module.path();
  Outcome outcome = explain(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\n  dispatches      6, of "),
                    ContainsRegex("\n  dispatches #0 to #[45]: [56] times this one\n"
                                  "  dispatch #0 "),
                    Not(HasSubstr("dispatch #1 ")),
                    ContainsRegex("\n  [3-6] times memref<16x16xf32> in @main, the first from "
                                  "[^\n]*:6:[^\n]*\n    global.workspace: planned")));
}

TEST_F(RunCommandTest, ASizeBeyondItsBoundIsLocated) {
  RunOptions options =
      optionsFor("func.func @fill(%n: index, %x: f32) -> tensor<?xf32> {\n"
                 "  %e = tensor.empty(%n) {plim.max_bytes = 64 : i64} : tensor<?xf32>\n"
                 "  %r = linalg.fill ins(%x : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
                 "  return %r : tensor<?xf32>\n"
                 "}\n");
  options.call.inputs = {"index=17", "f32=2"};
  expectFailure(options, StartsWith("error: " + module.path() +
                                    ":2:8: the allocation takes more than its max_bytes of 64"));
  options.call.inputs = {"index=16", "f32=2"};
  EXPECT_EQ(run(options).status, 0);
}

TEST_F(RunCommandTest, ExplainTellsDispatchesAndPlaces) {
  module.write(testing::temporariesSource);
  ExplainOptions options;
  options.module.file = module.path();
  Outcome outcome = explain(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("summary\n  dispatches      3, of 2 kinds\n"),
                    HasSubstr("\nfunction @main, tensor program\n"), HasSubstr("dispatch #0 @"),
                    HasSubstr("allocations\n"), HasSubstr(", used by host, could be in "),
                    HasSubstr("\nstack, in bytes\n  function "), HasSubstr("\ndata, in bytes\n"),
                    HasSubstr("\nmemory of @main: 1024 bytes; 1024 are live at once"),
                    HasSubstr("\n  auto "), Not(HasSubstr("\n  fixed:1024 "))));
  options.policies = true;
  outcome = explain(options);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\n  auto "), HasSubstr("\n  fixed:1024 ")));
  options.module.oracle = true;
  EXPECT_THAT(explain(options).err, StartsWith("error: --oracle has no policies"));
  options.module.oracle = false;
  options.json = true;
  outcome = explain(options);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("{"), HasSubstr("\"dispatches\""),
                                 HasSubstr("\"allocator_buffers\""), HasSubstr("\"constants\""),
                                 HasSubstr("\"lower_bound_bytes\": 1024")));
}

TEST_F(RunCommandTest, ExplainSaysWhatTheCallPlans) {
  module.write("func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x4xf32>) -> tensor<?x4xf32> {\n"
               "  %c0 = arith.constant 0 : index\n"
               "  %n = tensor.dim %a, %c0 : tensor<?x4xf32>\n"
               "  %e = tensor.empty(%n) : tensor<?x4xf32>\n"
               "  %p = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x4xf32>)\n"
               "      outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>\n"
               "  %q = linalg.matmul ins(%p, %b : tensor<?x4xf32>, tensor<4x4xf32>)\n"
               "      outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>\n"
               "  return %q : tensor<?x4xf32>\n"
               "}\n");
  ExplainOptions options;
  options.module.file = module.path();
  Outcome outcome = explain(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("global.workspace, planned at the call: "),
                                 HasSubstr("  at the call")));
}

TEST_F(RunCommandTest, ExplainNeedsNoParameters) {
  module.write(testing::parameterSource);
  ExplainOptions options;
  options.module.file = module.path();
  EXPECT_EQ(explain(options).status, 0);
}

TEST_F(RunCommandTest, ExplainSaysWhatIsWrong) {
  ExplainOptions options;
  options.module.file = "/no/such.mlir";
  Outcome outcome = explain(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), HasSubstr("/no/such.mlir")));
  module.write("func.func @f(");
  options.module.file = module.path();
  outcome = explain(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, StartsWith("error: " + module.path() + ":1:"));
}

} // namespace
} // namespace plim::tools
