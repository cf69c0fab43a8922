// CompilerIdentity: which build of the compiler this is, for keys of what it made.
#pragma once

#include <string>

namespace plim::jit {

/// Tells one build from the next: size and time of the files that hold this library, and LLVM. Any thread.
const std::string &compilerIdentity();

} // namespace plim::jit
