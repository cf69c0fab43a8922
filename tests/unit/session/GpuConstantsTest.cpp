// Constants and parameters of modules with code for a GPU: copied to the device once.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <thread>

namespace plim {
namespace {

using namespace testing;

/// "[1.0, 2.0, ...]", in rows.
std::string literal(int rows, int columns, int first) {
  std::string text;
  for (int row = 0; row < rows; ++row) {
    text += row ? ", [" : "[";
    for (int column = 0; column < columns; ++column)
      text += (column ? ", " : "") + std::to_string((first + row * 3 + column * 5) % 7 - 3) + ".0";
    text += "]";
  }
  return rows == 1 ? text : "[" + text + "]";
}

/// x * w + b * p: w has pages of its own, b lies with other small constants, p is a parameter.
std::string layer(int first = 0) {
  return R"(
ml_program.global private @p(#ml_program.extern<tensor<64xf32>>) : tensor<64xf32>
func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = arith.constant dense<)" +
         literal(64, 64, first) + R"(> : tensor<64x64xf32>
  %b = arith.constant dense<)" +
         literal(1, 64, first) + R"(> : tensor<64xf32>
  %p = ml_program.global_load_const @p : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m, %b, %p : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
    %s = arith.mulf %c, %d : f32
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
)";
}

LoadOptions optionsFor(const std::string &device, const Buffer &p) {
  return {.parameters = {{"p", p}}, .device = device};
}

/// On a stand-in for CUDA, which counts. Its kernels do nothing.
class GpuConstantsTest : public ::testing::Test {
protected:
  void SetUp() override {
    library = dlopen(PLIM_FAKE_LIBCUDA, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    control<void()>("fakeTakeAll")();
    engine = makeGpuEngine();
  }
  void TearDown() override {
    engine = nullptr;
    EXPECT_EQ(live(), 0);
    EXPECT_EQ(control<int()>("fakeFaults")(), 0);
  }
  static std::shared_ptr<Engine> makeGpuEngine(bool isChecked = false) {
    targets::TargetDescription target = makeEngine()->target();
    targets::DeviceDescription &gpu = target.devices.emplace_back();
    gpu.name = "cuda0";
    gpu.kind = targets::DeviceKind::Cuda;
    gpu.triple = "nvptx64-nvidia-cuda";
    gpu.cpu = "sm_80";
    gpu.maxWorkgroupSize = 1024;
    gpu.subgroupSize = 32;
    return makeEngine({.description = target, .checked = isChecked});
  }
  template <typename Function> Function *control(const char *name) {
    return reinterpret_cast<Function *>(dlsym(library, name));
  }
  int live() { return control<int()>("fakeLive")(); }
  /// Bytes of each copy to the device that a call makes.
  std::vector<int> copiesOf(const Function &function, int64_t rows = 3) {
    control<void()>("fakeClear")();
    callOk(function, {smallIntegers({rows, 64})});
    const std::string journal = control<const char *()>("fakeJournal")(), what = "HtoDAsync ";
    std::vector<int> copies;
    for (size_t at = 0; (at = journal.find(what, at)) != journal.npos; at += what.size())
      copies.push_back(std::stoi(journal.substr(at + what.size())));
    std::ranges::sort(copies);
    return copies;
  }
  Function mainOf(const std::shared_ptr<Module> &module) { return lookup(module, "main"); }

  void *library = nullptr;
  std::shared_ptr<Engine> engine;
  Buffer p = smallIntegers({64});
};

constexpr int ofX = 3 * 64 * 4, ofP = 64 * 4, ofB = 64 * 4, ofW = 64 * 64 * 4;

TEST_F(GpuConstantsTest, AreCopiedByTheFirstCall) {
  auto module = load(*engine, layer(), optionsFor("cuda0", p));
  Function main = mainOf(module);
  std::vector<int> first = copiesOf(main), next = copiesOf(main);
  for (int bytes : {ofX, ofP, ofB, ofW}) {
    auto found = std::ranges::find(first, bytes);
    EXPECT_NE(found, first.end()) << bytes << " of " << ::testing::PrintToString(first);
    if (found != first.end() && bytes != ofX)
      first.erase(found);
  }
  EXPECT_EQ(next, first); // all but constants
  EXPECT_EQ(copiesOf(main), next);
  EXPECT_EQ(std::ranges::count(next, ofW), 0);
  // A second function handle, another number of rows, the oracle's engine: the same.
  EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module), 1), ofW), 0);
}

TEST_F(GpuConstantsTest, AreSharedByModules) {
  auto first = load(*engine, layer(), optionsFor("cuda0", p));
  copiesOf(mainOf(first));
  std::vector<int> steady = copiesOf(mainOf(first));
  // The parameter and the large constant are the same memory; small ones are not.
  auto second = load(*engine, layer(), optionsFor("cuda0", p));
  std::vector<int> copies = copiesOf(mainOf(second));
  EXPECT_EQ(std::ranges::count(copies, ofW), 0);
  EXPECT_EQ(copies.size(), steady.size() + 1);
  first = nullptr;
  EXPECT_EQ(copiesOf(mainOf(second)), steady);
  // Another engine shares the parameter.
  auto other = makeGpuEngine();
  auto third = load(*other, layer(), optionsFor("cuda0", p));
  EXPECT_EQ(std::ranges::count(copiesOf(mainOf(third)), ofW), 1);
  EXPECT_EQ(copiesOf(mainOf(third)), steady);
}

TEST_F(GpuConstantsTest, GoWithTheirModule) {
  auto module = load(*engine, layer(), optionsFor("cuda0", p));
  copiesOf(mainOf(module));
  EXPECT_GT(live(), 1);
  module = nullptr;
  EXPECT_EQ(live(), 1); // the context
  // What lies there afterwards is another constant.
  for (int round = 0; round < 3; ++round) {
    module = load(*engine, layer(round), optionsFor("cuda0", p));
    EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module)), ofW), 1);
    EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module)), ofW), 0);
    module = nullptr;
  }
}

TEST_F(GpuConstantsTest, AreThoseOfCodeThatCameFromElsewhere) {
  auto artifact = engine->compile(layer(), "in.mlir", {.device = "cuda0"});
  ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
  auto plain = makeEngine(); // its target has no GPU
  auto module = load(*plain, jit::serialize(*artifact), {.parameters = {{"p", p}}});
  EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module)), ofW), 1);
  EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module)), ofW), 0);
}

// Launches would read beyond what the views have.
TEST_F(GpuConstantsTest, AreNotReadByCodeOfAnotherSignature) {
  auto compiled = engine->compile(layer(), "in.mlir", {.device = "cuda0"});
  ASSERT_TRUE(compiled.ok());
  ASSERT_FALSE(compiled->externals.empty());
  for (auto [from, to] : {std::pair("tensor<64x64xf32>", "tensor<64x64xf16>"),
                          {"tensor<64x64xf32>", "tensor<64xf32>"},
                          {"tensor<64x64xf32>", "f32"},
                          {", tensor<64x64xf32>", ""},
                          {", tensor<64x64xf32>", ", tensor<64x64xf32>, index"},
                          {" writeonly", ""}}) {
    jit::Artifact artifact = *compiled;
    for (jit::ExternalFunction &external : artifact.externals)
      if (size_t at = external.signature.find(from); at != std::string::npos)
        external.signature.replace(at, std::string_view(from).size(), to);
    Status status =
        engine->load(jit::serialize(artifact), "in.plim", {.parameters = {{"p", p}}}).status();
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << from << " to " << to;
    EXPECT_THAT(status.toString(), ::testing::HasSubstr("does not take the arguments"));
  }
}

TEST_F(GpuConstantsTest, OfCheckedEnginesToo) {
  auto checked = makeGpuEngine(/*isChecked=*/true);
  auto module = load(*checked, layer(), optionsFor("cuda0", p));
  EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module)), ofW), 1);
  EXPECT_EQ(std::ranges::count(copiesOf(mainOf(module)), ofW), 0);
}

/// On a GPU that computes, if Vulkan has one: the answers.
class GpuAnswersTest : public ::testing::Test {
protected:
  void SetUp() override {
    engine = makeEngine({.target = "host"});
    if (!engine->target().findDevice("vulkan0"))
      GTEST_SKIP() << "there is no device of Vulkan";
  }
  std::vector<float> answer(const Function &function, int64_t rows) {
    return elements<float>(callOk(function, {smallIntegers({rows, 64})})[0]);
  }
  std::vector<float> wanted(int first, int64_t rows, const Buffer &p) {
    auto module = load(*engine, layer(first), {.oracle = true, .parameters = {{"p", p}}});
    return answer(lookup(module, "main"), rows);
  }

  std::shared_ptr<Engine> engine;
};

TEST_F(GpuAnswersTest, AreThoseOfTheModule) {
  Buffer p = smallIntegers({64});
  for (bool isChecked : {false, true}) {
    auto gpu = makeEngine({.target = "host", .checked = isChecked});
    std::shared_ptr<Module> kept = load(*gpu, layer(0), optionsFor("vulkan0", p));
    for (int first : {1, 2, 3, 0, 1}) { // memory of those before is used again
      auto module = load(*gpu, layer(first), optionsFor("vulkan0", p));
      for (int64_t rows : {1, 5, 40}) {
        EXPECT_EQ(answer(lookup(module, "main"), rows), wanted(first, rows, p)) << first;
        EXPECT_EQ(answer(lookup(kept, "main"), rows), wanted(0, rows, p)) << first;
      }
    }
  }
}

TEST_F(GpuAnswersTest, AreThoseOfParametersAtTheLoad) {
  std::vector<float> values(64, 1);
  StatusOr<Buffer> p = Buffer::wrap(
      values.data(), ElementType::F32, std::array<int64_t, 1>{64},
      /*readOnly=*/true, [](void *, void *) {}, nullptr);
  ASSERT_TRUE(p.ok());
  for (float value : {1.0f, 2.0f, 3.0f}) {
    values.assign(64, value); // no module has it now
    auto module = load(*engine, layer(), optionsFor("vulkan0", *p));
    for (int call = 0; call < 2; ++call)
      EXPECT_EQ(answer(lookup(module, "main"), 4), wanted(0, 4, *p)) << value;
  }
}

TEST_F(GpuAnswersTest, AreTheSameForThreadsThatBeginAtOnce) {
  Buffer p = smallIntegers({64});
  const std::vector<float> all = wanted(0, 9, p);
  for (int round = 0; round < 5; ++round) {
    auto module = load(*engine, layer(), optionsFor("vulkan0", p));
    Function main = lookup(module, "main");
    module = nullptr;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 6; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 3; ++i)
          EXPECT_EQ(answer(main, 9), all);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

} // namespace
} // namespace plim
