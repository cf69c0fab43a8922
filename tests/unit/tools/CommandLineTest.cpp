#include "tools/CommandLine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>

namespace plim::tools {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int status = 0;
  std::string out, err;
  RunOptions run;
  std::optional<double> tolerance;
};

/// A program with the commands `run` and `plan`.
Outcome parse(std::vector<std::string> words) {
  CLI::App app("of a test", "program");
  app.require_subcommand(1);
  addVersionFlag(app);
  Outcome outcome;
  CLI::App *run = app.add_subcommand("run", "calls");
  addModuleOptions(*run, outcome.run.module);
  addCallOptions(*run, outcome.run.call);
  addPrintOption(*run, outcome.run.print);
  addToleranceOption(*run, outcome.tolerance);
  app.add_subcommand("plan", "plans");
  std::ostringstream out, err;
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::ParseError &error) {
    outcome.status = endOfParse(app, error, out, err);
  }
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

std::string refusal(std::vector<std::string> words) {
  Outcome outcome = parse(std::move(words));
  EXPECT_EQ(outcome.status, wrongCommandLine);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              AllOf(StartsWith("error: "), EndsWith("\nRun with --help for more information.\n")));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << outcome.err;
  return outcome.err.substr(7, outcome.err.find('\n') - 7);
}

TEST(CommandLine, TellsItsVersion) {
  Outcome outcome = parse({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("plimsoll "), HasSubstr("\nLLVM "), HasSubstr(" build\nhost: ")));
}

TEST(CommandLine, SuggestsWhatWasMisspelt) {
  EXPECT_EQ(refusal({"rnu"}), "there is no command 'rnu'; did you mean 'run'?");
  EXPECT_EQ(refusal({"something-else"}), "there is no command 'something-else'");
  EXPECT_EQ(refusal({"--versoin"}), "program has no option '--versoin'; did you mean '--version'?");
  EXPECT_EQ(refusal({"run", "f.mlir", "--inptu", "3xf32=1"}),
            "run has no option '--inptu'; did you mean '--input'?");
  EXPECT_EQ(refusal({"run", "f.mlir", "--inptu=3xf32=1"}),
            "run has no option '--inptu'; did you mean '--input'?");
  // Not that the file is missing.
  EXPECT_EQ(refusal({"run", "--oracel"}), "run has no option '--oracel'; did you mean '--oracle'?");
  EXPECT_EQ(refusal({"run", "f.mlir", "--frobnicate"}), "run has no option '--frobnicate'");
  EXPECT_THAT(refusal({"run", "f.mlir", "--target", "x86-65"}),
              HasSubstr("the nearest name is \"x86-64\""));
  EXPECT_EQ(refusal({"run", "f.mlir", "--set", "vector_bit=256"}),
            "override \"vector_bit=256\": there is no field \"vector_bit\"; did you mean "
            "'vector_bits'?");
  EXPECT_THAT(refusal({"run", "f.mlir", "--set", "devices.hots.vector_bits=256"}),
              EndsWith("; did you mean 'host'?"));
  EXPECT_THAT(refusal({"run", "f.mlir", "--set", "vector_bits=wide"}),
              Not(HasSubstr("did you mean")));
}

TEST(CommandLine, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(refusal({}), "which command? run, plan");
  EXPECT_EQ(refusal({"run"}), "file is required");
  EXPECT_EQ(refusal({"run", "f.mlir", "g.mlir"}), "one argument too many for run: 'g.mlir'");
  // It is one, but not there.
  EXPECT_EQ(refusal({"run", "f.mlir", "--", "--oracle"}),
            "one argument too many for run: '--oracle'");
  EXPECT_EQ(refusal({"run", "f.mlir", "-x"}), "run has no option '-x'");
}

TEST(CommandLine, ChecksValuesBeforeAnyWork) {
  // There is no such file: nobody looked for it.
  auto with = [](const char *option, const char *value) {
    return refusal({"run", "/no/such.mlir", option, value});
  };
  EXPECT_THAT(with("--policy", "atuo"), StartsWith("--policy: unknown allocation policy 'atuo'"));
  EXPECT_THAT(with("--limit", "max_byte=3"), StartsWith("--limit: unknown limit 'max_byte'"));
  EXPECT_THAT(with("--limit", "max_operation=3"), EndsWith("; did you mean 'max_operations'?"));
  EXPECT_THAT(with("--threads", "-1"), StartsWith("--threads: "));
  EXPECT_THAT(with("--numerics", "stict"), StartsWith("--numerics: "));
  EXPECT_THAT(with("--isolation", "on"), StartsWith("--isolation: "));
  EXPECT_THAT(with("--print", "all"), StartsWith("--print: "));
  EXPECT_EQ(with("--pool", "sram"), "--pool: pool 'sram' must be NAME=BYTES");
  EXPECT_EQ(with("--pool", "sram=1k"), "--pool: pool 'sram=1k' must be NAME=BYTES");
  EXPECT_THAT(with("--input", "2x2xf32=1,2,3"),
              StartsWith("--input: '2x2xf32=1,2,3': column 14: "));
  EXPECT_THAT(with("--input", "2xf32=rnd:x"), HasSubstr("seed"));
  for (const char *tolerance : {"-1", "nan", "inf", "1e-4x", "little", ""})
    EXPECT_EQ(with("--tolerance", tolerance),
              "--tolerance: a tolerance must be a number, 0 or more")
        << tolerance;
  EXPECT_THAT(with("--param", "w"), HasSubstr("must be NAME=VALUE"));
  EXPECT_THAT(with("--param", "=2xf32=1"), HasSubstr("must be NAME=VALUE"));
  EXPECT_THAT(with("--param", "w=2xf32=1,x"), HasSubstr("'x' is no value of type f32"));
  EXPECT_THAT(with("--input", ("64xf32=[" + std::string(100, 'x')).c_str()), HasSubstr("xx...': "));
}

TEST(CommandLine, ReadsATolerance) {
  EXPECT_EQ(parse({"run", "f.mlir"}).tolerance, std::nullopt);
  EXPECT_EQ(parse({"run", "f.mlir", "--tolerance", "0"}).tolerance, 0.0);
  EXPECT_EQ(parse({"run", "f.mlir", "--tolerance", "1e-4"}).tolerance, 1e-4);
}

TEST(CommandLine, SaysThatFilesHaveAnAt) {
  EXPECT_THAT(refusal({"run", "f.mlir", "--param", "w=w.npy"}),
              EndsWith("a file is written with an @: '@w.npy'"));
  EXPECT_THAT(refusal({"run", "f.mlir", "--input", "in.npy"}),
              EndsWith("a file is written with an @: '@in.npy'"));
}

TEST(CommandLine, LeavesFilesToTheCommand) {
  Outcome outcome =
      parse({"run", "-", "--target", "/no/such.json", "--set", "x=1", "--input", "@/no/such.npy",
             "--param", "w=@/no/such.npy", "--input", "2xf32=@/no/such.bin", "--print", "full"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.run.module.file, "-");
  EXPECT_EQ(outcome.run.call.inputs.size(), 2u);
  EXPECT_EQ(outcome.run.print, Print::Full);
}

} // namespace
} // namespace plim::tools
