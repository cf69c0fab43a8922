// Parameters from files: mapped, not copied, and errors that name what is wrong.
#include "tests/unit/session/EngineFixture.h"
#include "tests/unit/session/Mappings.h"
#include "tests/unit/tools/TemporaryFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace plim {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

std::string safetensors(std::string header, const std::string &data) {
  std::string file;
  for (size_t i = 0; i < 8; ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

/// A header of 64 bytes, so that the data are aligned; `offset` of them is empty.
std::string oneTensor(const std::string &name, const std::vector<float> &values) {
  std::string header = "{\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" +
                       std::to_string(values.size()) + "],\"data_offsets\":[0," +
                       std::to_string(4 * values.size()) + "]}}";
  header.append((8 - header.size() % 8) % 8, ' ');
  return safetensors(header, bytesOf(values));
}

std::string npy(const std::string &shape, const std::string &data, const char *order = "False",
                size_t padding = 64) {
  std::string header =
      std::string("{'descr': '<f4', 'fortran_order': ") + order + ", 'shape': " + shape + ", }";
  header.append((padding - (10 + header.size() + 1) % padding) % padding, ' ');
  header += '\n';
  std::string prefix = "\x93NUMPY";
  prefix += {1, 0, static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  return prefix + header + data;
}

struct LogLines {
  Logger logger() {
    return Logger(LogLevel::Info,
                  [this](LogLevel, std::string_view line) { lines.emplace_back(line); });
  }
  std::vector<std::string> lines;
};

std::vector<float> addTo(const std::vector<float> &x, Parameters parameters) {
  std::shared_ptr<Engine> engine = makeEngine();
  std::shared_ptr<Module> module =
      load(*engine, parameterSource, {.parameters = std::move(parameters)});
  if (!module)
    return {};
  return elements<float>(callOk(lookup(module, "main"), {makeBuffer<float>({4}, x)}).at(0));
}

TEST(Parameters, OfSafetensorsAreMapped) {
  auto file = std::make_unique<TemporaryFile>(oneTensor("w", {10, 20, 30, 40}));
  LogLines log;
  StatusOr<Parameters> parameters = loadParameters(file->path(), log.logger());
  ASSERT_TRUE(parameters.ok()) << parameters.status().toString();
  ASSERT_EQ(parameters->size(), 1u);
  const Buffer &w = parameters->at("w");
  EXPECT_TRUE(w.readOnly());
  EXPECT_THAT(mappingAt(w.data()), AllOf(StartsWith("r--p"), EndsWith(file->path())));
  EXPECT_DEATH(*static_cast<float *>(const_cast<void *>(w.data())) = 1, "");
  EXPECT_THAT(log.lines, IsEmpty());
  file.reset(); // what is mapped stays
  EXPECT_EQ(addTo({1, 2, 3, 4}, *parameters), (std::vector<float>{11, 22, 33, 44}));
}

TEST(Parameters, OfNpyAreMapped) {
  auto file = std::make_unique<TemporaryFile>(npy("(4,)", bytesOf({10, 20, 30, 40})));
  LogLines log;
  StatusOr<Buffer> w = loadParameter(file->path(), log.logger());
  ASSERT_TRUE(w.ok()) << w.status().toString();
  EXPECT_THAT(mappingAt(w->data()), AllOf(StartsWith("r--p"), EndsWith(file->path())));
  EXPECT_THAT(log.lines, IsEmpty());
  file.reset();
  EXPECT_EQ(addTo({1, 2, 3, 4}, {{"w", *w}}), (std::vector<float>{11, 22, 33, 44}));
}

TEST(Parameters, ThatAreNotAlignedAreCopiedAndTheLogSaysSo) {
  LogLines log;
  std::string header = "{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                       "\"w\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[1,17]}}";
  header.append((8 - header.size() % 8) % 8, ' ');
  TemporaryFile tensors(safetensors(header, "x" + bytesOf({10, 20, 30, 40})));
  StatusOr<Parameters> parameters = loadParameters(tensors.path(), log.logger());
  ASSERT_TRUE(parameters.ok());
  EXPECT_THAT(log.lines, ElementsAre(AllOf(StartsWith(tensors.path()), HasSubstr("'w'"))));
  EXPECT_EQ(addTo({1, 2, 3, 4}, {{"w", parameters->at("w")}}),
            (std::vector<float>{11, 22, 33, 44}));
  log.lines.clear();

  TemporaryFile odd(npy("(4,)", bytesOf({10, 20, 30, 40}), "False", 3));
  TemporaryFile columns(npy("(2, 2)", bytesOf({1, 3, 2, 4}), "True"));
  StatusOr<Buffer> w = loadParameter(odd.path(), log.logger());
  StatusOr<Buffer> transposed = loadParameter(columns.path(), log.logger());
  ASSERT_TRUE(w.ok() && transposed.ok());
  EXPECT_THAT(log.lines, ElementsAre(AllOf(StartsWith(odd.path()), HasSubstr("not aligned")),
                                     AllOf(StartsWith(columns.path()), HasSubstr("Fortran"))));
  EXPECT_EQ(elements<float>(*w), (std::vector<float>{10, 20, 30, 40}));
  EXPECT_EQ(elements<float>(*transposed), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Parameters, WithoutElementsAreBound) {
  TemporaryFile file(npy("(0,)", ""));
  StatusOr<Buffer> w = loadParameter(file.path());
  ASSERT_TRUE(w.ok()) << w.status().toString();
  EXPECT_EQ(w->elementCount(), 0);
  TemporaryFile none(safetensors("{}", ""));
  StatusOr<Parameters> parameters = loadParameters(none.path());
  ASSERT_TRUE(parameters.ok());
  EXPECT_TRUE(parameters->empty());
}

TEST(Parameters, OfBadFilesAreErrorsThatNameThem) {
  TemporaryFile bad("nonsense that is no file of tensors");
  for (const Status &status :
       {loadParameters(bad.path()).status(), loadParameter(bad.path()).status()}) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(status.message()), StartsWith(bad.path()));
  }
  EXPECT_EQ(loadParameters("/no/such").status().code(), StatusCode::NotFound);
  EXPECT_EQ(loadParameter("/no/such").status().code(), StatusCode::NotFound);
}

TEST(Parameters, ThatNothingReadsMayBeBound) {
  // @unused is not read at all, @folded only for what nobody uses.
  const char *source = R"(
    ml_program.global private @unused(#ml_program.extern<tensor<3xf32>>) : tensor<3xf32>
    ml_program.global private @folded(#ml_program.extern<tensor<5x4xf32>>) : tensor<5x4xf32>
    ml_program.global private @w(#ml_program.extern<tensor<4xf32>>) : tensor<4xf32>
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %w = ml_program.global_load_const @w : tensor<4xf32>
      %folded = ml_program.global_load_const @folded : tensor<5x4xf32>
      %y = arith.addf %x, %w : tensor<4xf32>
      %twice = arith.addf %folded, %folded : tensor<5x4xf32>
      return %y : tensor<4xf32>
    })";
  TemporaryFolder cache;
  Buffer w = makeBuffer<float>({4}, {10, 20, 30, 40});
  Buffer unused = makeBuffer<float>({3}, {1, 2, 3});
  Buffer folded = makeBuffer<float>({5, 4}, std::vector<float>(20));
  // Also of an artifact from a cache.
  for (int turn = 0; turn < 2; ++turn) {
    std::shared_ptr<Engine> engine = makeEngine({.cacheFolder = cache.path()});
    for (const Parameters &parameters :
         {Parameters{{"w", w}}, Parameters{{"w", w}, {"unused", unused}, {"folded", folded}}}) {
      std::shared_ptr<Module> module = load(*engine, source, {.parameters = parameters});
      ASSERT_TRUE(module);
      std::vector<Value> results =
          callOk(lookup(module, "main"), {makeBuffer<float>({4}, {1, 2, 3, 4})});
      EXPECT_EQ(elements<float>(results.at(0)), (std::vector<float>{11, 22, 33, 44}));
    }
    Status status =
        engine->load(source, "in.mlir", {.parameters = {{"w", w}, {"unusd", unused}}}).status();
    EXPECT_EQ(status.message(),
              "in.mlir: the module has no parameter 'unusd'; did you mean 'unused'?");
  }
}

TEST(Parameters, TheNearestNameIsSuggested) {
  Buffer w = makeBuffer<float>({4}, {1, 2, 3, 4});
  Status status =
      makeEngine()->load(parameterSource, "in.mlir", {.parameters = {{"ww", w}}}).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "in.mlir: the module has no parameter 'ww'; did you mean 'w'?");
  // An empty handle binds nothing.
  status = makeEngine()->load(parameterSource, "in.mlir", {.parameters = {{"w", {}}}}).status();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
}

} // namespace
} // namespace plim
