// `plimsoll explain`: what the engine decided for a module, and why.
//
// Owns the readable report. Must not know how decisions are made: it reads the JSON that the compiler
// leaves. Nothing is linked: parameters need no memory, and the target need not be this machine.
#pragma once

#include "tools/ModuleCall.h"

#include <iosfwd>

namespace plim::tools {

struct ExplainOptions {
  ModuleOptions module;
  bool policies = false; // compiles with each, to say what it would have cost
  bool json = false;
  std::string page; // "" none, else a file of ReportPage.h; without `json` nothing is printed then
  bool progress = false; // of long compilations, on `err`, which is a terminal
};

/// Exit status: 0, or 1 after one diagnostic on `err`.
int runExplainCommand(const ExplainOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
