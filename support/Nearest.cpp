#include "support/Nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace plim {

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string suggestion(std::string_view name, std::span<const std::string> names) {
  const std::string *nearest = nullptr;
  // Two letters may be wrong, or a third of them, or the end is missing.
  size_t distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string &each : names) {
    const bool isBegin = name.size() > 3 && each.starts_with(name);
    const size_t candidate = isBegin ? 2 : editDistance(name, each);
    if (candidate < distance) {
      nearest = &each;
      distance = candidate;
    }
  }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

} // namespace plim
