#include "support/Log.h"

#include <array>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <utility>

namespace plim {

namespace {

constexpr std::array<std::pair<LogLevel, std::string_view>, 6> levelNames = {{
    {LogLevel::Trace, "trace"},
    {LogLevel::Debug, "debug"},
    {LogLevel::Info, "info"},
    {LogLevel::Warning, "warning"},
    {LogLevel::Error, "error"},
    {LogLevel::Off, "off"},
}};

spdlog::level::level_enum toSpdlog(LogLevel level) {
  switch (level) {
  case LogLevel::Trace:
    return spdlog::level::trace;
  case LogLevel::Debug:
    return spdlog::level::debug;
  case LogLevel::Info:
    return spdlog::level::info;
  case LogLevel::Warning:
    return spdlog::level::warn;
  case LogLevel::Error:
    return spdlog::level::err;
  case LogLevel::Off:
    return spdlog::level::off;
  }
  return spdlog::level::off;
}

} // namespace

std::string_view logLevelName(LogLevel level) {
  for (const auto &[known, name] : levelNames)
    if (known == level)
      return name;
  return "off";
}

StatusOr<LogLevel> parseLogLevel(std::string_view name) {
  std::string choices;
  for (const auto &[level, known] : levelNames) {
    if (known == name)
      return level;
    choices += choices.empty() ? "" : ", ";
    choices += known;
  }
  return invalidArgumentError("unknown log level '" + std::string(name) + "'; expected one of " +
                              choices);
}

Logger::Logger(LogLevel threshold, LogSink sink) {
  if (sink && threshold < LogLevel::Off)
    shared = std::make_shared<const Shared>(Shared{threshold, std::move(sink)});
}

Logger makeStderrLogger(LogLevel threshold) {
  auto backend = std::make_shared<spdlog::logger>(
      "plimsoll", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  backend->set_level(spdlog::level::trace); // Logger has filtered already
  backend->set_pattern("%H:%M:%S.%e %n %^%l%$: %v");
  // A backend that cannot write says so on standard error by default, which is what just failed.
  backend->set_error_handler([](const std::string &) {});
  return Logger(threshold, [backend](LogLevel level, std::string_view message) {
    // The message is an argument: braces in it are no format.
    backend->log(toSpdlog(level), "{}", message);
  });
}

} // namespace plim
