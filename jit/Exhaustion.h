// Exhaustion: a status where LLVM would end the process because there is no memory, or no thread.
//
// LLVM knows no exceptions: one that passes its frames leaks what they own and leaves locked what they locked. So what
// was in use is to be given up, whole.
#pragma once

#include "support/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace plim::jit {

/// ResourceExhausted; made beforehand, since it takes memory.
Status outOfMemory(std::string_view what);

/// What `job` gives, or `exhausted` if it needs memory that there is none of. Replaces LLVM's handler of that when it is
/// called first: it ends the process as before, but for threads in here. Any thread.
Status catchExhaustion(const Status &exhausted, llvm::function_ref<Status()> job);

/// The same on a new thread with a stack of `stackBytes`, which is waited for; ResourceExhausted if it does not start.
Status runOnThread(size_t stackBytes, const Status &exhausted, llvm::function_ref<Status()> job);

} // namespace plim::jit
