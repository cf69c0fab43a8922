// `plimsoll bisect`: compares what the engine makes of a call with the plain lowering, and where
// they differ leaves out one thing after the other, to say in which part of the compiler to look.
//
// Must not know how a module is compiled: only the engine's facade, and which option of it leaves
// out what (docs/guides/debug.md has the same table).
#pragma once

#include "tools/ModuleCall.h"

#include <iosfwd>
#include <optional>

namespace plim::tools {

struct BisectOptions {
  ModuleOptions module; // without `oracle`
  CallText call;        // without inputs they are random, if the types say how large they are
  /// Largest difference that is taken for rounding (io/ValueDifference.h). None: the usual one of
  /// the type of each result, and 0 for strict code of this machine's, which promises the bits.
  std::optional<double> tolerance;
  bool progress = false; // of a long compilation, on standard error, which is a terminal
};

/// InvalidArgument for what is no tolerance: negative, infinite, not a number.
Status checkTolerance(double tolerance);

/// How bisect ends after an error: a script can tell it from a wrong result.
constexpr int bisectError = 2;

/// Exit status: 0 if the results are right, 1 if they are wrong, bisectError after one diagnostic on
/// `err`, if they could not be compared.
int runBisectCommand(const BisectOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
