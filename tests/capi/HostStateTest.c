/* What belongs to the host is as it was after engines have compiled, refused, run and ended, with a compiler that ended among
 * them: handlers of signals, mask, alternate stack, mode of floating point, limits, working directory, file mode mask,
 * environment, descriptors, children; and nothing was printed. The command line may name another way to load: "worker". */
#include "plimsoll/plimsoll.h"

#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const source = "func.func @root(%x: tensor<1000xf32>) -> tensor<1000xf32> {\n"
                                  "  %r = math.sqrt %x : tensor<1000xf32>\n"
                                  "  return %r : tensor<1000xf32>\n"
                                  "}\n";
static const char *const wrong = "func.func @f() -> i32 {\n  return\n}\n";
/* Ends upstream's parser. */
static const char *const crasher = "func.func @f() attributes {a = array<index: 1>} { return }\n";

/* Whose runtime starts a process that knows the names of functions, and keeps a pipe to it. */
#define SANITIZED 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#undef SANITIZED
#define SANITIZED 1
#endif
#endif

typedef struct State {
  struct sigaction handlers[NSIG];
  sigset_t mask;
  stack_t alternate;
  int rounding, exceptions;
  unsigned control;
  struct rlimit limits[RLIM_NLIMITS];
  char folder[4096];
  mode_t mode;
  size_t variables, descriptors;
  int dumpable, noNewPrivileges;
} State;

static size_t countDescriptors(void) {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (readdir(folder))
    ++count;
  closedir(folder);
  return count;
}

static void look(State *state) {
  memset(state, 0, sizeof *state);
  for (int signal = 1; signal < NSIG; ++signal)
    (void)sigaction(signal, NULL, &state->handlers[signal]);
  sigprocmask(SIG_SETMASK, NULL, &state->mask);
  sigaltstack(NULL, &state->alternate);
  state->rounding = fegetround();
#if defined(__x86_64__)
  state->control = __builtin_ia32_stmxcsr();
#else
  state->exceptions = fetestexcept(FE_ALL_EXCEPT);
#endif
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit)
    getrlimit(limit, &state->limits[limit]);
  if (!getcwd(state->folder, sizeof state->folder))
    abort();
  state->mode = umask(0);
  umask(state->mode);
  while (environ[state->variables])
    ++state->variables;
  state->descriptors = countDescriptors();
  state->dumpable = prctl(PR_GET_DUMPABLE);
  state->noNewPrivileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static int failures;
static void expect(int isTrue, const char *what) {
  if (isTrue)
    return;
  ++failures;
  printf("changed: %s\n", what);
}

/* Beyond its signals a mask holds anything. */
static int areEqual(const sigset_t *a, const sigset_t *b) {
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(a, signal) != sigismember(b, signal))
      return 0;
  return 1;
}

static void compare(const State *before, const State *now) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const struct sigaction *a = &before->handlers[signal], *b = &now->handlers[signal];
    char text[64];
    snprintf(text, sizeof text, "handler of signal %d", signal);
    expect(a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags &&
               areEqual(&a->sa_mask, &b->sa_mask),
           text);
  }
  expect(areEqual(&before->mask, &now->mask), "mask of signals");
  expect(before->alternate.ss_sp == now->alternate.ss_sp &&
             before->alternate.ss_flags == now->alternate.ss_flags,
         "alternate stack");
  expect(before->rounding == now->rounding && before->control == now->control &&
             before->exceptions == now->exceptions,
         "mode of floating point");
  expect(memcmp(before->limits, now->limits, sizeof now->limits) == 0, "limits");
  expect(strcmp(before->folder, now->folder) == 0, "working directory");
  expect(before->mode == now->mode, "file mode mask");
  expect(before->variables == now->variables, "environment");
  expect(SANITIZED || before->descriptors == now->descriptors, "descriptors");
  expect(before->dumpable == now->dumpable && before->noNewPrivileges == now->noNewPrivileges,
         "flags of the process");
}

static int isOk(plim_status *status) {
  const int ok = !status;
  plim_status_release(status);
  return ok;
}

static void use(const char *folder, int hasWorker) {
  plim_compile_workers workers = {.struct_size = sizeof workers};
  plim_engine_options options = {
      .struct_size = sizeof options, .threads = 2, .cache_folder = folder};
  options.compile_workers = hasWorker ? &workers : NULL;
  plim_engine *engine = NULL;
  plim_module *module = NULL, *none = NULL;
  plim_function *root = NULL;
  plim_buffer *x = NULL;
  const int64_t shape[] = {1000};
  expect(isOk(plim_engine_create(&options, &engine)) &&
             isOk(plim_module_load(engine, source, strlen(source), "a.mlir", NULL, &module)) &&
             isOk(plim_module_function(module, "root", &root)) &&
             isOk(plim_buffer_allocate(engine, PLIM_F32, 1, shape, &x)),
         "nothing works");
  expect(!isOk(plim_module_load(engine, wrong, strlen(wrong), "b.mlir", NULL, &none)),
         "a wrong text is taken");
  if (hasWorker)
    expect(!isOk(plim_module_load(engine, crasher, strlen(crasher), "c.mlir", NULL, &none)),
           "a text that ends the compiler is taken");
  float *elements = plim_buffer_mutable_data(x);
  for (int i = 0; i < 1000; ++i)
    elements[i] = (float)(i - 500) * 1e-40f; /* with what sets every flag there is */
  const plim_value argument = plim_value_buffer(x);
  plim_value result;
  expect(isOk(plim_function_call(root, &argument, 1, &result, 1, NULL)), "a call fails");
  plim_value_release(&result);
  plim_event *event = NULL;
  expect(isOk(plim_function_call_async(root, &argument, 1, NULL, &event)), "a call does not begin");
  expect(isOk(plim_event_wait(event)), "a call fails");
  plim_event_release(event);
  plim_buffer_release(x);
  plim_function_release(root);
  plim_module_release(module);
  plim_engine_release(engine);
}

static void handler(int signal) { (void)signal; }

int main(int argc, char **argv) {
  const int hasWorker = argc > 1 && strcmp(argv[1], "worker") == 0;
  const char *temporary = getenv("TMPDIR");
  char folder[512];
  snprintf(folder, sizeof folder, "%s/plim_host_state_XXXXXX", temporary ? temporary : "/tmp");
  if (!mkdtemp(folder))
    return 1;
  /* A host that has some of its own. */
  static char stack[1 << 16];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternate, NULL);
  const struct sigaction own = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGCHLD, SIGUSR1, SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
    sigaction(signals[i], &own, NULL);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  fesetround(FE_DOWNWARD);

  use(folder, hasWorker); /* what is opened once for all stays open */
  const int printed = memfd_create("printed", MFD_CLOEXEC);
  fflush(stdout);
  const int out = dup(1), err = dup(2);
  dup2(printed, 1);
  dup2(printed, 2);
  State before, now;
  look(&before);
  for (int i = 0; i < 3; ++i)
    use(folder, hasWorker);
  look(&now);
  fflush(stdout);
  struct stat status;
  fstat(printed, &status);
  dup2(out, 1);
  dup2(err, 2);
  expect(status.st_size == 0, "what is printed");
  compare(&before, &now);
  errno = 0;
  expect(SANITIZED || (waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD), "children");
  char remove[600];
  snprintf(remove, sizeof remove, "rm -r %s", folder);
  if (system(remove) != 0)
    return 1;
  return failures != 0;
}
