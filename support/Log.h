// Logger: the one way in which the library speaks.
//
// A Logger is a small value, handed down from the engine that owns it: there is no global logger,
// so two engines in one process log to two places. A default one is silent and costs one test per
// message. A host application gives its own sink; programs of ours take the one on standard error.
//
// What belongs to a caller is a Status, never a log line: messages are for people who watch.
//
// Threads: copies share one sink; any thread may log through any copy at any time. Formatting
// happens on the calling thread, only when the message passes the level.
#pragma once

#include "support/Status.h"

#include <functional>
#include <memory>
#include <sstream>
#include <string_view>

namespace plim {

enum class LogLevel : int32_t { Trace = 0, Debug = 1, Info = 2, Warning = 3, Error = 4, Off = 5 };

/// "trace", "debug", "info", "warning", "error", "off".
std::string_view logLevelName(LogLevel level);

/// The inverse of logLevelName; InvalidArgument, naming the choices, for anything else.
StatusOr<LogLevel> parseLogLevel(std::string_view name);

/// Receives one message without a line end; `message` is borrowed for the call. It may be called
/// from several threads at once, must not throw, and must not call into the engine.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

class Logger {
public:
  /// Silent.
  Logger() = default;
  /// Messages of `threshold` and above go to `sink`, which lives until the last copy is gone.
  /// An empty sink, or LogLevel::Off, is silent.
  Logger(LogLevel threshold, LogSink sink);

  LogLevel threshold() const { return shared ? shared->threshold : LogLevel::Off; }
  bool enabled(LogLevel level) const { return level >= threshold() && level < LogLevel::Off; }

  /// Writes the parts one after the other, as operator<< does: log(LogLevel::Info, n, " kernels").
  template <typename... Parts> void log(LogLevel level, const Parts &...parts) const {
    if (!enabled(level))
      return;
    std::ostringstream text;
    (text << ... << parts);
    shared->sink(level, text.view());
  }

private:
  struct Shared {
    LogLevel threshold;
    LogSink sink;
  };
  std::shared_ptr<const Shared> shared;
};

/// One line per message on standard error, with time and level, coloured on a terminal. For
/// programs; the library itself never makes one. A failing standard error is ignored.
Logger makeStderrLogger(LogLevel threshold);

} // namespace plim
