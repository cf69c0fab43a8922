/* a * x + y, compiled while the program runs, in C. saxpy.cpp is the same in C++. */
#include <plimsoll/plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const source =
    "func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %n = memref.dim %x, %c0 : memref<?xf32>\n"
    "  scf.for %i = %c0 to %n step %c1 {\n"
    "    %u = memref.load %x[%i] : memref<?xf32>\n"
    "    %v = memref.load %y[%i] : memref<?xf32>\n"
    "    %p = arith.mulf %a, %u : f32\n"
    "    %q = arith.addf %p, %v : f32\n"
    "    memref.store %q, %y[%i] : memref<?xf32>\n"
    "  }\n"
    "  return\n"
    "}\n";

static void orExit(plim_status *status) {
  if (!status)
    return;
  fprintf(stderr, "error: %s\n", plim_status_message(status));
  plim_status_release(status);
  exit(1);
}

static plim_buffer *wrap(float *elements, int64_t count) {
  plim_buffer_memory memory = {.struct_size = sizeof memory,
                               .element = PLIM_F32,
                               .rank = 1,
                               .shape = &count,
                               .data = elements,
                               .bytes = (size_t)count * sizeof *elements};
  plim_buffer *buffer;
  orExit(plim_buffer_wrap(&memory, &buffer));
  return buffer;
}

int main(void) {
  plim_engine *engine;
  plim_module *module;
  plim_function *saxpy;
  orExit(plim_engine_create(NULL, &engine));
  orExit(plim_module_load(engine, source, strlen(source), "saxpy.mlir", NULL, &module));
  orExit(plim_module_function(module, "saxpy", &saxpy));

  float xs[] = {1, 2, 3}, ys[] = {10, 10, 10};
  plim_buffer *x = wrap(xs, 3), *y = wrap(ys, 3);
  const plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x), plim_value_buffer(y)};
  orExit(plim_function_call(saxpy, arguments, 3, NULL, 0, NULL));
  printf("%g %g %g\n", ys[0], ys[1], ys[2]);

  plim_buffer_release(y);
  plim_buffer_release(x);
  plim_function_release(saxpy);
  plim_module_release(module);
  plim_engine_release(engine);
  return 0;
}
