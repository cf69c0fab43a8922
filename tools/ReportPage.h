// The report as a page: one HTML file that needs no network, which draws itself with the script in it.
//
// The parts of the page are the files in tools/report, embedded when this is built with the library that lays graphs out. What
// comes from a module is in the page as JSON alone, in which nothing is markup. Any thread.
#pragma once

#include "support/Status.h"

#include "tools/ModuleCall.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace plim::tools {

/// Of a report that completeReport() has seen.
std::string pageOf(const llvm::json::Object &report);

/// Can a page of the module be written there? InvalidArgument for the module itself, and for "-"; before the work.
Status checkPage(const std::string &path, const ModuleOptions &module);

/// Unavailable where the file cannot be written.
Status writePage(const llvm::json::Object &report, const std::string &path);

} // namespace plim::tools
