// What a module's text tells before the compiler has read it, so that a typo costs no compilation.
//
// It is not parsed: of what is not sure nothing is said, and the compiler has the last word. Any thread.
#pragma once

#include "support/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace plim::tools {

/// NotFound, as of Module::lookup(), for a `function` that `text` cannot have; empty: the only public one. Unimplemented if
/// one of the first of its results, which go to the files `outputs`, has elements that no .npy file can hold.
Status checkCall(std::string_view text, const std::string &module, const std::string &function,
                 const std::vector<std::string> &outputs);

} // namespace plim::tools
