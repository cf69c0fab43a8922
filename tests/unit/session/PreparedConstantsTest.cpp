// What depends on constants alone is computed once, behind the link, and belongs to the module.
#include "tests/unit/session/EngineFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

namespace plim {
namespace {

using namespace testing;
using ::testing::ElementsAre;

/// x times 40 x 40 weights of i8, halved; the name of the function that others may want is taken.
constexpr const char *source = R"(
ml_program.global private @w(#ml_program.extern<tensor<40x40xi8>>) : tensor<40x40xi8>
func.func @plim.prepare(%x: f32) -> f32 {
  return %x : f32
}
func.func @main(%x: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %w = ml_program.global_load_const @w : tensor<40x40xi8>
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<40x40xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<40x40xi8>) outs(%e : tensor<40x40xf32>) {
  ^bb0(%a: i8, %o: f32):
    %b = arith.sitofp %a : i8 to f32
    %c = arith.mulf %b, %half : f32
    linalg.yield %c : f32
  } -> tensor<40x40xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x40xf32>
  %z = arith.constant 0.0 : f32
  %r = tensor.empty(%n) : tensor<?x40xf32>
  %zero = linalg.fill ins(%z : f32) outs(%r : tensor<?x40xf32>) -> tensor<?x40xf32>
  %p = linalg.matmul ins(%x, %f : tensor<?x40xf32>, tensor<40x40xf32>) outs(%zero : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %p : tensor<?x40xf32>
}
)";

std::vector<int8_t> weights(int seed) {
  std::vector<int8_t> values(1600);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int8_t>((i * 37 + static_cast<size_t>(seed) * 11) % 251 - 125);
  return values;
}

std::vector<float> inputs(size_t rows) {
  std::vector<float> values(rows * 40);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 7) - 3;
  return values;
}

/// All numbers are small multiples of a half: sums are exact in any order.
std::vector<float> expectedProduct(const std::vector<float> &x, const std::vector<int8_t> &w) {
  std::vector<float> product(x.size());
  for (size_t row = 0; row < x.size() / 40; ++row)
    for (size_t k = 0; k < 40; ++k)
      for (size_t column = 0; column < 40; ++column)
        product[row * 40 + column] +=
            x[row * 40 + k] * 0.5F * static_cast<float>(w[k * 40 + column]);
  return product;
}

Parameters parametersOf(const std::vector<int8_t> &w) {
  return {{"w", makeBuffer<int8_t>({40, 40}, w)}};
}

std::vector<float> product(const std::shared_ptr<Module> &module, size_t rows) {
  return elements<float>(
      callOk(lookup(module, "main"), {makeBuffer<float>({int64_t(rows), 40}, inputs(rows))}).at(0));
}

TEST(PreparedConstants, BelongToTheModuleThatTheyWereMadeFor) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> first = load(*engine, source, {.parameters = parametersOf(weights(1))}),
                          second = load(*engine, source, {.parameters = parametersOf(weights(2))});
  ASSERT_TRUE(first && second);
  for (size_t rows : {size_t{1}, size_t{7}, size_t{33}}) {
    EXPECT_EQ(product(first, rows), expectedProduct(inputs(rows), weights(1)));
    EXPECT_EQ(product(second, rows), expectedProduct(inputs(rows), weights(2)));
  }
}

TEST(PreparedConstants, AreNoFunctionOfTheModule) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module = load(*engine, source, {.parameters = parametersOf(weights(1))});
  ASSERT_TRUE(module);
  std::vector<std::string> names;
  for (const jit::FunctionSignature &function : module->functions())
    names.push_back(function.name);
  EXPECT_THAT(names, ElementsAre("plim.prepare", "main"));
  EXPECT_EQ(module->lookup("plim.prepare")->signature().results.size(), 1U);
}

TEST(PreparedConstants, AreMadeOfWhatIsBoundWhenAnArtifactIsLinked) {
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<jit::Artifact> compiled = engine->compile(source, "prepared.mlir", {});
  ASSERT_TRUE(compiled.ok()) << compiled.status().toString();
  size_t prepared = 0;
  for (const jit::DataSymbol &symbol : compiled->symbols)
    prepared += symbol.kind == jit::DataKind::Prepared;
  EXPECT_EQ(prepared, 1U);
  for (int seed : {3, 4}) {
    StatusOr<jit::Artifact> artifact = jit::deserialize(jit::serialize(*compiled));
    ASSERT_TRUE(artifact.ok()) << artifact.status().toString();
    StatusOr<std::shared_ptr<Module>> module =
        engine->link(std::move(*artifact), parametersOf(weights(seed)));
    ASSERT_TRUE(module.ok()) << module.status().toString();
    EXPECT_EQ(product(*module, 5), expectedProduct(inputs(5), weights(seed)));
  }
}

/// Two functions want the same value and one that is computed of it: each of them is made once, the second of the first.
TEST(PreparedConstants, AreMadeOfOthersThatSeveralFunctionsWant) {
  std::vector<float> w(64);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<float>(i) - 20;
  std::shared_ptr<Module> module = load(*makeEngine(), R"(
ml_program.global private @w(#ml_program.extern<tensor<8x8xf32>>) : tensor<8x8xf32>
func.func @first() -> tensor<8x8xf32> {
  %w = ml_program.global_load_const @w : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.add ins(%w, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}
func.func @second() -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %w = ml_program.global_load_const @w : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.add ins(%w, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.mul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
}
)",
                                        {.parameters = {{"w", makeBuffer<float>({8, 8}, w)}}});
  ASSERT_TRUE(module);
  std::vector<float> twice, product;
  for (float each : w) {
    twice.push_back(2 * each);
    product.push_back(2 * each * each);
  }
  EXPECT_EQ(elements<float>(callOk(lookup(module, "first"), {}).at(0)), twice);
  const std::vector<runtime::Value> both = callOk(lookup(module, "second"), {});
  EXPECT_EQ(elements<float>(both.at(0)), twice);
  EXPECT_EQ(elements<float>(both.at(1)), product);
}

/// The engine arranges them without code, and keeps of a constant only what functions read.
TEST(PreparedConstants, AreArrangedOfWhatIsNotKept) {
  constexpr const char *text = R"(
func.func @main() -> tensor<32x64xf32> {
  %w = arith.constant dense_resource<w> : tensor<64x32xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
  return %t : tensor<32x64xf32>
}
)";
  std::vector<float> w(2048), want(2048);
  for (size_t i = 0; i < w.size(); ++i)
    want[i % 32 * 64 + i / 32] = w[i] = static_cast<float>(i);
  std::string resource = "0x04000000"; // the alignment, then the elements
  for (float each : w)
    for (unsigned char byte : std::bit_cast<std::array<unsigned char, 4>>(each)) {
      resource += "0123456789ABCDEF"[byte / 16];
      resource += "0123456789ABCDEF"[byte % 16];
    }
  const std::string source =
      text + ("{-#\n dialect_resources: { builtin: { w: \"" + resource) + "\" } }\n#-}";
  std::shared_ptr<Engine> engine = makeEngine();
  StatusOr<jit::Artifact> compiled = engine->compile(source, "arranged.mlir", {});
  ASSERT_TRUE(compiled.ok()) << compiled.status().toString();
  EXPECT_EQ(compiled->objects.size(), 1U);
  EXPECT_FALSE(compiled->functions.back().prepares);
  const std::shared_ptr<Module> modules[] = {load(*engine, source, {}), load(*engine, source, {})};
  for (const std::shared_ptr<Module> &module : modules) {
    ASSERT_TRUE(module);
    EXPECT_EQ(elements<float>(callOk(lookup(module, "main"), {}).at(0)), want);
    EXPECT_EQ(module->statistics().sharedConstantBytes, 0);
  }
}

/// Parameters too: what no code reads as it is goes when it is arranged, but where other code may come that reads it.
TEST(PreparedConstants, LetGoOfTheParametersThatTheyAreArrangedOf) {
  constexpr const char *text = R"(
ml_program.global private @w(#ml_program.extern<tensor<64x32xf32>>) : tensor<64x32xf32>
func.func @main(%x: tensor<?xf32>) -> (tensor<32x64xf32>, tensor<?xf32>) {
  %w = ml_program.global_load_const @w : tensor<64x32xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
  return %t, %x : tensor<32x64xf32>, tensor<?xf32>
}
)";
  std::vector<float> w(2048), want(2048);
  for (size_t i = 0; i < w.size(); ++i)
    want[i % 32 * 64 + i / 32] = w[i] = static_cast<float>(i);
  for (Specialization mode : {Specialization::None, Specialization::OnRequest}) {
    bool isGone = false;
    const std::array<int64_t, 2> shape{64, 32};
    StatusOr<Buffer> parameter = Buffer::wrap(
        w.data(), ElementType::F32, shape, true,
        [](void *user, void *) { *static_cast<bool *>(user) = true; }, &isGone);
    ASSERT_TRUE(parameter.ok());
    LoadOptions options;
    options.specialization = SpecializationOptions{.mode = mode};
    options.parameters["w"] = std::move(*parameter);
    std::shared_ptr<Module> module = load(*makeEngine(), text, options);
    options.parameters.clear();
    ASSERT_TRUE(module);
    EXPECT_EQ(isGone, mode == Specialization::None);
    const std::vector<runtime::Value> arguments = {makeBuffer<float>({2}, {1, 2})};
    EXPECT_EQ(elements<float>(callOk(lookup(module, "main"), arguments).at(0)), want);
    module.reset();
    EXPECT_TRUE(isGone);
  }
}

TEST(PreparedConstants, AreSharedWithCodeForCertainExtents) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module =
      load(*engine, source,
           {.parameters = parametersOf(weights(5)),
            .specialization = SpecializationOptions{.mode = Specialization::OnRequest}});
  ASSERT_TRUE(module);
  Function function = lookup(module, "main");
  Status status =
      function.specialize(std::vector<runtime::Value>{makeBuffer<float>({16, 40}, inputs(16))});
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(module->specializationStatistics().made, 1U);
  for (size_t rows : {size_t{16}, size_t{17}})
    EXPECT_EQ(product(module, rows), expectedProduct(inputs(rows), weights(5)));
}

/// Extents decide in which order weights are read best; those that there are do for all of them.
TEST(PreparedConstants, AreThoseOfTheCodeForAllExtents) {
  constexpr size_t width = 512;
  StatusOr<std::shared_ptr<Module>> loaded = makeEngine()->load(
      R"(
ml_program.global private @w(#ml_program.extern<tensor<512x512xf32>>) : tensor<512x512xf32>
func.func @main(%x: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %w = ml_program.global_load_const @w : tensor<512x512xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x512xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x512xf32>, tensor<512x512xf32>) outs(%f : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %p : tensor<?x512xf32>
}
)",
      "extents.mlir",
      {.parameters = {{"w", makeBuffer<float>({int64_t(width), int64_t(width)},
                                              [] {
                                                std::vector<float> values(width * width);
                                                for (size_t i = 0; i < values.size(); ++i)
                                                  values[i] = static_cast<float>(i * 7 % 11) - 5;
                                                return values;
                                              }())}},
       .specialization = SpecializationOptions{.mode = Specialization::OnRequest}});
  ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
  std::shared_ptr<Module> module = *loaded;
  Function function = lookup(module, "main");
  for (size_t rows : {size_t{1}, size_t{2}, size_t{64}}) {
    std::vector<float> x(rows * width), want(rows * width);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i % 5) - 2;
    for (size_t i = 0; i < want.size(); ++i)
      for (size_t k = 0; k < width; ++k)
        want[i] +=
            x[i / width * width + k] * (static_cast<float>((k * width + i % width) * 7 % 11) - 5);
    const std::vector<runtime::Value> arguments = {
        makeBuffer<float>({int64_t(rows), int64_t(width)}, x)};
    const Status status = function.specialize(arguments);
    ASSERT_TRUE(status.ok()) << rows << " rows: " << status.toString();
    EXPECT_EQ(elements<float>(callOk(function, arguments).at(0)), want) << rows << " rows";
  }
  EXPECT_EQ(module->specializationStatistics().made, 3U);
}

TEST(PreparedConstants, AreNotMadeWhereMemoryIsWhatWasGiven) {
  std::shared_ptr<Engine> engine = makeEngine();
  for (const char *policy : {"fixed:65536", "auto"}) {
    StatusOr<jit::Artifact> compiled = engine->compile(source, "prepared.mlir", {.policy = policy});
    ASSERT_TRUE(compiled.ok()) << compiled.status().toString();
    EXPECT_EQ(compiled->functions.back().prepares, std::string(policy) == "auto");
  }
}

} // namespace
} // namespace plim
