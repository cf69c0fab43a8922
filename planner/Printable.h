// Text from files in messages. Internal to planner/ and to what prints its names.
#pragma once

#include <string>
#include <string_view>

namespace plim::planner {

/// The text with control characters as \xHH, so that no name does anything to a terminal. What else
/// UTF-8 may hold stays.
std::string printable(std::string_view text);

} // namespace plim::planner
