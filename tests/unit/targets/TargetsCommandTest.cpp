#include "tools/TargetsCommand.h"

#include "targets/Calibration.h"
#include "targets/TargetDescription.h"
#include "tools/Calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace plim::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Output {
  int status;
  std::string out, err;
};

Output run(const TargetsOptions &options) {
  std::ostringstream out, err;
  int status = runTargetsCommand(options, out, err);
  return {status, out.str(), err.str()};
}

void expectNarrow(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 100u) << line;
}

TEST(TargetsCommand, TheStackPaysUpToTheFirstSizeWhereItDoesNot) {
  EXPECT_EQ(chooseMaxStackAlloca({}), 0);
  EXPECT_EQ(chooseMaxStackAlloca({{64, 2, 1, 0.5}, {128, 1, 2, 2.0}}), 0);
  EXPECT_EQ(chooseMaxStackAlloca(
                {{64, 1, 2, 2.0}, {128, 1, 1, 1.01}, {256, 1, 1, 0.99}, {512, 1, 2, 2.0}}),
            128);
  EXPECT_EQ(chooseMaxStackAlloca({{64, 1, 2, 2.0}, {128, 1, 1, 1.5}}), 128);
}

TEST(TargetsCommand, CalibratesForTheUser) {
  const char *before = std::getenv("XDG_CONFIG_HOME");
  std::string restored = before ? before : "";
  std::string folder = testing::TempDir() + "calibrate" + std::to_string(getpid());
  setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  TargetsOptions options;
  options.calibrate = true;
  Output output = run(options);
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, AllOf(HasSubstr("workspace by stack\n"), HasSubstr("\n     64 B  "),
                                HasSubstr("\nthe largest single stack allocation is "),
                                HasSubstr(folder + "/plimsoll/calibration.json")));
  StatusOr<std::optional<targets::Calibration>> kept =
      targets::readCalibration(targets::calibrationPath());
  ASSERT_TRUE(kept.ok() && *kept);
  Output json = run({.target = "host-cpu", .json = true});
  EXPECT_THAT(json.out, HasSubstr("\"max_stack_alloca_bytes\": " +
                                  std::to_string((*kept)->maxStackAllocaBytes)));
  std::filesystem::remove_all(folder);
  if (before)
    setenv("XDG_CONFIG_HOME", restored.c_str(), 1);
  else
    unsetenv("XDG_CONFIG_HOME");
}

TEST(TargetsCommand, ReportsThisMachine) {
  Output output = run({});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("target host\n\ndevice host (cpu)"));
  EXPECT_THAT(output.out, HasSubstr("\n  triple          "));
  EXPECT_THAT(output.out, HasSubstr("\n  stack limits    "));
  EXPECT_THAT(output.out, HasSubstr("\nmemories\n"));
  expectNarrow(output.out);
}

TEST(TargetsCommand, ReportsATag) {
  Output output = run({.target = "nvidia-sm90"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_EQ(output.err, "");
  EXPECT_THAT(output.out, HasSubstr("device cuda0 (cuda): NVIDIA H100 SXM\n"));
  EXPECT_THAT(output.out, HasSubstr("132 multiprocessors, 270336 hardware threads, 1980 MHz"));
  EXPECT_THAT(output.out, HasSubstr("cache L2        50 MiB, lines of 128 B, shared by 132"));
  EXPECT_THAT(output.out, HasSubstr("up to 1024 invocations in subgroups of 32, scratch 48 KiB"));
  EXPECT_THAT(output.out,
              testing::ContainsRegex("cuda0.managed +unified +- +256 B +- +- +- +host, cuda0\n"));
  expectNarrow(output.out);
}

TEST(TargetsCommand, ReportsAMachineWithoutStack) {
  Output output = run({.target = "cortex-m55-ethos-u55"});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("stack           not for allocations\n"));
  EXPECT_THAT(output.out, HasSubstr("given by the host application only"));
}

TEST(TargetsCommand, JsonReadsBack) {
  Output output = run({.target = "x86-64-v3", .overrides = {"cores=3"}, .json = true});
  EXPECT_EQ(output.status, 0) << output.err;
  StatusOr<targets::TargetDescription> target = targets::fromJson(output.out);
  ASSERT_TRUE(target.ok()) << target.status().toString();
  EXPECT_EQ(target->devices[0].cores, 3);
}

TEST(TargetsCommand, ListsTags) {
  Output output = run({.tags = true});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("\nhost\n  is              this machine"));
  EXPECT_THAT(output.out, HasSubstr("also            spr\n  inherits        x86-64-v4\n"));
  expectNarrow(output.out);
  output = run({.json = true, .tags = true});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("\"name\": \"cortex-m7\""));
}

TEST(TargetsCommand, Faults) {
  Output output = run({.target = "x86-64-v33"});
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err,
            "error: there is no target \"x86-64-v33\"; the nearest name is \"x86-64-v3\"\n");
  output = run({.target = "cortex-m7", .overrides = {"cores=none"}});
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.err, HasSubstr("error: override \"cores=none\": "));
}

} // namespace
} // namespace plim::tools
