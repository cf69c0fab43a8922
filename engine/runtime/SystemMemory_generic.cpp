#include "engine/runtime/SystemMemory.h"

#include "engine/abi/plim_abi.h"

#include <cstdlib>

namespace plim::runtime {

void *allocateBlock(size_t bytes) { return std::aligned_alloc(PLIM_BUFFER_ALIGNMENT, bytes); }

} // namespace plim::runtime
