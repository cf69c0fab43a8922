// `plimsoll run` and `plimsoll explain`: load a module, call a function, say what was decided.
//
// Must not know how a module is compiled: only the engine's facade.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace plim::tools {

/// What both commands take.
struct ModuleOptions {
  std::string file;
  std::string target = "host-cpu";
  std::vector<std::string> overrides; // path=value, in order
  std::vector<std::string> limits;    // name=value, in order
  std::string policy = "auto";
  int threads = 0;
  bool oracle = false;
  bool cache = false;
  std::string cacheFolder; // empty: the default one
};

struct RunOptions {
  ModuleOptions module;
  std::string function;                    // empty: the only public one
  std::vector<std::string> inputs;         // texts of tools/io/ValueText.h, @FILE.npy
  std::vector<std::string> outputs;        // @FILE.npy or FILE.npy, one per result, in order
  std::vector<std::string> parameters;     // NAME=VALUE, mostly NAME=@FILE.npy
  std::vector<std::string> parameterFiles; // .safetensors
  std::vector<std::string> pools;          // NAME=BYTES
  int64_t repeat = 1;
  bool timing = false;  // loading and calling times, on standard error
  std::string assembly; // "" none, "-" standard output, else a file
};

struct ExplainOptions {
  ModuleOptions module;
  bool json = false;
};

/// Exit statuses: 0, or 1 after one diagnostic on `err`.
int runRunCommand(const RunOptions &options, std::ostream &out, std::ostream &err);
int runExplainCommand(const ExplainOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
