/* A host that ends while calls of its run, on its own threads and on the engine's, and while it compiles,
 * likewise: its exit code is what it says, soon. Each way to end, in children. */
#include "plimsoll/plimsoll.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A product a turn, as often as is asked: minutes. */
static const char *const source =
    "func.func @powers(%x: tensor<128x128xf32>, %n: index) -> tensor<128x128xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %z = arith.constant 0.0 : f32\n"
    "  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> tensor<128x128xf32> {\n"
    "    %e = tensor.empty() : tensor<128x128xf32>\n"
    "    %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>\n"
    "    %q = linalg.matmul ins(%p, %x : tensor<128x128xf32>, tensor<128x128xf32>)\n"
    "        outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>\n"
    "    scf.yield %q : tensor<128x128xf32>\n"
    "  }\n"
    "  return %r : tensor<128x128xf32>\n"
    "}\n";

static plim_engine *engine;
static plim_function *powers;
static plim_value arguments[2];

static void require(plim_status *status) {
  if (!status)
    return;
  fprintf(stderr, "%s\n", plim_status_message(status));
  _exit(99);
}

static void *callForLong(void *unused) {
  (void)unused;
  plim_value result;
  require(plim_function_call(powers, arguments, 2, &result, 1, NULL));
  return NULL;
}

static void *compileForEver(void *unused) {
  (void)unused;
  for (;;) {
    plim_module *module = NULL;
    require(plim_module_load(engine, source, strlen(source), "powers.mlir", NULL, &module));
    plim_module_release(module);
  }
  return NULL;
}

static void *callExit(void *code) { exit(*(const int *)code); }

static void start(void *(*body)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument) != 0)
    _exit(98);
  pthread_detach(thread);
}

static void beBusy(void) {
  plim_engine_options options = {.struct_size = sizeof options, .threads = 2};
  plim_module *module = NULL;
  const int64_t shape[] = {128, 128};
  plim_buffer *x = NULL;
  require(plim_engine_create(&options, &engine));
  require(plim_module_load(engine, source, strlen(source), "powers.mlir", NULL, &module));
  require(plim_module_function(module, "powers", &powers));
  require(plim_buffer_allocate(engine, PLIM_F32, 2, shape, &x));
  memset(plim_buffer_mutable_data(x), 0, sizeof(float) * 128 * 128);
  arguments[0] = plim_value_buffer(x);
  arguments[1] = plim_value_index(1000000);
  for (int i = 0; i < 3; ++i) {
    plim_event *event = NULL;
    require(plim_function_call_async(powers, arguments, 2, NULL, &event));
    start(callForLong, NULL);
  }
  start(compileForEver, NULL);
  for (int i = 0; i < 8; ++i) {
    plim_event *event = NULL;
    require(plim_module_load_async(engine, source, strlen(source), "powers.mlir", NULL, &event));
    plim_event_release(event);
  }
}

/* Handlers of the host's that take their time, and meanwhile all goes on. exit() comes to one of them behind what the libraries
 * registered since main() began, and to the other one behind what they registered when they were loaded as well. */
static int dawdles;
static void dawdle(void) { usleep(dawdles ? 300000 : 0); }
static void registerDawdle(void) { atexit(dawdle); }
__attribute__((section(".preinit_array"),
               used)) static void (*const beforeLibraries)(void) = registerDawdle;

enum {
  RETURN,
  SLOW_RETURN,
  EXIT_OF_ANOTHER_THREAD,
  SLOW_EXIT_OF_ANOTHER_THREAD,
  QUICK_EXIT,
  IMMEDIATE_EXIT,
  WAYS
};
static const char *const names[WAYS] = {"return",
                                        "return, with slow handlers",
                                        "exit() of another thread",
                                        "exit() of another thread, with slow handlers",
                                        "quick_exit()",
                                        "_exit()"};

static int endAs(int way) {
  static int code = 42;
  dawdles = way == SLOW_RETURN || way == SLOW_EXIT_OF_ANOTHER_THREAD;
  registerDawdle();
  beBusy();
  usleep(20000 * (unsigned)(way + 1));
  switch (way) {
  case EXIT_OF_ANOTHER_THREAD:
  case SLOW_EXIT_OF_ANOTHER_THREAD:
    start(callExit, &code);
    for (;;)
      pause();
  case QUICK_EXIT:
    quick_exit(code);
  case IMMEDIATE_EXIT:
    _exit(code);
  default:
    return code;
  }
}

int main(void) {
  int bad = 0, runs = 0;
  for (int way = 0; way < WAYS; ++way)
    for (int i = 0; i < 3; ++i, ++runs) {
      fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        alarm(30);
        return endAs(way);
      }
      int status = 0;
      while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 42)
        continue;
      ++bad;
      printf("%s: %s %d\n", names[way], WIFSIGNALED(status) ? "signal" : "code",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
  printf("%d processes ended while calls ran, %d of them badly\n", runs, bad);
  return bad != 0;
}
