// FileSizeSignal: writes that are an error, not the end of the process, where the size of files is
// limited.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace plim {

/// While this lives, what this thread writes beyond RLIMIT_FSIZE fails with EFBIG and sends
/// nothing. The handlers of the host stay as they are, and the destructor, on the same thread, puts
/// the thread's mask back. errno stays.
class WithoutFileSizeSignal {
public:
  WithoutFileSizeSignal() {
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal, &before);
  }
  ~WithoutFileSizeSignal() {
    const int error = errno;
    const timespec now = {0, 0};
    if (!sigismember(&before, SIGXFSZ))
      ::sigtimedwait(&signal, nullptr, &now); // it was for this thread
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
  }
  WithoutFileSizeSignal(const WithoutFileSizeSignal &) = delete;
  WithoutFileSizeSignal &operator=(const WithoutFileSizeSignal &) = delete;

private:
  sigset_t signal, before;
};

} // namespace plim
