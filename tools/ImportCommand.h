// `plimsoll import`: a model of another format, written as a module and its parameters.
//
// Must not know the format. Nothing is written unless all of the model can be imported.
#pragma once

#include <iosfwd>
#include <string>

namespace plim::tools {

struct ImportOptions {
  std::string file;
  std::string folder; // empty: nothing is written
  bool summary = false;
};

/// Exit status: 0, or 1 after one diagnostic on `err`.
int runImportCommand(const ImportOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
