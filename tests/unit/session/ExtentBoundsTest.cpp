// Bounds of extents that an author declares: what a call is checked for, and what follows from them.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// dynamicProductsSource, of bounded extents.
std::string boundedProducts() {
  std::string source = dynamicProductsSource;
  auto replace = [&](const std::string &from, const std::string &to) {
    source.replace(source.find(from), from.size(), to);
  };
  replace("%a: !t", "%a: !t {plim.bounds = [{min = 2, max = 64}, {max = 16}]}");
  replace("%b: !t", "%b: !t {plim.bounds = [{}, {min = 1, max = 16}]}");
  return source;
}

std::vector<Value> products(int64_t n, int64_t m) {
  return {smallIntegers({n, m}), smallIntegers({m, m})};
}

TEST(ExtentBounds, ACallIsCheckedForThem) {
  for (bool isChecked : {false, true}) {
    std::shared_ptr<Engine> engine = makeEngine({.checked = isChecked});
    Function main = lookup(load(*engine, boundedProducts()), "main");
    Function open = lookup(load(*engine, dynamicProductsSource), "main");
    for (int64_t n : {2, 17, 64})
      EXPECT_EQ(elements<float>(callOk(main, products(n, 16)).at(0)),
                elements<float>(callOk(open, products(n, 16)).at(0)));
    for (auto [arguments, message] : {
             std::pair(products(1, 16),
                       "extent 0 of argument #0 (%a) of 'main' is 1, but its bounds are 2 to 64"),
             {products(65, 16),
              "extent 0 of argument #0 (%a) of 'main' is 65, but its bounds are 2 to 64"},
             {products(3, 17),
              "extent 1 of argument #0 (%a) of 'main' is 17, but its bounds are at most 16"},
             {{smallIntegers({3, 4}), smallIntegers({4, 0})},
              "extent 1 of argument #1 (%b) of 'main' is 0, but its bounds are 1 to 16"},
         }) {
      Status status = callStatus(main, arguments);
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
      EXPECT_EQ(std::string(status.message()), std::string("in.mlir:3:1: ") + message);
      Event event = main.callAsync(arguments);
      EXPECT_EQ(event.wait().toString(), status.toString());
    }
  }
}

TEST(ExtentBounds, StandInTheSignatureAndGoThroughTheCache) {
  TemporaryFolder folder;
  for (bool isSecond : {false, true}) {
    std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = folder.path()});
    std::shared_ptr<Module> module = load(*engine, boundedProducts());
    EXPECT_EQ(module->statistics().fromCache, isSecond);
    Function main = lookup(module, "main");
    EXPECT_EQ(toString(main.signature().arguments[0]),
              "?x?xf32 with extent 0 of 2 to 64, extent 1 of at most 16");
    EXPECT_THAT(callStatus(main, products(65, 16)).toString(), HasSubstr("2 to 64"));
    EXPECT_THAT(module->report(), HasSubstr("extent 0 of 2 to 64"));
    // What does not fit for another reason is told in full.
    EXPECT_THAT(callStatus(main, {scalarF32(1), smallIntegers({2, 2})}).toString(),
                HasSubstr("expected ?x?xf32 with extent 0 of 2 to 64"));
  }
}

// Each product reads the one before, so that two pieces of memory do, and one of them is the result: at most
// 64x16 floats are left.
TEST(ExtentBounds, TheSlabIsPlannedAtLoad) {
  std::shared_ptr<Engine> engine = makeEngine({.threads = 1, .policy = "workspace"});
  Function bounded = lookup(load(*engine, boundedProducts()), "main");
  Function open = lookup(load(*engine, dynamicProductsSource), "main");
  EXPECT_FALSE(open.signature().plan.buffers.empty());
  EXPECT_FALSE(open.workspaceRequirement().ok());
  EXPECT_TRUE(bounded.signature().plan.buffers.empty());
  EXPECT_EQ(bounded.signature().workspaceBytes, 64 * 16 * 4);
  EXPECT_TRUE(bounded.workspaceRequirement().ok());
  // The stack has room for what is small.
  std::shared_ptr<Engine> stack = makeEngine({.policy = "stack"});
  EXPECT_EQ(lookup(load(*stack, boundedProducts()), "main").signature().workspaceBytes, 0);
}

TEST(ExtentBounds, OfKernelsToo) {
  constexpr const char *source = R"(
func.func @f(%x: memref<?x4xf32> {plim.bounds = [{max = 8}, {}]}) -> f32 {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %t = memref.alloc(%n) : memref<?x4xf32>
  memref.copy %x, %t : memref<?x4xf32> to memref<?x4xf32>
  %v = memref.load %t[%c0, %c0] : memref<?x4xf32>
  memref.dealloc %t : memref<?x4xf32>
  return %v : f32
}
)";
  std::shared_ptr<Engine> engine = makeEngine();
  Function f = lookup(load(*engine, source), "f");
  EXPECT_EQ(std::get<Scalar>(callOk(f, {smallIntegers({8, 4})}).at(0)).bits, scalarF32(-3).bits);
  EXPECT_THAT(
      callStatus(f, {smallIntegers({9, 4})}).toString(),
      HasSubstr(
          "in.mlir:2:1: extent 0 of argument #0 (%x) of 'f' is 9, but its bounds are at most 8"));
  // On the stack: no context, so there is a raw pointer.
  ASSERT_NE(f.rawPointer(), nullptr);
  auto raw = reinterpret_cast<float (*)(const float *, int64_t)>(f.rawPointer());
  std::vector<float> x(8 * 4, 5);
  EXPECT_EQ(raw(x.data(), 8), 5);
}

TEST(ExtentBounds, SpecialisedCodeIsWithinThem) {
  std::shared_ptr<Engine> engine = makeEngine();
  LoadOptions options;
  options.specialization = SpecializationOptions{Specialization::OnRequest};
  std::shared_ptr<Module> module = load(*engine, boundedProducts(), options);
  Function main = lookup(module, "main");
  std::vector<float> expected = elements<float>(callOk(main, products(33, 16)).at(0));
  Status status = main.specialize(products(33, 16));
  EXPECT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(elements<float>(callOk(main, products(33, 16)).at(0)), expected);
  EXPECT_EQ(module->specializationStatistics().calls, 1);
  EXPECT_FALSE(main.specialize(products(65, 16)).ok());
}

} // namespace
} // namespace plim
