// Calls from threads with little stack: right results or a status, never an overflow.
#include "tests/unit/engine/PaintedStack.h"
#include "tests/unit/session/EngineFixture.h"

#include "llvm/Support/JSON.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <functional>
#include <thread>
#include <ucontext.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// A kernel with a buffer of `count` floats on the stack that LLVM cannot take apart: it is written
/// backwards and read by an index that only a run knows.
std::string frameSource(int64_t count, const char *operation = "alloca") {
  std::string n = std::to_string(count);
  return "func.func @frame(%x: memref<?xf32>, %y: memref<?xf32>) {\n"
         "  %c0 = arith.constant 0 : index\n"
         "  %c1 = arith.constant 1 : index\n"
         "  %c7 = arith.constant 7 : index\n"
         "  %cn = arith.constant " +
         n +
         " : index\n"
         "  %n = memref.dim %x, %c0 : memref<?xf32>\n"
         "  %m = memref.dim %y, %c0 : memref<?xf32>\n"
         "  %b = memref." +
         operation + "() : memref<" + n +
         "xf32>\n"
         "  scf.for %i = %c0 to %cn step %c1 {\n"
         "    %j = arith.remui %i, %n : index\n"
         "    %v = memref.load %x[%j] : memref<?xf32>\n"
         "    %p = arith.addi %i, %c1 : index\n"
         "    %k = arith.subi %cn, %p : index\n"
         "    memref.store %v, %b[%k] : memref<" +
         n +
         "xf32>\n"
         "  }\n"
         "  scf.for %i = %c0 to %m step %c1 {\n"
         "    %q = arith.muli %i, %c7 : index\n"
         "    %k = arith.remui %q, %cn : index\n"
         "    %v = memref.load %b[%k] : memref<" +
         n +
         "xf32>\n"
         "    memref.store %v, %y[%i] : memref<?xf32>\n"
         "  }\n"
         "  return\n"
         "}\n";
}

/// Functions that call one another, `depth` of them, each with a frame.
std::string chainSource(int depth) {
  std::string text = "func.func private @f0(%x: memref<64xf32>, %i: index) -> f32 {\n"
                     "  %v = memref.load %x[%i] : memref<64xf32>\n  return %v : f32\n}\n";
  for (int i = 1; i <= depth; ++i) {
    std::string callee = "@f" + std::to_string(i - 1);
    text += (i == depth ? "func.func @chain" : "func.func private @f" + std::to_string(i)) +
            "(%x: memref<64xf32>, %i: index) -> f32 {\n"
            "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
            "  %c63 = arith.constant 63 : index\n  %c64 = arith.constant 64 : index\n"
            "  %b = memref.alloca() : memref<64xf32>\n"
            "  scf.for %j = %c0 to %c64 step %c1 {\n"
            "    %k = arith.subi %c63, %j : index\n"
            "    %v = memref.load %x[%k] : memref<64xf32>\n"
            "    memref.store %v, %b[%j] : memref<64xf32>\n  }\n"
            "  %r = func.call " +
            callee +
            "(%b, %i) : (memref<64xf32>, index) -> f32\n"
            "  return %r : f32\n}\n";
  }
  return text;
}

/// Each op has a buffer of its own: nothing fuses with a product.
std::string manyBuffersSource(int count) {
  std::string text = "func.func @many(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
                     "  %z = arith.constant 0.0 : f32\n  %e = tensor.empty() : tensor<4x4xf32>\n"
                     "  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>)"
                     " -> tensor<4x4xf32>\n";
  std::string last = "%x";
  for (int i = 0; i < count; ++i) {
    std::string next = "%p" + std::to_string(i);
    text += "  " + next + " = linalg.matmul ins(" + last +
            ", %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>)"
            " -> tensor<4x4xf32>\n";
    last = next;
  }
  return text + "  return " + last + " : tensor<4x4xf32>\n}\n";
}

/// A loop whose every turn has buffers from the allocator.
std::string loopSource() {
  return R"(
func.func @loop(%x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> tensor<4x4xf32> {
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %q = linalg.matmul ins(%p, %x : tensor<4x4xf32>, tensor<4x4xf32>)
        outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %q : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
)";
}

/// A permutation matrix: its powers are exact.
Buffer permutation() {
  return makeBuffer<float>({4, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0});
}

struct Program {
  std::string source, function;
  std::function<std::vector<Value>()> arguments;
};

std::vector<Program> programs() {
  std::vector<Program> list;
  for (int64_t kib : {1, 32, 64, 128, 200})
    list.push_back({frameSource(kib * 256), "frame",
                    [] { return std::vector<Value>{smallIntegers({97}), smallIntegers({1000})}; }});
  list.push_back({chainSource(40), "chain", [] {
                    return std::vector<Value>{smallIntegers({64}), Scalar{ElementType::Index, 11}};
                  }});
  list.push_back({manyBuffersSource(24), "many", [] { return std::vector<Value>{permutation()}; }});
  list.push_back({loopSource(), "loop", [] {
                    return std::vector<Value>{permutation(), Scalar{ElementType::Index, 3001}};
                  }});
  list.push_back({matmulSource, "matmul", [] {
                    return std::vector<Value>{smallIntegers({130, 140}), smallIntegers({140, 120})};
                  }});
  list.push_back({temporariesSource, "main", [] {
                    return std::vector<Value>{smallIntegers({8, 16}), smallIntegers({16, 16})};
                  }});
  return list;
}

/// All that a call leaves behind.
std::vector<std::vector<float>> effectsOf(const Function &function, std::vector<Value> arguments) {
  std::vector<std::vector<float>> effects;
  StatusOr<std::vector<Value>> results = function.call(arguments);
  if (!results.ok()) {
    ADD_FAILURE() << results.status().toString();
    return effects;
  }
  for (const auto *values : {&arguments, &*results})
    for (const Value &value : *values) {
      if (std::holds_alternative<Buffer>(value))
        effects.push_back(elements<float>(value));
      else
        effects.push_back({std::bit_cast<float>(uint32_t(std::get<Scalar>(value).bits))});
    }
  return effects;
}

class SmallStack : public ::testing::TestWithParam<size_t> {};

TEST_P(SmallStack, EveryProgramGivesWhatThePlainLoweringGives) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 2});
  for (const Program &program : programs()) {
    Function function = lookup(load(*engine, program.source), program.function);
    Function plain = lookup(load(*engine, program.source, {.oracle = true}), program.function);
    auto wanted = effectsOf(plain, program.arguments());
    PaintedStack stack(GetParam());
    for (const Function &each : {function, plain})
      stack.run([&] { EXPECT_EQ(effectsOf(each, program.arguments()), wanted); });
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, SmallStack,
                         ::testing::Values(16 << 10, 64 << 10, 128 << 10, 256 << 10, 8 << 20));

TEST(SmallStackCall, ReflectionTellsTheNeed) {
  std::shared_ptr<Engine> engine = makeEngine();
  const int64_t bytes = 200 << 10;
  Function frame = lookup(load(*engine, frameSource(bytes / 4)), "frame");
  EXPECT_GT(frame.signature().stackBytes, bytes);
  // The frame, and what it takes to tell that a divisor was zero.
  EXPECT_LT(frame.signature().stackBytes, bytes + (16 << 10));
  EXPECT_EQ(frame.signature().workerStackBytes, 0);
  Function program = lookup(load(*engine, matmulSource), "matmul");
  EXPECT_GT(program.signature().workerStackBytes, 0);
  EXPECT_GT(program.signature().stackBytes, program.signature().workerStackBytes);
}

TEST(SmallStackCall, SeveralCallersAtOnce) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 2});
  Function function = lookup(load(*engine, frameSource(50 << 10)), "frame");
  auto wanted = effectsOf(function, {smallIntegers({97}), smallIntegers({1000})});
  std::atomic<int> good{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      PaintedStack stack(64 << 10);
      stack.run([&] {
        for (int i = 0; i < 50; ++i)
          good += effectsOf(function, {smallIntegers({97}), smallIntegers({1000})}) == wanted;
      });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(good.load(), 300);
}

TEST(SmallStackCall, ANeedThatNoThreadCanHave) {
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<jit::Artifact> artifact = engine->compile(frameSource(256), "in.mlir", {});
  ASSERT_TRUE(artifact.ok());
  artifact->functions[0].stackBytes = int64_t(3) << 30;
  Function function = lookup(*engine->link(*artifact, {}), "frame");
  Status status = callStatus(function, {smallIntegers({7}), smallIntegers({9})});
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("3221225472 bytes of stack"));
  artifact->functions[0].stackBytes = 0;
  EXPECT_TRUE(callStatus(lookup(*engine->link(*artifact, {}), "frame"),
                         {smallIntegers({7}), smallIntegers({9})})
                  .ok());
}

/// Recursion that LLVM cannot turn into a loop: of one function, and of two that call each other.
constexpr const char *recursionSource = R"(
func.func private @mix(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %c1 = arith.constant 1 : i64
  %stop = arith.cmpi sle, %n, %c0 : i64
  %r = scf.if %stop -> (i64) {
    scf.yield %c0 : i64
  } else {
    %m = arith.subi %n, %c1 : i64
    %f = func.call @mix(%m) : (i64) -> i64
    %x = arith.muli %f, %c3 : i64
    %q = arith.xori %x, %n : i64
    scf.yield %q : i64
  }
  return %r : i64
}
func.func @once(%n: i64) -> i64 {
  %r = call @mix(%n) : (i64) -> i64
  return %r : i64
}
func.func private @even(%n: i64, %b: memref<16xi64>) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %i3 = arith.constant 3 : index
  %stop = arith.cmpi sle, %n, %c0 : i64
  %r = scf.if %stop -> (i64) {
    %v = memref.load %b[%i3] : memref<16xi64>
    scf.yield %v : i64
  } else {
    %own = memref.alloca() : memref<16xi64>
    memref.store %c0, %own[%i3] : memref<16xi64>
    %m = arith.subi %n, %c1 : i64
    %f = func.call @odd(%m, %own) : (i64, memref<16xi64>) -> i64
    %p = arith.addi %f, %n : i64
    scf.yield %p : i64
  }
  return %r : i64
}
func.func private @odd(%n: i64, %b: memref<16xi64>) -> i64 {
  %f = func.call @even(%n, %b) : (i64, memref<16xi64>) -> i64
  %p = arith.addi %f, %n : i64
  return %p : i64
}
func.func @both(%n: i64) -> i64 {
  %own = memref.alloca() : memref<16xi64>
  %r = call @odd(%n, %own) : (i64, memref<16xi64>) -> i64
  return %r : i64
}
)";

TEST(SmallStackCall, RecursionEndsWhereTheStackDoes) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::vector<std::shared_ptr<Module>> modules = {load(*engine, recursionSource),
                                                  load(*engine, recursionSource, {.oracle = true})};
  for (const std::shared_ptr<Module> &module : modules)
    for (const char *name : {"once", "both"}) {
      Function function = lookup(module, name);
      EXPECT_EQ(function.rawPointer(), nullptr) << "it needs the context of a call";
      EXPECT_GT(function.signature().stackBytes, PLIM_RECURSION_STACK);
      for (size_t bytes : {64 << 10, 256 << 10, 8 << 20}) {
        PaintedStack stack(bytes);
        stack.run([&] {
          StatusOr<std::vector<Value>> shallow =
              function.call(std::vector<Value>{Scalar{ElementType::I64, 100}});
          ASSERT_TRUE(shallow.ok()) << shallow.status().toString();
          EXPECT_NE(std::get<Scalar>((*shallow)[0]).bits, 0u);
          Status deep = callStatus(function, {Scalar{ElementType::I64, 1u << 30}});
          EXPECT_EQ(deep.code(), StatusCode::ResourceExhausted);
          EXPECT_THAT(std::string(deep.message()),
                      AllOf(::testing::StartsWith("in.mlir:"), HasSubstr("too deep")));
        });
      }
    }
}

ucontext_t coroutine, home;
const std::function<void()> *coroutineBody;

// The system knows nothing of a stack that the program switched to by itself.
TEST(SmallStackCall, ACoroutineWithAStackOfItsOwn) {
  if (!PLIM_MEASURES_STACKS)
    GTEST_SKIP() << "the sanitizers do not follow a switch of stacks";
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1});
  Function function = lookup(load(*engine, frameSource(50 << 10)), "frame");
  auto wanted = effectsOf(function, {smallIntegers({97}), smallIntegers({1000})});
  std::vector<char> memory(64 << 10);
  std::vector<std::vector<float>> got;
  std::function<void()> body = [&] {
    got = effectsOf(function, {smallIntegers({97}), smallIntegers({1000})});
  };
  coroutineBody = &body;
  getcontext(&coroutine);
  coroutine.uc_stack = {.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  coroutine.uc_link = &home;
  makecontext(&coroutine, [] { (*coroutineBody)(); }, 0);
  swapcontext(&home, &coroutine);
  EXPECT_EQ(got, wanted);
}

const llvm::json::Object &proofOf(const llvm::json::Value &report, llvm::StringRef name) {
  for (const llvm::json::Value &entry :
       *report.getAsObject()->getObject("stack")->getArray("functions"))
    if (entry.getAsObject()->getString("name") == name)
      return *entry.getAsObject();
  ADD_FAILURE() << "no proof of " << name.str();
  return *report.getAsObject();
}

/// Warnings of an engine.
struct Warnings {
  std::vector<std::string> lines;
  Logger logger() {
    return Logger(LogLevel::Warning,
                  [this](LogLevel, std::string_view line) { lines.emplace_back(line); });
  }
};

TEST(StackBudget, IsLoweredForAgainWhenFramesBreakIt) {
  // 2048 bytes fit by themselves; with the frame around them they do not.
  std::string source = frameSource(512, "alloc");
  Warnings warnings;
  std::shared_ptr<Engine> engine =
      makeEngine({.targetOverrides = {"stack_budget_bytes=2048", "max_stack_alloca_bytes=2048"},
                  .logger = warnings.logger()});
  std::shared_ptr<Module> module = load(*engine, source);
  llvm::json::Value report = *llvm::json::parse(module->report());
  const llvm::json::Object &stack = *report.getAsObject()->getObject("stack");
  EXPECT_EQ(stack.getInteger("lowerings"), 2);
  EXPECT_GT(*stack.getInteger("reserve"), 0);
  EXPECT_LE(*proofOf(report, "frame").getInteger("proven"), 2048);
  EXPECT_EQ(proofOf(report, "frame").getInteger("budget"), 2048);
  EXPECT_TRUE(warnings.lines.empty());
  std::shared_ptr<Engine> roomy = makeEngine();
  std::shared_ptr<Module> once = load(*roomy, source);
  llvm::json::Value first = *llvm::json::parse(once->report());
  EXPECT_EQ(first.getAsObject()->getObject("stack")->getInteger("lowerings"), 1);
  EXPECT_EQ(effectsOf(lookup(module, "frame"), {smallIntegers({97}), smallIntegers({1000})}),
            effectsOf(lookup(once, "frame"), {smallIntegers({97}), smallIntegers({1000})}));
}

TEST(StackBudget, ThatNoCodeCanKeepIsSaidAndTheCallIsSafe) {
  Warnings warnings;
  std::shared_ptr<Engine> engine =
      makeEngine({.targetOverrides = {"stack_budget_bytes=8", "max_stack_alloca_bytes=8"},
                  .logger = warnings.logger()});
  std::shared_ptr<Module> module = load(*engine, matmulSource);
  ASSERT_FALSE(warnings.lines.empty());
  EXPECT_THAT(warnings.lines[0], HasSubstr("more than the budget of 8"));
  llvm::json::Value report = *llvm::json::parse(module->report());
  EXPECT_GT(*proofOf(report, "matmul").getInteger("proven"), 8);
  std::vector<Value> arguments = {smallIntegers({13, 17}), smallIntegers({17, 11})};
  Function plain = lookup(load(*engine, matmulSource, {.oracle = true}), "matmul");
  auto wanted = effectsOf(plain, arguments);
  PaintedStack stack(64 << 10);
  stack.run([&] { EXPECT_EQ(effectsOf(lookup(module, "matmul"), arguments), wanted); });
}

} // namespace
} // namespace plim
