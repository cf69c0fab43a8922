#include "targets/internal/File.h"

#include <array>
#include <cstdio>
#include <memory>

namespace plim::targets::internal {

StatusOr<std::string> readFile(const std::string &path) {
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return notFoundError(path + ": cannot be opened");
  std::string text;
  std::array<char, 4096> buffer;
  while (size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    text.append(buffer.data(), count);
  // A folder opens like a file, and fails only when it is read.
  if (std::ferror(file.get()))
    return dataLossError(path + ": cannot be read");
  return text;
}

} // namespace plim::targets::internal
