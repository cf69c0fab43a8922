// Exhaustion: a status where LLVM would end the process because there is no memory, or no thread.
//
// LLVM knows no exceptions: an exception that passes its frames leaks what they own and leaves
// their locks locked. So the objects of LLVM that were in use must be given up as a whole.
#pragma once

#include "support/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace plim::jit {

/// ResourceExhausted; made beforehand, since it takes memory.
Status outOfMemory(std::string_view what);

/// Runs `job` and returns its status, or `exhausted` if LLVM or the job runs out of memory. The
/// first call replaces LLVM's handler for that, which from then on ends the process only for
/// threads that are not in here. Any thread.
Status catchExhaustion(const Status &exhausted, llvm::function_ref<Status()> job);

/// The same on a new thread with a stack of `stackBytes`, which is waited for; ResourceExhausted if
/// it does not start.
Status runOnThread(size_t stackBytes, const Status &exhausted, llvm::function_ref<Status()> job);

} // namespace plim::jit
