#include "engine/runtime/FaultGuard.h"

#include <csetjmp>
#include <csignal>
#include <mutex>
#include <utility>

namespace plim::runtime {

/// Where a thread goes on after a fault.
struct FaultGuard::Point {
  sigjmp_buf jump;
  Point *const previous;
  const void *address = nullptr;
  bool isDivision = false;

  Point() : previous(std::exchange(current, this)) {}
  ~Point() { current = previous; }
  Point(const Point &) = delete;
  Point &operator=(const Point &) = delete;
};

thread_local constinit FaultGuard::Point *FaultGuard::current = nullptr;

std::optional<Fault> FaultGuard::runErased(void (*code)(void *), void *argument) {
  Point point;
  // With the signals that are blocked: in a handler the one that it handles is.
  if (sigsetjmp(point.jump, 1) != 0)
    return Fault{point.address, point.isDivision};
  code(argument);
  return std::nullopt;
}

FaultPause::FaultPause() : paused(std::exchange(FaultGuard::current, nullptr)) {}
FaultPause::~FaultPause() { FaultGuard::current = paused; }

/// The handler of one signal, and what it found there.
struct FaultHandler {
  const int signal;
  struct sigaction before = {};
  /// A handler that the host put on top of ours, and that may call ours.
  struct sigaction cover = {};
  bool isCovered = false;

  void install() {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    if (isOurs(now) || (isCovered && isSame(now, cover)))
      return;
    before = now;
    struct sigaction ours = {};
    ours.sa_sigaction = &handle;
    ours.sa_mask = before.sa_mask;
    // The host's stack for signals, if it has one: its own handler may need it.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & SA_NODEFER);
    sigaction(signal, &ours, nullptr);
  }

  void remove() {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    isCovered = !isOurs(now) && isFunction(now) && !isSame(now, before);
    if (isCovered)
      cover = now;
    else if (isOurs(now))
      sigaction(signal, &before, nullptr);
  }

  void passOn(siginfo_t *info, void *context) const {
    if (before.sa_flags & SA_SIGINFO)
      return before.sa_sigaction(signal, info, context);
    if (isFunction(before))
      return before.sa_handler(signal);
    if (before.sa_handler == SIG_IGN && info->si_code <= 0)
      return;
    // Back to where it happened, this time for good.
    struct sigaction fatal = {};
    fatal.sa_handler = SIG_DFL;
    sigaction(signal, &fatal, nullptr);
    if (info->si_code <= 0)
      raise(signal);
  }

  static bool isFunction(const struct sigaction &action) {
    return (action.sa_flags & SA_SIGINFO) ||
           (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  }
  static bool isSame(const struct sigaction &a, const struct sigaction &b) {
    return a.sa_flags == b.sa_flags && a.sa_sigaction == b.sa_sigaction;
  }
  static bool isOurs(const struct sigaction &action) {
    return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == &handle;
  }

  static void handle(int signal, siginfo_t *info, void *context);
};

namespace {

std::mutex handlersMutex;
int users = 0;
// Read by the handler itself: changed only while that is not installed.
FaultHandler handlers[] = {{SIGSEGV}, {SIGBUS}, {SIGFPE}};

} // namespace

void FaultHandler::handle(int signal, siginfo_t *info, void *context) {
  // What another process sends is no fault of this thread.
  if (FaultGuard::Point *point = FaultGuard::current; point && info->si_code > 0) {
    point->address = info->si_addr;
    point->isDivision = signal == SIGFPE;
    siglongjmp(point->jump, 1);
  }
  handlers[signal == SIGSEGV ? 0 : signal == SIGBUS ? 1 : 2].passOn(info, context);
}

FaultHandlers::FaultHandlers() {
  std::lock_guard lock(handlersMutex);
  if (users++ == 0)
    for (FaultHandler &handler : handlers)
      handler.install();
}

FaultHandlers::~FaultHandlers() {
  std::lock_guard lock(handlersMutex);
  if (--users == 0)
    for (FaultHandler &handler : handlers)
      handler.remove();
}

} // namespace plim::runtime
