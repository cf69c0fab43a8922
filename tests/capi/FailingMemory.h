// malloc() and pthread_create() that fail when a test says so, in the whole process.
#pragma once

#include <atomic>
#include <climits>

namespace failing {

/// Whose turn it is: allocations of the threads that say `isHere`, those of all, or new threads.
enum class Kind { Here, Everywhere, Threads };
inline std::atomic<Kind> kind = Kind::Here;
inline thread_local bool isHere = false;
/// How many more succeed, and whether those behind the one that fails do. LONG_MAX: nothing fails.
inline std::atomic<long> left = LONG_MAX;
inline std::atomic<bool> isAlone = true;
/// Since it was set to 0.
inline std::atomic<long> failed = 0;

} // namespace failing
