#include "tools/BisectCommand.h"

#include "tools/CompileCommand.h"

#include "tests/unit/jit/Sources.h"
#include "tests/unit/tools/Outcome.h"
#include "tests/unit/tools/TemporaryFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

namespace plim::tools {
namespace {

using plim::testing::Outcome;
using plim::testing::outcomeOf;
using plim::testing::TemporaryFile;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Outcome bisect(const BisectOptions &options) { return outcomeOf(runBisectCommand, options); }

/// Cannot compare, and says why.
void expectError(const BisectOptions &options, const ::testing::Matcher<std::string> &matcher) {
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, bisectError);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), matcher));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// Rounds otherwise than the oracle unless it is strict, for some of 64 elements.
constexpr const char *tanhSource = R"(
func.func @main(%n: tensor<3xi32>, %x: tensor<?xf32>) -> (tensor<3xi32>, tensor<?xf32>) {
  %m = arith.muli %n, %n : tensor<3xi32>
  %t = math.tanh %x : tensor<?xf32>
  return %m, %t : tensor<3xi32>, tensor<?xf32>
}
)";

/// The same in place, of the first 64, and then a write to an element of the caller's choice.
constexpr const char *kernelSource = R"(
func.func @kernel(%m: memref<?xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %j = %c0 to %c64 step %c1 {
    %u = memref.load %m[%j] : memref<?xf32>
    %t = math.tanh %u : f32
    memref.store %t, %m[%j] : memref<?xf32>
  }
  %v = arith.constant 1.0 : f32
  memref.store %v, %m[%i] : memref<?xf32>
  return
}
)";

constexpr const char *addSource = R"(
func.func @add(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.add ins(%x, %y : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
)";

/// The same for the device alone.
std::string onDevice(std::string source) {
  return source.replace(source.find("linalg.add"), 10, "linalg.add {plim.device = \"npu\"}");
}

/// Runs every dispatch of four numbers of 32 bits as 1, 2, 3, and `last`, to which each launch adds
/// `step`, down to `least`.
struct Faulty {
  int32_t last = 4;
  int32_t step = 0;
  int32_t least = std::numeric_limits<int32_t>::min();
};
plim_code launchFaulty(plim_context *, void *user, const plim_view *, const plim_view *results) {
  auto &faulty = *static_cast<Faulty *>(user);
  const int32_t elements[] = {1, 2, 3, faulty.last};
  faulty.last = std::max(faulty.last + faulty.step, faulty.least);
  std::memcpy(results[0].data, elements, sizeof(elements));
  return 0;
}

class BisectCommandTest : public ::testing::Test {
protected:
  BisectOptions optionsFor(std::string_view source) {
    module.write(source);
    BisectOptions options;
    options.module.file = module.path();
    return options;
  }
  /// The sum of 1 2 3 0 and nothing, on the device.
  BisectOptions optionsForDevice(std::string_view source = addSource) {
    BisectOptions options = optionsFor(source);
    options.call.inputs = {"4xi32=1 2 3 0", "4xi32=0"};
    auto device = std::make_shared<Device>();
    device->name = "npu";
    device->compile = [this](std::string_view, std::string_view) -> StatusOr<std::string> {
      return loads++ < loadable ? StatusOr<std::string>("code") : internalError("it is used up");
    };
    device->load = [this](std::string_view, std::string_view) -> StatusOr<HostFunction> {
      return HostFunction{
          .function = &launchFaulty, .user = &faulty, .kind = HostFunctionKind::Serial};
    };
    options.module.devices = {device};
    options.module.inProcess = true;
    options.module.device = "npu";
    return options;
  }
  TemporaryFile module;
  Faulty faulty;
  int loads = 0, loadable = std::numeric_limits<int>::max();
};

TEST_F(BisectCommandTest, SaysThatResultsAreEqual) {
  BisectOptions options = optionsFor(testing::matmulSource);
  options.call.inputs = {"2x3xf32=1 2 3 4 5 6", "3x1xf32=1"};
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "right: @matmul gives what the oracle does, bit for bit\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(BisectCommandTest, RoundingIsRight) {
  BisectOptions options = optionsFor(tanhSource);
  options.call.inputs = {"3xi32=1 2 3", "64xf32=rnd:1"};
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("^right: @main gives what the oracle does, but for "
                                         "rounding: the furthest, result.1., is off by "
                                         "[0-9.]+e-0[78] of the largest magnitude\n$"));
}

TEST_F(BisectCommandTest, NamesTheFirstOptionThatMakesItRight) {
  BisectOptions options = optionsFor(tanhSource);
  options.call.inputs = {"3xi32=1 2 3", "64xf32=rnd:1"};
  options.tolerance = 0;
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(
      outcome.out,
      AllOf(ContainsRegex("^wrong: result.1. of @main, 64xf32, in [0-9]+ of 64 elements\n"
                          "  furthest off at .[0-9]+.: [-0-9.]+, which should be [-0-9.]+, off by "
                          "[0-9.]+e-0[78] of the largest magnitude\n"
                          "  a second call of the engine gives the same\n"
                          "  --threads 1         wrong  result.1. is off by [0-9.]+e-0[78] of "),
            ContainsRegex("\n  --policy heap       wrong  [^\n]*\n"
                          "  --checked           wrong  [^\n]*\n"
                          "  --target x86-64     [^\n]*\n"
                          "  --numerics strict   right  bit for bit\n"
                          "--numerics strict makes it right, without contraction, [^\n]*: look at "
                          "ir/Codegen\n$")));
}

TEST_F(BisectCommandTest, LeavesOutOnlyWhatTheOptionsDoNot) {
  BisectOptions options = optionsFor(tanhSource);
  options.call.inputs = {"3xi32=1 2 3", "64xf32=rnd:1"};
  options.tolerance = 0;
  options.module.threads = 1;
  options.module.policy = "heap";
  options.module.target = "x86-64";
  std::string out = bisect(options).out;
  EXPECT_THAT(out, AllOf(Not(HasSubstr("--threads")), Not(HasSubstr("--policy")),
                         Not(HasSubstr("--target")), HasSubstr("\n  --checked  ")));
  options.module.threads = 0;
  options.module.policy = "auto";
  options.module.overrides = {"vector_bits=128"}; // which --target x86-64 leaves out
  options.module.checked = true;                  // whose policy is heap
  out = bisect(options).out;
  EXPECT_THAT(out, AllOf(HasSubstr("\n  --threads"), Not(HasSubstr("--policy")),
                         HasSubstr("\n  --target"), Not(HasSubstr("--checked"))));
}

TEST_F(BisectCommandTest, StrictCodeHasToGiveTheBits) {
  BisectOptions options = optionsFor(tanhSource);
  options.call.inputs = {"3xi32=1 2 3", "64xf32=rnd:1"};
  options.module.numerics = jit::Numerics::Strict;
  EXPECT_THAT(bisect(options).out, EndsWith("bit for bit\n"));
}

TEST_F(BisectCommandTest, ComparesArgumentsThatAreWritten) {
  BisectOptions options = optionsFor(kernelSource);
  options.call.inputs = {"64xf32=rnd:1", "index=3"};
  EXPECT_THAT(bisect(options).out, HasSubstr("the furthest, arg[0], is off by "));
  options.tolerance = 0;
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  // Each call has the inputs as they were.
  EXPECT_THAT(outcome.out, AllOf(StartsWith("wrong: arg[0] of @kernel, 64xf32, in "),
                                 HasSubstr("\n  a second call of the engine gives the same\n")));
}

TEST_F(BisectCommandTest, AnAccessOutOfRangeSaysMoreThanAResultThatIsRight) {
  BisectOptions options = optionsFor(kernelSource);
  options.call.inputs = {"65xf32=rnd:1", "index=65"};
  options.tolerance = 0;
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  constexpr const char *verdict = "\n--checked finds an access out of range: if it is not the "
                                  "source's own, look at ir/Import/CheckShapes.cpp, ir/Codegen\n";
  EXPECT_THAT(outcome.out,
              AllOf(ContainsRegex("\n  --checked           wrong  fails: [^\n]*kernel 'kernel' "
                                  "accesses byte 1 behind the end of argument #0"),
                    HasSubstr("\n  --numerics strict   right  "), EndsWith(verdict)));
  // Where it is asked for at once, nothing else is.
  options.module.checked = true;
  outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("wrong: @kernel fails: "),
                                 HasSubstr("\n  the oracle does not fail\n"),
                                 Not(HasSubstr("--numerics")), EndsWith(verdict)));
}

TEST_F(BisectCommandTest, IntegersAreExact) {
  BisectOptions options = optionsForDevice();
  options.tolerance = 100;
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("wrong: result[0] of @add, 4xi32, in 1 of 4 elements\n"
                               "  furthest off at [3]: 4, which should be 0, off by 4\n"
                               "  a second call of the engine gives the same\n"
                               "  without --device    right  bit for bit\n"
                               "  --threads 1         wrong  result[0] is off by 4\n"),
                    EndsWith("\nwithout --device makes it right, without the device: look at "
                             "ir/Gpu, devices\n")));
}

TEST_F(BisectCommandTest, TellsARace) {
  BisectOptions options = optionsForDevice();
  faulty.last = 0; // the first call is right
  faulty.step = 1;
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr(": 1, which should be 0, off by 1\n"
                                     "  a second call of the engine gives something else: a race"));
}

TEST_F(BisectCommandTest, WhatDoesNotLoadIsPassedOver) {
  BisectOptions options = optionsForDevice();
  loadable = 1;
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out,
              AllOf(ContainsRegex("\n  --threads 1         not loaded: [^\n]*it is used up\n"),
                    HasSubstr("\n  without --device    right  ")));
  loads = loadable = 0;
  expectError(options, AllOf(HasSubstr("the oracle can be called, the engine cannot: "),
                             HasSubstr("it is used up")));
}

TEST_F(BisectCommandTest, SaysThatNothingMakesItRight) {
  BisectOptions options = optionsForDevice(onDevice(addSource));
  options.module.device = "";
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\n  --numerics strict   wrong  result[0] is off by 4\n"),
                    Not(HasSubstr("without --device")),
                    EndsWith("\nnone of these makes it right, only the oracle, without ir/Codegen, "
                             "fusion and merging: look at ir/Dispatch, ir/Codegen\n")));
}

TEST_F(BisectCommandTest, TheFirstOfSeveralOptionsIsNamed) {
  BisectOptions options = optionsForDevice(onDevice(addSource));
  options.module.device = "";
  faulty = {.last = 4, .step = -2, .least = 0}; // right from the third launch on
  EXPECT_THAT(bisect(options).out,
              AllOf(HasSubstr("\n  --threads 1         right  bit for bit\n"
                              "  --policy heap       right  bit for bit\n"),
                    EndsWith("\n--threads 1 makes it right, without two dispatches at once: look "
                             "at ir/Schedule, engine/runtime\n")));
}

TEST_F(BisectCommandTest, StrictCodeMayNotRound) {
  std::string source = onDevice(addSource);
  for (size_t at; (at = source.find("xi32")) != std::string::npos;)
    source.replace(at, 4, "xf32");
  BisectOptions options = optionsForDevice(source);
  options.module.device = "";
  options.call.inputs = {"4xf32=1.4e-45 2.8e-45 4.2e-45 1", "4xf32=0"}; // 1, 2, 3 as bits
  faulty.last = 0x3f800001;                                             // next to 1.0
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("is off by 1.192e-07 of"));
  options.module.numerics = jit::Numerics::Strict;
  outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("wrong: result[0] of @add, 4xf32, in 1 of 4 elements\n"));
  // What a device computes is its own.
  options.module.device = "npu";
  EXPECT_EQ(bisect(options).status, 0);
}

TEST_F(BisectCommandTest, AWrongResultIsShownBeforeOneThatIsFurtherOff) {
  BisectOptions options = optionsForDevice(R"(
func.func @two(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add {plim.device = "npu"} ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.empty() : tensor<4xi32>
  %s = linalg.add {plim.device = "npu"} ins(%n, %n : tensor<4xi32>, tensor<4xi32>) outs(%f : tensor<4xi32>) -> tensor<4xi32>
  return %r, %s : tensor<4xf32>, tensor<4xi32>
}
)");
  options.module.device = "";
  options.call.inputs = {"4xf32=0 0 0 0.5", "4xi32=0 1 1 -541065217"};
  options.tolerance = 3;
  faulty.last = -0x40800000; // -1.0, which should be 1.0, and two more than it should be
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("wrong: result[1] of @two, 4xi32, in 3 of 4 elements\n"));
}

TEST_F(BisectCommandTest, InputsMayBeRandom) {
  BisectOptions options = optionsFor(testing::temporariesSource);
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("right: @main gives what the oracle does"));
  expectError(optionsFor(testing::matmulSource),
              HasSubstr("argument #0 is ?x?xf32, of which only a call knows the extents: give "
                        "--input for each argument"));
}

TEST_F(BisectCommandTest, EachCallHasVariablesOfItsOwn) {
  BisectOptions options = optionsFor(R"(
memref.global "private" @count : memref<1xi32> = dense<5>
func.func @next() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %m = memref.get_global @count : memref<1xi32>
  %u = memref.load %m[%c0] : memref<1xi32>
  %v = arith.addi %u, %c1 : i32
  memref.store %v, %m[%c0] : memref<1xi32>
  return %v : i32
}
)");
  Outcome outcome = bisect(options);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(BisectCommandTest, ErrorsAreNoWrongResults) {
  BisectOptions options = optionsFor(tanhSource);
  options.call.inputs = {"3xi32=1 2 3", "64xf32=rnd:1"};
  options.tolerance = -1;
  expectError(options, HasSubstr("a tolerance must be a number, 0 or more"));
  options.tolerance = std::numeric_limits<double>::quiet_NaN();
  expectError(options, HasSubstr("a tolerance must be a number, 0 or more"));
  options.tolerance = {};
  options.call.function = "mian";
  expectError(options, HasSubstr("no public function 'mian' in " + module.path() +
                                 "; did you mean 'main'?"));
  options.call.function = "";
  options.call.inputs = {"3xi32=1 2 3"};
  expectError(options, HasSubstr("the oracle and the engine both fail: "));
  options.call.inputs = {"3xi32=1 2"};
  expectError(options, HasSubstr("input #0: "));
  options.module.file = "/no/such/file.mlir";
  options.call.inputs = {};
  expectError(options, HasSubstr("'/no/such/file.mlir': No such file"));
  expectError(optionsFor("func.func @f("), HasSubstr(module.path() + ":1:"));
}

TEST_F(BisectCommandTest, ACallThatFailsInBothIsAnError) {
  BisectOptions options = optionsFor("func.func @main(%x: i32) -> i32 {\n"
                                     "  %z = arith.constant 0 : i32\n"
                                     "  %q = arith.divsi %x, %z : i32\n"
                                     "  return %q : i32\n}\n");
  options.call.inputs = {"i32=1"};
  expectError(options, AllOf(HasSubstr("the oracle and the engine both fail: "),
                             HasSubstr(":3:8: integer division by zero")));
}

TEST_F(BisectCommandTest, WhatIsCompiledCannotBeComparedAnyMore) {
  TemporaryFile artifact;
  BisectOptions options = optionsFor(tanhSource);
  CompileOptions compile;
  compile.module = options.module;
  compile.output = artifact.path();
  std::ostringstream err;
  ASSERT_EQ(runCompileCommand(compile, err), 0) << err.str();
  options.module.file = artifact.path();
  expectError(options, HasSubstr("is compiled already, too late for: oracle"));
}

} // namespace
} // namespace plim::tools
