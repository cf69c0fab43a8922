// The functions of the C library and its vector part that generated code may call: an explicit list,
// so that a module can reach nothing else of the process.
#pragma once

#include <string_view>

namespace plim::jit {

/// The address of an allowed function, null for any other name. Opens libmvec on first use; any
/// thread.
void *mathSymbol(std::string_view name);

/// Is it the name of an allowed scalar function of the C library?
bool isScalarMath(std::string_view name);

} // namespace plim::jit
