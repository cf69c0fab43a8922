#include "tests/capi/Check.h"

static const char *const counterSource = "ml_program.global private mutable @total(dense<[10.0, "
                                         "20.0]> : tensor<2xf32>) : tensor<2xf32>\n"
                                         "func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                         "  %old = ml_program.global_load @total : tensor<2xf32>\n"
                                         "  %new = arith.addf %old, %x : tensor<2xf32>\n"
                                         "  ml_program.global_store @total = %new : tensor<2xf32>\n"
                                         "  return %new : tensor<2xf32>\n"
                                         "}\n";

static void stateOfAStream(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = load(engine, counterSource, NULL);
  plim_function *add = lookup(module, "add");
  plim_buffer *x = makeVector(engine, (float[]){1, 2}, 2), *total = NULL;
  plim_value argument = plim_value_buffer(x), result;
  plim_state *state = NULL;
  CHECK_OK(plim_state_create(module, &state));
  plim_call_options options = {.struct_size = sizeof options, .state = state};
  for (int i = 1; i <= 2; ++i) {
    CHECK_OK(plim_function_call(add, &argument, 1, &result, 1, &options));
    CHECK(holds(result.as.buffer, (float[]){10 + (float)i, 20 + 2 * (float)i}, 2));
    plim_value_release(&result);
  }
  /* That of the module is another one. */
  CHECK_OK(plim_function_call(add, &argument, 1, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){11, 22}, 2));
  plim_value_release(&result);
  CHECK_OK(plim_state_variable(state, "total", &total));
  CHECK(holds(total, (float[]){12, 24}, 2));
  CHECK_OK(plim_state_reset(state));
  CHECK(holds(total, (float[]){10, 20}, 2));
  ((float *)plim_buffer_mutable_data(total))[0] = 100;
  CHECK_OK(plim_function_call(add, &argument, 1, &result, 1, &options));
  CHECK(holds(result.as.buffer, (float[]){101, 22}, 2));
  plim_value_release(&result);

  plim_buffer *none = NULL;
  CHECK_FAILS(plim_state_variable(state, "totals", &none), PLIM_NOT_FOUND, "'total'");
  CHECK_FAILS(plim_state_variable(state, NULL, &none), PLIM_INVALID_ARGUMENT, "name is null");
  plim_function *sum = loadFunction(engine, scaleSource, "sum");
  plim_value two[] = {plim_value_i64(1), plim_value_i64(2)};
  CHECK_FAILS(plim_function_call(sum, two, 2, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "another module");
  plim_state_retain(state);
  plim_state_release(state);
  plim_state_release(state);
  CHECK(holds(total, (float[]){101, 22}, 2)); /* it keeps the memory */
  plim_buffer_release(total);
  plim_buffer_release(x);
  plim_function_release(sum);
  plim_function_release(add);
  plim_module_release(module);
  plim_engine_release(engine);
}

const Test stateTests[] = {
    {"state.OfAStream", stateOfAStream},
    {0},
};
