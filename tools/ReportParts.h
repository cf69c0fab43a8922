// The parts of the report's page, as CMake embeds them (cmake/PlimsollEmbed.cmake).
#pragma once

#include <string_view>

namespace plim::tools {

extern const std::string_view reportTemplate; // tools/report/page.html
extern const std::string_view reportStyle;
extern const std::string_view reportScript; // of several files
extern const std::string_view reportLayout; // the library dagre
extern const std::string_view reportLicences;

} // namespace plim::tools
