/* The library in a process that has other compilers in it: older LLVMs, if there are some, and MLIR's shared library, all
 * of whose symbols are visible to everybody. They come before this one has worked, or after it has. The command line says
 * which, and names that library. */
#include "plimsoll/plimsoll.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *const source = "func.func @sum(%a: i64, %b: i64) -> i64 {\n"
                                  "  %s = arith.addi %a, %b : i64\n"
                                  "  return %s : i64\n"
                                  "}\n";

static int fail(const char *what, plim_status *status) {
  fprintf(stderr, "%s: %s\n", what, plim_status_message(status));
  plim_status_release(status);
  return 1;
}

static int compileAndCall(void) {
  plim_engine *engine = NULL;
  plim_module *module = NULL;
  plim_function *sum = NULL;
  plim_status *status = plim_engine_create(NULL, &engine);
  if (status)
    return fail("plim_engine_create", status);
  if ((status = plim_module_load(engine, source, strlen(source), "sum.mlir", NULL, &module)))
    return fail("plim_module_load", status);
  if ((status = plim_module_function(module, "sum", &sum)))
    return fail("plim_module_function", status);
  plim_value arguments[] = {plim_value_i64(40), plim_value_i64(2)}, result;
  if ((status = plim_function_call(sum, arguments, 2, &result, 1, NULL)))
    return fail("plim_function_call", status);
  plim_function_release(sum);
  plim_module_release(module);
  plim_engine_release(engine);
  if (result.as.i64 == 42)
    return 0;
  fprintf(stderr, "40 + 2 is %lld\n", (long long)result.as.i64);
  return 1;
}

static int loadOthers(const char *mlir) {
  /* The last brings an LLVM of its own, for its shaders. */
  const char *const others[] = {"libLLVM-14.so.1", "libLLVM-15.so.1", "libvulkan_lvp.so"};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
    printf("%s: %s\n", others[i],
           dlopen(others[i], RTLD_NOW | RTLD_GLOBAL) ? "beside us" : "not on this machine");
  if (dlopen(mlir, RTLD_NOW | RTLD_GLOBAL))
    return 0;
  fprintf(stderr, "%s\n", dlerror());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3 || (strcmp(argv[1], "before") != 0 && strcmp(argv[1], "after") != 0)) {
    fprintf(stderr, "usage: NeighboursTest before|after LIBRARY\n");
    return 1;
  }
  if (strcmp(argv[1], "after") == 0 && compileAndCall() != 0)
    return 1;
  return loadOthers(argv[2]) != 0 || compileAndCall() != 0;
}
