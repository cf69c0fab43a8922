// `plimsoll run`: load a module, call a function, print what comes back.
//
// Must not know how a module is compiled: only the engine's facade.
#pragma once

#include "tools/ModuleCall.h"

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace plim::tools {

struct RunOptions {
  ModuleOptions module;
  CallText call;
  std::vector<std::string> outputs; // @FILE.npy or FILE.npy, one per result, in order
  int64_t repeat = 1;
  bool specialize = false; // code for the extents of the inputs, before the first call
  bool stats = false;      // what the calls took, on standard error
  bool progress = false;   // of a long compilation, on standard error, which is a terminal
  std::string
      trace; // "" none, else a file of support/Trace.h, written whether or not the calls fail
  std::string assembly; // "" none, "-" standard output, else a file
};

/// What a call left in the arguments that are buffers, and its results, a line each.
void printValues(const jit::FunctionSignature &signature, std::span<const runtime::Value> arguments,
                 std::span<const runtime::Value> results, std::ostream &out);

/// Exit status: 0, or 1 after one diagnostic on `err`.
int runRunCommand(const RunOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
