// ProgressLine: one line on a terminal that says how far a long compilation is.
//
// It appears when half a second has gone by, is drawn again at most ten times a second, and is wiped with the
// object. Must not know what is compiled. One thread at a time, as jit::ProgressCallback promises.
#pragma once

#include "jit/Compiler.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace plim::tools {

/// "compiling 37 of 120 functions, 4 s left"; without numbers that are not known yet. `seconds` is how long the part
/// that is done took.
std::string progressText(const jit::CompileProgress &progress, double seconds);

class ProgressLine {
public:
  /// Seconds since any moment; never falls.
  using Clock = std::function<double()>;
  /// `out` is a terminal, borrowed.
  explicit ProgressLine(std::ostream &out, Clock clock = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  void update(const jit::CompileProgress &progress);

private:
  std::ostream &out;
  const Clock clock;
  const double made;
  double drawn = -1; // when; negative: not yet
};

} // namespace plim::tools
