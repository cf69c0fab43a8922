// Sandboxes: each system call that there is, one at a time, is refused by a filter (seccomp). An engine is then made, loads
// an artifact and a source, and runs them, or there is a status; nothing ends the process, and nothing waits for ever.
#include "tests/capi/Twice.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
int main() {
  std::puts("skipped: a sanitizer makes system calls of its own");
  return 0;
}
#else

namespace {

using twice::ended;
using twice::source;

/// The newest that the headers of this machine may know, and some.
constexpr int lastCall = 470;

/// Without these no C program runs: glibc ends it, or it cannot end. That brk fails glibc sees from the address that it returns, and
/// takes a filter's error for one: it uses memory that is not there as soon as the heap has to grow.
bool isNeededByAll(int number) {
  return number == SYS_futex || number == SYS_rt_sigreturn || number == SYS_exit ||
         number == SYS_exit_group || number == SYS_munmap || number == SYS_rseq ||
         number == SYS_brk;
}

/// Those by which memory comes. MLIR's tables do not look at what they are given; so nothing is compiled without.
bool givesMemory(int number) { return number == SYS_mmap || number == SYS_mprotect; }

bool refuse(int number, unsigned how) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | how),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

plim_engine *makeEngine() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 2;
  plim_engine *engine = nullptr;
  return ended(plim_engine_create(&options, &engine)) ? engine : nullptr;
}

bool loadAndCall(plim_engine *engine, const std::string &text) {
  plim_module *module = nullptr;
  const bool isOk =
      ended(plim_module_load(engine, text.data(), text.size(), "in.mlir", nullptr, &module)) &&
      twice::call(engine, module);
  plim_module_release(module);
  return isOk;
}

} // namespace

int main(int argc, char **argv) {
  std::string artifact;
  plim_engine *engine = makeEngine();
  plim_bytes *bytes = nullptr;
  if (!ended(plim_module_compile(engine, source, std::strlen(source), "in.mlir", nullptr, &bytes)))
    return 1;
  artifact.assign(static_cast<const char *>(plim_bytes_data(bytes)), plim_bytes_size(bytes));
  plim_bytes_release(bytes);
  plim_engine_release(engine);

  int works = 0, refused = 0, lost = 0;
  const int first = argc > 1 ? std::atoi(argv[1]) : 0, last = argc > 1 ? first : lastCall;
  for (int number = first; number <= last; ++number) {
    if (isNeededByAll(number))
      continue;
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      if (!refuse(number, EPERM))
        _exit(77);
      plim_engine *own = makeEngine();
      bool isOk = own && loadAndCall(own, artifact);
      if (own && !givesMemory(number))
        isOk &= loadAndCall(own, source);
      plim_engine_release(own);
      syscall(SYS_exit_group, isOk ? 0 : 1);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 77) {
      std::puts("skipped: this machine has no filters of system calls");
      return 77;
    }
    if (code == 0) {
      ++works;
    } else if (code == 1) {
      ++refused;
      std::printf("without system call %d: a status\n", number);
    } else {
      ++lost;
      std::printf("without system call %d the process ends: %s %d\n", number,
                  WIFSIGNALED(status) ? "signal" : "code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : code);
    }
  }
  std::printf("%d system calls: without each of %d all works, without each of %d there is a "
              "status, %d end the process\n",
              works + refused + lost, works, refused, lost);
  return lost != 0;
}
#endif
