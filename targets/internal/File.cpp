#include "targets/internal/File.h"

#include <fstream>
#include <iterator>

namespace plim::targets::internal {

StatusOr<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return notFoundError(path + ": cannot be opened");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // A folder opens like a file, and fails only when it is read.
  if (file.bad())
    return dataLossError(path + ": cannot be read");
  return text;
}

} // namespace plim::targets::internal
