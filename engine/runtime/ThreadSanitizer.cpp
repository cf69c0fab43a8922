#include "engine/runtime/ThreadSanitizer.h"

#include <sanitizer/tsan_interface.h>

namespace plim::runtime {

void tsanRelease(const void *token) { __tsan_release(const_cast<void *>(token)); }
void tsanAcquire(const void *token) { __tsan_acquire(const_cast<void *>(token)); }

} // namespace plim::runtime

// Accesses of oneTBB's own headers to its own nodes: their order is made inside the library. None
// of these functions is on the stack while a task's body runs, so no race of a body is hidden.
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_suppressions() {
  return "race_top:tbb::detail::\n"
         "race:tbb::detail::d1::node::\n"
         "race:tbb::detail::d1::fold_tree\n"
         "race:tbb::detail::d1::tree_node::\n"
         "race:tbb::detail::d1::wait_context::\n"
         "race:::check_being_stolen\n";
}
