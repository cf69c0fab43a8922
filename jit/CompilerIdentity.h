// CompilerIdentity: which builds made something, for keys of what they made.
#pragma once

#include <string>

namespace plim::jit {

/// Tells one build of a file from the next: its size and time. Empty if there is no such file.
std::string identityOfFile(const std::string &path);

/// The same of the compiler in this process: of the files that hold this library, LLVM and MLIR. Empty if one is not found.
/// Any thread.
const std::string &compilerIdentity();

} // namespace plim::jit
