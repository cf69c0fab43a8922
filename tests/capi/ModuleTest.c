#include "tests/capi/Check.h"

#include <stdatomic.h>
#include <unistd.h>

static void moduleReflection(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = load(engine, scaleSource, NULL);
  CHECK(plim_module_function_count(module) == 2);
  CHECK(strcmp(plim_module_function_name(module, 0), "scale") == 0);
  CHECK(strcmp(plim_module_function_name(module, 1), "sum") == 0);
  CHECK(plim_module_function_name(module, 2) == NULL);
  plim_function *function = NULL;
  CHECK_FAILS(plim_module_function(module, "scales", &function), PLIM_NOT_FOUND, "'scale'");
  CHECK(function == NULL);
  plim_report *report = NULL;
  CHECK_OK(plim_module_explain(module, &report));
  CHECK(strstr(plim_report_text(report), "\"functions\"") != NULL);
  CHECK(strstr(plim_report_text(report), "scale") != NULL);
  plim_report_release(report);
  plim_load_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(plim_module_statistics(module, &statistics));
  CHECK(statistics.from_cache == 0);
  CHECK(statistics.objects > 0 && statistics.cached_objects == 0);
  CHECK(statistics.total_seconds > 0);
  CHECK(statistics.lower_seconds > 0);
  CHECK(statistics.total_seconds >= statistics.link_seconds);
  /* A host with headers of the first version, which has no more room. */
  plim_load_statistics first = {.struct_size = 64, .objects = 77};
  CHECK_OK(plim_module_statistics(module, &first));
  CHECK(first.total_seconds == statistics.total_seconds && first.objects == 77);
  first.struct_size = 63;
  CHECK_FAILS(plim_module_statistics(module, &first), PLIM_INVALID_ARGUMENT, "struct_size 63");
  plim_module_retain(module);
  plim_module_release(module);
  CHECK(plim_module_function_count(module) == 2);
  plim_module_release(module);
  plim_engine_release(engine);
}

static void writeFile(const char *path, const void *contents, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(contents, 1, size, file) == size);
  if (file)
    fclose(file);
}

static void countFraction(void *user, double fraction) {
  if (fraction >= 0 && fraction <= 1)
    ++*(int *)user;
}

static void moduleCacheAndFile(void) {
  char folder[] = "/tmp/plimsoll-capi-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char path[64];
  snprintf(path, sizeof path, "%s/scale.mlir", folder);
  writeFile(path, scaleSource, strlen(scaleSource));
  plim_engine_options options = {
      .struct_size = sizeof options, .threads = 1, .cache_folder = folder, .cache_bytes = 1 << 20};
  const plim_engine_options inFolder = options;
  const char *home = getenv("XDG_CACHE_HOME");
  char *before = home ? strdup(home) : NULL;
  CHECK(setenv("XDG_CACHE_HOME", folder, 1) == 0);
  int steps = 0;
  for (uint32_t round = 0; round < 4; ++round) { /* a folder that is given, and the user's */
    options = inFolder;
    if (round >= 2) {
      options.flags = PLIM_ENGINE_USER_CACHE;
      options.cache_folder = NULL;
    }
    plim_engine *engine = NULL;
    CHECK_OK(plim_engine_create(&options, &engine));
    plim_load_options loadOptions = {
        .struct_size = sizeof loadOptions, .progress = countFraction, .progress_user = &steps};
    plim_module *module = NULL;
    CHECK_OK(plim_module_load_file(engine, path, &loadOptions, &module));
    plim_load_statistics statistics = {.struct_size = sizeof statistics};
    CHECK_OK(plim_module_statistics(module, &statistics));
    CHECK(statistics.from_cache == round % 2);
    plim_module_release(module);
    plim_engine_release(engine);
    CHECK(round % 2 == 0 ? steps > 0 : steps == 0); /* none from the cache */
    steps = 0;
  }
  CHECK((before ? setenv("XDG_CACHE_HOME", before, 1) : unsetenv("XDG_CACHE_HOME")) == 0);
  free(before);
  snprintf(path, sizeof path, "%s/plimsoll", folder);
  CHECK(access(path, X_OK) == 0);

  plim_engine *engine = makeEngine(0);
  plim_module *module = NULL;
  CHECK_FAILS(plim_module_load_file(engine, "/no/such/file.mlir", NULL, &module), PLIM_NOT_FOUND,
              "/no/such/file.mlir");
  CHECK_FAILS(plim_module_load_file(engine, folder, NULL, &module), PLIM_UNAVAILABLE, folder);
  CHECK(module == NULL);
  plim_engine_release(engine);
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
}

static void countSource(void *user) { ++*(int *)user; }

static void moduleSourceIsReleased(void) {
  plim_engine *engine = makeEngine(0);
  int released = 0;
  plim_load_options options = {
      .struct_size = sizeof options, .release_source = countSource, .source_user = &released};
  char *source = malloc(strlen(scaleSource));
  memcpy(source, scaleSource, strlen(scaleSource)); /* without a NUL */
  plim_module *module = NULL;
  CHECK_OK(plim_module_load(engine, source, strlen(scaleSource), "test.mlir", &options, &module));
  plim_module_release(module);
  CHECK(released == 1);
  module = NULL;
  CHECK_FAILS(plim_module_load(engine, "nonsense", 8, "test.mlir", &options, &module),
              PLIM_INVALID_ARGUMENT, "test.mlir:1:1");
  CHECK(released == 1); /* what failed has taken nothing over */
  CHECK_FAILS(plim_module_load_file(engine, "x.mlir", &options, &module), PLIM_INVALID_ARGUMENT,
              "no source");
  free(source);
  plim_engine_release(engine);
}

typedef struct Progress {
  atomic_int steps, released;
} Progress;

static void countStep(void *user, double fraction) {
  CHECK(fraction >= 0 && fraction <= 1);
  atomic_fetch_add(&((Progress *)user)->steps, 1);
}

static void releaseSource(void *user) { atomic_fetch_add(&((Progress *)user)->released, 1); }

static void moduleLoadsByItself(void) {
  plim_engine *engine = makeEngine(0);
  Progress progress = {0};
  plim_load_options options = {.struct_size = sizeof options,
                               .progress = countStep,
                               .progress_user = &progress,
                               .timeout_nanoseconds = UINT64_C(3600000000000)};
  char *source = malloc(strlen(scaleSource));
  memcpy(source, scaleSource, strlen(scaleSource)); /* without a NUL */
  plim_event *event = NULL, *lent = NULL;
  CHECK_OK(
      plim_module_load_async(engine, source, strlen(scaleSource), "test.mlir", &options, &event));
  memset(source, 0, strlen(scaleSource)); /* it has a copy */
  memcpy(source, scaleSource, strlen(scaleSource));
  plim_load_options lends = {
      .struct_size = sizeof lends, .release_source = releaseSource, .source_user = &progress};
  CHECK_OK(plim_module_load_async(engine, source, strlen(scaleSource), "test.mlir", &lends, &lent));
  plim_engine_release(engine); /* kept by the loads */
  CHECK_OK(plim_event_wait(event));
  CHECK(plim_event_is_done(event) && progress.steps > 0);
  plim_module *module = NULL, *again = NULL, *other = NULL;
  CHECK_OK(plim_event_module(event, &module));
  CHECK_OK(plim_event_module(event, &again));
  CHECK_OK(plim_event_results(event, NULL, 0));
  CHECK_FAILS(plim_event_results(event, &(plim_value){0}, 1), PLIM_INVALID_ARGUMENT, "0 results");
  plim_event_release(event);
  plim_module_release(module);
  CHECK(plim_module_function_count(again) == 2);
  plim_function *sum = lookup(again, "sum");
  plim_value arguments[] = {plim_value_i64(1), plim_value_i64(2)}, result;
  CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, NULL));
  CHECK(result.as.i64 == 3);
  plim_event *called = NULL;
  CHECK_OK(plim_function_call_async(sum, arguments, 2, NULL, &called));
  CHECK_FAILS(plim_event_module(called, &other), PLIM_INVALID_ARGUMENT, "of a call");
  CHECK_OK(plim_event_wait(called));
  plim_event_release(called);
  plim_function_release(sum);
  plim_module_release(again);
  CHECK_OK(plim_event_wait(lent));
  CHECK_OK(plim_event_module(lent, &other));
  plim_event_release(lent);
  plim_module_release(other);
  while (progress.released == 0) { /* the thread of the load may be the last that has it */
  }
  CHECK(progress.released == 1);
  free(source);
}

static void moduleLoadsByItselfFail(void) {
  plim_engine *engine = makeEngine(0);
  plim_event *event = NULL;
  plim_module *module = NULL;
  Progress progress = {0};
  plim_load_options lends = {
      .struct_size = sizeof lends, .release_source = releaseSource, .source_user = &progress};
  /* What is wrong with the arguments is told at once, and nothing is taken over. */
  CHECK_FAILS(plim_module_load_async(NULL, "", 0, "x", NULL, &event), PLIM_INVALID_ARGUMENT,
              "engine is null");
  CHECK_FAILS(plim_module_load_async(engine, NULL, 3, "x", &lends, &event), PLIM_INVALID_ARGUMENT,
              "source is null");
  CHECK_FAILS(plim_module_load_async(engine, "", 0, NULL, &lends, &event), PLIM_INVALID_ARGUMENT,
              "name is null");
  CHECK_FAILS(plim_module_load_async(engine, "", 0, "x", &lends, NULL), PLIM_INVALID_ARGUMENT,
              "out_event is null");
  plim_load_options flags = {.struct_size = sizeof flags, .flags = 1u << 31};
  CHECK_FAILS(plim_module_load_async(engine, "", 0, "x", &flags, &event), PLIM_INVALID_ARGUMENT,
              "unknown flags");
  CHECK_FAILS(plim_module_load_file_async(engine, NULL, NULL, &event), PLIM_INVALID_ARGUMENT,
              "path is null");
  CHECK_FAILS(plim_module_load_file_async(engine, "x", &lends, &event), PLIM_INVALID_ARGUMENT,
              "no source");
  CHECK_FAILS(plim_module_load_file_async(engine, "x", NULL, NULL), PLIM_INVALID_ARGUMENT,
              "out_event is null");
  CHECK_FAILS(plim_event_module(NULL, &module), PLIM_INVALID_ARGUMENT, "event is null");
  CHECK(event == NULL && progress.released == 0);

  /* All else is the event's. */
  const char wrong[] = "func.func @f() {\n  return %x : f32\n}";
  CHECK_OK(plim_module_load_async(engine, wrong, sizeof wrong - 1, "test.mlir", &lends, &event));
  CHECK_FAILS(plim_event_wait(event), PLIM_INVALID_ARGUMENT, "test.mlir:2:10: ");
  CHECK_FAILS(plim_event_module(event, &module), PLIM_INVALID_ARGUMENT, "test.mlir:2:10: ");
  CHECK_FAILS(plim_event_module(event, NULL), PLIM_INVALID_ARGUMENT, "out_module is null");
  CHECK(progress.released == 1); /* what has begun gives it back, however it ends */
  plim_event_release(event);
  CHECK_OK(plim_module_load_file_async(engine, "/no/such/file.mlir", NULL, &event));
  CHECK_FAILS(plim_event_wait(event), PLIM_NOT_FOUND, "/no/such/file.mlir");
  plim_event_release(event);
  plim_stop *stop = NULL;
  CHECK_OK(plim_stop_create(&stop));
  CHECK_OK(plim_stop_request(stop));
  plim_load_options stopped = {.struct_size = sizeof stopped, .stop = stop};
  CHECK_OK(plim_module_load_async(engine, scaleSource, strlen(scaleSource), "test.mlir", &stopped,
                                  &event));
  plim_stop_release(stop);
  CHECK_FAILS(plim_event_wait(event), PLIM_CANCELLED, "");
  CHECK_OK(plim_event_cancel(event));
  plim_event_release(event);
  CHECK(module == NULL);
  plim_engine_release(engine);
}

static void moduleIsLazy(void) {
  plim_engine *engine = makeEngine(0);
  const char source[] =
      "func.func @given(%x: memref<?xf32>) -> f32 {\n"
      "  %c = arith.constant 0 : index\n"
      "  %r = memref.load %x[%c] : memref<?xf32>\n"
      "  return %r : f32\n"
      "}\n"
      "func.func @bad(%x: f32) -> f32 {\n"
      "  %a = tensor.splat %x : tensor<4294967296x4294967296x16xf32>\n"
      "  %c = arith.constant 0 : index\n"
      "  %r = tensor.extract %a[%c, %c, %c] : tensor<4294967296x4294967296x16xf32>\n"
      "  return %r : f32\n"
      "}\n";
  plim_load_options lazy = {.struct_size = sizeof lazy, .flags = PLIM_LOAD_LAZY};
  plim_module *module = load(engine, source, &lazy);
  CHECK(plim_module_function_count(module) == 2);
  CHECK(strcmp(plim_module_function_name(module, 1), "bad") == 0);
  plim_function *given = lookup(module, "given"), *bad = lookup(module, "bad");
  plim_value_type type = {.struct_size = sizeof type};
  CHECK_OK(plim_function_argument_type(given, 0, &type));
  CHECK(type.kind == PLIM_MEMREF && type.access == PLIM_READ_WRITE && type.rank == 1);
  CHECK(plim_function_stack_bytes(given) == 0);
  plim_buffer *x = makeVector(engine, (float[]){4, 5}, 2);
  plim_value argument = plim_value_buffer(x), number = plim_value_f32(1), result;
  CHECK_FAILS(plim_function_call(bad, &argument, 1, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #0");
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(plim_function_call(given, &argument, 1, &result, 1, NULL));
    CHECK(result.as.f32 == 4);
    CHECK_FAILS(plim_function_call(bad, &number, 1, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
                "test.mlir:7:");
  }
  CHECK(plim_function_stack_bytes(given) > 0);
  float (*raw)(float *, int64_t) = (float (*)(float *, int64_t))plim_function_raw_pointer(given);
  CHECK(raw && raw((float[]){6}, 1) == 6);
  CHECK(plim_function_raw_pointer(bad) == NULL);
  plim_workspace workspace = {.struct_size = sizeof workspace};
  CHECK_FAILS(plim_function_workspace(bad, NULL, 0, &workspace), PLIM_INVALID_ARGUMENT,
              "test.mlir:7:");
  plim_report *report = NULL;
  CHECK_FAILS(plim_module_explain(module, &report), PLIM_FAILED_PRECONDITION, "lazy");
  plim_bytes *artifact = NULL, *header = NULL;
  CHECK_FAILS(plim_module_compile(engine, source, sizeof source - 1, "x", &lazy, &artifact),
              PLIM_INVALID_ARGUMENT, "lazy");
  CHECK_FAILS(
      plim_module_export(engine, source, sizeof source - 1, "x", "x", &lazy, &artifact, &header),
      PLIM_INVALID_ARGUMENT, "lazy");
  plim_buffer_release(x);
  plim_function_release(given);
  plim_function_release(bad);
  plim_module_release(module);

  const char variable[] = "ml_program.global private mutable @v(dense<0> : tensor<i32>) : "
                          "tensor<i32>\nfunc.func @f() { return }\n";
  plim_module *none = NULL;
  CHECK_FAILS(plim_module_load(engine, variable, sizeof variable - 1, "test.mlir", &lazy, &none),
              PLIM_UNIMPLEMENTED, "test.mlir:1:1: ");
  _Alignas(64) char memory[64];
  plim_pool pool = {.name = "sram", .memory = memory, .bytes = sizeof memory};
  lazy.pools = &pool;
  lazy.pool_count = 1;
  CHECK_FAILS(plim_module_load(engine, source, sizeof source - 1, "test.mlir", &lazy, &none),
              PLIM_INVALID_ARGUMENT, "pools");
  CHECK(none == NULL);
  plim_engine_release(engine);
}

static void moduleBadSources(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = NULL;
  const char *sources[] = {"", "func.func @f(", "{", "func.func @f() { return %x : i32 }",
                           "\x01\x02"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
    plim_status *status =
        plim_module_load(engine, sources[i], strlen(sources[i]), "bad.mlir", NULL, &module);
    CHECK(plim_status_code(status) == PLIM_INVALID_ARGUMENT);
    CHECK(strstr(plim_status_message(status), "bad.mlir") != NULL);
    plim_status_release(status);
  }
  CHECK_FAILS(plim_module_load(engine, NULL, 3, "a", NULL, &module), PLIM_INVALID_ARGUMENT,
              "source is null");
  CHECK_FAILS(plim_module_load(engine, "", 0, NULL, NULL, &module), PLIM_INVALID_ARGUMENT,
              "name is null");
  CHECK_FAILS(plim_module_load(engine, "", 0, "a", NULL, NULL), PLIM_INVALID_ARGUMENT,
              "out_module is null");
  CHECK_FAILS(plim_module_load(NULL, "", 0, "a", NULL, &module), PLIM_INVALID_ARGUMENT,
              "engine is null");
  plim_load_options options = {.struct_size = sizeof options, .policy = "nonsense"};
  CHECK_FAILS(plim_module_load(engine, scaleSource, strlen(scaleSource), "a", &options, &module),
              PLIM_INVALID_ARGUMENT, "nonsense");
  options.policy = NULL;
  options.flags = 1u << 31;
  CHECK_FAILS(plim_module_load(engine, "", 0, "a", &options, &module), PLIM_INVALID_ARGUMENT,
              "flags");
  options.flags = PLIM_LOAD_ORACLE;
  options.numerics = 3;
  CHECK_FAILS(plim_module_load(engine, scaleSource, strlen(scaleSource), "a", &options, &module),
              PLIM_INVALID_ARGUMENT, "3 is no kind of numerics");
  options.numerics = PLIM_NUMERICS_STRICT;
  options.reserved = 1;
  CHECK_FAILS(plim_module_load(engine, scaleSource, strlen(scaleSource), "a", &options, &module),
              PLIM_INVALID_ARGUMENT, "reserved");
  options.reserved = 0;
  options.timeout_nanoseconds = 1;
  CHECK_FAILS(plim_module_load(engine, scaleSource, strlen(scaleSource), "a", &options, &module),
              PLIM_DEADLINE_EXCEEDED, "took longer than 1 ms");
  options.timeout_nanoseconds = 0;
  CHECK_OK(plim_module_load(engine, scaleSource, strlen(scaleSource), "a", &options, &module));
  plim_module_release(module);
  options.struct_size = 4;
  CHECK_FAILS(plim_module_load(engine, "", 0, "a", &options, &module), PLIM_INVALID_ARGUMENT,
              "struct_size 4");
  plim_engine_release(engine);
}

static const char *const parameterSource =
    "ml_program.global private @w(#ml_program.extern<tensor<3xf32>>) : tensor<3xf32>\n"
    "func.func @add(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %w = ml_program.global_load_const @w : tensor<3xf32>\n"
    "  %r = arith.addf %x, %w : tensor<3xf32>\n"
    "  return %r : tensor<3xf32>\n"
    "}\n";

static void checkAdd(plim_engine *engine, const plim_parameters *parameters) {
  plim_load_options options = {.struct_size = sizeof options, .parameters = parameters};
  plim_module *module = load(engine, parameterSource, &options);
  plim_function *add = lookup(module, "add");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3}, 3);
  plim_value argument = plim_value_buffer(x), result;
  CHECK_OK(plim_function_call(add, &argument, 1, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){11, 22, 33}, 3));
  plim_value_release(&result);
  plim_buffer_release(x);
  plim_function_release(add);
  plim_module_release(module);
}

static void parametersBind(void) {
  plim_engine *engine = makeEngine(0);
  plim_parameters *parameters = NULL;
  CHECK_OK(plim_parameters_create(&parameters));
  plim_buffer *w = makeVector(engine, (float[]){10, 20, 30}, 3);
  CHECK_OK(plim_parameters_set(parameters, "w", w));
  plim_buffer_release(w);
  CHECK(plim_parameters_count(parameters) == 1);
  CHECK(strcmp(plim_parameters_name(parameters, 0), "w") == 0);
  CHECK(plim_parameters_name(parameters, 1) == NULL);
  plim_buffer *same = NULL;
  CHECK_OK(plim_parameters_get(parameters, "w", &same));
  CHECK(same == w);
  plim_buffer_release(same);
  CHECK_FAILS(plim_parameters_get(parameters, "v", &same), PLIM_NOT_FOUND, "'v'");
  checkAdd(engine, parameters);

  plim_module *module = NULL;
  CHECK_FAILS(plim_module_load(engine, parameterSource, strlen(parameterSource), "test.mlir", NULL,
                               &module),
              PLIM_FAILED_PRECONDITION, "test.mlir:1:1: parameter 'w'");
  CHECK_OK(plim_parameters_set(parameters, "wrong", w = makeVector(engine, (float[]){1}, 1)));
  plim_buffer_release(w);
  plim_load_options options = {.struct_size = sizeof options, .parameters = parameters};
  CHECK_FAILS(plim_module_load(engine, parameterSource, strlen(parameterSource), "test.mlir",
                               &options, &module),
              PLIM_INVALID_ARGUMENT, "'wrong'");
  plim_parameters_release(parameters);
  plim_engine_release(engine);
}

static void parametersFromFiles(void) {
  char folder[] = "/tmp/plimsoll-capi-XXXXXX";
  CHECK(mkdtemp(folder) != NULL);
  char tensors[64], array[64];
  snprintf(tensors, sizeof tensors, "%s/w.safetensors", folder);
  snprintf(array, sizeof array, "%s/w.npy", folder);
  const float elements[] = {10, 20, 30};
  char file[128 + sizeof elements];
  const char *header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}   ";
  uint64_t size = strlen(header);
  memcpy(file, &size, 8);
  memcpy(file + 8, header, size);
  memcpy(file + 8 + size, elements, sizeof elements);
  writeFile(tensors, file, 8 + size + sizeof elements);
  memset(file, ' ', 128);
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  const char *description = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  memcpy(file + 10, description, strlen(description));
  file[127] = '\n';
  memcpy(file + 128, elements, sizeof elements);
  writeFile(array, file, 128 + sizeof elements);

  plim_engine *engine = makeEngine(0);
  plim_parameters *parameters = NULL;
  CHECK_OK(plim_parameters_create(&parameters));
  CHECK_OK(plim_parameters_load_safetensors(parameters, tensors));
  checkAdd(engine, parameters);
  CHECK_FAILS(plim_parameters_load_safetensors(parameters, tensors), PLIM_ALREADY_EXISTS, "'w'");
  CHECK_FAILS(plim_parameters_load_npy(parameters, "w", array), PLIM_ALREADY_EXISTS, "'w'");
  plim_parameters_release(parameters);
  CHECK_OK(plim_parameters_create(&parameters));
  CHECK_OK(plim_parameters_load_npy(parameters, "w", array));
  checkAdd(engine, parameters);
  CHECK_FAILS(plim_parameters_load_npy(parameters, "v", tensors), PLIM_INVALID_ARGUMENT, tensors);
  CHECK_FAILS(plim_parameters_load_safetensors(parameters, "/no/file"), PLIM_NOT_FOUND, "/no/file");
  CHECK(plim_parameters_count(parameters) == 1);
  plim_parameters_retain(parameters);
  plim_parameters_release(parameters);
  plim_parameters_release(parameters);
  plim_engine_release(engine);
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
}

static const char *const poolSource =
    "func.func @twice(%x: tensor<64xf32>) -> tensor<64xf32> {\n"
    "  %e = tensor.empty() {plim.scope = \"global.sram\"} : tensor<64xf32>\n"
    "  %s = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %i = tensor.empty() : tensor<f32>\n"
    "  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<f32>) -> tensor<f32>\n"
    "  %sum = linalg.reduce ins(%s : tensor<64xf32>) outs(%z : tensor<f32>) dimensions = [0]\n"
    "    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }\n"
    "  %o = tensor.empty() : tensor<64xf32>\n"
    "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,\n"
    "      affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}\n"
    "      ins(%s, %sum : tensor<64xf32>, tensor<f32>) outs(%o : tensor<64xf32>) {\n"
    "  ^bb0(%u: f32, %v: f32, %w: f32):\n"
    "    %q = arith.divf %u, %v : f32\n"
    "    linalg.yield %q : f32\n"
    "  } -> tensor<64xf32>\n"
    "  return %r : tensor<64xf32>\n"
    "}\n";

static void poolsAreLent(void) {
  plim_target *target = NULL;
  const char *memories =
      "memories=[{\"name\": \"sram\", \"kind\": \"host\", \"accessible_by\": [\"host\"]}]";
  CHECK_OK(plim_target_create(NULL, &memories, 1, &target));
  plim_engine_options engineOptions = {
      .struct_size = sizeof engineOptions, .threads = 1, .target = target};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&engineOptions, &engine));
  plim_target_release(target);
  plim_function *twice = loadFunction(engine, poolSource, "twice");
  float zeros[64] = {0};
  plim_buffer *x = makeVector(engine, zeros, 64);
  plim_value argument = plim_value_buffer(x), result;
  CHECK_FAILS(plim_function_call(twice, &argument, 1, &result, 1, NULL), PLIM_FAILED_PRECONDITION,
              "pool 'sram'");

  _Alignas(PLIM_MEMORY_ALIGNMENT) static char memory[1024];
  plim_pool pools[] = {{"sram", memory, sizeof memory}, {"other", memory, 64}};
  plim_call_options options = {.struct_size = sizeof options, .pools = pools, .pool_count = 1};
  const struct {
    plim_pool pool;
    const char *message;
  } wrong[] = {{{"sram", memory + 1, 512}, "pool 'sram' is not aligned to 64 bytes"},
               {{"sram", NULL, 512}, "pool 'sram' is null"},
               {{NULL, memory, 512}, "the name of a pool is null"},
               {{"sram", memory, SIZE_MAX}, "address space"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    pools[0] = wrong[i].pool;
    CHECK_FAILS(plim_function_call(twice, &argument, 1, &result, 1, &options),
                PLIM_INVALID_ARGUMENT, wrong[i].message);
  }
  pools[0] = pools[1] = (plim_pool){"sram", memory, 64};
  CHECK_FAILS(plim_function_call(twice, &argument, 1, &result, 1, &options),
              PLIM_RESOURCE_EXHAUSTED, "are missing");
  options.pool_count = 2;
  CHECK_FAILS(plim_function_call(twice, &argument, 1, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "pool 'sram' is given twice");
  options.pools = NULL;
  CHECK_FAILS(plim_function_call(twice, &argument, 1, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "pools is null, but has 2 elements");
  options.pools = pools;
  options.pool_count = 1;
  pools[0] = (plim_pool){"sram", memory, sizeof memory};
  pools[1] = (plim_pool){"other", memory, 64};
  memset(memory, 0x55, sizeof memory);
  CHECK_OK(plim_function_call(twice, &argument, 1, &result, 1, &options));
  CHECK(floats(result.as.buffer)[63] == 1.0F / 64);
  CHECK(memory[0] != 0x55); /* it was used */
  plim_value_release(&result);

  plim_load_options loadOptions = {
      .struct_size = sizeof loadOptions, .pools = pools, .pool_count = 1};
  plim_module *module = load(engine, poolSource, &loadOptions);
  plim_function *bound = lookup(module, "twice");
  CHECK_OK(plim_function_call(bound, &argument, 1, &result, 1, NULL));
  CHECK(floats(result.as.buffer)[0] == 1.0F / 64);
  plim_value_release(&result);
  options.pool_count = 2;
  CHECK_FAILS(plim_function_call(bound, &argument, 1, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "no pool 'other'");
  plim_buffer_release(x);
  plim_function_release(bound);
  plim_function_release(twice);
  plim_module_release(module);
  plim_engine_release(engine);
}

typedef struct Host {
  atomic_int calls, released;
  plim_code code;
  const char *message;
  float seen;
} Host;

static plim_code rowSum(plim_host_call *call, void *user, const plim_host_value *arguments,
                        const plim_host_value *results) {
  Host *host = user;
  atomic_fetch_add(&host->calls, 1);
  if (host->code != PLIM_OK)
    return host->message ? plim_host_call_fail(call, host->code, host->message) : host->code;
  float factor = *(const float *)arguments[0].data, sum = 0;
  const float *rows = arguments[1].data;
  int64_t count = arguments[1].shape[0] * arguments[1].shape[1];
  for (int64_t i = 0; i < count; ++i)
    sum += rows[i];
  *(float *)results[0].data = factor * sum;
  return PLIM_OK;
}

static void releaseHost(void *user) { atomic_fetch_add(&((Host *)user)->released, 1); }

static const char *const hostSource =
    "func.func private @row_sum(f32, memref<?x4xf32> {plim.access = #plim.access<readonly>}) -> "
    "f32\n"
    "func.func @main(%a: f32, %x: memref<?x4xf32>) -> f32 {\n"
    "  %r = func.call @row_sum(%a, %x) : (f32, memref<?x4xf32>) -> f32\n"
    "  return %r : f32\n"
    "}\n";

static void moduleCompile(void) {
  plim_engine *engine = makeEngine(0);
  plim_bytes *artifact = NULL;
  size_t size = strlen(scaleSource);
  CHECK_OK(plim_module_compile(engine, scaleSource, size, "test.mlir", NULL, &artifact));
  const char *bytes = plim_bytes_data(artifact);
  CHECK(bytes[plim_bytes_size(artifact)] == '\0');
  const size_t count = plim_bytes_size(artifact);

  plim_engine *other = makeEngine(0);
  plim_module *module = NULL;
  CHECK_OK(plim_module_load(other, bytes, count, "scale", NULL, &module));
  plim_load_statistics statistics = {.struct_size = sizeof statistics};
  CHECK_OK(plim_module_statistics(module, &statistics));
  CHECK(statistics.parse_seconds == 0 && statistics.codegen_seconds == 0);
  plim_function *scale = lookup(module, "scale");
  const float elements[] = {1, 2, 3};
  plim_buffer *x = makeVector(other, elements, 3);
  plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)}, result;
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));
  plim_value_release(&result);
  plim_buffer_release(x);
  plim_function_release(scale);
  plim_module_release(module);

  module = NULL;
  plim_load_options options = {.struct_size = sizeof options, .policy = "heap"};
  CHECK_FAILS(plim_module_load(other, bytes, count, "scale", &options, &module),
              PLIM_INVALID_ARGUMENT, "scale is compiled already, too late for: policy");
  plim_load_options special = {.struct_size = sizeof special,
                               .specialization = PLIM_SPECIALIZATION_HOT};
  CHECK_FAILS(plim_module_load(other, bytes, count, "scale", &special, &module),
              PLIM_INVALID_ARGUMENT, "scale is compiled already, too late for: specialization");
  CHECK_FAILS(plim_module_compile(other, bytes, count, "scale", NULL, &artifact),
              PLIM_INVALID_ARGUMENT, "scale is compiled already");
  CHECK_FAILS(plim_module_load(other, bytes, count - 1, "scale", NULL, &module), PLIM_DATA_LOSS,
              "scale: ");
  CHECK_FAILS(plim_module_load(other, bytes, 8, "scale", NULL, &module), PLIM_DATA_LOSS, "scale: ");
  plim_engine *checked = makeEngine(PLIM_ENGINE_CHECKED);
  CHECK_FAILS(plim_module_load(checked, bytes, count, "scale", NULL, &module),
              PLIM_FAILED_PRECONDITION, "not made for looking for faults");
  CHECK(module == NULL);
  plim_engine_release(checked);
  plim_bytes *nothing = NULL;
  CHECK_FAILS(plim_module_compile(engine, "x", 1, "x.mlir", NULL, &nothing), PLIM_INVALID_ARGUMENT,
              "x.mlir:1:1");
  CHECK_FAILS(plim_module_compile(engine, "x", 1, "x.mlir", NULL, NULL), PLIM_INVALID_ARGUMENT,
              "out_artifact is null");
  options.policy = NULL;
  options.release_source = releaseHost;
  CHECK_FAILS(plim_module_compile(engine, "x", 1, "x.mlir", &options, &nothing),
              PLIM_INVALID_ARGUMENT, "release_source");
  CHECK(nothing == NULL);
  plim_bytes_release(artifact);
  plim_engine_release(other);
  plim_engine_release(engine);
}

static void modulesAreExported(void) {
  plim_engine *engine = makeEngine(0);
  static const char source[] = "func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                               "  %y = arith.addf %x, %x : tensor<4xf32>\n"
                               "  return %y : tensor<4xf32>\n"
                               "}\n";
  const size_t size = strlen(source);
  plim_bytes *object = NULL, *header = NULL;
  CHECK_OK(plim_module_export(engine, source, size, "test.mlir", "net", NULL, &object, &header));
  CHECK(plim_bytes_size(object) > 64 && memcmp(plim_bytes_data(object), "\177ELF", 4) == 0);
  CHECK(strstr(plim_bytes_data(header), "enum net_status net_twice(const float *x,") != NULL);
  plim_bytes_release(object);
  plim_bytes_release(header);
  CHECK_OK(plim_module_export(engine, scaleSource, strlen(scaleSource), "test.mlir", "net", NULL,
                              &object, &header));
  CHECK(strstr(plim_bytes_data(header), "_extent0") != NULL);
  plim_bytes_release(object);
  plim_bytes_release(header);
  object = header = NULL;
#define CHECK_EXPORT_FAILS(text, called, code, message)                                            \
  CHECK_FAILS(                                                                                     \
      plim_module_export(engine, text, strlen(text), "test.mlir", called, NULL, &object, &header), \
      code, message);                                                                              \
  CHECK(object == NULL && header == NULL)
  CHECK_EXPORT_FAILS(source, "two words", PLIM_INVALID_ARGUMENT,
                     "'two words' cannot stand in front of names in C");
  CHECK_EXPORT_FAILS(source, "", PLIM_INVALID_ARGUMENT, "the export has no name");
  CHECK_EXPORT_FAILS("x", "net", PLIM_INVALID_ARGUMENT, "test.mlir:1:1");
  CHECK_EXPORT_FAILS("func.func @f(%x: memref<?xf32, strided<[?]>>) { return }", "net",
                     PLIM_UNIMPLEMENTED, "has a stride that is not known");
  CHECK_FAILS(plim_module_export(engine, source, size, "test.mlir", NULL, NULL, &object, &header),
              PLIM_INVALID_ARGUMENT, "export_name is null");
  CHECK_FAILS(plim_module_export(engine, source, size, "test.mlir", "net", NULL, NULL, &header),
              PLIM_INVALID_ARGUMENT, "out_object is null");
  CHECK_FAILS(plim_module_export(engine, source, size, "test.mlir", "net", NULL, &object, NULL),
              PLIM_INVALID_ARGUMENT, "out_header is null");
  plim_load_options options = {.struct_size = sizeof options, .release_source = releaseHost};
  CHECK_FAILS(
      plim_module_export(engine, source, size, "test.mlir", "net", &options, &object, &header),
      PLIM_INVALID_ARGUMENT, "release_source");
  plim_engine_release(engine);
  engine = makeEngine(PLIM_ENGINE_CHECKED);
  CHECK_EXPORT_FAILS(source, "net", PLIM_INVALID_ARGUMENT,
                     "an engine that looks for faults exports no code");
  plim_engine_release(engine);
}

static void hostFunctionsAreCalled(void) {
  plim_host_functions *functions = NULL;
  CHECK_OK(plim_host_functions_create(&functions));
  Host host = {0};
  plim_host_function_options options = {.struct_size = sizeof options,
                                        .kind = PLIM_HOST_SERIAL,
                                        .function = rowSum,
                                        .user = &host,
                                        .release_user = releaseHost,
                                        .signature = "(f32, memref<?x4xf32> readonly) -> f32"};
  CHECK_OK(plim_host_functions_add(functions, "row_sum", &options));
  CHECK_FAILS(plim_host_functions_add(functions, "row_sum", &options), PLIM_ALREADY_EXISTS,
              "'row_sum'");
  CHECK(host.released == 0);

  plim_engine_options engineOptions = {
      .struct_size = sizeof engineOptions, .threads = 1, .host_functions = functions};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&engineOptions, &engine));
  plim_host_functions_release(functions);
  CHECK(host.released == 0);
  plim_function *function = loadFunction(engine, hostSource, "main");
  plim_buffer *x = NULL;
  const float rows[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK_OK(plim_buffer_copy(engine, PLIM_F32, 2, (int64_t[]){2, 4}, rows, sizeof rows, &x));
  plim_value arguments[] = {plim_value_f32(0.5F), plim_value_buffer(x)}, result;
  CHECK_OK(plim_function_call(function, arguments, 2, &result, 1, NULL));
  CHECK(result.element == PLIM_F32 && result.as.f32 == 18);
  CHECK(host.calls == 1);

  host.code = PLIM_DATA_LOSS;
  host.message = "the row is gone";
  CHECK_FAILS(plim_function_call(function, arguments, 2, &result, 1, NULL), PLIM_DATA_LOSS,
              "the row is gone");
  host.message = "";
  CHECK_FAILS(plim_function_call(function, arguments, 2, &result, 1, NULL), PLIM_DATA_LOSS,
              "the host function failed");
  host.message = NULL;
  CHECK_FAILS(plim_function_call(function, arguments, 2, &result, 1, NULL), PLIM_DATA_LOSS,
              "test.mlir:3:8: host function 'row_sum' failed");
  host.code = 4711;
  CHECK_FAILS(plim_function_call(function, arguments, 2, &result, 1, NULL), PLIM_UNKNOWN,
              "host function 'row_sum' failed");
  CHECK(plim_host_call_fail(NULL, PLIM_INTERNAL, "nobody") == PLIM_INTERNAL);

  plim_engine_release(engine);
  CHECK(host.released == 0);
  plim_function_release(function); /* and with it the engine */
  CHECK(host.released == 1);
  plim_buffer_release(x);
}

/* As many numbers as its argument says; one too many of them where `user` is set. */
static plim_code count(plim_host_call *call, void *user, const plim_host_value *arguments,
                       const plim_host_value *results) {
  int64_t shape[] = {*(const int64_t *)arguments[0].data, 2};
  CHECK(results[0].data == NULL);
  CHECK(results[0].shape[0] == PLIM_DYNAMIC && results[0].shape[1] == 2);
  if (user)
    shape[1] = 3;
  float *numbers = plim_host_call_make_result(call, 0, shape);
  if (!numbers)
    return PLIM_UNKNOWN;
  CHECK(results[0].data == numbers && results[0].shape[0] == shape[0]);
  for (int64_t i = 0; i < 2 * shape[0]; ++i)
    numbers[i] = (float)i;
  return PLIM_OK;
}

static void hostFunctionsMakeResults(void) {
  static const char *const source = "func.func private @count(index) -> tensor<?x2xf32>\n"
                                    "func.func @main(%n: index) -> tensor<?x2xf32> {\n"
                                    "  %r = func.call @count(%n) : (index) -> tensor<?x2xf32>\n"
                                    "  %s = arith.addf %r, %r : tensor<?x2xf32>\n"
                                    "  return %s : tensor<?x2xf32>\n"
                                    "}\n";
  plim_engine *engine = makeEngine(0);
  for (int isWrong = 0; isWrong < 2; ++isWrong) {
    plim_host_functions *functions = NULL;
    CHECK_OK(plim_host_functions_create(&functions));
    plim_host_function_options options = {
        .struct_size = sizeof options, .function = count, .user = isWrong ? &isWrong : NULL};
    CHECK_OK(plim_host_functions_add(functions, "count", &options));
    plim_load_options loadOptions = {.struct_size = sizeof loadOptions,
                                     .host_functions = functions};
    plim_module *module = load(engine, source, &loadOptions);
    plim_function *main = lookup(module, "main");
    for (int64_t n = 0; n < 4; ++n) {
      plim_value argument = plim_value_index(n), result;
      if (isWrong) {
        CHECK_FAILS(plim_function_call(main, &argument, 1, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
                    "result #0 of host function 'count' has extent 3 in dimension 1");
        continue;
      }
      CHECK_OK(plim_function_call(main, &argument, 1, &result, 1, NULL));
      CHECK(plim_buffer_shape(result.as.buffer)[0] == n);
      CHECK(holds(result.as.buffer, (float[]){0, 2, 4, 6, 8, 10}, (size_t)(2 * n)));
      plim_value_release(&result);
    }
    plim_function_release(main);
    plim_module_release(module);
    plim_host_functions_release(functions);
  }
  CHECK(plim_host_call_make_result(NULL, 0, NULL) == NULL);
  plim_engine_release(engine);
}

static void hostFunctionsThatDoNotFit(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = NULL;
  size_t size = strlen(hostSource);
  CHECK_FAILS(plim_module_load(engine, hostSource, size, "test.mlir", NULL, &module),
              PLIM_FAILED_PRECONDITION, "host function 'row_sum'");
  plim_host_functions *functions = NULL;
  CHECK_OK(plim_host_functions_create(&functions));
  plim_host_function_options options = {
      .struct_size = sizeof options, .function = rowSum, .signature = "(f64) -> f32"};
  CHECK_OK(plim_host_functions_add(functions, "row_sum", &options));
  plim_load_options loadOptions = {.struct_size = sizeof loadOptions, .host_functions = functions};
  CHECK_FAILS(plim_module_load(engine, hostSource, size, "test.mlir", &loadOptions, &module),
              PLIM_INVALID_ARGUMENT, "(f64) -> f32");
  CHECK(module == NULL);
  options.kind = 9;
  CHECK_FAILS(plim_host_functions_add(functions, "x", &options), PLIM_INVALID_ARGUMENT, "9 is no");
  options.kind = PLIM_HOST_PURE;
  options.function = NULL;
  CHECK_FAILS(plim_host_functions_add(functions, "x", &options), PLIM_INVALID_ARGUMENT,
              "no function");
  CHECK_FAILS(plim_host_functions_add(functions, NULL, &options), PLIM_INVALID_ARGUMENT,
              "name is null");
  CHECK_FAILS(plim_host_functions_add(functions, "x", NULL), PLIM_INVALID_ARGUMENT,
              "options is null");
  plim_host_functions_retain(functions);
  plim_host_functions_release(functions);
  plim_host_functions_release(functions);
  plim_engine_release(engine);
}

const Test moduleTests[] = {
    {"module.Compile", moduleCompile},
    {"module.Reflection", moduleReflection},
    {"module.CacheAndFile", moduleCacheAndFile},
    {"module.SourceIsReleased", moduleSourceIsReleased},
    {"module.LoadsByItself", moduleLoadsByItself},
    {"module.LoadsByItselfFail", moduleLoadsByItselfFail},
    {"module.IsLazy", moduleIsLazy},
    {"module.BadSources", moduleBadSources},
    {"parameters.Bind", parametersBind},
    {"parameters.FromFiles", parametersFromFiles},
    {"pools.AreLent", poolsAreLent},
    {"module.AreExported", modulesAreExported},
    {"host_functions.AreCalled", hostFunctionsAreCalled},
    {"host_functions.MakeResults", hostFunctionsMakeResults},
    {"host_functions.ThatDoNotFit", hostFunctionsThatDoNotFit},
    {0},
};
