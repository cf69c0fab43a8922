// Text from files in messages. Internal to planner/ and to what prints its names.
#pragma once

#include <string>
#include <string_view>

namespace plim::planner {

/// The text with control characters as \xHH, those of U+0080 to U+009F too, so that no name does
/// anything to a terminal. Everything else of UTF-8 stays.
std::string printable(std::string_view text);

} // namespace plim::planner
