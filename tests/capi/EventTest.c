#include "tests/capi/Check.h"

#include <stdatomic.h>

static void eventResults(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *scale = loadFunction(engine, scaleSource, "scale");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3}, 3), *middle = NULL;
  CHECK_OK(plim_buffer_allocate(engine, PLIM_F32, 1, (int64_t[]){3}, &middle));

  plim_value first[] = {plim_value_f32(2), plim_value_buffer(x)};
  plim_call_options call = {.struct_size = sizeof call, .outputs = &middle, .output_count = 1};
  plim_async_options options = {
      .struct_size = sizeof options, .priority = PLIM_PRIORITY_HIGH, .call = &call};
  plim_event *step = NULL, *next = NULL;
  CHECK_OK(plim_function_call_async(scale, first, 2, &options, &step));
  plim_value second[] = {plim_value_f32(5), plim_value_buffer(middle)};
  plim_async_options after = {.struct_size = sizeof after, .after = &step, .after_count = 1};
  CHECK_OK(plim_function_call_async(scale, second, 2, &after, &next));
  plim_buffer_release(x); /* kept by the call */
  plim_function_release(scale);
  plim_engine_release(engine);
  CHECK_OK(plim_event_wait(next));
  CHECK_OK(plim_event_wait(next));
  CHECK(plim_event_is_done(step) && plim_event_is_done(next));
  bool isDone = false;
  CHECK_OK(plim_event_wait_for(next, 0, &isDone));
  CHECK(isDone);
  isDone = false;
  CHECK_OK(plim_event_wait_for(next, UINT64_MAX, &isDone));
  CHECK(isDone);
  plim_value result = {0}, again = {0};
  CHECK_OK(plim_event_results(next, &result, 1));
  CHECK_OK(plim_event_results(next, &again, 1));
  CHECK(result.as.buffer == again.as.buffer);
  plim_value_release(&again);
  CHECK_FAILS(plim_event_results(next, &again, 2), PLIM_INVALID_ARGUMENT, "1 results");
  CHECK_FAILS(plim_event_results(next, NULL, 1), PLIM_INVALID_ARGUMENT, "results");
  plim_event_retain(next);
  plim_event_release(next);
  plim_event_release(next);
  plim_event_release(step);
  CHECK(holds(result.as.buffer, (float[]){10, 20, 30}, 3));
  plim_value_release(&result);
  plim_buffer_release(middle);
}

typedef struct Ended {
  atomic_int calls, released;
  plim_code code;
  plim_event *kept;
} Ended;

static void noteEnd(void *user, plim_event *event) {
  Ended *ended = user;
  plim_status *status = plim_event_wait(event);
  ended->code = plim_status_code(status);
  plim_status_release(status);
  plim_event_retain(event);
  ended->kept = event;
  atomic_fetch_add(&ended->calls, 1);
}

static void noteRelease(void *user) { atomic_fetch_add(&((Ended *)user)->released, 1); }

static void eventCallbacks(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *sum = loadFunction(engine, scaleSource, "sum");
  plim_value arguments[] = {plim_value_i64(1), plim_value_i64(2)}, result;
  plim_event *event = NULL;
  CHECK_OK(plim_function_call_async(sum, arguments, 2, NULL, &event));
  Ended ended = {.code = -1};
  CHECK_OK(plim_event_then(event, noteEnd, &ended, noteRelease));
  CHECK_OK(plim_event_wait(event));
  while (ended.released == 0) { /* told after those who wait */
  }
  CHECK(ended.calls == 1 && ended.code == PLIM_OK);
  CHECK_OK(plim_event_results(ended.kept, &result, 1));
  CHECK(result.as.i64 == 3);
  plim_event_release(ended.kept);
  CHECK_OK(plim_event_then(event, noteEnd, &ended, NULL)); /* here and now */
  CHECK(ended.calls == 2);
  plim_event_release(ended.kept);
  CHECK_FAILS(plim_event_then(event, NULL, &ended, noteRelease), PLIM_INVALID_ARGUMENT,
              "callback is null");
  CHECK(ended.released == 1);
  plim_event_release(event);
  plim_function_release(sum);
  plim_engine_release(engine);
}

/* A host function that holds its call until it is let go. */
static atomic_int gate;

static plim_code hold(plim_host_call *call, void *user, const plim_host_value *arguments,
                      const plim_host_value *results) {
  (void)call, (void)user, (void)arguments, (void)results;
  while (gate == 0) {
  }
  return PLIM_OK;
}

static void eventFailures(void) {
  plim_host_functions *functions = NULL;
  CHECK_OK(plim_host_functions_create(&functions));
  plim_host_function_options held = {.struct_size = sizeof held, .function = hold};
  CHECK_OK(plim_host_functions_add(functions, "hold", &held));
  plim_engine_options engineOptions = {
      .struct_size = sizeof engineOptions, .threads = 2, .host_functions = functions};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&engineOptions, &engine));
  plim_host_functions_release(functions);
  plim_function *wait = loadFunction(engine,
                                     "func.func private @hold()\n"
                                     "func.func @wait() { func.call @hold() : () -> () return }\n",
                                     "wait");
  plim_event *first = NULL, *second = NULL, *third = NULL;
  gate = 0;
  CHECK_OK(plim_function_call_async(wait, NULL, 0, NULL, &first));
  plim_event *before[] = {first};
  plim_async_options after = {.struct_size = sizeof after, .after = before, .after_count = 1};
  CHECK_OK(plim_function_call_async(wait, NULL, 0, &after, &second));
  before[0] = second;
  CHECK_OK(plim_function_call_async(wait, NULL, 0, &after, &third));
  bool isDone = true;
  CHECK_OK(plim_event_wait_for(first, 1000, &isDone));
  CHECK(!isDone && !plim_event_is_done(first));
  CHECK_FAILS(plim_event_results(first, NULL, 0), PLIM_FAILED_PRECONDITION, "not ended");
  CHECK_OK(plim_event_cancel(second));
  CHECK_FAILS(plim_event_wait(second), PLIM_CANCELLED, "cancelled");
  CHECK_FAILS(plim_event_wait(third), PLIM_CANCELLED, "before this one");
  CHECK_FAILS(plim_event_results(third, NULL, 0), PLIM_CANCELLED, "before this one");
  gate = 1;
  CHECK_OK(plim_event_wait(first));
  CHECK_OK(plim_event_results(first, NULL, 0));

  /* About the options alone. */
  plim_event *event = NULL;
  plim_async_options options = {.struct_size = sizeof options, .priority = 9};
  CHECK_FAILS(plim_function_call_async(wait, NULL, 0, &options, &event), PLIM_INVALID_ARGUMENT,
              "9 is no priority");
  options.priority = PLIM_PRIORITY_LOW;
  options.after_count = 1;
  CHECK_FAILS(plim_function_call_async(wait, NULL, 0, &options, &event), PLIM_INVALID_ARGUMENT,
              "after");
  before[0] = NULL;
  options.after = before;
  CHECK_FAILS(plim_function_call_async(wait, NULL, 0, &options, &event), PLIM_INVALID_ARGUMENT,
              "after[0]: event is null");
  CHECK_FAILS(plim_function_call_async(wait, NULL, 3, NULL, &event), PLIM_INVALID_ARGUMENT,
              "0 arguments, got 3");
  CHECK_FAILS(plim_function_call_async(wait, NULL, 0, NULL, NULL), PLIM_INVALID_ARGUMENT,
              "out_event is null");
  CHECK_FAILS(plim_event_wait_for(first, 0, NULL), PLIM_INVALID_ARGUMENT, "out_done is null");
  CHECK(event == NULL);
  plim_event_release(first);
  plim_event_release(second);
  plim_event_release(third);
  plim_function_release(wait);
  plim_engine_release(engine);
}

const Test eventTests[] = {
    {"event.Results", eventResults},
    {"event.Callbacks", eventCallbacks},
    {"event.Failures", eventFailures},
    {0},
};
