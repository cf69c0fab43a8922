// Stack sizes of the threads that will run generated code, and the limits that follow.
//
// Must not know oneTBB: the size of its workers' stacks is a documented constant here, and a test
// asks a real worker. Stateless.
#pragma once

#include <cstdint>

namespace plim::targets::host {

/// Bytes, from one end of the stack to the other: what is left at a call is less.
struct StackSizes {
  int64_t mainThread = 0;
  int64_t worker = 0;
  int64_t caller = 0;
};

struct StackLimits {
  int64_t budget = 0;
  int64_t maxAlloca = 0;
};

/// Of the main thread (its resource limit), of a worker of oneTBB by default, and of this thread.
StackSizes readStackSizes();

/// The budget is a quarter of the smallest stack, at most 1 MiB: the rest is for the frames of the
/// host application above the call, of the runtime, and of signal handlers. One allocation may
/// take a quarter of the budget, at most 64 KiB, so that a handful of them fit and touching one
/// cannot step over more than the stack that is there. Multiples of 64.
StackLimits chooseStackLimits(const StackSizes &sizes);

} // namespace plim::targets::host
