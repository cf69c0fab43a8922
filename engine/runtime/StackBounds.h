// StackBounds: how much stack the calling thread has left.
//
// A thread asks the system for the bounds of its stack once, at its first question, and keeps them.
// The bounds leave out guard pages and a margin for a signal handler and for the frames between the
// question and the code it was asked for. The main thread's stack grows up to its resource limit as
// that was at the first question. Code on a stack of its own (a coroutine, an alternative signal
// stack) is outside of the bounds: nothing is known to be left.
//
// Thread safety: any thread, not from signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plim::runtime {

struct StackBounds {
  uintptr_t end = 0;  // the lowest byte, where the guard pages begin
  uintptr_t low = 0;  // the first byte that may be used
  uintptr_t high = 0; // behind the last one
  bool known = false; // the system was asked

  /// Bytes below this frame; 0 outside of the bounds. Asks the system the first time.
  static inline size_t left();
  /// Down to the very end, without the margin; 0 outside of the thread's stack.
  static inline size_t leftToTheEnd();

private:
  void read();
  // At a fixed distance from the thread's own block: in a shared library every access would call a function.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit StackBounds ofThread;
};

size_t StackBounds::left() {
  StackBounds &bounds = ofThread;
  if (!bounds.known) [[unlikely]]
    bounds.read();
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > bounds.low && here <= bounds.high ? here - bounds.low : 0;
}

size_t StackBounds::leftToTheEnd() {
  (void)left();
  auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > ofThread.end && here <= ofThread.high ? here - ofThread.end : 0;
}

} // namespace plim::runtime
