/* The library without a compiler: RuntimeTest ARTIFACT, which plimsoll has made of scale.mlir. */
#include "plimsoll/plimsoll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(plim_status *status) {
  if (!status)
    return;
  fprintf(stderr, "%s\n", plim_status_message(status));
  exit(1);
}

static void check(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

int main(int argc, char **argv) {
  check(argc == 2, "there is one argument");
  plim_engine *engine = NULL;
  require(plim_engine_create(NULL, &engine));

  /* What is not compiled yet stays so. */
  static const char source[] = "func.func @f() { return }";
  plim_module *module = NULL;
  plim_bytes *artifact = NULL;
  for (int i = 0; i < 2; ++i) {
    plim_status *status =
        i == 0 ? plim_module_load(engine, source, strlen(source), "f.mlir", NULL, &module)
               : plim_module_compile(engine, source, strlen(source), "f.mlir", NULL, &artifact);
    check(plim_status_code(status) == PLIM_UNIMPLEMENTED, "text is UNIMPLEMENTED");
    check(strstr(plim_status_message(status), "f.mlir: this library has no compiler") != NULL,
          "the message says why");
    plim_status_release(status);
  }
  check(!module && !artifact, "nothing was made");

  require(plim_module_load_file(engine, argv[1], NULL, &module));
  plim_report *report = NULL;
  require(plim_module_explain(module, &report));
  check(strstr(plim_report_text(report), "scale") != NULL, "the report is there");
  plim_report_release(report);
  plim_function *scale = NULL;
  require(plim_module_function(module, "scale", &scale));
  enum { count = 1000 };
  float elements[count];
  for (int i = 0; i < count; ++i)
    elements[i] = (float)i;
  plim_buffer *x = NULL;
  require(plim_buffer_copy(engine, PLIM_F32, 1, (int64_t[]){count}, elements, sizeof elements, &x));
  plim_value arguments[] = {plim_value_f32(0.5F), plim_value_buffer(x)}, result;
  require(plim_function_call(scale, arguments, 2, &result, 1, NULL));
  const float *scaled = plim_buffer_data(result.as.buffer);
  for (int i = 0; i < count; ++i)
    check(scaled[i] == 0.5F * (float)i, "each element is scaled");
  plim_value_release(&result);
  plim_buffer_release(x);
  plim_function_release(scale);
  plim_module_release(module);
  plim_engine_release(engine);
  puts("ran");
  return 0;
}
