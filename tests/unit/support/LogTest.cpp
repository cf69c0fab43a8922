#include "support/Log.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using plim::Logger;
using plim::LogLevel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr LogLevel allLevels[] = {LogLevel::Trace,   LogLevel::Debug, LogLevel::Info,
                                  LogLevel::Warning, LogLevel::Error, LogLevel::Off};

struct Expensive {
  int *count;
};
std::ostream &operator<<(std::ostream &out, const Expensive &value) {
  ++*value.count;
  return out << "expensive";
}

TEST(Log, SilentByDefault) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Logger logger;
  int formatted = 0;
  for (LogLevel level : allLevels) {
    EXPECT_FALSE(logger.enabled(level));
    logger.log(level, Expensive{&formatted});
  }
  EXPECT_EQ(logger.threshold(), LogLevel::Off);
  EXPECT_EQ(formatted, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Log, SinkGetsWhatPassesTheThreshold) {
  std::vector<std::pair<LogLevel, std::string>> seen;
  Logger logger(LogLevel::Warning, [&](LogLevel level, std::string_view message) {
    seen.emplace_back(level, message);
  });
  int formatted = 0;
  logger.log(LogLevel::Info, Expensive{&formatted});
  logger.log(LogLevel::Warning, "took ", 3, " of ", 4.5);
  logger.log(LogLevel::Error, "a {} in the text");
  logger.log(LogLevel::Off, "off is a threshold, no level of a message");
  EXPECT_EQ(formatted, 0);
  EXPECT_THAT(seen, ElementsAre(Pair(LogLevel::Warning, "took 3 of 4.5"),
                                Pair(LogLevel::Error, "a {} in the text")));
}

TEST(Log, NoSinkIsSilent) {
  Logger logger(LogLevel::Trace, nullptr);
  EXPECT_FALSE(logger.enabled(LogLevel::Error));
  logger.log(LogLevel::Error, "nobody listens");
}

TEST(Log, SinkLivesAsLongAsTheLastCopy) {
  auto token = std::make_shared<int>(0);
  std::weak_ptr<int> alive = token;
  {
    Logger first(LogLevel::Info, [token = std::move(token)](LogLevel, std::string_view) {});
    Logger second = first;
    first = Logger();
    EXPECT_FALSE(alive.expired());
    second.log(LogLevel::Info, "still there");
  }
  EXPECT_TRUE(alive.expired());
}

TEST(Log, ManyThreadsShareOneSink) {
  std::atomic<int> count = 0;
  Logger logger(LogLevel::Debug, [&](LogLevel, std::string_view) { ++count; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([logger] {
      for (int message = 0; message < 1000; ++message)
        logger.log(LogLevel::Debug, "message ", message);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(count, 4000);
}

TEST(Log, LevelNamesRoundTrip) {
  for (LogLevel level : allLevels) {
    plim::StatusOr<LogLevel> parsed = plim::parseLogLevel(plim::logLevelName(level));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, level);
  }
  plim::StatusOr<LogLevel> unknown = plim::parseLogLevel("Info");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), plim::StatusCode::InvalidArgument);
  EXPECT_THAT(unknown.status().message(), HasSubstr("trace, debug, info, warning, error, off"));
}

TEST(Log, StderrLoggerWritesOneLinePerMessage) {
  testing::internal::CaptureStderr();
  Logger logger = plim::makeStderrLogger(LogLevel::Info);
  logger.log(LogLevel::Debug, "hidden");
  logger.log(LogLevel::Warning, "{braces} stay");
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("plimsoll warning: {braces} stay\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("hidden")));
}

} // namespace
