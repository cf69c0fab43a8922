// Where the memory pool gets its blocks from: the system's allocator, asked for huge pages.
//
// A fresh page of 4 KiB costs about as much as computing on what it holds; blocks that one call
// fills from end to end are faulted in several times faster in pages of 2 MiB. Platform-specific:
// SystemMemory_linux.cpp, SystemMemory_generic.cpp. Any thread.
#pragma once

#include <cstddef>

namespace plim::runtime {

/// `bytes` bytes, a multiple of PLIM_BUFFER_ALIGNMENT, so aligned, uninitialised; to be given back
/// with std::free. Null without memory.
void *allocateBlock(size_t bytes);

} // namespace plim::runtime
