// FaultGuard: a fault in generated code ends that code, not the process.
//
//   FaultHandlers handlers;                  // SIGSEGV, SIGBUS and SIGFPE are ours while one lives
//   std::optional<Fault> fault = FaultGuard::run([&] { entry(...); });
//
// A handler jumps back into run() when the fault was on a thread that is inside of run(). It hands
// any other fault on to the handler that was there before. The frames in between are dropped as
// they are, so they must own nothing: generated code, and functions of the C library that it calls.
// Where generated code calls the runtime, a FaultPause makes the thread an ordinary one again.
//
// Handlers belong to the process: the one thing here that is global. Thread safety: any thread.
#pragma once

#include <optional>

namespace plim::runtime {

/// Installs the handlers for its life; any number may live at once. Where the host has put other
/// handlers on top of ours by then, the last one leaves them in place.
class FaultHandlers {
public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers &) = delete;
  FaultHandlers &operator=(const FaultHandlers &) = delete;
};

struct Fault {
  /// What was accessed, or the instruction that divided.
  const void *address;
  /// An integer divided by zero, or the smallest one by -1.
  bool isDivision = false;
};

class FaultGuard {
public:
  /// Calls code(). A fault in it is returned; memory then is as the code left it. May throw what
  /// code() throws. Calls may be nested.
  template <typename CodeT> static std::optional<Fault> run(CodeT &&code) {
    return runErased([](void *erased) { (*static_cast<CodeT *>(erased))(); }, &code);
  }

private:
  friend class FaultPause;
  friend struct FaultHandler;
  struct Point;
  static std::optional<Fault> runErased(void (*code)(void *), void *argument);

  // As in StackBounds.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Point *current;
};

/// For a scope, faults of this thread are not those of generated code.
class FaultPause {
public:
  FaultPause();
  ~FaultPause();
  FaultPause(const FaultPause &) = delete;
  FaultPause &operator=(const FaultPause &) = delete;

private:
  FaultGuard::Point *const paused;
};

} // namespace plim::runtime
