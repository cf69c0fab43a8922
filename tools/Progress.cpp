#include "tools/Progress.h"

#include <chrono>
#include <cmath>
#include <ostream>
#include <utility>

namespace plim::tools {

namespace {

constexpr double delaySeconds = 0.5, redrawSeconds = 0.1;
/// To the begin of the line, and nothing behind what follows.
constexpr const char *restart = "\r\x1b[K";

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

std::string progressText(const jit::CompileProgress &progress, double seconds) {
  std::string text = "compiling";
  if (progress.total > 0)
    text += " " + std::to_string(progress.done) + " of " + std::to_string(progress.total) +
            " functions";
  if (progress.fraction <= 0)
    return text;
  double left = std::ceil(seconds * (1 - progress.fraction) / progress.fraction);
  auto number = [](double value) { return std::to_string(static_cast<long long>(value)); };
  if (left < 120)
    return text + ", " + number(left) + " s left";
  return text + ", " + number(std::ceil(left / 60)) + " min left";
}

ProgressLine::ProgressLine(std::ostream &out, Clock clock)
    : out(out), clock(clock ? std::move(clock) : steadySeconds), made(this->clock()) {}

ProgressLine::~ProgressLine() {
  if (drawn >= 0)
    out << restart << std::flush;
}

void ProgressLine::update(const jit::CompileProgress &progress) {
  double now = clock();
  if (now - made < delaySeconds || (drawn >= 0 && now - drawn < redrawSeconds))
    return;
  drawn = now;
  out << restart << progressText(progress, now - made) << std::flush;
}

} // namespace plim::tools
