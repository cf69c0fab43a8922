// The files of targets/tags, which the build copies into the library: an installed one needs no
// data folder.
#pragma once

#include <span>
#include <string_view>

namespace plim::targets::internal {

/// One of them; both texts are static.
struct BuiltinTag {
  std::string_view file; // "targets/tags/x86-64.json"
  std::string_view json;
};

std::span<const BuiltinTag> builtinTags();

} // namespace plim::targets::internal
