#include "tools/Progress.h"

#include "tools/RunStatistics.h"

#include <gtest/gtest.h>

#include <optional>
#include <sstream>

namespace plim::tools {
namespace {

TEST(ProgressText, EstimatesFromTheWorkDone) {
  EXPECT_EQ(progressText({0, 0, 0}, 3), "compiling");
  EXPECT_EQ(progressText({0, 0, 0.2}, 1), "compiling, 4 s left");
  EXPECT_EQ(progressText({0, 120, 0}, 3), "compiling 0 of 120 functions");
  EXPECT_EQ(progressText({37, 120, 0.5}, 3.2), "compiling 37 of 120 functions, 4 s left");
  EXPECT_EQ(progressText({1, 120, 0.01}, 2), "compiling 1 of 120 functions, 4 min left");
  EXPECT_EQ(progressText({120, 120, 1}, 60), "compiling 120 of 120 functions, 0 s left");
}

class ProgressLineTest : public ::testing::Test {
protected:
  /// What an update at that time, in seconds after the line was made, writes.
  std::string update(double at, const jit::CompileProgress &progress) {
    now = 100 + at;
    out.str("");
    line->update(progress);
    return out.str();
  }

  double now = 100;
  std::ostringstream out;
  std::optional<ProgressLine> line{std::in_place, out, [this] { return now; }};
};

TEST_F(ProgressLineTest, IsSilentForHalfASecond) {
  EXPECT_EQ(update(0.2, {0, 2, 0}), "");
  EXPECT_EQ(update(0.45, {2, 2, 1}), "");
  line.reset();
  EXPECT_EQ(out.str(), "");
}

TEST_F(ProgressLineTest, IsDrawnAgainAndWiped) {
  EXPECT_EQ(update(0.4, {0, 0, 0}), "");
  EXPECT_EQ(update(1, {1, 4, 0.25}), "\r\x1b[Kcompiling 1 of 4 functions, 3 s left");
  EXPECT_EQ(update(1.05, {2, 4, 0.5}), "");
  EXPECT_EQ(update(2, {3, 4, 0.5}), "\r\x1b[Kcompiling 3 of 4 functions, 2 s left");
  out.str("");
  line.reset();
  EXPECT_EQ(out.str(), "\r\x1b[K");
}

TEST(Quantile, IsTheLeastThatThePartDoesNotExceed) {
  std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(quantileOf(values, 0.5), 5);
  EXPECT_EQ(quantileOf(values, 0.9), 9);
  EXPECT_EQ(quantileOf(values, 0.99), 10);
  EXPECT_EQ(quantileOf({7}, 0.5), 7);
  EXPECT_EQ(quantileOf({7}, 0.99), 7);
}

} // namespace
} // namespace plim::tools
