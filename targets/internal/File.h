// Reading a whole file into memory. Stateless; any thread.
#pragma once

#include "support/Status.h"

#include <string>

namespace plim::targets::internal {

/// NotFound if it cannot be opened, DataLoss if it cannot be read to its end.
StatusOr<std::string> readFile(const std::string &path);

} // namespace plim::targets::internal
