// Patience: when a compilation is to end before it is done.
//
//   const Patience patience(options.stop, options.timeout, options.begin);
//   ...
//   if (patience.isOver())
//     return patience.status();
//
// It only answers: who works asks it between two steps. Immutable; any thread may ask.
#pragma once

#include "support/Status.h"

#include <chrono>
#include <optional>
#include <stop_token>

namespace plim::jit {

class Patience {
public:
  /// Without an end.
  Patience() = default;
  using Clock = std::chrono::steady_clock;

  /// Until a stop is requested, or until `timeout` after `begin`, which is now unless it is given.
  /// A timeout of 0 has no end.
  Patience(std::stop_token stop, std::chrono::nanoseconds timeout,
           std::optional<Clock::time_point> begin = std::nullopt)
      : stop(std::move(stop)), timeout(timeout), start(begin.value_or(Clock::now())) {}

  /// Can it end at all?
  bool isFinite() const { return stop.stop_possible() || timeout.count() > 0; }
  /// Once true it stays true.
  bool isOver() const { return stop.stop_requested() || isLate(); }
  /// The time until the deadline, below zero behind it; the longest duration without a timeout. A
  /// stop does not count.
  std::chrono::nanoseconds left() const {
    return timeout.count() > 0 ? timeout - (Clock::now() - start) : std::chrono::nanoseconds::max();
  }
  /// Why it is over: Cancelled if a stop was requested, else DeadlineExceeded. Only when isOver().
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
