// The parts a call needs, and dispatch entries written by hand in place of generated code.
#pragma once

#include "engine/runtime/CallContext.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/MemoryPool.h"

#include <memory>

namespace plim::runtime {

struct RuntimeParts {
  explicit RuntimeParts(int threads, size_t slabBytes = 0, MemoryPoolOptions options = {})
      : pool(std::make_shared<MemoryPool>(options)), executor(pool, {.threads = threads}) {
    memory.slabBytes = slabBytes;
  }

  std::shared_ptr<MemoryPool> pool;
  Executor executor;
  CallMemory memory;
};

/// A call of `parts`.
struct Call : CallContext {
  explicit Call(RuntimeParts &parts)
      : CallContext(parts.executor, *parts.pool, *parts.pool, parts.memory) {}
};

/// The first scalar is the number of workgroups.
inline int64_t firstScalar(const int64_t *scalars) { return scalars[0]; }

/// Of one that says nothing of its source and bindings.
constexpr plim_dispatch dispatchOf(plim_dispatch_entry entry, plim_workgroup_count workgroups,
                                   const char *name, int64_t cost) {
  return {entry, workgroups, name, cost, "", 0, nullptr, 0, nullptr};
}

/// Cheap enough that a dispatch of any size in the tests runs inline.
inline constexpr int64_t cheap = 1;
/// Dear enough that two workgroups are shared between threads.
inline constexpr int64_t dear = 10 * operationsPerMicrosecond;
static_assert(2 * dear >= Executor::inlineOperations);

} // namespace plim::runtime
