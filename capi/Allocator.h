// The host's allocators, behind the engine's.
//
// Threads: an allocator is read by one thread; the host's functions are then called from any,
// several at once.
#pragma once

#include "plimsoll/allocator.h"

#include "capi/Border.h"
#include "engine/runtime/MemoryPool.h"

#include <memory>

namespace plim::capi {

/// What is called in the host's place, whose functions promise nothing of exceptions.
struct HostAllocator {
  explicit HostAllocator(const plim_allocator &callbacks)
      : callbacks(callbacks), user(callbacks.user, callbacks.release_user) {}

  const plim_allocator callbacks;
  UserData user; // to be taken by the function that got it
};

/// Makes `allocator` call the functions that `given` has. It keeps `out`, of which the caller takes
/// the `user` when nothing can fail any more. InvalidArgument for a struct that cannot be, or
/// without both functions.
Status readAllocator(const plim_allocator *given, std::shared_ptr<HostAllocator> &out,
                     runtime::Allocator &allocator);

} // namespace plim::capi
