// Names that are nearly what somebody wrote. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plim {

/// How many bytes must be put in, taken out or replaced (V. I. Levenshtein, "Binary Codes Capable
/// of Correcting Deletions, Insertions, and Reversals", 1966). O(a * b).
size_t editDistance(std::string_view a, std::string_view b);

/// "; did you mean 'x'?" with the nearest of `names`; nothing where none is near.
std::string suggestion(std::string_view name, std::span<const std::string> names);

} // namespace plim
