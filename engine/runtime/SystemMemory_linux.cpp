#include "engine/runtime/SystemMemory.h"

#include "engine/abi/plim_abi.h"

#include <cstdlib>
#include <sys/mman.h>

namespace plim::runtime {

void *allocateBlock(size_t bytes) {
  // The size on x86-64 and of 4 KiB granules on AArch64; elsewhere the advice finds nothing to do.
  constexpr size_t hugePage = size_t{2} << 20;
  size_t whole = bytes / hugePage * hugePage;
  void *memory;
  if (posix_memalign(&memory, whole ? hugePage : PLIM_BUFFER_ALIGNMENT, bytes) != 0)
    return nullptr;
  // The tail stays in small pages: it would take memory that nobody asked for. The advice may be
  // refused, which costs speed alone.
  if (whole)
    madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

} // namespace plim::runtime
