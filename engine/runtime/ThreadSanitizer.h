// Tells ThreadSanitizer the order that oneTBB establishes. Debian's oneTBB is not instrumented, so
// the hand-over of a task to a worker, and the wait for its end, look like no order at all.
//
//   launcher: tsanRelease(&start); parallel_for(..., body); tsanAcquire(&end);
//   body:     [&](...) PLIM_NO_TSAN { tsanAcquire(&start); work(); tsanRelease(&end); }
//             not instrumented itself, because it reads its captures before the order is known
//
// Nothing in other builds. ThreadSanitizer.cpp, compiled in that build alone, also names the parts
// of oneTBB's headers whose reports mean nothing. Any thread.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLIM_THREAD_SANITIZER 1
#endif
#endif

#ifdef PLIM_THREAD_SANITIZER
#define PLIM_NO_TSAN __attribute__((no_sanitize("thread")))
#else
#define PLIM_NO_TSAN
#endif

namespace plim::runtime {

/// What happened before tsanRelease(token) on any thread happened before what follows a later
/// tsanAcquire(token) on any other. `token` is any address that serves one purpose at a time.
#ifdef PLIM_THREAD_SANITIZER
void tsanRelease(const void *token);
void tsanAcquire(const void *token);
#else
inline void tsanRelease(const void *) {}
inline void tsanAcquire(const void *) {}
#endif

} // namespace plim::runtime
