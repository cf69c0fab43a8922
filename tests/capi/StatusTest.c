#include "tests/capi/Check.h"

static void statusSaysWhere(void) {
  plim_engine *engine = makeEngine(0);
  const char *source =
      "func.func @f() -> i32 {\n  %c = arith.constant 1 : i64\n  return %c : i32\n}\n";
  plim_module *module = NULL;
  plim_status *status =
      plim_module_load(engine, source, strlen(source), "a folder/net.mlir", NULL, &module);
  CHECK(status != NULL);
  CHECK(module == NULL);
  CHECK(plim_status_code(status) == PLIM_INVALID_ARGUMENT);
  CHECK(strcmp(plim_status_file(status), "a folder/net.mlir") == 0);
  CHECK(plim_status_line(status) == 3);
  CHECK(plim_status_column(status) == 10);
  CHECK(strncmp(plim_status_message(status), "a folder/net.mlir:3:10: ", 24) == 0);
  plim_status_release(status);

  status = plim_engine_create(NULL, NULL);
  CHECK(plim_status_file(status) == NULL);
  CHECK(plim_status_line(status) == 0);
  CHECK(plim_status_column(status) == 0);
  plim_status_release(status);
  plim_engine_release(engine);
}

static void statusSaysAllThatIsWrong(void) {
  plim_engine *engine = makeEngine(0);
  const char *source = "func.func @f() {\n  return\n}\nfunc.func @f() { return }\n";
  plim_module *module = NULL;
  plim_status *status = plim_module_load(engine, source, strlen(source), "net.mlir", NULL, &module);
  CHECK(plim_status_diagnostic_count(status) == 2);
  CHECK(strcmp(plim_status_message(status), "net.mlir:4:1: redefinition of symbol named 'f'") == 0);
  plim_diagnostic said = {.struct_size = sizeof said};
  CHECK_OK(plim_status_diagnostic(status, 0, &said));
  CHECK(said.struct_size == sizeof said);
  CHECK(said.severity == PLIM_SEVERITY_ERROR);
  CHECK(strcmp(said.message, "redefinition of symbol named 'f'") == 0);
  CHECK(strcmp(said.file, "net.mlir") == 0);
  CHECK(said.line == 4 && said.column == 1);
  CHECK(said.end_line == 4 && said.end_column == 10); // behind func.func
  CHECK_OK(plim_status_diagnostic(status, 1, &said));
  CHECK(said.severity == PLIM_SEVERITY_NOTE);
  CHECK(said.line == 1 && said.column == 1);
  CHECK_FAILS(plim_status_diagnostic(status, 2, &said), PLIM_OUT_OF_RANGE, "no diagnostic 2");
  CHECK_FAILS(plim_status_diagnostic(status, 0, NULL), PLIM_INVALID_ARGUMENT,
              "out_diagnostic is null");
  said.struct_size = 4;
  CHECK_FAILS(plim_status_diagnostic(status, 0, &said), PLIM_INVALID_ARGUMENT, "struct_size 4");
  plim_status_release(status);
  CHECK(plim_status_diagnostic_count(NULL) == 0);
  said.struct_size = sizeof said;
  CHECK_FAILS(plim_status_diagnostic(NULL, 0, &said), PLIM_OUT_OF_RANGE, "no diagnostic 0");
  plim_engine_release(engine);
}

/* Not the compiler alone. */
static void statusSaysWhereCallsFail(void) {
  plim_engine *engine = makeEngine(0);
  plim_diagnostic said = {.struct_size = sizeof said};
  const char *source = "func.func @at(%t: tensor<4xf32>, %i: index) -> f32 {\n"
                       "  %r = tensor.extract %t[%i] : tensor<4xf32>\n"
                       "  return %r : f32\n"
                       "}\n";
  plim_load_options options = {.struct_size = sizeof options};
  plim_module *module = NULL;
  CHECK_OK(plim_module_load(engine, source, strlen(source), "a: b.mlir", &options, &module));
  plim_function *at = lookup(module, "at");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3, 4}, 4);
  plim_value arguments[] = {plim_value_buffer(x), plim_value_index(4)}, result;
  plim_status *status = plim_function_call(at, arguments, 2, &result, 1, NULL);
  CHECK(plim_status_diagnostic_count(status) == 1);
  CHECK_OK(plim_status_diagnostic(status, 0, &said));
  CHECK(said.severity == PLIM_SEVERITY_ERROR && said.line == plim_status_line(status));
  CHECK(strcmp(said.file, plim_status_file(status)) == 0);
  CHECK(strstr(plim_status_message(status), said.message) != NULL);
  CHECK(strstr(said.message, "b.mlir") == NULL);
  plim_status_release(status);
  plim_buffer_release(x);
  plim_function_release(at);
  plim_module_release(module);

  source = "func.func private @one() -> i32\n"
           "func.func private @two() -> i32\n"
           "func.func @main() -> (i32, i32) {\n"
           "  %a = call @one() : () -> i32\n"
           "  %b = call @two() : () -> i32\n"
           "  return %a, %b : i32, i32\n"
           "}\n";
  module = NULL;
  status = plim_module_load(engine, source, strlen(source), "net.mlir", &options, &module);
  CHECK(plim_status_code(status) == PLIM_FAILED_PRECONDITION);
  CHECK(plim_status_diagnostic_count(status) == 2);
  CHECK(plim_status_line(status) == 1);
  CHECK_OK(plim_status_diagnostic(status, 1, &said));
  CHECK(said.line == 2 && strncmp(said.message, "host function 'two'", 19) == 0);
  plim_status_release(status);
  plim_engine_release(engine);
}

static void statusOfNothing(void) {
  CHECK(plim_status_code(NULL) == PLIM_OK);
  CHECK(strcmp(plim_status_message(NULL), "") == 0);
  CHECK(plim_status_file(NULL) == NULL);
  plim_status_release(NULL);
  CHECK(strcmp(plim_code_name(PLIM_OK), "ok") == 0);
  CHECK(strcmp(plim_code_name(PLIM_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(strcmp(plim_code_name(4711), "unknown") == 0);
}

static void versionFits(void) {
  CHECK(plim_version() == PLIM_VERSION);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", PLIM_VERSION_MAJOR, PLIM_VERSION_MINOR,
           PLIM_VERSION_PATCH);
  CHECK(strcmp(plim_version_string(), text) == 0);
  CHECK_OK(plim_version_check(PLIM_VERSION));
  CHECK_OK(plim_version_check(PLIM_VERSION + 7)); /* a patch */
  CHECK_FAILS(plim_version_check(PLIM_MAKE_VERSION(PLIM_VERSION_MAJOR + 1, 0, 0)),
              PLIM_FAILED_PRECONDITION, "compiled for version");
  CHECK_FAILS(plim_version_check(PLIM_MAKE_VERSION(PLIM_VERSION_MAJOR, PLIM_VERSION_MINOR + 1, 0)),
              PLIM_FAILED_PRECONDITION, text);
}

const Test statusTests[] = {
    {"status.SaysWhere", statusSaysWhere},
    {"status.SaysAllThatIsWrong", statusSaysAllThatIsWrong},
    {"status.SaysWhereCallsFail", statusSaysWhereCallsFail},
    {"status.OfNothing", statusOfNothing},
    {"version.Fits", versionFits},
    {0},
};
