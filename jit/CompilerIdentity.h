// CompilerIdentity: which build of the compiler this is, for keys of what it made.
#pragma once

#include <string>

namespace plim::jit {

/// Tells one build from the next: size and time of the files that hold this library, and LLVM.
std::string compilerIdentity();

} // namespace plim::jit
