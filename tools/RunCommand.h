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

/// How much of a result is printed.
enum class Print {
  Full,    // every element
  Summary, // of more than 1,000 elements the first and last of each dimension
  None,
};

struct RunOptions {
  ModuleOptions module;
  CallText call;
  std::vector<std::string> outputs; // @FILE.npy or FILE.npy, one per result, in order
  Print print = Print::Summary;
  int64_t repeat = 1;
  bool specialize = false; // code for the extents of the inputs, before the first call
  bool lazy = false;       // the function that is called, and no other, is compiled
  bool stats = false;      // what the calls took, on standard error
  bool progress = false;   // of a long compilation, on standard error, which is a terminal
  std::string
      trace; // "" none, else a file of support/Trace.h, written whether or not the calls fail
  std::string assembly; // "" none, "-" standard output, else a file
};

/// What a call left in the arguments that are buffers, and its results, a line each.
void printValues(const jit::FunctionSignature &signature, std::span<const runtime::Value> arguments,
                 std::span<const runtime::Value> results, Print print, std::ostream &out);

/// Exit status: 0, or 1 after one diagnostic on `err`.
int runRunCommand(const RunOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
