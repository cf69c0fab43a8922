// Libraries of drivers, opened at run time and never linked.
//
// Owns the difference between a driver that is not installed and one that is broken. Stateless;
// any thread.
#pragma once

#include "support/Status.h"

#include <string>

namespace plim::targets::internal {

/// The handle of the library, null if there is no such library, or Unavailable if there is one and
/// it cannot be loaded. `library` is a file name for the loader's search, or a path with a '/'.
/// A library once opened stays: drivers leave threads and exit handlers behind.
StatusOr<void *> openLibrary(const std::string &library);

/// The address of `name`, or null.
void *findSymbol(void *library, const char *name);

} // namespace plim::targets::internal
