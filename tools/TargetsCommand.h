// `plimsoll targets`: what this machine and its devices can do, or what a named target says.
//
// Owns the readable report. Must not know how targets are found or read: targets/Resolve does that.
// One call at a time per stream.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace plim::tools {

struct TargetsOptions {
  std::string target = "host";             // a tag, or a path that ends in ".json"
  std::vector<std::string> overrides = {}; // path=value, in order
  bool json = false;                       // JSON that can be read back as a target
  bool tags = false;                       // list the tags instead
  bool calibrate = false;                  // measure, and keep the result for this user, instead
};

/// Writes the report to `out` and diagnostics to `err`, one line each. 0, or 1 after an error; a
/// device whose driver fails is a warning only.
int runTargetsCommand(const TargetsOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
