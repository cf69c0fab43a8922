#include "targets/Calibration.h"

#include "targets/Resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace plim::targets {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder for the user's configuration, in force and empty.
class CalibrationTest : public testing::Test {
protected:
  CalibrationTest() {
    if (const char *value = std::getenv("XDG_CONFIG_HOME"))
      before = value;
    setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  }
  ~CalibrationTest() override {
    fs::remove_all(folder);
    if (before)
      setenv("XDG_CONFIG_HOME", before->c_str(), 1);
    else
      unsetenv("XDG_CONFIG_HOME");
  }
  void write(const std::string &text) {
    fs::create_directories(fs::path(calibrationPath()).parent_path());
    std::ofstream(calibrationPath()) << text;
  }

  std::string folder = testing::TempDir() + "calibration" + std::to_string(getpid());
  std::optional<std::string> before;
};

TEST_F(CalibrationTest, StandsInTheUsersFolder) {
  EXPECT_EQ(calibrationPath(), folder + "/plimsoll/calibration.json");
  unsetenv("XDG_CONFIG_HOME");
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("HOME", "/h", 1);
  EXPECT_EQ(calibrationPath(), "/h/.config/plimsoll/calibration.json");
  unsetenv("HOME");
  EXPECT_EQ(calibrationPath(), "");
  setenv("HOME", home.c_str(), 1);
}

TEST_F(CalibrationTest, IsReadAsItWasWritten) {
  StatusOr<std::optional<Calibration>> none = readCalibration(calibrationPath());
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  ASSERT_TRUE(writeCalibration(calibrationPath(), {"a \"b\"", 12345}).ok());
  ASSERT_TRUE(writeCalibration(calibrationPath(), {"a \"c\"", 54321}).ok());
  StatusOr<std::optional<Calibration>> read = readCalibration(calibrationPath());
  ASSERT_TRUE(read.ok() && *read) << read.status().toString();
  EXPECT_EQ((*read)->machine, "a \"c\"");
  EXPECT_EQ((*read)->maxStackAllocaBytes, 54321);
  auto entries = fs::directory_iterator(fs::path(calibrationPath()).parent_path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(CalibrationTest, SetsTheLimitOfThisMachineAlone) {
  StatusOr<TargetDescription> plain = resolveTarget("host-cpu", {});
  ASSERT_TRUE(plain.ok());
  const DeviceDescription &host = plain->devices[0];
  ASSERT_NE(host.maxStackAllocaBytes, 192);
  auto limitWith = [&](const Calibration &calibration, const char *target) {
    EXPECT_TRUE(writeCalibration(calibrationPath(), calibration).ok());
    return resolveTarget(target, {})->devices[0].maxStackAllocaBytes;
  };
  for (const char *target : {"host-cpu", "host"}) {
    EXPECT_EQ(limitWith({host.description, 192}, target), 192);
    EXPECT_EQ(limitWith({host.description, int64_t(1) << 60}, target), host.stackBudgetBytes);
    EXPECT_EQ(limitWith({host.description + "?", 192}, target), host.maxStackAllocaBytes);
  }
  EXPECT_EQ(limitWith({host.description, 192}, "x86-64-v3"), 64 << 10);
}

TEST_F(CalibrationTest, AMalformedOneIsAWarning) {
  for (const char *bad :
       {"", "[]", "{}", "{\"machine\": 3, \"max_stack_alloca_bytes\": 3}", "{\"machine\": \"m\"}",
        "{\"machine\": \"m\", \"max_stack_alloca_bytes\": -1}",
        "{\"machine\": \"m\", \"max_stack_alloca_bytes\": 1, \"x\": 1}"}) {
    write(bad);
    StatusOr<std::optional<Calibration>> read = readCalibration(calibrationPath());
    EXPECT_EQ(read.status().code(), StatusCode::InvalidArgument) << bad;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr("calibration.json"));
    std::vector<Status> warnings;
    EXPECT_TRUE(resolveTarget("host-cpu", {}, &warnings).ok());
    ASSERT_EQ(warnings.size(), 1u) << bad;
    EXPECT_THAT(warnings[0].toString(), HasSubstr("the calibration is left out"));
  }
}

TEST_F(CalibrationTest, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(folder) << "a file";
  Status status = writeCalibration(calibrationPath(), {"m", 1});
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot write '" + calibrationPath()));
}

} // namespace
} // namespace plim::targets
