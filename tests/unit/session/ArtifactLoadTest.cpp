// Modules that were compiled before: in files and in memory, for this machine and others.
#include "jit/ArtifactFile.h"
#include "tests/unit/engine/Random.h"
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// A parameter, a function of the host, a variable, and a constant of several pages.
constexpr const char *source = R"(
ml_program.global private @scale(#ml_program.extern<tensor<f32>>) : tensor<f32>
ml_program.global private mutable @count(dense<0> : tensor<i64>) : tensor<i64>
func.func private @offset() -> f32
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, i64) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %scale = ml_program.global_load_const @scale : tensor<f32>
  %s = tensor.extract %scale[] : tensor<f32>
  %o = func.call @offset() : () -> f32
  %old = ml_program.global_load @count : tensor<i64>
  %v = tensor.extract %old[] : tensor<i64>
  %w = arith.addi %v, %one : i64
  %new = tensor.from_elements %w : tensor<i64>
  ml_program.global_store @count = %new : tensor<i64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) (%a: f32, %init: f32) {
    %m = arith.mulf %a, %s : f32
    %p = arith.addf %m, %o : f32
    linalg.yield %p : f32
  }
  return %r, %w : tensor<?xf32>, i64
}
)";

LoadOptions bindings() {
  LoadOptions options;
  options.parameters["scale"] = makeBuffer<float>({}, {3});
  options.functions["offset"].function = [](plim_context *, void *, const plim_view *,
                                            const plim_view *results) {
    *static_cast<float *>(results[0].data) = 0.5F;
    return plim_code(0);
  };
  return options;
}

void expectRuns(const std::shared_ptr<Module> &module) {
  Function main = lookup(module, "main");
  for (uint64_t i = 1; i < 4; ++i) {
    std::vector<Value> results = callOk(main, {makeBuffer<float>({3}, {1, 2, 4})});
    EXPECT_EQ(elements<float>(results.at(0)), (std::vector<float>{3.5F, 6.5F, 12.5F}));
    EXPECT_EQ(std::get<Scalar>(results.at(1)).bits, i);
  }
}

jit::Artifact compileOk(Engine &engine, const LoadOptions &options = {}) {
  StatusOr<jit::Artifact> artifact = engine.compile(source, "in.mlir", options);
  EXPECT_TRUE(artifact.ok()) << artifact.status().toString();
  return artifact.ok() ? std::move(*artifact) : jit::Artifact();
}

Status loadStatus(Engine &engine, const std::string &path, const LoadOptions &options) {
  return engine.loadFile(path, options).status();
}

TEST(ArtifactLoad, FromAFileAndFromMemory) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/main.plimart";
  // Neither parameters nor functions are needed before.
  jit::Artifact artifact = compileOk(*makeEngine());
  ASSERT_TRUE(jit::writeArtifact(artifact, path).ok());
  EXPECT_THAT(folder.files(), SizeIs(1));

  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<std::shared_ptr<Module>> module = engine->loadFile(path, bindings());
  ASSERT_TRUE(module.ok()) << module.status().toString();
  EXPECT_EQ((*module)->statistics().compile.parse, 0);
  EXPECT_FALSE((*module)->statistics().fromCache);
  EXPECT_EQ((*module)->report(), artifact.report);
  expectRuns(*module);

  module = engine->load(jit::serialize(artifact), "bytes", bindings());
  ASSERT_TRUE(module.ok()) << module.status().toString();
  expectRuns(*module);
  // What is missing is told as for a source, with its place in that.
  EXPECT_THAT(loadStatus(*engine, path, {}).toString(), HasSubstr("'scale'"));
  LoadOptions noFunctions = bindings();
  noFunctions.functions.clear();
  EXPECT_THAT(loadStatus(*engine, path, noFunctions).toString(),
              HasSubstr("in.mlir:4:1: host function 'offset'"));
}

TEST(ArtifactLoad, AFileIsReplacedAtOnce) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/main.plimart";
  std::ofstream(path) << "what was there";
  jit::Artifact artifact = compileOk(*makeEngine());
  ASSERT_TRUE(jit::writeArtifact(artifact, path).ok());
  EXPECT_TRUE(makeEngine()->loadFile(path, bindings()).ok());
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0444U, 0444U & ~static_cast<unsigned>([] {
                                      mode_t mask = umask(0);
                                      umask(mask);
                                      return mask;
                                    }()));

  Status failed = jit::writeArtifact(artifact, folder.path() + "/no/such/folder");
  EXPECT_EQ(failed.code(), StatusCode::Unavailable);
  EXPECT_THAT(failed.toString(), HasSubstr("/no/such/folder': No such file"));
  // A folder cannot be replaced, and nothing is left of the attempt.
  std::filesystem::create_directory(folder.path() + "/folder");
  for (const std::string &taken : {folder.path() + "/folder", std::string("/dev/null")})
    EXPECT_THAT(jit::writeArtifact(artifact, taken).toString(), HasSubstr("it is no file"));
  EXPECT_THAT(folder.files(), SizeIs(2));
  // What a link names is replaced, not the link.
  const std::string link = folder.path() + "/link";
  std::filesystem::create_symlink("main.plimart", link);
  std::ofstream(path, std::ios::trunc) << "what was there";
  ASSERT_TRUE(jit::writeArtifact(artifact, link).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(makeEngine()->loadFile(path, bindings()).ok());
}

TEST(ArtifactLoad, LargeConstantsAreUsedWhereTheyLie) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/large.plimart";
  std::string text = "func.func @main(%i: index) -> f32 {\n  %c = arith.constant dense<[";
  for (int i = 0; i < 5000; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(i) + ".5";
  text += "]> : tensor<5000xf32>\n  %v = tensor.extract %c[%i] : tensor<5000xf32>\n"
          "  return %v : f32\n}\n";
  StatusOr<jit::Artifact> artifact = makeEngine()->compile(text, "large.mlir", {});
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  EXPECT_FALSE(artifact->blocks.empty());
  ASSERT_TRUE(jit::writeArtifact(*artifact, path).ok());
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<std::shared_ptr<Module>> module = engine->loadFile(path);
  ASSERT_TRUE(module.ok()) << module.status().toString();
  EXPECT_EQ(
      std::get<Scalar>(callOk(lookup(*module, "main"), {Scalar{ElementType::Index, 4321}}).at(0))
          .bits,
      scalarF32(4321.5F).bits);
}

TEST(ArtifactLoad, WhatWasChosenStays) {
  std::shared_ptr<Engine> engine = makeEngine({.policy = "stack"});
  LoadOptions heap;
  heap.policy = "heap";
  const std::string bytes = jit::serialize(compileOk(*engine, heap));
  std::shared_ptr<Module> module = load(*engine, bytes, bindings());
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(module->report(), HasSubstr("policy heap keeps allocations off the stack"));
  expectRuns(module);
  EXPECT_TRUE(module->statistics().precompiled);
  std::string assembly;
  auto expectLate = [&](const std::string &what, auto set) {
    LoadOptions options = bindings();
    set(options);
    Status status = engine->load(bytes, "done.plimart", options).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(), "done.plimart is compiled already, too late for: " + what);
  };
  expectLate("policy", [](LoadOptions &options) { options.policy = "auto"; });
  expectLate("numerics", [](LoadOptions &options) { options.numerics = jit::Numerics::Default; });
  expectLate("policy, limits", [](LoadOptions &options) {
    options.policy = "auto";
    options.limits = {"stack_budget_bytes=4096"};
  });
  expectLate("oracle", [](LoadOptions &options) { options.oracle = true; });
  expectLate("assembly", [&](LoadOptions &options) { options.assembly = &assembly; });
  expectLate("IR", [](LoadOptions &options) { options.irAfter = {"Import"}; });
  for (Specialization mode : {Specialization::OnRequest, Specialization::Hot})
    expectLate("specialization", [&](LoadOptions &options) { options.specialization = {mode}; });
  EXPECT_THAT(engine->compile(bytes, "done.plimart", {}).status().toString(),
              HasSubstr("done.plimart is compiled already"));
  // There is no source to make more of, whatever the engine does with others.
  LoadOptions none = bindings();
  none.specialization = SpecializationOptions{Specialization::None};
  std::shared_ptr<Engine> hot = makeEngine({.specialization = {Specialization::Hot}});
  EXPECT_NE(load(*hot, bytes, bindings()), nullptr);
  Function main = lookup(load(*hot, bytes, none), "main");
  EXPECT_EQ(main.specialize(std::vector<Value>{makeBuffer<float>({3}, {1, 2, 4})}).code(),
            StatusCode::FailedPrecondition);
}

TEST(ArtifactLoad, CheckedEnginesHaveTheirOwn) {
  std::shared_ptr<Engine> plain = makeEngine(), checked = makeEngine({.checked = true});
  const std::string fast = jit::serialize(compileOk(*plain)),
                    guarded = jit::serialize(compileOk(*checked));
  expectRuns(load(*checked, guarded, bindings()));
  Status status = checked->load(fast, "a", bindings()).status();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(status.toString(), HasSubstr("is not made for looking for faults"));
  status = plain->load(guarded, "a", bindings()).status();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(status.toString(), HasSubstr("is made for looking for faults"));
}

TEST(ArtifactLoad, OfAnotherMachine) {
  for (auto [target, message] :
       {std::pair("aarch64-neoverse-v2", "is for 'aarch64"), {"sapphirerapids", "needs '"}}) {
    if (std::string_view(target) == "sapphirerapids" &&
        makeEngine()->target().devices[0].hasFeature("amx-fp16"))
      continue;
    const std::string bytes = jit::serialize(compileOk(*makeEngine({.target = target})));
    std::shared_ptr<Engine> engine = makeEngine();
    StatusOr<std::shared_ptr<Module>> module = engine->load(bytes, "a", bindings());
    if (module.ok() && std::string_view(target) == "sapphirerapids")
      continue; // this machine has all of it
    EXPECT_EQ(module.status().code(), StatusCode::FailedPrecondition);
    EXPECT_THAT(module.status().toString(), HasSubstr(message));
  }
}

TEST(ArtifactLoad, DamageIsFound) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/a.plimart";
  std::string bytes = jit::serialize(compileOk(*makeEngine()));
  std::shared_ptr<Engine> engine = makeEngine();
  auto expectLost = [&](const std::string &text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    for (const Status &status :
         {loadStatus(*engine, path, bindings()), engine->load(text, path, bindings()).status()}) {
      EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
      EXPECT_THAT(std::string(status.message()), StartsWith(path + ": "));
    }
  };
  expectLost(bytes.substr(0, bytes.size() - 1));
  expectLost(bytes.substr(0, 8));
  expectLost(bytes.substr(0, bytes.size() / 2));
  expectLost(bytes + "x");
  std::string flipped = bytes;
  flipped[bytes.size() / 2] ^= 1;
  expectLost(flipped);
  // Not even the begin of one: a module in text.
  EXPECT_EQ(engine->load(bytes.substr(0, 7), "a", bindings()).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(loadStatus(*engine, folder.path() + "/none", bindings()).code(), StatusCode::NotFound);
}

/// Nothing runs of what is loaded here: it may be any code. The same ones each time, unless a seed is given: the linker is LLVM's, and
/// who changes something else need not find its next fault.
TEST(ArtifactLoad, DamagedObjectsUnderAGoodDigestDoNotEndTheProcess) {
  std::mt19937_64 random(std::getenv("PLIM_TEST_SEED") ? testSeed() : 1);
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<jit::Artifact> whole = engine->compile(
      "func.func @f(%x: tensor<?xf32>, %y: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>) {\n"
      "  %r = arith.addf %x, %x : tensor<?xf32>\n"
      "  %s = math.exp %y : tensor<4xf32>\n"
      "  return %r, %s : tensor<?xf32>, tensor<4xf32>\n}\n",
      "in.mlir", {});
  ASSERT_TRUE(whole.ok()) << whole.status().toString();
  const std::vector<std::string> objects = whole->objects;
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    whole->objects = objects;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      std::string &object = whole->objects[random() % objects.size()];
      const uint64_t value = random() % 2 ? random() % 8 : random();
      const size_t size = std::min<size_t>(random() % 2 ? 1 : sizeof value, object.size());
      std::memcpy(object.data() + random() % (object.size() - size + 1), &value, size);
    }
    refused += !engine->load(jit::serialize(*whole), "a", {}).ok();
  }
  EXPECT_GT(refused, 100);
}

} // namespace
} // namespace plim
