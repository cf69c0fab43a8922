// Folder: what is in one. std::filesystem's iterators end the process if there is no memory for the next name: libstdc++
// declares their steps noexcept, and allocates in them.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace plim {

/// The names of what is in the folder, sorted, without "." and ".."; as far as it can be read, and `error` says why no
/// further. Throws std::bad_alloc. Any thread.
std::vector<std::string> namesIn(const std::string &folder, std::error_code &error);

} // namespace plim
