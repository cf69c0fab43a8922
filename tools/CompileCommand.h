// `plimsoll compile`: a module made ready for a target, in a file that engines load without the compiler.
//
// Must not know what is in the file. Nothing is linked: the target need not be this machine.
#pragma once

#include "tools/ModuleCall.h"

#include <iosfwd>

namespace plim::tools {

struct CompileOptions {
  ModuleOptions module;
  std::string output;
  /// Of code for a program without the engine, `output` is its object: the header, and the same in an archive. May be empty.
  std::string header, library;
  /// In front of its names; empty: that of the module's file.
  std::string name;
  bool progress = false; // of long compilations, on `err`, which is a terminal
};

/// Exit status: 0, or 1 after one diagnostic on `err`.
int runCompileCommand(const CompileOptions &options, std::ostream &err);

} // namespace plim::tools
