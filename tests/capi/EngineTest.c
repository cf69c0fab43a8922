#include "tests/capi/Check.h"

#include <stdatomic.h>

static void engineDefaults(void) {
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(NULL, &engine));
  CHECK(plim_engine_threads(engine) >= 1);
  plim_function *sum = loadFunction(engine, scaleSource, "sum");
  plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
  CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, NULL));
  CHECK(result.kind == PLIM_SCALAR && result.element == PLIM_I64 && result.as.i64 == 42);
  /* In any order. */
  plim_engine_release(engine);
  CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, NULL));
  plim_function_release(sum);
}

typedef struct Calls {
  atomic_int count, released;
  atomic_llong bytes;
} Calls;

static void countRelease(void *user) { atomic_fetch_add(&((Calls *)user)->released, 1); }

static void *countAllocate(void *user, size_t bytes, size_t alignment, const char *memory) {
  Calls *calls = user;
  atomic_fetch_add(&calls->count, 1);
  atomic_fetch_add(&calls->bytes, (long long)bytes);
  if (!memory)
    return NULL;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void countFree(void *user, void *pointer, size_t bytes) {
  atomic_fetch_sub(&((Calls *)user)->bytes, (long long)bytes);
  free(pointer);
}

static void *allocateNothing(void *user, size_t bytes, size_t alignment, const char *memory) {
  (void)user, (void)bytes, (void)alignment, (void)memory;
  return NULL;
}

static void engineAllocator(void) {
  Calls calls = {0};
  plim_allocator allocator = {.struct_size = sizeof allocator,
                              .user = &calls,
                              .allocate = countAllocate,
                              .release = countFree,
                              .release_user = countRelease};
  plim_engine_options options = {
      .struct_size = sizeof options, .threads = 1, .allocator = &allocator};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_function *scale = loadFunction(engine, scaleSource, "scale");
  const float elements[] = {1, 2, 3};
  plim_buffer *x = makeVector(engine, elements, 3);
  CHECK(calls.count > 0);
  plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)}, result;
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));

  plim_memory_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(plim_engine_memory_statistics(engine, &statistics));
  CHECK(statistics.live_bytes > 0);
  CHECK(statistics.peak_bytes >= statistics.live_bytes);
  CHECK(statistics.allocations > 0);
  plim_buffer_release(x);
  CHECK_OK(plim_engine_trim(engine));
  CHECK_OK(plim_engine_memory_statistics(engine, &statistics));
  CHECK(statistics.kept_bytes == 0);

  plim_function_release(scale);
  plim_engine_release(engine);
  CHECK(calls.released == 0); /* a buffer keeps its memory */
  CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));
  plim_value_release(&result);
  CHECK(result.kind == PLIM_NONE);
  CHECK(calls.released == 1);
  CHECK(calls.bytes == 0);
}

static void engineAllocatorFails(void) {
  Calls calls = {0};
  plim_allocator allocator = {.struct_size = sizeof allocator,
                              .user = &calls,
                              .allocate = allocateNothing,
                              .release = countFree,
                              .release_user = countRelease};
  plim_engine_options options = {
      .struct_size = sizeof options, .threads = 1, .allocator = &allocator};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_buffer *buffer = NULL;
  CHECK_FAILS(plim_buffer_allocate(engine, PLIM_F32, 1, (int64_t[]){4}, &buffer),
              PLIM_RESOURCE_EXHAUSTED, "16 bytes");
  CHECK(buffer == NULL);
  plim_engine_release(engine);
  CHECK(calls.released == 1);

  allocator.allocate = NULL;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "allocate and release");
  CHECK(calls.released == 1); /* what failed has taken nothing over */
}

typedef struct Log {
  char text[4096];
  atomic_int messages, released;
} Log;

static void writeLog(void *user, plim_log_level level, const char *message, size_t size) {
  Log *log = user;
  if (level >= PLIM_LOG_WARNING && size < sizeof log->text) {
    memcpy(log->text, message, size);
    log->text[size] = 0;
  }
  atomic_fetch_add(&log->messages, 1);
}

static void releaseLog(void *user) { atomic_fetch_add(&((Log *)user)->released, 1); }

static void engineLogger(void) {
  Log log = {0};
  plim_logger logger = {.struct_size = sizeof logger,
                        .level = PLIM_LOG_WARNING,
                        .log = writeLog,
                        .user = &log,
                        .release_user = releaseLog};
  plim_engine_options options = {.struct_size = sizeof options,
                                 .threads = 1,
                                 .cache_folder = "/proc/no/such/folder",
                                 .logger = &logger};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  CHECK(log.messages == 1);
  CHECK(strstr(log.text, "/proc/no") != NULL);
  CHECK(log.released == 0);
  plim_engine_release(engine);
  CHECK(log.released == 1);

  /* Nothing says where the user's cache is. */
  const char *const names[] = {"XDG_CACHE_HOME", "HOME"};
  char *before[2];
  for (int i = 0; i < 2; ++i) {
    before[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
    CHECK(unsetenv(names[i]) == 0);
  }
  options.flags = PLIM_ENGINE_USER_CACHE;
  options.cache_folder = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  CHECK(log.messages == 2);
  CHECK(strstr(log.text, "neither XDG_CACHE_HOME nor HOME") != NULL);
  plim_engine_release(engine);
  CHECK(log.released == 2);
  options.flags = 0;
  for (int i = 0; i < 2; ++i) {
    CHECK(!before[i] || setenv(names[i], before[i], 1) == 0);
    free(before[i]);
  }

  logger.level = 17;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "level");
  logger.level = PLIM_LOG_INFO;
  logger.log = NULL;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "needs log");
  CHECK(log.released == 2);
}

static void engineTargets(void) {
  plim_target *target = NULL;
  const char *overrides[] = {"vector_bits=128", "stack_budget_bytes=65536"};
  CHECK_OK(plim_target_create(NULL, overrides, 2, &target));
  plim_report *report = NULL;
  CHECK_OK(plim_target_describe(target, &report));
  CHECK(strstr(plim_report_text(report), "\"vector_bits\": 128") != NULL);
  CHECK(strlen(plim_report_text(report)) == plim_report_size(report));

  /* What was written can be read. */
  plim_target *again = NULL;
  CHECK_OK(
      plim_target_create_from_json(plim_report_text(report), plim_report_size(report), &again));
  plim_engine_options options = {.struct_size = sizeof options, .threads = 1, .target = again};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_target_release(again);
  plim_target *own = NULL;
  plim_report *ownReport = NULL;
  CHECK_OK(plim_engine_target(engine, &own));
  CHECK_OK(plim_target_describe(own, &ownReport));
  CHECK(strcmp(plim_report_text(report), plim_report_text(ownReport)) == 0);
  plim_function *sum = loadFunction(engine, scaleSource, "sum");
  plim_value arguments[] = {plim_value_i64(1), plim_value_i64(2)}, result;
  CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, NULL));
  CHECK(result.as.i64 == 3);

  plim_function_release(sum);
  plim_report_release(ownReport);
  plim_report_release(report);
  plim_target_release(own);
  plim_target_release(target);
  plim_engine_release(engine);

  CHECK_FAILS(plim_target_create("no-such-machine", NULL, 0, &target), PLIM_NOT_FOUND,
              "no-such-machine");
  CHECK_FAILS(plim_target_create(NULL, (const char *[]){"no_such_field=1"}, 1, &target),
              PLIM_INVALID_ARGUMENT, "no_such_field");
  CHECK_FAILS(plim_target_create(NULL, NULL, 1, &target), PLIM_INVALID_ARGUMENT, "overrides");
  CHECK_FAILS(plim_target_create(NULL, (const char *[]){NULL}, 1, &target), PLIM_INVALID_ARGUMENT,
              "overrides[0] is null");
  CHECK_FAILS(plim_target_create_from_json("{", 1, &target), PLIM_INVALID_ARGUMENT, "");
  CHECK_FAILS(plim_target_create_from_json(NULL, 1, &target), PLIM_INVALID_ARGUMENT, "json");
}

static void engineTargetList(void) {
  plim_report *report = NULL;
  CHECK_OK(plim_target_list(&report));
  CHECK(strstr(plim_report_text(report), "\"name\": \"host-cpu\"") != NULL);
  CHECK(strstr(plim_report_text(report), "\"name\": \"x86-64-v3\"") != NULL);
  plim_report_release(report);
  CHECK_FAILS(plim_target_list(NULL), PLIM_INVALID_ARGUMENT, "out_report is null");
}

/* Sanitizers do not let oneTBB load its library for kinds of cores and NUMA nodes. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CAN_CHOOSE_CORES 0
#endif
#endif
#ifndef CAN_CHOOSE_CORES
#define CAN_CHOOSE_CORES 1
#endif

static void engineWorkers(void) {
  const struct {
    uint32_t flags;
    plim_core_kind cores;
    uint32_t node;
    const char *fault; /* NULL: none */
  } cases[] = {
      {PLIM_ENGINE_WORKERS_OF_CALLER, PLIM_CORES_ANY, 0, NULL},
      {0, PLIM_CORES_EFFICIENCY, 0, NULL},
      {0, PLIM_CORES_PERFORMANCE, 0, NULL},
      {0, 3, 0, "3 is no kind of cores"},
      {0, PLIM_CORES_ANY, 1, "without PLIM_ENGINE_NUMA_NODE"},
      {PLIM_ENGINE_NUMA_NODE, PLIM_CORES_ANY, 12345, "12345"},
      {PLIM_ENGINE_NUMA_NODE, PLIM_CORES_ANY, UINT32_MAX, "no NUMA node 4294967295"},
      {PLIM_ENGINE_WORKERS_OF_CALLER, PLIM_CORES_PERFORMANCE, 0, "caller"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const bool chooses = cases[i].flags & PLIM_ENGINE_NUMA_NODE ||
                         (!cases[i].fault && cases[i].cores != PLIM_CORES_ANY);
    if (chooses && !CAN_CHOOSE_CORES)
      continue;
    plim_engine_options options = {.struct_size = sizeof options,
                                   .flags = cases[i].flags,
                                   .threads = 2,
                                   .cores = cases[i].cores,
                                   .numa_node = cases[i].node};
    plim_engine *engine = NULL;
    if (cases[i].fault) {
      CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, cases[i].fault);
      CHECK(engine == NULL);
      continue;
    }
    CHECK_OK(plim_engine_create(&options, &engine));
    plim_function *scale = loadFunction(engine, scaleSource, "scale");
    const float elements[] = {1, 2, 3};
    plim_buffer *x = makeVector(engine, elements, 3);
    plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)}, result;
    CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, NULL));
    CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));
    plim_value_release(&result);
    plim_buffer_release(x);
    plim_function_release(scale);
    plim_engine_release(engine);
  }
}

static void engineReports(void) {
  plim_engine *engine = makeEngine(PLIM_ENGINE_TRACE);
  plim_function *sum = loadFunction(engine, scaleSource, "sum");
  plim_value arguments[] = {plim_value_i64(1), plim_value_i64(2)}, result;
  for (int i = 0; i < 5; ++i)
    CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, NULL));
  plim_report *report = NULL;
  CHECK_OK(plim_engine_statistics(engine, &report));
  const char *counter = strstr(plim_report_text(report), "{\"kind\": \"call\", \"name\": \"sum\"");
  CHECK(counter != NULL);
  CHECK(counter && strstr(counter, "\"runs\": 5") != NULL);
  CHECK(strstr(plim_report_text(report), "\"workspaces\": {\"live_bytes\": ") != NULL);
  plim_report_retain(report);
  plim_report_release(report);
  CHECK(plim_report_size(report) > 0);
  plim_report_release(report);
  CHECK_OK(plim_engine_trace(engine, &report));
  CHECK(strstr(plim_report_text(report), "traceEvents") != NULL);
  plim_report_release(report);
  plim_function_release(sum);
  plim_engine_release(engine);

  engine = makeEngine(PLIM_ENGINE_COUNTERS);
  CHECK_FAILS(plim_engine_trace(engine, &report), PLIM_FAILED_PRECONDITION, "PLIM_ENGINE_TRACE");
  plim_engine_release(engine);
  engine = makeEngine(0);
  CHECK_FAILS(plim_engine_trace(engine, &report), PLIM_FAILED_PRECONDITION, "PLIM_ENGINE_TRACE");
  CHECK_OK(plim_engine_statistics(engine, &report));
  CHECK(strstr(plim_report_text(report), "\"counters\": []") != NULL);
  plim_report_release(report);
  plim_engine_release(engine);
}

static void engineBadOptions(void) {
  plim_engine *engine = NULL;
  plim_engine_options options = {.struct_size = sizeof options, .flags = 1u << 30};
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "flags");
  options.flags = 0;
  options.numerics = 3;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT,
              "3 is no kind of numerics");
  options.numerics = PLIM_NUMERICS_STRICT;
  options.threads = UINT32_MAX;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "threads");
  options.threads = 1025;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "1025 threads");
  options.threads = 1;
  options.cache_bytes = UINT64_MAX;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "cache_bytes");
  options.cache_bytes = 0;
  options.flags = PLIM_ENGINE_USER_CACHE;
  options.cache_folder = "/tmp";
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT,
              "cache_folder is set beside PLIM_ENGINE_USER_CACHE");
  options.flags = 0;
  options.cache_folder = NULL;
  const char *const policies[] = {"attic", "", "fixed:", "fixed:-1", "fixed:1k", "Auto"};
  for (size_t i = 0; i < sizeof policies / sizeof *policies; ++i) {
    options.policy = policies[i];
    CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT,
                "unknown allocation policy '");
  }
  options.policy = "fixed:0";
  const struct {
    plim_limits limits;
    const char *message;
  } limits[] = {
      {{.max_rank = -2}, "limit 'max_rank' is -2, which is negative"},
      {{.stack_budget_bytes = INT64_MIN}, "limit 'stack_budget_bytes' is -9223372036854775808"},
      {{.workspace_alignment = 48}, "a power of two"},
      {{.workspace_alignment = PLIM_LIMIT_ZERO}, "a power of two"},
      {{.external_workspace_only = 3}, "'external_workspace_only' is 3, which is no choice"}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    plim_limits given = limits[i].limits;
    options.limits = &given;
    CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT,
                "limits has struct_size 0");
    given.struct_size = sizeof given;
    CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, limits[i].message);
  }
  options.limits = &(plim_limits){.struct_size = sizeof(plim_limits),
                                  .external_workspace_only = PLIM_CHOICE_NO,
                                  .max_stack_alloca_bytes = PLIM_LIMIT_ZERO,
                                  .workspace_alignment = 128};
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_engine_release(engine);
  engine = NULL;
  options.policy = NULL;
  options.limits = NULL;
  options.specialization = 4;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "4 is no kind");
  options.specialization = PLIM_SPECIALIZATION_HOT;
  options.specialization_count = UINT32_MAX;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "too large");
  options.specialization = 0;
  options.specialization_count = 0;
  options.struct_size = 0;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "struct_size 0");
  options.struct_size = offsetof(plim_engine_options, cores) - 1;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "struct_size");
  options.struct_size = UINT32_MAX;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "struct_size");

  /* A host with headers of the first version, which knows nothing of what lies behind. */
  options.struct_size = offsetof(plim_engine_options, cores);
  options.cache_bytes = 0;
  options.cores = 77;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_engine_release(engine);

  /* A host with headers that are newer. */
  struct {
    plim_engine_options known;
    uint64_t unknown;
  } newer = {{.struct_size = sizeof newer, .threads = 1}, 0};
  CHECK_OK(plim_engine_create(&newer.known, &engine));
  plim_engine_release(engine);
  newer.unknown = 1;
  engine = NULL;
  CHECK_FAILS(plim_engine_create(&newer.known, &engine), PLIM_INVALID_ARGUMENT, "does not know");
  CHECK(engine == NULL);

  engine = makeEngine(0);
  plim_memory_statistics statistics = {0};
  CHECK_FAILS(plim_engine_memory_statistics(engine, &statistics), PLIM_INVALID_ARGUMENT,
              "struct_size 0");
  CHECK_FAILS(plim_engine_memory_statistics(engine, NULL), PLIM_INVALID_ARGUMENT, "is null");
  plim_engine_release(engine);
}

/* What ends the compiler is a status. */
static void engineCompileWorkers(void) {
  plim_compile_workers workers = {.struct_size = sizeof workers, .processes = 1};
  plim_engine_options options = {
      .struct_size = sizeof options, .threads = 1, .compile_workers = &workers};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  const char *crasher = "func.func @f() attributes {a = array<index: 1>} { return }\n";
  plim_module *module = NULL;
  for (int i = 0; i < 3; ++i) {
    CHECK_FAILS(plim_module_load(engine, crasher, strlen(crasher), "test.mlir", NULL, &module),
                PLIM_INTERNAL, "test.mlir:1:1: the compiler ended ");
    CHECK(module == NULL);
    plim_function *sum = loadFunction(engine, scaleSource, "sum");
    plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
    CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, NULL));
    CHECK(result.as.i64 == 42);
    plim_function_release(sum);
  }
  plim_engine_release(engine);

  /* Two engines with the same processes. */
  workers.flags = PLIM_COMPILE_WORKERS_SHARED;
  plim_engine *other = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  CHECK_OK(plim_engine_create(&options, &other));
  plim_function_release(loadFunction(engine, scaleSource, "sum"));
  plim_function_release(loadFunction(other, scaleSource, "sum"));
  plim_engine_release(engine);
  plim_function_release(loadFunction(other, scaleSource, "sum"));
  plim_engine_release(other);
  engine = NULL;
  workers.flags = 2;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "flags");
  /* A host with headers of the first version, which knows nothing of what lies behind. */
  workers.struct_size = 32;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_engine_release(engine);
  engine = NULL;
  workers.struct_size = 31;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "struct_size 31");
  workers.struct_size = sizeof workers;
  workers.flags = 0;

  workers.program = "/nowhere/worker";
  CHECK_OK(plim_engine_create(&options, &engine));
  CHECK_FAILS(
      plim_module_load(engine, scaleSource, strlen(scaleSource), "test.mlir", NULL, &module),
      PLIM_UNAVAILABLE, "/nowhere/worker");
  plim_engine_release(engine);
  engine = NULL;
  workers.memory_bytes = UINT64_MAX;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "63-bit");
  workers.struct_size = 4;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "compile_workers");
}

const Test engineTests[] = {
    {"engine.Defaults", engineDefaults},
    {"engine.Allocator", engineAllocator},
    {"engine.AllocatorFails", engineAllocatorFails},
    {"engine.Logger", engineLogger},
    {"engine.Targets", engineTargets},
    {"engine.TargetList", engineTargetList},
    {"engine.Workers", engineWorkers},
    {"engine.CompileWorkers", engineCompileWorkers},
    {"engine.Reports", engineReports},
    {"engine.BadOptions", engineBadOptions},
    {0},
};
