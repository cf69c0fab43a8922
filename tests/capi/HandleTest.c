/* Null handles, handles of another kind, and handles that were released. */
#include "tests/capi/Check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static void handleNull(void) {
  /* Getters say nothing, releases do nothing. */
  CHECK(plim_engine_threads(NULL) == 0);
  CHECK(plim_module_function_count(NULL) == 0);
  CHECK(plim_module_function_name(NULL, 0) == NULL);
  CHECK(plim_function_name(NULL) == NULL);
  CHECK(plim_function_argument_count(NULL) == 0);
  CHECK(plim_function_result_count(NULL) == 0);
  CHECK(plim_function_stack_bytes(NULL) == 0);
  CHECK(plim_function_raw_pointer(NULL) == NULL);
  CHECK(plim_buffer_element_type(NULL) == 0);
  CHECK(plim_buffer_rank(NULL) == 0);
  CHECK(plim_buffer_shape(NULL) == NULL);
  CHECK(plim_buffer_strides(NULL) == NULL);
  CHECK(plim_buffer_element_count(NULL) == 0);
  CHECK(plim_buffer_bytes(NULL) == 0);
  CHECK(!plim_buffer_is_dense(NULL));
  CHECK(!plim_buffer_is_read_only(NULL));
  CHECK(plim_buffer_data(NULL) == NULL);
  CHECK(plim_buffer_mutable_data(NULL) == NULL);
  CHECK(plim_parameters_count(NULL) == 0);
  CHECK(plim_parameters_name(NULL, 0) == NULL);
  CHECK(plim_report_text(NULL) == NULL);
  CHECK(plim_report_size(NULL) == 0);
  CHECK(plim_bytes_data(NULL) == NULL);
  CHECK(plim_bytes_size(NULL) == 0);
  CHECK(!plim_event_is_done(NULL));
  CHECK(!plim_stop_is_requested(NULL));
#define RELEASE(object) plim_##object##_retain(NULL), plim_##object##_release(NULL)
  RELEASE(engine), RELEASE(target), RELEASE(module), RELEASE(function), RELEASE(buffer);
  RELEASE(parameters), RELEASE(bytes), RELEASE(state), RELEASE(event), RELEASE(stop);
  RELEASE(host_functions), RELEASE(device), RELEASE(report);

  plim_target *target = NULL;
  plim_report *report = NULL;
  plim_function *function = NULL;
  plim_state *state = NULL;
  plim_buffer *buffer = NULL;
  plim_load_statistics loaded = {.struct_size = sizeof loaded};
  plim_memory_statistics memory = {.struct_size = sizeof memory};
  plim_value_type type = {.struct_size = sizeof type};
  plim_workspace workspace = {.struct_size = sizeof workspace};
#define FAILS(call, name) CHECK_FAILS(call, PLIM_INVALID_ARGUMENT, name " is null")
  FAILS(plim_engine_create(NULL, NULL), "out_engine");
  FAILS(plim_engine_target(NULL, &target), "engine");
  FAILS(plim_engine_memory_statistics(NULL, &memory), "engine");
  FAILS(plim_engine_trim(NULL), "engine");
  FAILS(plim_engine_statistics(NULL, &report), "engine");
  FAILS(plim_engine_trace(NULL, &report), "engine");
  FAILS(plim_target_create(NULL, NULL, 0, NULL), "out_target");
  FAILS(plim_target_create_from_json("", 0, NULL), "out_target");
  FAILS(plim_target_describe(NULL, &report), "target");
  FAILS(plim_module_load_file(NULL, "a", NULL, NULL), "engine");
  FAILS(plim_module_function(NULL, "a", &function), "module");
  FAILS(plim_module_explain(NULL, &report), "module");
  FAILS(plim_module_statistics(NULL, &loaded), "module");
  FAILS(plim_module_specialization_statistics(NULL, NULL), "module");
  FAILS(plim_function_argument_type(NULL, 0, &type), "function");
  FAILS(plim_function_result_type(NULL, 0, &type), "function");
  FAILS(plim_function_call_async(NULL, NULL, 0, NULL, NULL), "function");
  FAILS(plim_function_workspace(NULL, NULL, 0, &workspace), "function");
  FAILS(plim_parameters_create(NULL), "out_parameters");
  FAILS(plim_parameters_set(NULL, "a", NULL), "parameters");
  FAILS(plim_parameters_load_safetensors(NULL, "a"), "parameters");
  FAILS(plim_parameters_load_npy(NULL, "a", "b"), "parameters");
  FAILS(plim_parameters_get(NULL, "a", &buffer), "parameters");
  FAILS(plim_state_create(NULL, &state), "module");
  FAILS(plim_state_variable(NULL, "a", &buffer), "state");
  FAILS(plim_state_reset(NULL), "state");
  FAILS(plim_event_wait(NULL), "event");
  FAILS(plim_event_wait_for(NULL, 0, NULL), "event");
  FAILS(plim_event_results(NULL, NULL, 0), "event");
  FAILS(plim_event_cancel(NULL), "event");
  FAILS(plim_event_then(NULL, NULL, NULL, NULL), "event");
  FAILS(plim_stop_create(NULL), "out_stop");
  FAILS(plim_stop_request(NULL), "stop");
  FAILS(plim_device_create(NULL, NULL), "out_device");
  FAILS(plim_host_functions_create(NULL), "out_functions");
  FAILS(plim_host_functions_add(NULL, "a", NULL), "host functions");
}

static void handleOfAnotherKind(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = load(engine, scaleSource, NULL);
  plim_report *report = NULL;
  CHECK_FAILS(plim_module_explain((plim_module *)engine, &report), PLIM_INVALID_ARGUMENT,
              "what was given as module is none");
  CHECK_FAILS(plim_engine_trim((plim_engine *)module), PLIM_INVALID_ARGUMENT,
              "what was given as engine is none");
  plim_buffer *buffer = makeVector(engine, (float[]){1}, 1);
  CHECK_FAILS(plim_event_wait((plim_event *)buffer), PLIM_INVALID_ARGUMENT, "event is none");
  CHECK(plim_buffer_data((plim_buffer *)engine) == NULL);
  CHECK(plim_module_function_count((plim_module *)buffer) == 0);
  plim_module_release((plim_module *)engine); /* not what it says: nothing */
  plim_engine_release((plim_engine *)buffer);
  plim_buffer_release((plim_buffer *)module);
  CHECK(plim_engine_threads(engine) == 2);
  plim_engine_options options = {.struct_size = sizeof options,
                                 .target = (const plim_target *)module};
  plim_engine *other = NULL;
  CHECK_FAILS(plim_engine_create(&options, &other), PLIM_INVALID_ARGUMENT, "target is none");
  CHECK(other == NULL);
  plim_buffer_release(buffer);
  plim_module_release(module);
  plim_engine_release(engine);
}

static void countMessage(void *user, plim_log_level level, const char *message, size_t size) {
  (void)level;
  if (size > 20 && strstr(message, "released before"))
    ++*(int *)user;
}

static void handleReleased(void) {
  int messages = 0;
  plim_logger logger = {.struct_size = sizeof logger,
                        .level = PLIM_LOG_ERROR,
                        .log = countMessage,
                        .user = &messages};
  plim_engine_options options = {
      .struct_size = sizeof options, .flags = PLIM_ENGINE_CHECKED, .threads = 2, .logger = &logger};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_module *module = load(engine, scaleSource, NULL);
  plim_function *scale = lookup(module, "scale");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3}, 3);
  plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)}, result = {0};
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));

  plim_module_release(module);
  plim_function *again = NULL;
  CHECK_FAILS(plim_module_function(module, "scale", &again), PLIM_INVALID_ARGUMENT,
              "module was released");
  CHECK(plim_module_function_count(module) == 0);
  plim_module_release(module);
  plim_module_retain(module);
  CHECK(messages == 2);

  plim_buffer *held = result.as.buffer;
  plim_value_release(&result);
  CHECK(plim_buffer_data(held) == NULL);
  plim_buffer_release(held);
  plim_buffer_release(x);
  CHECK_FAILS(plim_function_call(scale, arguments, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #1 (%x): buffer was released");
  CHECK(result.kind == PLIM_NONE);

  plim_engine_release(engine); /* the function keeps the quarantine */
  CHECK_FAILS(plim_engine_trim(engine), PLIM_INVALID_ARGUMENT, "engine was released");

  plim_function_release(scale);
}

/* More of them than a quarantine holds. */
static void handleMany(void) {
  plim_engine *engine = makeEngine(PLIM_ENGINE_CHECKED);
  plim_module *module = load(engine, scaleSource, NULL);
  plim_function *first = lookup(module, "sum"), *last = NULL;
  plim_function_release(first);
  for (int i = 0; i < 4095; ++i)
    plim_function_release(last = lookup(module, "sum"));
  CHECK_FAILS(plim_function_call(first, NULL, 0, NULL, 0, NULL), PLIM_INVALID_ARGUMENT,
              "function was released");
  for (int i = 0; i < 1000; ++i)
    plim_function_release(last = lookup(module, "sum"));
  CHECK_FAILS(plim_function_call(last, NULL, 0, NULL, 0, NULL), PLIM_INVALID_ARGUMENT,
              "function was released");
  plim_module_release(module);
  plim_engine_release(engine);
}

typedef struct Caller {
  const plim_function *function;
  const plim_value *arguments;
  const atomic_bool *stop;
} Caller;

static void *callOnAndOn(void *data) {
  const Caller *caller = data;
  while (!atomic_load(caller->stop)) {
    plim_value result;
    plim_status *status =
        plim_function_call(caller->function, caller->arguments, 2, &result, 1, NULL);
    if (!status)
      plim_value_release(&result);
    plim_status_release(status);
    usleep(50); /* leaves the processor to the children */
  }
  return NULL;
}

/* A child of fork(), of a parent whose threads may hold any lock: its handles are refused, and an engine of its own
 * works. */
static void handleAfterFork(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = load(engine, scaleSource, NULL);
  plim_function *scale = lookup(module, "scale");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3}, 3);
  const plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)};
  plim_state *state = NULL;
  plim_event *event = NULL;
  CHECK_OK(plim_state_create(module, &state));
  CHECK_OK(plim_function_call_async(scale, arguments, 2, NULL, &event));
  atomic_bool stop = false;
  Caller caller = {scale, arguments, &stop};
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    CHECK(pthread_create(&threads[i], NULL, callOnAndOn, &caller) == 0);

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1 /* whose children have no threads */
#endif
#endif
  const char *longer = getenv("PLIM_TEST_SCALE");
  const int forks = 50 * (longer ? atoi(longer) : 1);
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      plim_target *target = NULL;
      plim_report *report = NULL;
      plim_bytes *artifact = NULL;
      plim_module *none = NULL;
      plim_function *function = NULL;
      plim_state *another = NULL;
      plim_buffer *buffer = NULL;
      plim_event *next = NULL;
      plim_value result = {0};
      bool isDone = false;
      plim_load_statistics loaded = {.struct_size = sizeof loaded};
      plim_specialization_statistics specialized = {.struct_size = sizeof specialized};
      plim_memory_statistics memory = {.struct_size = sizeof memory};
      plim_value_type type = {.struct_size = sizeof type};
      plim_workspace workspace = {.struct_size = sizeof workspace};
      plim_event_callback callback = (plim_event_callback)(void (*)(void))abort;
#define REFUSED(call) CHECK_FAILS(call, PLIM_FAILED_PRECONDITION, "fork")
      REFUSED(plim_engine_target(engine, &target));
      REFUSED(plim_engine_memory_statistics(engine, &memory));
      REFUSED(plim_engine_trim(engine));
      REFUSED(plim_engine_statistics(engine, &report));
      REFUSED(plim_engine_trace(engine, &report));
      REFUSED(plim_module_load(engine, scaleSource, strlen(scaleSource), "a", NULL, &none));
      REFUSED(plim_module_load_file(engine, "/dev/null", NULL, &none));
      REFUSED(plim_module_compile(engine, scaleSource, strlen(scaleSource), "a", NULL, &artifact));
      REFUSED(plim_module_function(module, "scale", &function));
      REFUSED(plim_module_explain(module, &report));
      REFUSED(plim_module_statistics(module, &loaded));
      REFUSED(plim_module_specialization_statistics(module, &specialized));
      REFUSED(plim_function_call(scale, arguments, 2, &result, 1, NULL));
      REFUSED(plim_function_call_async(scale, arguments, 2, NULL, &next));
      REFUSED(plim_function_workspace(scale, NULL, 0, &workspace));
      REFUSED(plim_function_specialize(scale, arguments, 2));
      REFUSED(plim_function_argument_type(scale, 0, &type));
      REFUSED(plim_function_result_type(scale, 0, &type));
      REFUSED(plim_state_create(module, &another));
      REFUSED(plim_state_variable(state, "v", &buffer));
      REFUSED(plim_state_reset(state));
      REFUSED(plim_event_wait(event));
      REFUSED(plim_event_wait_for(event, 0, &isDone));
      REFUSED(plim_event_results(event, &result, 1));
      REFUSED(plim_event_cancel(event));
      REFUSED(plim_event_then(event, callback, NULL, NULL));
      REFUSED(plim_buffer_allocate(engine, PLIM_F32, 0, NULL, &buffer));
      REFUSED(plim_buffer_copy(engine, PLIM_F32, 0, NULL, &memory, 4, &buffer));
      CHECK(strcmp(plim_function_name(scale), "scale") == 0);
      plim_event_release(event), plim_state_release(state);
      plim_function_release(scale), plim_module_release(module), plim_engine_release(engine);
#ifndef SANITIZED
      if (i % 10 == 0) {
        plim_engine *own = makeEngine(0);
        plim_function *ownScale = loadFunction(own, scaleSource, "scale");
        plim_value ownArguments[] = {plim_value_f32(2),
                                     plim_value_buffer(makeVector(own, (float[]){1, 2, 3}, 3))};
        CHECK_OK(plim_function_call(ownScale, ownArguments, 2, &result, 1, NULL));
        CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));
        plim_value_release(&result), plim_value_release(&ownArguments[1]);
        plim_function_release(ownScale), plim_engine_release(own);
      }
#endif
      _exit(failedChecks() ? 1 : 0);
    }
    CHECK(child > 0);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  atomic_store(&stop, true);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  plim_value result;
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));
  plim_value_release(&result);
  plim_event_release(event), plim_state_release(state), plim_buffer_release(x);
  plim_function_release(scale), plim_module_release(module), plim_engine_release(engine);
}

const Test handleTests[] = {
    {"handle.Null", handleNull},           {"handle.OfAnotherKind", handleOfAnotherKind},
    {"handle.Released", handleReleased},   {"handle.Many", handleMany},
    {"handle.AfterFork", handleAfterFork}, {0},
};
