// Where an address of this process is mapped from.
#pragma once

#include <cstdint>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>

namespace plim::testing {

/// The line of /proc/self/maps for `address`, from the permissions on; empty if there is none.
inline std::string mappingAt(const void *address) {
  std::ifstream stream("/proc/self/maps");
  for (std::string line; std::getline(stream, line);) {
    uintptr_t begin = 0, end = 0;
    char dash;
    std::istringstream words(line);
    words >> std::hex >> begin >> dash >> end;
    auto wanted = reinterpret_cast<uintptr_t>(address);
    if (begin <= wanted && wanted < end)
      return line.substr(line.find(' ') + 1);
  }
  return "";
}

} // namespace plim::testing
