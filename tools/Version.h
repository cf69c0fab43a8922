// What `--version` says. Any thread.
#pragma once

#include <string>

namespace plim::tools {

/// "1.2.3".
std::string version();

/// "plimsoll 1.2.3", LLVM's version and the kind of build, and this machine as the compiler sees it: a line each.
std::string versionText();

} // namespace plim::tools
