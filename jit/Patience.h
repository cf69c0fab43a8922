// Patience: when a compilation is to end before it is done.
#pragma once

#include "support/Status.h"

#include <chrono>
#include <optional>
#include <stop_token>

namespace plim::jit {

class Patience {
public:
  Patience() = default;
  using Clock = std::chrono::steady_clock;

  /// Until a stop is requested, or `timeout` from a time on, now unless told, if it is not 0.
  Patience(std::stop_token stop, std::chrono::nanoseconds timeout,
           std::optional<Clock::time_point> begin = std::nullopt)
      : stop(std::move(stop)), timeout(timeout), start(begin.value_or(Clock::now())) {}

  /// Can it end at all?
  bool isFinite() const { return stop.stop_possible() || timeout.count() > 0; }
  bool isOver() const { return stop.stop_requested() || isLate(); }
  /// At least until it is late; the longest there is where it has no end.
  std::chrono::nanoseconds left() const {
    return timeout.count() > 0 ? timeout - (Clock::now() - start) : std::chrono::nanoseconds::max();
  }
  /// Cancelled, or DeadlineExceeded, once it is over.
  Status status() const {
    if (stop.stop_requested() || !isLate())
      return cancelledError("the compilation was stopped");
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(timeout);
    return Status(StatusCode::DeadlineExceeded,
                  "the compilation took longer than " + std::to_string(limit.count()) + " ms");
  }

private:
  bool isLate() const { return left().count() < 0; }

  std::stop_token stop;
  std::chrono::nanoseconds timeout{0};
  Clock::time_point start = Clock::now();
};

} // namespace plim::jit
