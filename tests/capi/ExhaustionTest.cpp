// Every allocation that an entry point makes fails once, alone and with all behind it, and every thread that it starts:
// a status, and the same call works afterwards. Each attempt runs in a child, so that one which ends it is counted. Of
// many allocations each of the first 60 fails, then ever fewer, by PLIM_TEST_SCALE times more where that is set; each
// single one with PLIM_TEST_SCALE=1000000 (half an hour).
#include "plimsoll/plimsoll.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
int main() {
  std::puts("skipped: a sanitizer owns malloc");
  return 0;
}
#else

namespace {

/// How many more succeed, and whether those behind the one that fails do.
std::atomic<long> left = LONG_MAX;
std::atomic<bool> isAlone = true;
std::atomic<long> failed = 0;
/// Whose turn it is: allocations of the thread that runs the scenario, those of all, or new threads.
enum class Kind { Here, Everywhere, Threads };
std::atomic<Kind> kind = Kind::Here;
thread_local bool isHere = false;

bool fails() {
  if (left.load(std::memory_order_relaxed) == LONG_MAX)
    return false;
  if (left.fetch_sub(1) > 0)
    return false;
  ++failed;
  left = isAlone ? LONG_MAX : 0;
  return true;
}

bool allocationFails() {
  return (kind == Kind::Everywhere || (kind == Kind::Here && isHere)) && fails();
}

} // namespace

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

__attribute__((visibility("default"))) void *malloc(size_t bytes) {
  if (!allocationFails())
    return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes) {
  if (!allocationFails())
    return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *realloc(void *memory, size_t bytes) {
  if (!allocationFails())
    return __libc_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t bytes) {
  if (!allocationFails())
    return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int posix_memalign(void **out, size_t alignment,
                                                          size_t bytes) {
  *out = memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*start)(void *), void *argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return kind == Kind::Threads && fails() ? EAGAIN : real(thread, attributes, start, argument);
}
}

namespace {

constexpr const char *source = R"(
ml_program.global private mutable @count(dense<0> : tensor<i64>) : tensor<i64>
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @add(%a: i64, %b: i64) -> i64 {
  %r = arith.addi %a, %b : i64
  return %r : i64
}
func.func @next() -> i64 {
  %t = ml_program.global_load @count : tensor<i64>
  %v = tensor.extract %t[] : tensor<i64>
  %one = arith.constant 1 : i64
  %w = arith.addi %v, %one : i64
  %e = tensor.from_elements %w : tensor<i64>
  ml_program.global_store @count = %e : tensor<i64>
  return %w : i64
}
)";

plim_engine *engine;
plim_engine *apart;  // compiles in workers
plim_engine *unused; // links what the other does not any more, once it has run out of memory
std::string artifact;
plim_module *module;
plim_function *twice, *add;

/// Releases the status, whose texts can be read in any case. Was it ok?
bool ended(plim_status *status) {
  if (!status)
    return true;
  volatile size_t length = std::strlen(plim_status_message(status));
  (void)length;
  bool isOk = plim_status_code(status) == PLIM_OK;
  plim_status_release(status);
  return isOk;
}

plim_engine_options engineOptions() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  return options;
}

/// For preparations.
void require(plim_status *status) {
  if (!status)
    return;
  std::fprintf(stderr, "%s\n", plim_status_message(status));
  std::exit(1);
}

struct Scenario {
  const char *name;
  std::function<bool()> run; // true if all went well
  /// Of a hundred attempts that many may end the process where one allocation fails, and where all from one on do. What
  /// ends it are libraries below: nlohmann_json takes memory to destroy a document, and MLIR does not look at what
  /// malloc() gives it for the interfaces of operations (a compile worker dies of that instead).
  long mayEnd[2] = {0, 0};
  Kind kind = Kind::Here;
  /// What works afterwards, if not the same.
  std::function<bool()> afterwards = run;
};

const int64_t three[] = {3};

bool buffers() {
  plim_buffer *x = nullptr;
  if (!ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)))
    return false;
  plim_buffer_release(x);
  return true;
}

bool call() {
  plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
  return ended(plim_function_call(add, arguments, 2, &result, 1, nullptr)) && result.as.i64 == 42;
}

bool tensorCall() {
  plim_buffer *x = nullptr;
  if (!ended(plim_buffer_allocate(engine, PLIM_F32, 1, three, &x)))
    return false;
  plim_value argument = plim_value_buffer(x), result;
  bool isOk = ended(plim_function_call(twice, &argument, 1, &result, 1, nullptr));
  if (isOk)
    plim_value_release(&result);
  plim_buffer_release(x);
  return isOk;
}

/// The calls fail in any case, with long messages.
bool wrongCalls() {
  plim_value arguments[] = {plim_value_f32(1), plim_value_i64(2)}, result;
  bool isRefused = !ended(plim_function_call(add, arguments, 2, &result, 1, nullptr));
  isRefused &= !ended(plim_function_call(add, arguments, 1, &result, 1, nullptr));
  plim_function *none = nullptr;
  isRefused &=
      !ended(plim_module_function(module, "a name that is longer than small strings", &none));
  return isRefused && !none;
}

bool handles() {
  plim_function *function = nullptr;
  plim_state *state = nullptr;
  plim_report *report = nullptr;
  plim_stop *stop = nullptr;
  bool isOk = ended(plim_module_function(module, "next", &function)) &&
              ended(plim_state_create(module, &state)) &&
              ended(plim_module_explain(module, &report)) && ended(plim_stop_create(&stop));
  plim_function_release(function);
  plim_state_release(state);
  plim_report_release(report);
  plim_stop_release(stop);
  return isOk;
}

bool targets() {
  plim_target *target = nullptr;
  plim_report *report = nullptr;
  bool isOk =
      ended(plim_engine_target(engine, &target)) && ended(plim_target_describe(target, &report));
  plim_report_release(report);
  plim_target_release(target);
  return isOk;
}

bool engines() {
  const plim_engine_options options = engineOptions();
  plim_engine *other = nullptr;
  bool isOk = ended(plim_engine_create(&options, &other));
  plim_engine_release(other);
  return isOk;
}

bool loadIn(plim_engine *engine, std::string_view text) {
  plim_module *other = nullptr;
  if (!ended(plim_module_load(engine, text.data(), text.size(), "in.mlir", nullptr, &other)))
    return false;
  plim_function *function = nullptr;
  plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
  bool isOk = ended(plim_module_function(other, "add", &function)) &&
              ended(plim_function_call(function, arguments, 2, &result, 1, nullptr)) &&
              result.as.i64 == 42;
  plim_function_release(function);
  plim_module_release(other);
  return isOk;
}

bool links() { return loadIn(engine, artifact); }
bool asksWorkers() { return loadIn(apart, source); }
bool compiles() { return loadIn(engine, source); }
/// What was loaded before still runs, and other engines load.
bool othersWork() { return call() && tensorCall() && loadIn(unused, artifact); }

bool withThreads() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 4;
  plim_engine *other = nullptr;
  bool isOk = ended(plim_engine_create(&options, &other)) && loadIn(other, source);
  plim_engine_release(other);
  return isOk;
}

struct Counts {
  long attempts = 0, refused = 0, ended = 0, broken = 0;
};

/// Once, for all children.
void compileArtifact() {
  const plim_engine_options options = engineOptions();
  plim_engine *compiler = nullptr;
  plim_report *bytes = nullptr;
  require(plim_engine_create(&options, &compiler));
  require(plim_module_compile(compiler, source, std::strlen(source), "in.mlir", nullptr, &bytes));
  artifact = std::string(plim_report_text(bytes), plim_report_size(bytes));
  plim_report_release(bytes);
  plim_engine_release(compiler);
}

/// What the scenarios use, in each child: engines do not get through fork().
void prepare() {
  plim_engine_options options = engineOptions();
  require(plim_engine_create(&options, &engine));
  require(plim_module_load(engine, artifact.data(), artifact.size(), "in.mlir", nullptr, &module));
  require(plim_module_function(module, "twice", &twice));
  require(plim_module_function(module, "add", &add));
  require(plim_engine_create(&options, &unused));
  plim_compile_workers workers{};
  workers.struct_size = sizeof workers;
  options.compile_workers = &workers;
  require(plim_engine_create(&options, &apart));
}

/// In a child: 0 if nothing failed any more, 1 if it did and all is well, 2 if the same does not work afterwards.
int attempt(const Scenario &scenario, long count, bool alone) {
  prepare();
  isHere = true;
  kind = scenario.kind;
  isAlone = alone;
  failed = 0;
  left = count;
  (void)scenario.run();
  left = LONG_MAX;
  if (failed == 0)
    return 0;
  return scenario.afterwards() ? 1 : 2;
}

Counts exhaust(const Scenario &scenario, bool alone) {
  const char *scale = std::getenv("PLIM_TEST_SCALE");
  const long part = 4 * (scale ? std::max(1l, std::atol(scale)) : 1);
  Counts counts;
  for (long count = 0;; count += 1 + std::max(0l, count - 60) / part) {
    pid_t child = fork();
    if (child == 0) {
      // What ends it says so on its way.
      if (!std::freopen("/dev/null", "w", stderr))
        _exit(3);
      _exit(attempt(scenario, count, alone));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    ++counts.attempts;
    counts.refused += WIFEXITED(status) && WEXITSTATUS(status) == 1;
    counts.broken += WIFEXITED(status) && WEXITSTATUS(status) != 1;
    if (WIFSIGNALED(status)) {
      ++counts.ended;
      if (std::getenv("PLIM_VERBOSE"))
        std::printf("  %s, allocation %ld: signal %d\n", scenario.name, count, WTERMSIG(status));
    }
  }
  return counts;
}

} // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  compileArtifact();
  const Scenario scenarios[] = {
      {"buffers", buffers},
      {"a call", call},
      {"a call of tensors", tensorCall},
      {"calls that are refused", wrongCalls},
      {"handles", handles},
      {"targets", targets},
      {"engines", engines, {3, 3}},
      {"loads of artifacts", links, {}, Kind::Here, othersWork},
      {"loads through workers", asksWorkers, {}, Kind::Here, othersWork},
      {"compilations", compiles, {2, 2}, Kind::Everywhere, othersWork},
      {"threads", withThreads, {}, Kind::Threads},
  };
  bool isOk = true;
  for (const Scenario &scenario : scenarios)
    for (bool alone : {true, false}) {
      Counts counts = exhaust(scenario, alone);
      std::printf("%s, %s: %ld attempts, %ld survived, %ld ended the process, %ld did not work "
                  "afterwards\n",
                  scenario.name, alone ? "one fails" : "all from one on fail", counts.attempts,
                  counts.refused, counts.ended, counts.broken);
      isOk &= counts.broken == 0 &&
              100 * counts.ended <= scenario.mayEnd[alone ? 0 : 1] * counts.attempts;
    }
  return isOk ? 0 : 1;
}
#endif
