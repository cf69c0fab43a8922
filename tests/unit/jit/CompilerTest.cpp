// What compile() accepts, and how it says no to the rest: a located message, never a crash.
#include "jit/Compiler.h"

#include "targets/Resolve.h"
#include "tests/unit/jit/Sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace plim::jit {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const targets::TargetDescription &host() {
  static const targets::TargetDescription target = *targets::resolveTarget("host-cpu", {});
  return target;
}

StatusOr<Artifact> compileText(std::string_view source, const CompileOptions &options = {}) {
  return compile(source, "in.mlir", host(), options);
}

/// Compiles a source that must be refused; "location: message".
std::string refusal(std::string_view source, const CompileOptions &options = {}) {
  StatusOr<Artifact> artifact = compileText(source, options);
  if (artifact.ok())
    return "accepted";
  EXPECT_EQ(artifact.status().code(), StatusCode::InvalidArgument) << artifact.status().toString();
  return std::string(artifact.status().message());
}

/// A linalg.generic with these attributes.
std::string genericWith(std::string_view attributes) {
  return "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = linalg.generic {" +
         std::string(attributes) +
         "}\n      outs(%x : tensor<4xf32>) {\n  ^bb0(%o: f32):\n    linalg.yield %o : f32\n"
         "  } -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n";
}

constexpr const char *callsSource = R"(
ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
func.func private @one() -> i32 {
  %c = arith.constant 1 : i32
  return %c : i32
}
func.func @two() -> i32 {
  %a = func.call @one() : () -> i32
  %r = arith.addi %a, %a : i32
  return %r : i32
}
func.func @four(%x: memref<4xi32> {plim.bounds = [{}]}) -> i32 {
  %a = func.call @two() : () -> i32
  %r = arith.addi %a, %a : i32
  return %r : i32
}
func.func @wrong(%x: f32) -> f32 {
  %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>
  %c = arith.constant 0 : index
  %r = tensor.extract %a[%c, %c, %c] : tensor<4294967296x4294967296x16xf32>
  return %r : f32
}
)";

TEST(Compiler, CompilesOneFunctionAlone) {
  EXPECT_THAT(refusal(callsSource), StartsWith("in.mlir:18:8: "));
  for (const char *name : {"two", "four"}) {
    CompileOptions options;
    options.onlyFunction = name;
    StatusOr<Artifact> artifact = compileText(callsSource, options);
    ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
    EXPECT_THAT(artifact->functions, ElementsAre(Field(&FunctionSignature::name, name)));
    EXPECT_FALSE(artifact->objects.empty());
    EXPECT_THAT(artifact->unreadParameters, ElementsAre("w"));
  }
  CompileOptions options;
  options.onlyFunction = "wrong";
  EXPECT_THAT(refusal(callsSource, options), StartsWith("in.mlir:18:8: "));
  options.onlyFunction = "one"; // which is private
  EXPECT_THAT(refusal(callsSource, options), HasSubstr("no public function"));
}

TEST(Compiler, DescribesWithoutCompiling) {
  CompileOptions options;
  options.describesOnly = true;
  std::vector<double> told;
  options.progress = [&](const CompileProgress &progress) { told.push_back(progress.fraction); };
  CompileTimes times;
  StatusOr<Artifact> artifact = compile(callsSource, "in.mlir", host(), options, &times);
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  EXPECT_THAT(artifact->functions, ElementsAre(Field(&FunctionSignature::name, "two"),
                                               Field(&FunctionSignature::name, "four"),
                                               Field(&FunctionSignature::name, "wrong")));
  EXPECT_EQ(artifact->functions[1].arguments[0].access, Access::ReadWrite);
  EXPECT_THAT(artifact->unreadParameters, ElementsAre("w"));
  EXPECT_TRUE(artifact->objects.empty());
  EXPECT_THAT(told, ElementsAre(0, 1));
  EXPECT_GT(times.parse, 0);
  EXPECT_EQ(times.objects, 0);
}

TEST(Compiler, TellsItsWitnessWhatBeginsAndWhatIsWrong) {
  std::vector<Diagnostic> told;
  CompileOptions options;
  options.witness = [&](const Diagnostic &diagnostic) { told.push_back(diagnostic); };
  ASSERT_TRUE(compileText("\nfunc.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
                          "  %r = math.exp %x : tensor<?xf32>\n  return %r : tensor<?xf32>\n}\n",
                          options)
                  .ok());
  auto isNote = [](const Diagnostic &diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::Note;
  };
  EXPECT_TRUE(std::ranges::all_of(told, isNote));
  EXPECT_EQ(told.front().message, "while parsing");
  EXPECT_EQ(told.back().message, "in code generation");
  EXPECT_TRUE(std::ranges::any_of(told, [](const Diagnostic &diagnostic) {
    return diagnostic.message.starts_with("in pass '") && diagnostic.file == "in.mlir" &&
           diagnostic.line == 2;
  }));
  told.clear();
  EXPECT_FALSE(compileText("func.func @f() {\n  return 1\n}\n", options).ok());
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].severity, Diagnostic::Severity::Error);
  EXPECT_EQ(told[1].line, 2u);
}

TEST(Compiler, AKernelBecomesAnArtifact) {
  CompileTimes times;
  StatusOr<Artifact> artifact = compile(testing::saxpySource, "saxpy.mlir", host(), {}, &times);
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  EXPECT_EQ(artifact->source, "saxpy.mlir");
  EXPECT_EQ(artifact->triple, host().devices[0].triple);
  ASSERT_EQ(artifact->functions.size(), 1u);
  const FunctionSignature &function = artifact->functions[0];
  EXPECT_EQ(function.name, "saxpy");
  EXPECT_TRUE(function.isKernel);
  EXPECT_FALSE(function.rawTakesContext);
  std::vector<ValueType> expected = {{"f32", false, false, {}, {}},
                                     {"f32", true, true, {-1}, {}, Access::ReadOnly},
                                     {"f32", true, true, {-1}, {}, Access::ReadWrite}};
  for (size_t i = 0; i < 3; ++i)
    expected[i].name = std::string_view("axy").substr(i, 1);
  EXPECT_EQ(function.arguments, expected);
  EXPECT_TRUE(function.results.empty());
  EXPECT_FALSE(artifact->objects.empty());
  EXPECT_FALSE(artifact->functions[0].usesState);
  EXPECT_GT(times.parse, 0);
  EXPECT_GT(times.codegen, 0);
}

TEST(Compiler, ArgumentsAreCalledWhatTheSourceCallsThem) {
  constexpr const char *text = R"(// %none
func.func @f(%x.0: f32, %0: f32,
             %a_$-1 : index loc("elsewhere.py":3:1), %b: index loc("named"), %c
                 : i1) { return }
"func.func"() ({
^bb0(%generic: f32):
  "func.return"() : () -> ()
}) {function_type = (f32) -> (), sym_name = "g"} : () -> ()
)";
  StatusOr<Artifact> artifact = compileText(text);
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  std::vector<std::string> names;
  for (const FunctionSignature &function : artifact->functions)
    for (const ValueType &argument : function.arguments)
      names.push_back(argument.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x.0", "", "", "named", "c", "generic"}));
}

TEST(Compiler, IsDeterministic) {
  for (const char *source : {testing::saxpySource, testing::temporariesSource}) {
    StatusOr<Artifact> first = compileText(source), second = compileText(source);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(serialize(*first), serialize(*second));
  }
}

TEST(Compiler, SymbolsTellConstantsVariablesAndParameters) {
  StatusOr<Artifact> parameter = compileText(testing::parameterSource);
  ASSERT_TRUE(parameter.ok()) << parameter.status().toString();
  ASSERT_EQ(parameter->symbols.size(), 1u);
  EXPECT_EQ(parameter->symbols[0].name, "w");
  EXPECT_EQ(parameter->symbols[0].kind, DataKind::Parameter);
  EXPECT_EQ(parameter->symbols[0].bytes, 16);
  EXPECT_FALSE(parameter->functions[0].usesState);
  StatusOr<Artifact> state = compileText(testing::stateSource);
  ASSERT_TRUE(state.ok()) << state.status().toString();
  ASSERT_EQ(state->symbols.size(), 1u);
  EXPECT_EQ(state->symbols[0].kind, DataKind::Variable);
  EXPECT_TRUE(state->functions[0].usesState);
}

TEST(Compiler, RunsCodeGenerationOnTheCallersThreads) {
  CompileOptions options;
  std::atomic<size_t> jobs{0};
  options.parallelFor = [&](size_t count, const std::function<void(size_t)> &job) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] { job(i); });
    for (std::thread &thread : threads)
      thread.join();
    jobs += count;
  };
  StatusOr<Artifact> parallel = compileText(testing::temporariesSource, options);
  StatusOr<Artifact> sequential = compileText(testing::temporariesSource);
  ASSERT_TRUE(parallel.ok() && sequential.ok());
  EXPECT_EQ(jobs.load(), parallel->objects.size());
  EXPECT_EQ(serialize(*parallel), serialize(*sequential));
}

/// So many products, each of other extents, one of which asserts something, and a kernel.
std::string productsSource(int count) {
  std::string text = "func.func @main(%x0: tensor<3x4xf32>";
  auto type = [](int rows, int columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  for (int i = 0; i < count; ++i)
    text += ", %w" + std::to_string(i) + ": " + type(4 + i, 5 + i);
  text += ", %i: tensor<3xindex>) -> " + type(3, 4 + count) +
          " {\n  %zero = arith.constant 0.0 : f32\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), in = type(3, 4 + i), out = type(3, 5 + i);
    text += "  %e" + n + " = tensor.empty() : " + out + "\n  %f" + n +
            " = linalg.fill ins(%zero : f32) outs(%e" + n + " : " + out + ") -> " + out + "\n  %m" +
            n + " = linalg.matmul ins(%x" + n + ", %w" + n + " : " + in + ", " +
            type(4 + i, 5 + i) + ") outs(%f" + n + " : " + out + ") -> " + out + "\n  %x" +
            std::to_string(i + 1) + " = math.exp %m" + n + " : " + out + "\n";
  }
  const std::string last = type(3, 4 + count);
  text += "  %r = tensor.generate {\n  ^bb0(%a: index, %b: index):\n"
          "    %at = tensor.extract %i[%a] : tensor<3xindex>\n    %v = tensor.extract %x" +
          std::to_string(count) + "[%at, %b] : " + last +
          "\n    tensor.yield %v : f32\n  } : " + last + "\n  return %r : " + last + "\n}\n";
  return text + R"(
func.func @scale(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %m[%i] : memref<?xf32>
    %d = arith.addf %v, %v : f32
    memref.store %d, %m[%i] : memref<?xf32>
  }
  return
}
)";
}

TEST(Compiler, GivesTheSameOnAnyNumberOfThreads) {
  for (int count : {1, 2, 7, 12}) {
    const std::string source = productsSource(count);
    StatusOr<Artifact> sequential = compileText(source);
    ASSERT_TRUE(sequential.ok()) << sequential.status().toString();
    EXPECT_GT(sequential->objects.size(), size_t(count));
    for (size_t threads : {1, 2, 5}) {
      CompileOptions options;
      options.parallelFor = [&](size_t jobs, const std::function<void(size_t)> &job) {
        std::atomic<size_t> next{0};
        std::vector<std::thread> all;
        for (size_t t = 0; t < threads; ++t)
          all.emplace_back([&] {
            for (size_t i; (i = next++) < jobs;)
              job(i);
          });
        for (std::thread &thread : all)
          thread.join();
      };
      StatusOr<Artifact> parallel = compileText(source, options);
      ASSERT_TRUE(parallel.ok()) << parallel.status().toString();
      EXPECT_EQ(serialize(*parallel), serialize(*sequential)) << count << ", " << threads;
      std::string text;
      options.irAfter = {"Conversion"};
      options.takeIr = [&](std::string_view, std::string_view ir) { text = ir; };
      StatusOr<Artifact> shown = compileText(source, options);
      ASSERT_TRUE(shown.ok()) << shown.status().toString();
      EXPECT_THAT(text, HasSubstr("llvm.func @plim.dispatch.main_"));
      EXPECT_EQ(serialize(*shown), serialize(*sequential)) << count << ", " << threads;
    }
  }
}

TEST(Compiler, LowersDispatchesThatNeedTheSameFunction) {
  std::string source;
  for (int i = 2; i < 14; ++i) {
    const std::string type = "tensor<" + std::to_string(i) + "xi32>";
    source += "func.func @power" + std::to_string(i) + "(%x: " + type + ", %y: " + type + ") -> " +
              type + " {\n  %r = math.ipowi %x, %y : " + type + "\n  return %r : " + type + "\n}\n";
  }
  for (bool isShared : {false, true}) {
    CompileOptions options;
    if (isShared)
      options.parallelFor = [](size_t jobs, const std::function<void(size_t)> &job) {
        for (size_t i = 0; i < jobs; ++i)
          job(i); // all in one context
      };
    StatusOr<Artifact> artifact = compileText(source, options);
    EXPECT_TRUE(artifact.ok()) << artifact.status().toString();
  }
}

TEST(Compiler, SeveralThreadsCompileAtOnce) {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      good += t % 2 ? compileText(testing::sumSource).ok() : !compileText("func.func").ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good.load(), 4);
}

TEST(Compiler, GivesTheAssemblyIfAsked) {
  std::string assembly;
  CompileOptions options;
  options.assembly = &assembly;
  ASSERT_TRUE(compileText(testing::sumSource, options).ok());
  EXPECT_THAT(assembly, HasSubstr("plim.raw.sum"));
}

TEST(Compiler, GivesTheIrBehindStages) {
  std::vector<std::string> stages;
  std::string ir;
  CompileOptions options;
  options.irAfter = {"Schedule", "Access"};
  options.takeIr = [&](std::string_view stage, std::string_view text) {
    stages.emplace_back(stage);
    ir += text;
  };
  ASSERT_TRUE(compileText(testing::sumSource, options).ok());
  EXPECT_THAT(stages, ElementsAre("Access", "Schedule")); // their own order
  EXPECT_THAT(ir, HasSubstr("func.func @sum"));

  options.irAfter = {"Ballast"};
  StatusOr<Artifact> artifact = compileText(testing::sumSource, options);
  EXPECT_EQ(artifact.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(artifact.status().message(), "there is no stage 'Ballast'");
}

TEST(CompilerErrors, TextThatDoesNotParse) {
  EXPECT_THAT(refusal("func.func @f( {"), StartsWith("in.mlir:1:14: "));
  EXPECT_THAT(refusal("\n\n  nonsense"), StartsWith("in.mlir:3:3: "));
}

TEST(CompilerErrors, AnEmptySource) {
  EXPECT_EQ(refusal(""), "in.mlir: the module has no public function");
  EXPECT_EQ(refusal("// nothing\n"), "in.mlir: the module has no public function");
  EXPECT_EQ(refusal("func.func private @f() { return }"),
            "in.mlir: the module has no public function");
}

TEST(CompilerErrors, IRThatDoesNotVerify) {
  EXPECT_THAT(refusal("func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {\n"
                      "  return %x : tensor<4xf32>\n}\n"),
              AllOf(StartsWith("in.mlir:2:3: "), HasSubstr("doesn't match function result type")));
}

TEST(CompilerErrors, ADialectThatIsNotTaken) {
  EXPECT_THAT(refusal("func.func @f() {\n  gpu.barrier\n  return\n}\n"),
              AllOf(StartsWith("in.mlir:2:3: "), HasSubstr("gpu")));
}

TEST(CompilerErrors, AHostFunctionThatReturnsABuffer) {
  EXPECT_THAT(refusal("\nfunc.func private @mystery() -> memref<4xf32>\n"
                      "func.func @f() {\n"
                      "  %x = call @mystery() : () -> memref<4xf32>\n  return\n}\n"),
              AllOf(StartsWith("in.mlir:2:1: "), HasSubstr("'mystery'")));
}

TEST(CompilerErrors, TensorsOfAbsurdSizes) {
  EXPECT_THAT(refusal("func.func @f(%x: memref<4294967296x4294967296x16xf32>) {\n  return\n}\n"),
              AllOf(StartsWith("in.mlir:1:1: "), HasSubstr("larger than")));
  EXPECT_THAT(refusal("func.func @f() -> tensor<4294967296x4294967296x16xf32> {\n"
                      "  %0 = tensor.empty() : tensor<4294967296x4294967296x16xf32>\n"
                      "  return %0 : tensor<4294967296x4294967296x16xf32>\n}\n"),
              AllOf(StartsWith("in.mlir:"), HasSubstr("larger than")));
  EXPECT_THAT(refusal("func.func @f(%y: memref<4xf32>) {\n"
                      "  %c0 = arith.constant 0 : index\n"
                      "  %0 = memref.alloc() : memref<4294967296x1073741824xf32>\n"
                      "  %v = memref.load %0[%c0, %c0] : memref<4294967296x1073741824xf32>\n"
                      "  memref.store %v, %y[%c0] : memref<4xf32>\n  return\n}\n"),
              AllOf(StartsWith("in.mlir:3:8: "), HasSubstr("larger than")));
}

TEST(CompilerErrors, TypesThatCannotCrossABoundary) {
  for (auto [type, named] : std::initializer_list<std::pair<std::string, std::string>>{
           {"memref<4xf32, strided<[1], offset: 2>>", "memref<4xf32, strided<[1], offset: 2>>"},
           {"memref<4xf32, 3>", "memref<4xf32, 3>"},
           {"memref<*xf32>", "memref<*xf32>"},
           {"vector<4xf32>", "vector<4xf32>"},
           {"tensor<4xi5>", "i5"},
           {"memref<4xi5>", "i5"},
           {"i5", "i5"},
           {"memref<4xsi32>", "si32"},
           {"tensor<4xcomplex<f16>>", "complex<f16>"},
           {"i128", "i128"},
           {"f80", "f80"}})
    EXPECT_THAT(refusal("func.func @f(%x: f32, %y: " + type + ") {\n  return\n}\n"),
                AllOf(StartsWith("in.mlir:1:"), HasSubstr("argument #1"), HasSubstr("'f'"),
                      HasSubstr("'" + named + "'")));
}

TEST(CompilerErrors, ArraysOfLinalgThatHoldSomethingElse) {
  const char *maps = "indexing_maps = [affine_map<(i) -> (i)>], ";
  for (const std::string &attributes :
       {maps + std::string("iterator_types = [1]"), maps + std::string("iterator_types = 1"),
        maps + std::string("iterator_types = [\"parallel\", 1]"),
        maps + std::string("iterator_types = [[\"parallel\"]]"),
        maps + std::string("iterator_types = [// comment\n 1]"),
        std::string("indexing_maps = [\"parallel\"], iterator_types = [affine_map<(i) -> (i)>]"),
        std::string("indexing_maps = [1], iterator_types = [\"parallel\"]"),
        std::string("indexing_maps = 1, iterator_types = [\"parallel\"]"),
        std::string("indexing_maps = [affine_map<(i) -> (i)>, 1], iterator_types = [\"parallel\"]"),
        // Behind an element whose type has whatever there is between brackets.
        maps + std::string("iterator_types = [\"parallel\" : tensor<1xf32, {a = 1}>, 1]"),
        maps + std::string("iterator_types = [\"parallel\" : () -> i1, 1]"),
        maps + std::string("iterator_types = [\"parallel\" : "
                           "tensor<1xf32, affine_set<(i) : (i < = 0, i > = 0)>>, 1]"),
        maps + std::string("iterator_types = [\"parallel\" : "
                           "tensor<1xf32, #arith.fastmath<// >>, 1]}\n none>"),
        maps + std::string("iterator_types = [\"parallel\\\"\", 1]"),
        maps + std::string("\"iterator_type\\73\" = [1]"),
        maps + std::string("iterator_types = [#arith.fastmath<none>]"),
        maps + std::string("iterator_types = [#arith<fastmath<none>>]"),
        // Right, but not where strings are cast.
        maps + std::string("iterator_types = [#linalg.iterator_type<parallel>]")})
    EXPECT_THAT(refusal(genericWith(attributes)),
                AnyOf(StartsWith("in.mlir:2:"), StartsWith("in.mlir:3:2:")))
        << attributes;
  for (const std::string &attributes :
       {maps + std::string("iterator_types = [\"sideways\"]"),
        maps + std::string("iterator_types = []"), std::string(maps).substr(0, 41), std::string()})
    EXPECT_THAT(refusal(genericWith(attributes)), StartsWith("in.mlir:")) << attributes;
  for (const char *types :
       {"[\"parallel\"]", "[\"parallel\" : tensor<1xf32, {a = 1}>]", "// ]\n [\"parallel\"]",
        "[\"parallel\" : tensor<1xf32, #arith.fastmath<// \"a\" -> (b)\n none>>]"})
    EXPECT_EQ(refusal(genericWith("indexing_maps = [affine_map <(i) -> (i)>], iterator_types = " +
                                  std::string(types))),
              "accepted")
        << types;
}

TEST(CompilerErrors, WhatOnlyLooksLikeArraysOfLinalg) {
  EXPECT_EQ(refusal(R"(
memref.global "private" @iterator_types : memref<2xf32>= dense<1.0>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {iterator_types = [#linalg.iterator_type<parallel>]} {
  %iterator_types = arith.addf %x, %x : tensor<4xf32>
  %0 = "linalg.generic"(%iterator_types)
      <{indexing_maps = [affine_map<(i) -> (i)>],
        iterator_types = [#linalg.iterator_type<parallel>],
        operandSegmentSizes = array<i32: 0, 1>}> ({
  ^indexing_maps(%o: f32):
    "linalg.yield"(%o) : (f32) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})"),
            "accepted");
  // A closing bracket in front of an equals sign is one.
  std::string globals;
  for (int i = 0; i < 300; ++i)
    globals +=
        "memref.global \"private\" @g" + std::to_string(i) + " : memref<1xf32>= dense<1.0>\n";
  EXPECT_EQ(refusal(globals + "func.func @f() { return }"), "accepted");
}

TEST(CompilerErrors, AliasesOfArrays) {
  const std::string good = "#m = affine_map<(i) -> (i)>\n#array = [\"parallel\"]\n";
  const std::string op = genericWith("indexing_maps = [#m], iterator_types = #array");
  EXPECT_EQ(refusal(good + op), "accepted");
  // What a comment or a string says defines nothing.
  EXPECT_EQ(refusal("// #array = [1]\n// #m = 1\n" + good + op), "accepted");
  EXPECT_EQ(refusal("#s = \"#array = [1]\"\n" + good + op), "accepted");
  EXPECT_THAT(
      refusal("// #array = [\"parallel\"]\n#m = affine_map<(i) -> (i)>\n#array = [1]\n" + op),
      HasSubstr("'iterator_types' must hold iterator types"));
  // The same array is no good for both, whichever comes first.
  EXPECT_THAT(refusal(good + genericWith("iterator_types = #array, indexing_maps = #array")),
              HasSubstr("'indexing_maps' must hold affine maps"));
  // Of an element, of a trait, of another alias, with every letter that names may have.
  EXPECT_EQ(refusal("#s-0 = \"parallel\"\n#t = #s-0\n#m = affine_map<(i) -> (i)>\n" +
                    genericWith("indexing_maps = [#m], iterator_types = [#t]")),
            "accepted");
  for (const char *bad : {"[1]", "[#linalg.iterator_type<parallel>]"}) {
    const std::string array = "#a-0 = " + std::string(bad) + "\n";
    EXPECT_THAT(refusal("#m = affine_map<(i) -> (i)>\n" + array +
                        genericWith("indexing_maps = [#m], iterator_types = #a-0")),
                HasSubstr("'iterator_types' must hold "))
        << bad;
    std::string op = genericWith("");
    op.replace(op.find("{}"), 2, "#trait");
    EXPECT_THAT(refusal(array +
                        "#other = {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = "
                        "#a-0}\n#trait = #other\n" +
                        op),
                HasSubstr("'iterator_types' must hold "))
        << bad;
  }
  // Hundreds of thousands of them are looked up, not searched for.
  std::string many;
  for (int i = 0; i < 200000; ++i)
    many += "#a" + std::to_string(i) + " = [" + (i ? "#a" + std::to_string(i - 1) : "1") + "]\n";
  EXPECT_EQ(refusal(many + good + op), "accepted");
}

TEST(CompilerErrors, UnknownDialects) {
  // What upstream advises of it no user can do.
  auto expectUnknown = [](const std::string &text, const char *place) {
    EXPECT_THAT(
        refusal(text),
        AllOf(StartsWith(std::string(place) + ": unknown dialect 'gpu'; known are affine, arith, "),
              HasSubstr(", scf, tensor, tosa, ub, vector"), Not(HasSubstr("allow"))))
        << text;
  };
  expectUnknown("func.func @f() {\n  \"gpu.barrier\"() : () -> ()\n  return\n}\n", "in.mlir:2:16");
  expectUnknown("func.func @f() {\n  %0 = \"gpu.a.b\" () : () -> i8\n  return\n}\n",
                "in.mlir:2:18");
  expectUnknown("func.func @f() {\n  gpu.barrier\n  return\n}\n", "in.mlir:2:3");
  expectUnknown("func.func @f(%t: !gpu.async.token) {\n  return\n}\n", "in.mlir:1:23");
  expectUnknown("func.func @f(%t: !gpu<async token>) {\n  return\n}\n", "in.mlir:1:18");
  expectUnknown("func.func @f() attributes {a = #gpu.b<c>} {\n  return\n}\n", "in.mlir:1:37");
  // As the strings of the source are not.
  EXPECT_THAT(refusal("func.func @f() {\n  \"func.use -allow-unregistered-dialect\"() : () -> ()\n"
                      "  return\n}\n"),
              Not(HasSubstr("unknown dialect")));
}

TEST(CompilerErrors, BracketsNestedTooDeep) {
  auto nested = [](size_t depth) {
    return "func.func @f() attributes {a = " + std::string(depth, '[') + std::string(depth, ']') +
           "} {\n  return\n}\n";
  };
  // The braces of the attributes are one level more.
  EXPECT_EQ(refusal(nested(254)), "accepted");
  EXPECT_EQ(refusal(nested(255)), "accepted");
  for (size_t depth : {256, 257, 100000})
    EXPECT_THAT(refusal(nested(depth)),
                AllOf(StartsWith("in.mlir:1:"), HasSubstr("nested deeper than 256 levels")));
}

TEST(CompilerErrors, RegionsNestedTooDeep) {
  auto nested = [](size_t depth) {
    std::string text = "func.func @f(%c: i1) {\n";
    for (size_t i = 0; i < depth; ++i)
      text += "scf.if %c {\n";
    text += std::string(depth, '}');
    return text + "\n  return\n}\n";
  };
  EXPECT_EQ(refusal(nested(100)), "accepted");
  for (size_t depth : {256, 257, 100000})
    EXPECT_THAT(refusal(nested(depth)), HasSubstr("nested deeper than 256 levels"));
}

TEST(CompilerErrors, ManyLevelsInSequenceAreNoNesting) {
  std::string text = "func.func @f() attributes {a = [";
  for (int i = 0; i < 2000; ++i)
    text += i ? ", [[]]" : "[[]]";
  EXPECT_EQ(refusal(text + "]} {\n  return\n}\n"), "accepted");
}

TEST(CompilerErrors, ArraysWithoutAnEndAreReadOnce) {
  // Minutes, and no limit of time would help, if each were looked for to the end of the text.
  for (const char *each :
       {"iterator_types = [\"x\" }", "indexing_maps = [affine_map<() -> ()> }",
        "iterator_types = [\"a\\\"//\" }", "iterator_types = // [\"x\" }", "<// = <"}) {
    std::string text;
    while (text.size() < size_t(1) << 20)
      text += each;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(refusal(text), StartsWith("in.mlir:1:1"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << each;
  }
}

TEST(CompilerErrors, BracketsInStringsAndCommentsDoNotCount) {
  std::string brackets(1000, '[');
  EXPECT_EQ(refusal("// " + brackets + "\nfunc.func @f() attributes {a = \"" + brackets +
                    "\"} {\n  return\n}\n"),
            "accepted");
}

TEST(CompilerErrors, NulBytes) {
  using namespace std::string_view_literals;
  EXPECT_THAT(refusal("func.func @f() {\n  return\0\n}\n"sv),
              AllOf(StartsWith("in.mlir:2:9: "), HasSubstr("NUL")));
  EXPECT_THAT(refusal("\0"sv), StartsWith("in.mlir:1:1: "));
}

TEST(CompilerErrors, TextThatIsCutOffAnywhere) {
  std::string_view source = testing::sumSource;
  size_t end = source.find_last_of('}');
  for (size_t size = source.find('@'); size < end; size += 7) {
    StatusOr<Artifact> artifact = compileText(source.substr(0, size));
    EXPECT_FALSE(artifact.ok()) << size;
    EXPECT_FALSE(artifact.status().message().empty()) << size;
  }
}

TEST(CompilerErrors, TellAllWithTheirPlaces) {
  auto said = [](std::string_view source) {
    StatusOr<Artifact> artifact = compileText(source);
    EXPECT_FALSE(artifact.ok());
    std::span<const Diagnostic> all = artifact.status().diagnostics();
    return std::vector<Diagnostic>(all.begin(), all.end());
  };
  using enum Diagnostic::Severity;
  // A name, a string, a sign, the end of the text.
  EXPECT_THAT(said("func.func @f() {\n  oops.op\n  return\n}"),
              ElementsAre(AllOf(Field(&Diagnostic::severity, Error), Field(&Diagnostic::line, 2),
                                Field(&Diagnostic::column, 3), Field(&Diagnostic::endLine, 2),
                                Field(&Diagnostic::endColumn, 10))));
  EXPECT_THAT(
      said("func.func @f() { return %x : i32 }"),
      ElementsAre(Diagnostic{Error, "in.mlir", 1, 25, 1, 27, "use of undeclared SSA value name"}));
  EXPECT_THAT(
      said("func.func @f() { return ) }"),
      ElementsAre(AllOf(Field(&Diagnostic::column, 24), Field(&Diagnostic::endColumn, 25))));
  EXPECT_THAT(said("func.func @f() {\n"), ElementsAre(Field(&Diagnostic::endLine, 0)));
  // An error in another file, its note in this one.
  const std::vector<Diagnostic> many =
      said("func.func @f() { return }\nfunc.func @f() { return } loc(\"other.py\":7:8)\n");
  ASSERT_EQ(many.size(), 2u);
  EXPECT_EQ(many[0].file, "other.py");
  EXPECT_EQ(many[0].line, 7u);
  EXPECT_EQ(many[0].endLine, 0u);
  EXPECT_EQ(many[1].severity, Note);
  EXPECT_EQ(many[1].file, "in.mlir");
  EXPECT_EQ(many[1].endColumn, 10u);
}

TEST(CompilerErrors, MoreThanTheLimitsOfSources) {
  struct {
    const char *limit;
    int64_t has;
    std::string source;
    const char *message; // without the number that was allowed
  } cases[] = {
      {"max_text_bytes", 26, "func.func @f() { return }\n",
       "in.mlir:1:1: a text of 26 bytes, more than max_text_bytes = "},
      {"max_operations", 3, "func.func @f() { return }",
       "in.mlir:1:18: the module has more operations than max_operations = "},
      {"max_rank", 3, "func.func @f(%x: tensor<1x?x3xf32>) { return }",
       "in.mlir:1:1: a type of rank 3, more than max_rank = "},
      {"max_rank", 2, "func.func @f() {\n  %x = memref.alloc() : memref<1x3xf32>\n  return\n}",
       "in.mlir:2:8: a type of rank 2, more than max_rank = "},
      {"max_vector_elements", 8,
       "func.func @f(%x: memref<2x4xf32>) {\n  %c0 = arith.constant 0 : index\n"
       "  %v = vector.load %x[%c0, %c0] : memref<2x4xf32>, vector<2x4xf32>\n  return\n}",
       "in.mlir:3:8: a vector of 8 elements, more than max_vector_elements = "},
      // Equal ones count once, one number for all elements as often as there are elements.
      {"max_constant_bytes", 32,
       "func.func @f() -> (tensor<4xf32>, tensor<4xf32>, tensor<2xcomplex<f32>>) {\n"
       "  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
       "  %b = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
       "  %c = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>\n"
       "  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<2xcomplex<f32>>\n}",
       "in.mlir:4:8: the constants of the module take more than max_constant_bytes = "},
  };
  for (const auto &each : cases)
    for (int64_t more : {-1, 0, 1}) {
      CompileOptions options;
      // Those of the load are stronger.
      options.engineLimits = {std::string(each.limit) + "=0"};
      options.loadLimits = {std::string(each.limit) + "=" + std::to_string(each.has + more)};
      const std::string refused = refusal(each.source, options);
      if (more < 0)
        EXPECT_THAT(refused, StartsWith(each.message + std::to_string(each.has + more)));
      else
        EXPECT_EQ(refused, "accepted") << each.limit << " " << each.has << " " << more;
    }
}

TEST(CompilerErrors, DefaultLimitsOfSources) {
  std::string rank64, rank65 = "1x";
  for (int i = 0; i < 64; ++i)
    rank64 += "1x";
  rank65 += rank64;
  auto identity = [](const std::string &type) {
    return "func.func @f(%x: " + type + ") -> " + type + " { return %x : " + type + " }";
  };
  EXPECT_EQ(refusal(identity("tensor<" + rank64 + "f32>")), "accepted");
  EXPECT_THAT(refusal(identity("tensor<" + rank65 + "f32>")), HasSubstr("more than max_rank = 64"));
  EXPECT_THAT(
      refusal("func.func @f() { %v = arith.constant dense<1.0> : vector<16385xf32> return }"),
      HasSubstr("a vector of 16385 elements, more than max_vector_elements = 16384"));
  EXPECT_THAT(
      refusal("func.func @f() { %v = ub.poison : vector<4294967296x4294967296x4xf32> return }"),
      HasSubstr("more than max_vector_elements = 16384"));
  EXPECT_THAT(refusal("func.func @f() -> tensor<1073741825xf32> {\n"
                      "  %c = arith.constant dense<1.0> : tensor<1073741825xf32>\n"
                      "  return %c : tensor<1073741825xf32>\n}"),
              HasSubstr("more than max_constant_bytes = 4294967296"));
}

TEST(CompilerErrors, ATimeThatIsOver) {
  CompileOptions options;
  options.timeout = std::chrono::nanoseconds(1);
  StatusOr<Artifact> artifact = compileText(testing::saxpySource, options);
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.status().code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(artifact.status().message(), "the compilation took longer than 1 ms");
  options.timeout = std::chrono::hours(1);
  EXPECT_EQ(refusal(testing::saxpySource, options), "accepted");
}

TEST(CompilerErrors, AnUnknownPolicy) {
  for (const char *policy : {"fastest", "fixed", "fixed:", "fixed:-1", "fixed:many", ""}) {
    CompileOptions options;
    options.policy = policy;
    EXPECT_THAT(refusal(testing::temporariesSource, options), HasSubstr("policy")) << policy;
  }
}

TEST(CompilerErrors, ATargetWhoseFirstDeviceIsNoCpu) {
  targets::TargetDescription target = host();
  target.devices[0].kind = targets::DeviceKind::Cuda;
  StatusOr<Artifact> artifact = compile(testing::sumSource, "in.mlir", target, {});
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.status().code(), StatusCode::Unimplemented);
}

TEST(CompilerErrors, ATargetThatDoesNotVerify) {
  targets::TargetDescription target = host();
  target.devices.clear();
  EXPECT_FALSE(compile(testing::sumSource, "in.mlir", target, {}).ok());
}

TEST(CompilerErrors, ATripleWithoutACodeGenerator) {
  targets::TargetDescription target = host();
  target.devices[0].triple = "pdp11-unknown-none";
  StatusOr<Artifact> artifact = compile(testing::sumSource, "in.mlir", target, {});
  ASSERT_FALSE(artifact.ok());
  EXPECT_FALSE(artifact.status().message().empty());
}

} // namespace
} // namespace plim::jit
