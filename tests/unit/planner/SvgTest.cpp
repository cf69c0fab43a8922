#include "planner/Svg.h"

#include <gtest/gtest.h>

namespace plim::planner {
namespace {

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size())
    ++found;
  return found;
}

TEST(PlannerSvg, DrawsAnIntervalEachAndMarksThePeak) {
  Problem problem;
  problem.pools[0].capacity = 9;
  for (int64_t i = 0; i < 3; ++i) {
    Buffer &buffer = problem.buffers.emplace_back();
    buffer.bytes = 4;
    buffer.lifetime = {{i, i + 2}};
  }
  problem.buffers[1].name = "<a & \"b\">\x1b";
  problem.buffers[2].lifetime.push_back({7, 8});
  std::string svg = drawSvg(problem, solve(problem));
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_EQ(count(svg, "<title>"), 4u);
  EXPECT_EQ(count(svg, ">peak 8<"), 1u);
  EXPECT_EQ(count(svg, ">capacity 9<"), 1u);
  EXPECT_EQ(count(svg, ">lower bound"), 0u);
  EXPECT_EQ(count(svg, "&lt;a &amp; &quot;b&quot;&gt;?: live 1 to 3, 4 bytes at "), 1u);
  EXPECT_EQ(count(svg, "<rect"), 1 + 1 + 4u);
}

TEST(PlannerSvg, DrawsAPanelForEachPool) {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "fast";
  problem.pools[1].name = "slow";
  EXPECT_EQ(count(drawSvg(problem, solve(problem)), "<text"), 4u);
}

} // namespace
} // namespace plim::planner
