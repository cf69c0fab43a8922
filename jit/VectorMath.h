// The vector functions of the C library's math part (libmvec), for LLVM's loop vectoriser.
//
// LLVM knows of some of them and of none with 512 bits; here are all that the library on this machine
// has. They are accurate to four units in the last place.
#pragma once

#include "llvm/Analysis/TargetLibraryInfo.h"

#include <vector>

namespace plim::jit {

/// Functions for vectors of at most `vectorBits` bits on x86-64; empty where the library lacks them.
/// The strings that the descriptions refer to live for ever. Any thread.
std::vector<llvm::VecDesc> vectorMathFunctions(int64_t vectorBits);

} // namespace plim::jit
