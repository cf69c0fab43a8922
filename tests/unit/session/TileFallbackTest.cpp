// What is compiled, how often, until when, and what is told of it, where the kernel refuses tile registers. The kernel and
// the compiler are made up: few machines have any, and fewer refuse them.
#include "engine/session/TileFallback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace plim::session {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

struct Compiled {
  jit::Artifact artifact;
};

/// Says what it was asked for. Code uses tiles if it may.
class Compiler {
public:
  StatusOr<Compiled> operator()(bool mayUseTiles, const jit::CompileOptions &options) const {
    withTiles.push_back(mayUseTiles);
    begins.push_back(options.begin);
    for (double fraction : {0.0, 0.5, isShort && mayUseTiles ? 0.5 : 1.0})
      if (options.progress)
        options.progress({0, 0, fraction});
    if (fails)
      return unavailableError("no");
    Compiled result;
    if (mayUseTiles && usesTiles)
      result.artifact.requiredFeatures = {"amx-int8", "amx-tile"};
    return result;
  }

  bool usesTiles = true, isShort = false, fails = false;
  mutable std::vector<bool> withTiles;
  mutable std::vector<std::optional<std::chrono::steady_clock::time_point>> begins;
};

TEST(TileFallback, CompilesOnceWhereTilesAreGrantedOrNotUsed) {
  int asked = 0;
  TileFallback granted([&] { return ++asked > 0; });
  Compiler compiler;
  StatusOr<Compiled> result = granted.compile({}, compiler);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(jit::usesTiles(result->artifact));
  EXPECT_THAT(compiler.withTiles, ElementsAre(true));
  EXPECT_EQ(asked, 1);

  TileFallback refused([&] { return ++asked < 0; });
  compiler.usesTiles = false;
  EXPECT_TRUE(refused.compile({}, compiler).ok());
  compiler.usesTiles = true;
  compiler.fails = true;
  EXPECT_FALSE(refused.compile({}, compiler).ok());
  EXPECT_THAT(compiler.withTiles, ElementsAre(true, true, true));
  EXPECT_EQ(asked, 1);
}

TEST(TileFallback, CompilesTwiceOnlyOnce) {
  int asked = 0;
  TileFallback refused([&] { return ++asked < 0; });
  Compiler compiler;
  for (int i = 0; i < 3; ++i) {
    StatusOr<Compiled> result = refused.compile({}, compiler);
    ASSERT_TRUE(result.ok());
    EXPECT_FALSE(jit::usesTiles(result->artifact));
  }
  EXPECT_THAT(compiler.withTiles, ElementsAre(true, false, false, false));
  EXPECT_EQ(asked, 1);
}

TEST(TileFallback, BothHaveOneDeadline) {
  Compiler compiler;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(TileFallback([] { return false; }).compile({}, compiler).ok());
  ASSERT_EQ(compiler.begins.size(), 2u);
  EXPECT_EQ(compiler.begins[0], compiler.begins[1]);
  ASSERT_TRUE(compiler.begins[0].has_value());
  EXPECT_GE(*compiler.begins[0], before);
  // That of what they are a part of.
  jit::CompileOptions options;
  options.begin = before - std::chrono::seconds(1);
  compiler.begins.clear();
  EXPECT_TRUE(TileFallback([] { return false; }).compile(options, compiler).ok());
  EXPECT_THAT(compiler.begins, ElementsAre(Optional(*options.begin), Optional(*options.begin)));
}

TEST(TileFallback, ProgressDoesNotFall) {
  Compiler compiler;
  std::vector<double> told;
  jit::CompileOptions options;
  options.progress = [&](const jit::CompileProgress &progress) {
    told.push_back(progress.fraction);
  };
  EXPECT_TRUE(TileFallback([] { return false; }).compile(options, compiler).ok());
  EXPECT_THAT(told, ElementsAre(0, 0.5, 1));
  told.clear();
  compiler.isShort = true;
  EXPECT_TRUE(TileFallback([] { return false; }).compile(options, compiler).ok());
  EXPECT_THAT(told, ElementsAre(0, 0.5, 0.5, 1));
}

} // namespace
} // namespace plim::session
