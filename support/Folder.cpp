#include "support/Folder.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <string_view>

namespace plim {

namespace {
struct Close {
  void operator()(DIR *stream) const { ::closedir(stream); }
};
} // namespace

std::vector<std::string> namesIn(const std::string &folder, std::error_code &error) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> stream(::opendir(folder.c_str()));
  if (!stream) {
    error.assign(errno, std::generic_category());
    return names;
  }
  errno = 0;
  while (const dirent *entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      names.emplace_back(name);
    errno = 0;
  }
  error.assign(errno, std::generic_category());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace plim
