/* artifact FILE: adds 1.5 and 2 with the function `add` of a compiled module. */
#include <plimsoll/plimsoll.h>

#include <stdio.h>

int main(int argc, char **argv) {
  plim_engine *engine = NULL;
  plim_module *module = NULL;
  plim_function *add = NULL;
  const plim_value arguments[] = {plim_value_f32(1.5F), plim_value_f32(2)};
  plim_value sum;
  plim_status *status = plim_engine_create(NULL, &engine);
  if (!status)
    status = plim_module_load_file(engine, argc > 1 ? argv[1] : "", NULL, &module);
  if (!status)
    status = plim_module_function(module, "add", &add);
  if (!status)
    status = plim_function_call(add, arguments, 2, &sum, 1, NULL);
  if (!status)
    printf("%g\n", (double)sum.as.f32);
  else
    fprintf(stderr, "%s\n", plim_status_message(status));
  int failed = status != NULL;
  plim_status_release(status);
  plim_function_release(add);
  plim_module_release(module);
  plim_engine_release(engine);
  return failed;
}
