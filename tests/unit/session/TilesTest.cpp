// Tile registers (AMX): their permission is asked for when code that uses them is to run, and not before; where the
// kernel refuses it, code does without.
#include "targets/host/Host.h"
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
namespace plim {
namespace {

using namespace testing;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t extent = 64;
constexpr char productSource[] = R"(
func.func @product(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>)
                     outs(%zeros : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %c : tensor<64x64xi32>
})";

/// By ARCH_GET_XCOMP_PERM of Documentation/arch/x86/xstate.rst: may this process use tiles?
bool hasPermission() {
  unsigned long permitted = 0;
  return syscall(SYS_arch_prctl, 0x1022, &permitted) == 0 && (permitted & 1ul << 18) != 0;
}

/// An alternate signal stack on which tiles would not fit.
void takeSmallSignalStack() {
  static char small[8192];
  stack_t stack = {};
  stack.ss_sp = small;
  stack.ss_size = sizeof(small);
  if (sigaltstack(&stack, nullptr) != 0)
    std::abort();
}

/// Is the product of random bytes what a loop makes of them?
bool isRight(const std::shared_ptr<Module> &module) {
  std::mt19937 random(21);
  std::vector<int8_t> a(extent * extent), b(extent * extent);
  for (std::vector<int8_t> *each : {&a, &b})
    for (int8_t &element : *each)
      element = static_cast<int8_t>(random());
  std::vector<Value> results =
      callOk(lookup(module, "product"),
             {makeBuffer<int8_t>({extent, extent}, a), makeBuffer<int8_t>({extent, extent}, b)});
  if (results.empty())
    return false;
  const std::vector<int32_t> c = elements<int32_t>(results[0]);
  for (size_t i = 0; i < extent; ++i)
    for (size_t j = 0; j < extent; ++j) {
      int32_t sum = 0;
      for (size_t k = 0; k < extent; ++k)
        sum += a[i * extent + k] * b[k * extent + j];
      if (c[i * extent + j] != sum)
        return false;
    }
  return true;
}

TEST(TilesOfAnotherMachine, AreRequiredByTheCodeThatUsesThem) {
  std::shared_ptr<Engine> engine = makeEngine({.target = "sapphirerapids"});
  ASSERT_TRUE(engine);
  StatusOr<jit::Artifact> product = engine->compile(productSource, "product.mlir", {});
  ASSERT_TRUE(product.ok()) << product.status().toString();
  EXPECT_TRUE(jit::usesTiles(*product));
  EXPECT_THAT(product->requiredFeatures, ::testing::IsSupersetOf({"amx-tile", "amx-int8"}));
  StatusOr<jit::Artifact> sums = engine->compile(temporariesSource, "sums.mlir", {});
  ASSERT_TRUE(sums.ok()) << sums.status().toString();
  EXPECT_FALSE(jit::usesTiles(*sums));
  EXPECT_THAT(sums->requiredFeatures, ::testing::Contains("avx512f"));
  EXPECT_THAT(sums->requiredFeatures, ::testing::Not(::testing::Contains(StartsWith("amx-"))));
}

TEST(TilesOfAnotherMachine, AreNotDoneWithout) {
  targets::TargetDescription description = *targets::queryHost();
  targets::DeviceDescription &device = description.devices[0];
  if (device.hasFeature("amx-tile"))
    GTEST_SKIP() << "this machine has them";
  for (const char *feature : {"amx-tile", "amx-int8"})
    device.setFeature(feature, true);
  std::shared_ptr<Engine> engine = makeEngine({.description = description});
  ASSERT_TRUE(engine);
  // The host asked for another machine, and is told that it is one.
  StatusOr<std::shared_ptr<Module>> module = engine->load(productSource, "product.mlir");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), StatusCode::FailedPrecondition);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("needs 'amx-"));
  EXPECT_TRUE(load(*engine, temporariesSource));
}

/// In processes of their own: a permission is for good.
class Tiles : public ::testing::Test {
protected:
  void SetUp() override {
    StatusOr<targets::TargetDescription> host = targets::queryHost();
    ASSERT_TRUE(host.ok());
    if (!host->devices[0].hasFeature("amx-int8"))
      GTEST_SKIP() << "no tile registers";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

void askLate() {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> sums = load(*engine, temporariesSource);
  if (!sums || hasPermission())
    _exit(1);
  StatusOr<jit::Artifact> artifact = engine->compile(productSource, "product.mlir", {});
  if (!artifact.ok() || !jit::usesTiles(*artifact) || hasPermission())
    _exit(2);
  StatusOr<std::shared_ptr<Module>> module = engine->link(*artifact, {});
  if (!module.ok() || !hasPermission() || !isRight(*module))
    _exit(3);
  _exit(::testing::Test::HasFailure() ? 4 : 0);
}

TEST_F(Tiles, AreAskedForByTheCodeThatUsesThem) { EXPECT_EXIT(askLate(), ExitedWithCode(0), ""); }

void doWithout() {
  takeSmallSignalStack();
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, productSource);
  if (!module || hasPermission() || !isRight(module))
    _exit(1);
  // What was compiled for tiles cannot run.
  StatusOr<jit::Artifact> artifact = engine->compile(productSource, "product.mlir", {});
  if (!artifact.ok() || !jit::usesTiles(*artifact))
    _exit(2);
  StatusOr<std::shared_ptr<Module>> refused = engine->link(*artifact, {});
  if (refused.ok() || refused.status().code() != StatusCode::FailedPrecondition ||
      std::string_view(refused.status().message()).find("alternate signal stack") ==
          std::string_view::npos)
    _exit(3);
  _exit(::testing::Test::HasFailure() ? 4 : 0);
}

TEST_F(Tiles, AreDoneWithoutWhereTheKernelRefuses) {
  EXPECT_EXIT(doWithout(), ExitedWithCode(0), "");
}

} // namespace
} // namespace plim
#endif
