#include "planner/Csv.h"

#include <gtest/gtest.h>

namespace plim::planner {
namespace {

constexpr const char *exampleText = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n";

Problem readGood(std::string_view text, std::vector<std::string> pools = {""}) {
  Problem problem;
  problem.pools.clear();
  for (std::string &name : pools)
    problem.pools.emplace_back().name = std::move(name);
  std::optional<CsvFault> fault = readCsv(text, problem);
  EXPECT_FALSE(fault) << fault->line << ":" << fault->column << ": " << fault->message;
  return problem;
}

/// "line:column: message", or nothing.
std::string faultOf(std::string_view text) {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "fast";
  problem.pools[1].name = "slow";
  std::optional<CsvFault> fault = readCsv(text, problem);
  if (!fault)
    return "";
  return std::to_string(fault->line) + ":" + std::to_string(fault->column) + ": " + fault->message;
}

TEST(PlannerCsv, ReadsTheFourColumns) {
  Problem problem = readGood(exampleText);
  ASSERT_EQ(problem.buffers.size(), 3u);
  const Buffer &second = problem.buffers[1];
  EXPECT_EQ(second.name, "b2");
  ASSERT_EQ(second.lifetime.size(), 1u);
  EXPECT_EQ(second.lifetime[0].lower, 3);
  EXPECT_EQ(second.lifetime[0].upper, 9);
  EXPECT_EQ(second.bytes, 4);
  EXPECT_EQ(second.alignment, 1);
  EXPECT_FALSE(second.offset);
  EXPECT_TRUE(second.pools.empty());
}

TEST(PlannerCsv, ReadsTheNamesOfOtherTools) {
  Problem problem = readGood("buffer_id,start,end,size\nx,0,2,4\n");
  EXPECT_EQ(problem.buffers[0].name, "x");
  EXPECT_EQ(problem.buffers[0].lifetime[0].lower, 0);
  EXPECT_EQ(problem.buffers[0].lifetime[0].upper, 3);
  EXPECT_EQ(readGood("buffer,begin,upper,size\nx,1,2,4\n").buffers[0].lifetime[0].upper, 2);
  EXPECT_EQ(faultOf("id,buffer,lower,upper,size\n"), "1:4: column 'buffer' is there twice");
  EXPECT_EQ(faultOf("id,start,end,size\nx,0,9223372036854775807,4\n"),
            "2:5: end '9223372036854775807' is the last time there is");
}

TEST(PlannerCsv, ReadsGaps) {
  auto lifetimeOf = [](const std::string &header, const std::string &row) {
    std::string result;
    Problem problem = readGood(header + "\n" + row + "\n");
    for (Interval live : problem.buffers[0].lifetime)
      result += std::to_string(live.lower) + ".." + std::to_string(live.upper) + " ";
    return result;
  };
  EXPECT_EQ(lifetimeOf("id,lower,upper,size,gaps", "x,0,20,4,3-5 9-12"), "0..3 5..9 12..20 ");
  EXPECT_EQ(lifetimeOf("id,lower,upper,size,gaps", "x,0,20,4,"), "0..20 ");
  EXPECT_EQ(lifetimeOf("id,start,end,size,gaps", "x,0,20,4,3-5"), "0..3 6..21 ");
  EXPECT_EQ(lifetimeOf("id,lower,upper,size,gaps", "x,-9,-1,4,-7--5"), "-9..-7 -5..-1 ");
  for (const char *bad : {"3", "3-", "-3", "a-b", "3-5-7", "3:5"})
    EXPECT_EQ(faultOf(std::string("id,lower,upper,size,gaps\nx,0,20,4,") + bad + "\n"),
              std::string("2:10: gap '") + bad + "' must be two times such as 3-5");
  for (const char *bad : {"5-3", "-1-3", "15-21", "3-5 4-6"})
    EXPECT_NE(faultOf(std::string("id,lower,upper,size,gaps\nx,0,20,4,") + bad + "\n")
                  .find("is not within the lifetime"),
              std::string::npos);
}

TEST(PlannerCsv, GapsKeepSomeBytes) {
  // During the gap two buffers of 4 bytes are beside the two that x keeps in the middle.
  std::string text = "id,lower,upper,size,alignment,gaps\n"
                     "x,0,9,10,1,3-6@4:6\n"
                     "y,3,6,4,1,\n"
                     "z,3,6,4,1,\n";
  Problem problem = readGood(text);
  ASSERT_EQ(problem.buffers.size(), 4u);
  const Buffer &window = problem.buffers[3];
  EXPECT_EQ(window.name, "x@4:6");
  EXPECT_EQ(window.base, 0u);
  EXPECT_EQ(window.delta, 4);
  EXPECT_EQ(window.bytes, 2);
  EXPECT_EQ(window.lifetime[0].lower, 3);
  EXPECT_EQ(window.lifetime[0].upper, 6);
  Plan plan = solve(problem);
  EXPECT_EQ(verify(problem, plan), "");
  EXPECT_EQ(plan.peaks[0], 10);
  EXPECT_EQ(plan.offsets[3], plan.offsets[0] + 4);
  // A solution has a line for each line, and is read again.
  Problem pinned = readGood(writeCsv(text, problem, plan));
  ASSERT_EQ(pinned.buffers.size(), 4u);
  EXPECT_EQ(pinned.buffers[0].offset, plan.offsets[0]);
  EXPECT_EQ(solve(pinned).offsets, plan.offsets);

  // As `end` counts, and in the pool of the buffer.
  problem = readGood("id,start,end,size,gaps,pools\nx,0,9,10,1-2 3-5@0:2 6-6@2:2,b\n", {"a", "b"});
  ASSERT_EQ(problem.buffers.size(), 3u);
  EXPECT_EQ(problem.buffers[1].lifetime[0].upper, 6);
  EXPECT_EQ(problem.buffers[1].pools, (std::vector<uint32_t>{1}));

  for (const char *bad : {"3-5@", "3-5@1", "3-5@a:2", "3-5@1:2:3", "3-5@1-2"})
    EXPECT_EQ(faultOf(std::string("id,lower,upper,size,gaps\nx,0,20,4,") + bad + "\n"),
              std::string("2:10: gap '") + bad + "' must keep bytes such as @64:128");
  for (const char *bad : {"3-5@-1:2", "3-5@2:1", "3-5@0:5"})
    EXPECT_EQ(faultOf(std::string("id,lower,upper,size,gaps\nx,0,20,4,") + bad + "\n"),
              std::string("2:10: gap '") + bad + "' keeps bytes that are not within the buffer");
}

TEST(PlannerCsv, MessagesHoldNoControlCharacters) {
  EXPECT_EQ(faultOf("id,lower,upper,size\n\x1b[31mx,0,1,4\n\x1b[31mx,0,1,4\n"),
            "3:1: id '\\x1b[31mx' is taken by line 2");
  EXPECT_EQ(faultOf("id,lower,upper,size\n\xc2\x9bx\xc3\xa9,a,1,4\n"),
            "2:7: lower 'a' is no whole number");
  EXPECT_EQ(faultOf("\xc2\x9bi\xc3\xa9\n").substr(0, 37),
            "1:1: no column is called '\\xc2\\x9bi\xc3\xa9");
}

TEST(PlannerCsv, ReadsAllColumnsInAnyOrder) {
  Problem problem = readGood("offset,pools,size,alignment,upper,lower,id\n"
                             "64,slow;fast,10,16,-2,-5,x\n"
                             ",,0,,7,7,y\n"
                             ",\"fast,slow\",1,1,7,6,z\n",
                             {"fast", "slow"});
  ASSERT_EQ(problem.buffers.size(), 3u);
  EXPECT_EQ(problem.buffers[0].offset, 64);
  EXPECT_EQ(problem.buffers[0].pools, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(problem.buffers[0].alignment, 16);
  EXPECT_EQ(problem.buffers[0].lifetime[0].lower, -5);
  EXPECT_EQ(problem.buffers[1].name, "y");
  EXPECT_FALSE(problem.buffers[1].offset);
  EXPECT_EQ(problem.buffers[1].alignment, 1);
  EXPECT_TRUE(problem.buffers[1].pools.empty());
  EXPECT_EQ(problem.buffers[2].pools, (std::vector<uint32_t>{0, 1}));
}

TEST(PlannerCsv, TakesEveryCommonForm) {
  const char *forms[] = {
      "id,lower,upper,size\r\nb1,0,3,4\r\nb2,3,9,4\r\nb3,0,9,4\r\n",
      "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4", // no end of the last line
      "\n\nid,lower,upper,size\n\n  \nb1,0,3,4\n\t\nb2,3,9,4\n\r\nb3,0,9,4\n\n",
      "\xef\xbb\xbfid,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n",
      " id , lower,\tupper ,size\n b1,0 , 3,4\nb2, 3,9,4 \nb3,0,9,\t4\n",
      "\"id\",\"lower\",\"upper\",\"size\"\n\"b1\",\"0\",3,4\nb2,3,9,4\nb3 ,0,9,\"4\" \n",
  };
  Problem expected = readGood(exampleText);
  for (const char *text : forms) {
    Problem problem = readGood(text);
    ASSERT_EQ(problem.buffers.size(), expected.buffers.size()) << text;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer &have = problem.buffers[i], &want = expected.buffers[i];
      EXPECT_EQ(have.name, want.name);
      EXPECT_EQ(have.bytes, want.bytes);
      EXPECT_EQ(have.lifetime[0].lower, want.lifetime[0].lower);
      EXPECT_EQ(have.lifetime[0].upper, want.lifetime[0].upper);
    }
  }
}

TEST(PlannerCsv, QuotedIdsMayHoldAnything) {
  const char *text = "id,lower,upper,size\n\"a,\"\"b\"\"\nc\",0,1,4\n\"\"\"\",0,1,4\n";
  Problem problem = readGood(text);
  ASSERT_EQ(problem.buffers.size(), 2u);
  EXPECT_EQ(problem.buffers[0].name, "a,\"b\"\nc");
  EXPECT_EQ(problem.buffers[1].name, "\"");
  EXPECT_EQ(writeCsv(text, problem, solve(problem)),
            "id,lower,upper,size,offset\n\"a,\"\"b\"\"\nc\",0,1,4,0\n\"\"\"\",0,1,4,4\n");
}

TEST(PlannerCsv, AHeaderAloneIsAProblemWithoutBuffers) {
  EXPECT_TRUE(readGood("id,lower,upper,size\n").buffers.empty());
}

TEST(PlannerCsv, TheLargestNumbersAreRead) {
  Problem problem = readGood("id,lower,upper,size\n"
                             "x,-9223372036854775808,9223372036854775807,9223372036854775807\n");
  EXPECT_EQ(problem.buffers[0].lifetime[0].lower, INT64_MIN);
  EXPECT_EQ(problem.buffers[0].bytes, INT64_MAX);
  EXPECT_NE(check(problem), "");
}

TEST(PlannerCsv, FaultsSayWhere) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "1:1: there is no header"},
      {"\n \n", "1:1: there is no header"},
      {"id,lower,upper\n", "1:1: column 'size' is missing"},
      {"\nlower,upper,size\n", "2:1: column 'id' is missing"},
      {"0,0,3,4\n", "1:1: no column is called '0': there are id, lower, upper, size, alignment, "
                    "gaps, offset, pools, pool"},
      {"id,lower,upper,size,aligment\n",
       "1:21: no column is called 'aligment': there are id, lower, upper, size, alignment, "
       "gaps, offset, pools, pool"},
      {"id,lower,upper,size,id\n", "1:21: column 'id' is there twice"},
      {"id,lower,upper,size\nb1,0,3\n", "2:6: this line has 3 cells, the header 4"},
      {"id,lower,upper,size\nb1,0,3,4,5,6\n", "2:10: this line has 6 cells, the header 4"},
      {"id,lower,upper,size\nb1,0,3,4\nb2,0,1,1\nb1,1,2,3\n", "4:1: id 'b1' is taken by line 2"},
      {"id,lower,upper,size\n,0,3,4\n", "2:1: the id is empty"},
      {"id,lower,upper,size\nb1,5,3,4\n", "2:6: upper 3 is before lower 5"},
      {"id,lower,upper,size\nb1,0,3,-4\n", "2:8: size -4 is negative"},
      {"id,lower,upper,size\nb1,0,3,4x\n", "2:8: size '4x' is no whole number"},
      {"id,lower,upper,size\nb1,0,3,1e3\n", "2:8: size '1e3' is no whole number"},
      {"id,lower,upper,size\nb1,,3,4\n", "2:4: lower is empty"},
      {"id,lower,upper,size\nb1,0,3,9223372036854775808\n",
       "2:8: size '9223372036854775808' does not fit into 64 bits"},
      {"id,lower,upper,size\nb1,-9223372036854775809,3,4\n",
       "2:4: lower '-9223372036854775809' does not fit into 64 bits"},
      {"id,lower,upper,size,alignment\nb1,0,3,4,0\n", "2:10: alignment 0 is below 1"},
      {"id,lower,upper,size,offset\nb1,0,3,4,-1\n", "2:10: offset -1 is negative"},
      {"id,lower,upper,size,pools\nb1,0,3,4,fast;quick\n", "2:10: pool 'quick' is unknown"},
      {"id,lower,upper,size,pools\nb1,0,3,4,fast fast\n", "2:10: pool 'fast' is there twice"},
      {"id,lower,upper,size,pool\nb1,0,3,4,quick\n", "2:10: pool 'quick' is unknown"},
      {"id,lower,upper,size\nb1,0,3,4\n\"b2,0,3,4\n", "3:1: a quote is never closed"},
      {"id,lower,upper,size\n\"b\n1\" x,0,3,4\n", "3:4: there is text after a closing quote"},
      {"id,lower,upper,size\n\"b\n1\",0,2,-4\n", "3:8: size -4 is negative"},
      {"id,lower,upper,size\n  b1 ,  0,  3, -4\n", "2:16: size -4 is negative"},
  };
  for (auto [text, message] : cases)
    EXPECT_EQ(faultOf(text), message) << text;
}

TEST(PlannerCsv, ASolutionIsTheInputAndTheOffsets) {
  Problem problem = readGood(exampleText);
  Plan plan = solve(problem);
  ASSERT_EQ(verify(problem, plan), "");
  std::string solution = writeCsv(exampleText, problem, plan);
  EXPECT_TRUE(solution.starts_with("id,lower,upper,size,offset\nb1,0,3,4,")) << solution;
  Problem pinned = readGood(solution);
  Plan again = solve(pinned);
  EXPECT_EQ(again.offsets, plan.offsets);
  // What is pinned stays in its column.
  EXPECT_EQ(writeCsv(solution, pinned, again), solution);
}

TEST(PlannerCsv, SolutionsKeepLineEndsAndColumns) {
  const char *text = "size,id,offset,lower,upper\r\n\r\n8,\"x\",,0,2\r\n4,y,16,1,3\r\n";
  Problem problem = readGood(text);
  EXPECT_EQ(writeCsv(text, problem, solve(problem)),
            "size,id,offset,lower,upper\r\n8,\"x\",0,0,2\r\n4,y,16,1,3\r\n");
}

TEST(PlannerCsv, SolutionsNamePools) {
  const char *text = "id,lower,upper,size,pools\nx,0,2,8,slow\ny,1,3,4,\n";
  Problem problem = readGood(text, {"fast", "slow"});
  Plan plan = solve(problem);
  std::string solution = writeCsv(text, problem, plan);
  EXPECT_EQ(solution, "id,lower,upper,size,pools,offset,pool\n"
                      "x,0,2,8,slow,0,slow\ny,1,3,4,,0,fast\n");
  Problem pinned = readGood(solution, {"fast", "slow"});
  EXPECT_EQ(pinned.buffers[1].pools, std::vector<uint32_t>{0});
  Plan again = solve(pinned);
  EXPECT_EQ(writeCsv(solution, pinned, again), solution);
}

} // namespace
} // namespace plim::planner
