// `plimsoll profile`: calls a function of a module, and says which dispatches the time goes into and how near they are to what
// the machine can do; as text, as JSON, or as the page of `plimsoll explain` with a timeline.
//
// Must not know how anything is measured but for calls: the engine's profiler does.
#pragma once

#include "tools/ModuleCall.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace plim::tools {

struct ProfileOptions {
  ModuleOptions module;
  CallText call;      // without inputs they are random, if the types say how large they are
  int64_t repeat = 0; // calls that are measured; 0: as many as take a second
  bool json = false;
  std::string page; // "" none, else a file of ReportPage.h; without `json` nothing is printed then
  bool progress = false;
};

/// Exit status: 0, or 1 after one diagnostic on `err`.
int runProfileCommand(const ProfileOptions &options, std::ostream &out, std::ostream &err);

} // namespace plim::tools
