// Libraries of drivers, opened at run time and never linked.
//
// Owns the difference between a driver that is not installed and one that is broken. Stateless;
// any thread.
#pragma once

#include "support/Status.h"

#include <set>
#include <string>

namespace plim::targets::internal {

/// The handle of the library, null if there is no such library, or Unavailable if there is one and
/// it cannot be loaded. `library` is a file name for the loader's search, or a path with a '/'.
/// A library once opened stays: drivers leave threads and exit handlers behind.
StatusOr<void *> openLibrary(const std::string &library);

/// The address of `name`, or null.
void *findSymbol(void *library, const char *name);

/// The paths of the libraries that are in the process now.
std::set<std::string> loadedLibraries();

/// Keeps those in the process that are there now and were not `before`: drivers that a loader
/// brought, which lose memory each time they go and come back.
void keepLibrariesLoadedSince(const std::set<std::string> &before);

} // namespace plim::targets::internal
