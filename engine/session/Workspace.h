// The workspace of a call: the slab, in which buffers with lifetimes share memory, and behind it
// the scratch of each thread that may run a part of the call. How large both are, asked for calls
// and by callers that bring the memory.
//
// Any thread.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/CallContext.h"
#include "engine/session/Engine.h"
#include "engine/session/FunctionCode.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plim::session {

/// The bytes of the slab for a call with these arguments. If the plan depends on the arguments,
/// `offsets`, one for each of its buffers, receives where each lies. For extents that are new it
/// allocates and searches, on another thread if this one has too little stack. ResourceExhausted if
/// the sum is too large, or without memory or such a thread.
StatusOr<size_t> planSlab(const FunctionCode &code, const plim_view *arguments,
                          std::span<int64_t> offsets, runtime::Executor &executor,
                          runtime::MemoryPool &slabs);

/// Sizes of slab and scratch in a workspace of the caller's, without asking whether that is all
/// that a call takes.
runtime::CallMemory workspaceLayout(const FunctionCode &code, size_t slabBytes,
                                    const runtime::Executor &executor);

/// What the caller's workspace must have. FailedPrecondition for code that takes other memory as
/// well; ResourceExhausted for one that is larger than the address space.
StatusOr<WorkspaceRequirement> workspaceRequirement(const FunctionCode &code, size_t slabBytes,
                                                    const runtime::Executor &executor);

/// Does this code, whose slab was planned at load, get along with a workspace of `bytes` bytes?
/// Takes no memory.
bool fitsWorkspace(const FunctionCode &code, size_t bytes, const runtime::Executor &executor);

} // namespace plim::session
