#include "tools/PlanCommand.h"

#include "tests/unit/tools/Outcome.h"
#include "tests/unit/tools/TemporaryFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace plim::tools {
namespace {

using plim::testing::Outcome;
using plim::testing::outcomeOf;
using plim::testing::TemporaryFile;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr const char *example = "id,lower,upper,size\n"
                                "b1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

Outcome plan(const PlanOptions &options) { return outcomeOf(runPlanCommand, options); }

class PlanCommandTest : public ::testing::Test {
protected:
  PlanOptions optionsFor(std::string_view text) {
    problem.write(text);
    PlanOptions options;
    options.file = problem.path();
    return options;
  }

  /// One diagnostic, located in the file.
  void expectFailure(const PlanOptions &options, const std::string &message, int status = 1) {
    Outcome outcome = plan(options);
    EXPECT_EQ(outcome.status, status);
    EXPECT_EQ(outcome.err, "error: " + message + "\n");
    if (status == 2)
      EXPECT_EQ(outcome.out, "");
  }

  TemporaryFile problem;
};

TEST_F(PlanCommandTest, PrintsThePlan) {
  Outcome outcome = plan(optionsFor(example));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              MatchesRegex("buffers: 5\npeak: 12\nlower bound: 12\ngap: 0 \\(0.00%\\)\n"
                           "status: optimal\nnodes: [0-9]+\ntime: [0-9.]+ ms\n"));
}

TEST_F(PlanCommandTest, WritesACertificate) {
  TemporaryFile certificate;
  PlanOptions options = optionsFor(example);
  options.certificate = certificate.path();
  EXPECT_EQ(plan(options).status, 0);
  EXPECT_EQ(certificate.read(), "plimsoll certificate 1\npeak 12\nbuffers 5\nroot: L0\n");
  options.pools = {"a", "b"};
  expectFailure(options, options.file +
                             ": a certificate is of one pool without an alignment, and of "
                             "buffers without parts, listed conflicts and pairs in place");
}

TEST_F(PlanCommandTest, WritesTheSolution) {
  TemporaryFile solution;
  PlanOptions options = optionsFor(example);
  options.output = solution.path();
  ASSERT_EQ(plan(options).status, 0);
  std::string text = solution.read();
  EXPECT_THAT(text, StartsWith("id,lower,upper,size,offset\nb1,0,3,4,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  // As a problem it has the same plan, and no other.
  options.file = solution.path();
  options.capacity = 12;
  EXPECT_THAT(plan(options).out, HasSubstr("peak: 12\n"));
  EXPECT_EQ(solution.read(), text);
  options.output = "/no/such/folder/s.csv";
  expectFailure(options, "cannot write '/no/such/folder/s.csv': No such file or directory");
}

TEST_F(PlanCommandTest, AFileWithoutBuffersHasAPlan) {
  Outcome outcome = plan(optionsFor("id,lower,upper,size\n"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("peak: 0\nlower bound: 0\ngap: 0 (0.00%)\n"));
  EXPECT_EQ(outcome.err,
            "warning: " + problem.path() + ": there is a header, but no buffer below it\n");
}

TEST_F(PlanCommandTest, TakesATimeAndDraws) {
  TemporaryFile picture;
  PlanOptions options = optionsFor(example);
  options.seconds = 10;
  options.svg = picture.path();
  Outcome outcome = plan(options);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("status: optimal\n"));
  EXPECT_THAT(picture.read(), StartsWith("<svg"));
  options.svg = "/nonexistent/plan.svg";
  expectFailure(options, "cannot write '/nonexistent/plan.svg': No such file or directory");
}

TEST_F(PlanCommandTest, SaysWhatDoesNotFit) {
  PlanOptions options = optionsFor(example);
  options.capacity = 11;
  Outcome outcome = plan(options);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("missing bytes: 1\n"));
  EXPECT_THAT(outcome.err, StartsWith("error: " + problem.path() + ": "));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
}

TEST_F(PlanCommandTest, PlansPools) {
  PlanOptions options = optionsFor("id,lower,upper,size,pools\n"
                                   "x,0,2,60,fast;slow\ny,0,2,60,fast;slow\nz,0,2,10,slow\n");
  options.pools = {"fast=100:64", "slow"};
  TemporaryFile solution;
  options.output = solution.path();
  Outcome outcome = plan(options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("pool fast: peak 60 of 100, lower bound 60, 1 buffers\n"),
                    HasSubstr("pool slow: peak 70, lower bound 70, 2 buffers\n"),
                    HasSubstr("peak: 130\n")));
  EXPECT_THAT(solution.read(), AllOf(StartsWith("id,lower,upper,size,pools,offset,pool\n"),
                                     HasSubstr("z,0,2,10,slow,"), HasSubstr(",0,fast\n")));
}

TEST_F(PlanCommandTest, PoolsOfTheCommandLineAreRead) {
  PlanOptions options = optionsFor("id,lower,upper,size\nx,0,2,60\n");
  for (const char *text : {"a", "a=", "a=60", "a=60:4", "a=60:4:0", "a=:4", "a=:4:2"}) {
    options.pools = {text};
    EXPECT_EQ(plan(options).status, 0) << text;
  }
  for (const char *text : {"", "=60", "a=x", "a=60:", "a=60:4:", "a=60:4:1:1", "a=60 ", "a=6.5",
                           "a=99999999999999999999"}) {
    options.pools = {text};
    expectFailure(
        options, "pool '" + std::string(text) + "' must be NAME[=[BYTES][:ALIGNMENT[:WEIGHT]]]", 2);
  }
  options.pools = {"a=60", "b", "a"};
  expectFailure(options, "pool 'a' is given twice", 2);
}

TEST_F(PlanCommandTest, FaultsAreLocated) {
  const std::string file = problem.path();
  expectFailure(optionsFor("id,lower,upper,size\nb1,5,3,4\n"),
                file + ":2:6: upper 3 is before lower 5");
  expectFailure(optionsFor("id,lower,upper,size,pools\nb1,0,3,4,fast\n"),
                file + ":2:10: pool 'fast' is unknown");
  expectFailure(optionsFor("id,lower,upper,size,offset\nb1,0,3,4,0\nb2,1,2,4,2\n"),
                file + ": buffer 'b1' and buffer 'b2' conflict and are pinned onto each other");
  expectFailure(optionsFor("id,lower,upper,size\nb1,0,3,9223372036854775807\nb2,0,3,1\n"),
                file +
                    ": the sizes, pins and distances of the buffers add up to 2^62 bytes or more");
}

TEST_F(PlanCommandTest, WhatCannotBeReadIsSaid) {
  PlanOptions options;
  options.file = "/no/such.csv";
  expectFailure(options, "cannot read '/no/such.csv': No such file or directory");
  options.file = ::testing::TempDir();
  expectFailure(options, "cannot read '" + options.file + "': Is a directory");
}

} // namespace
} // namespace plim::tools
