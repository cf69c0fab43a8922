#include "support/Nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace plim {
namespace {

TEST(Nearest, LettersAreCounted) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("rnu", "run"), 2u);
  EXPECT_EQ(editDistance("matmul", "matmull"), 1u);
}

TEST(Nearest, SuggestsWhatIsNear) {
  const std::vector<std::string> names = {"run", "explain", "plan"};
  const auto of = [](std::string_view name, std::vector<std::string> all) {
    return suggestion(name, all);
  };
  EXPECT_EQ(of("rnu", names), "; did you mean 'run'?");
  EXPECT_EQ(of("explian", names), "; did you mean 'explain'?");
  EXPECT_EQ(of("compile", names), "");
  EXPECT_EQ(of("--html", {"--help"}), "");
  EXPECT_EQ(of("stack_budget", {"stack_budget_bytes"}), "; did you mean 'stack_budget_bytes'?");
  EXPECT_EQ(of("", names), "");
  EXPECT_EQ(of("run", {}), "");
}

} // namespace
} // namespace plim
