#include "targets/host/Stacks.h"

#include <algorithm>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace plim::targets::host {
namespace {

// Linux's own default; an unlimited stack still meets the next mapping somewhere.
constexpr int64_t usualMainThreadBytes = 8 << 20;

// oneTBB asks for this size itself, whatever the resource limits say.
constexpr int64_t workerBytes = sizeof(void *) <= 4 ? 2 << 20 : 4 << 20;

constexpr int64_t maxBudgetBytes = 1 << 20;
constexpr int64_t maxAllocaBytes = 64 << 10;

int64_t readMainThreadBytes() {
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return usualMainThreadBytes;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

/// 0 if the system does not say.
int64_t readCallerBytes() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return 0;
  size_t bytes = 0;
  void *lowest = nullptr;
  bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return known ? static_cast<int64_t>(bytes) : 0;
}

int64_t roundDown(int64_t bytes) { return bytes & ~int64_t{63}; }

} // namespace

StackSizes readStackSizes() {
  StackSizes sizes;
  sizes.mainThread = readMainThreadBytes();
  sizes.worker = workerBytes;
  // What the C library says of the main thread's own stack moves with where it was loaded; equal
  // machines must give equal descriptions.
  bool onMainThread = gettid() == getpid();
  sizes.caller = onMainThread ? 0 : readCallerBytes();
  if (sizes.caller == 0)
    sizes.caller = sizes.mainThread;
  return sizes;
}

StackLimits chooseStackLimits(const StackSizes &sizes) {
  int64_t smallest = std::min({sizes.mainThread, sizes.worker, sizes.caller});
  StackLimits limits;
  limits.budget = roundDown(std::min(smallest / 4, maxBudgetBytes));
  limits.maxAlloca = roundDown(std::min(limits.budget / 4, maxAllocaBytes));
  return limits;
}

} // namespace plim::targets::host
