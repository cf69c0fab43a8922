/* Runs the test that the command line names, or all; --list says their names. */
#include "tests/capi/Check.h"

static int failures = 0;

int failedChecks(void) { return failures; }

void checkFailed(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  ++failures;
}

void checkOk(const char *file, int line, const char *what, plim_status *status) {
  if (!status)
    return;
  fprintf(stderr, "%s:%d: %s: %s: %s\n", file, line, what, plim_code_name(plim_status_code(status)),
          plim_status_message(status));
  plim_status_release(status);
  exit(1);
}

void checkFails(const char *file, int line, const char *what, plim_status *status, plim_code code,
                const char *text) {
  if (plim_status_code(status) != code || !strstr(plim_status_message(status), text)) {
    fprintf(stderr, "%s:%d: %s gave %s: \"%s\", expected %s: \"%s\"\n", file, line, what,
            plim_code_name(plim_status_code(status)), plim_status_message(status),
            plim_code_name(code), text);
    ++failures;
  }
  plim_status_release(status);
}

plim_engine *makeEngine(uint32_t flags) {
  plim_engine_options options = {.struct_size = sizeof options, .flags = flags, .threads = 2};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  return engine;
}

plim_module *load(plim_engine *engine, const char *source, const plim_load_options *options) {
  plim_module *module = NULL;
  CHECK_OK(plim_module_load(engine, source, strlen(source), "test.mlir", options, &module));
  return module;
}

plim_function *lookup(const plim_module *module, const char *name) {
  plim_function *function = NULL;
  CHECK_OK(plim_module_function(module, name, &function));
  return function;
}

plim_function *loadFunction(plim_engine *engine, const char *source, const char *name) {
  plim_module *module = load(engine, source, NULL);
  plim_function *function = lookup(module, name);
  plim_module_release(module);
  return function;
}

plim_buffer *makeVector(const plim_engine *engine, const float *elements, int64_t count) {
  plim_buffer *buffer = NULL;
  CHECK_OK(plim_buffer_copy(engine, PLIM_F32, 1, &count, elements, (size_t)count * sizeof(float),
                            &buffer));
  return buffer;
}

const float *floats(const plim_buffer *buffer) { return plim_buffer_data(buffer); }

bool holds(const plim_buffer *buffer, const float *elements, size_t count) {
  if (plim_buffer_element_type(buffer) != PLIM_F32 || plim_buffer_element_count(buffer) != count)
    return false;
  for (size_t i = 0; i < count; ++i)
    if (floats(buffer)[i] != elements[i])
      return false;
  return true;
}

const char *const scaleSource =
    "func.func @scale(%a: f32, %x: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %n = tensor.dim %x, %c0 : tensor<?xf32>\n"
    "  %e = tensor.empty(%n) : tensor<?xf32>\n"
    "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],\n"
    "                       iterator_types = [\"parallel\"]}\n"
    "      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {\n"
    "  ^bb0(%u: f32, %o: f32):\n"
    "    %p = arith.mulf %a, %u : f32\n"
    "    linalg.yield %p : f32\n"
    "  } -> tensor<?xf32>\n"
    "  return %r : tensor<?xf32>\n"
    "}\n"
    "func.func @sum(%a: i64, %b: i64) -> i64 {\n"
    "  %s = arith.addi %a, %b : i64\n"
    "  return %s : i64\n"
    "}\n";

int main(int argc, char **argv) {
  const Test *const suites[] = {statusTests, engineTests, moduleTests, functionTests, bufferTests,
                                deviceTests, dlpackTests, eventTests,  stateTests,    handleTests};
  int found = 0;
  for (size_t i = 0; i < sizeof suites / sizeof *suites; ++i)
    for (const Test *test = suites[i]; test->name; ++test) {
      if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        puts(test->name);
        found = 1;
      } else if (argc < 2 || strcmp(argv[1], test->name) == 0) {
        test->run();
        found = 1;
      }
    }
  if (!found)
    fprintf(stderr, "no test '%s'\n", argv[1]);
  return failures != 0 || !found;
}
