#include "tests/capi/Check.h"

static const char *const manySource =
    "func.func @many(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f16, %g: bf16, %h: f32,\n"
    "                %i: f64, %j: index)\n"
    "    -> (index, f64, f32, bf16, f16, i64, i32, i16, i8, i1) {\n"
    "  return %j, %i, %h, %g, %f, %e, %d, %c, %b, %a\n"
    "      : index, f64, f32, bf16, f16, i64, i32, i16, i8, i1\n"
    "}\n";

static void functionAllScalars(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *many = loadFunction(engine, manySource, "many");
  plim_value arguments[10] = {
      plim_value_bits(PLIM_I1, 1),
      plim_value_bits(PLIM_I8, 0xfffffffffffffff9), /* bits beyond the type are ignored */
      plim_value_bits(PLIM_I16, 0x1234),
      plim_value_i32(-3),
      plim_value_i64(INT64_MIN),
      plim_value_bits(PLIM_F16, 0x3c00),
      plim_value_bits(PLIM_BF16, 0x3f80),
      plim_value_f32(1.5F),
      plim_value_f64(-2.25),
      plim_value_index(-1),
  };
  plim_value results[10];
  CHECK_OK(plim_function_call(many, arguments, 10, results, 10, NULL));
  const uint64_t expected[10] = {1,      0xf9,   0x1234, 0xfffffffd, (uint64_t)INT64_MIN,
                                 0x3c00, 0x3f80, 0,      0,          UINT64_MAX};
  for (int i = 0; i < 10; ++i) {
    plim_value result = results[9 - i];
    CHECK(result.kind == PLIM_SCALAR);
    CHECK(result.element == arguments[i].element);
    CHECK(i == 7   ? result.as.f32 == 1.5F && result.as.bits >> 32 == 0
          : i == 8 ? result.as.f64 == -2.25
                   : result.as.bits == expected[i]);
    plim_value_type type = {.struct_size = sizeof type};
    CHECK_OK(plim_function_argument_type(many, (size_t)i, &type));
    CHECK(type.kind == PLIM_SCALAR);
    CHECK(type.element == arguments[i].element);
    CHECK(type.rank == 0);
  }
  plim_function_release(many);
  plim_engine_release(engine);
}

static const char *const typedSource =
    "func.func @typed(%x: tensor<?x3xf32> {plim.donate = 0}, %y: memref<2x?xi8>) -> "
    "tensor<?x3xf32> {\n"
    "  %r = arith.addf %x, %x : tensor<?x3xf32>\n"
    "  return %r : tensor<?x3xf32>\n"
    "}\n"
    "func.func @strided(%m: memref<?x4xf32, strided<[?, 1], offset: ?>>) -> f32 {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %c3 = arith.constant 3 : index\n"
    "  %v = memref.load %m[%c1, %c3] : memref<?x4xf32, strided<[?, 1], offset: ?>>\n"
    "  memref.store %v, %m[%c0, %c0] : memref<?x4xf32, strided<[?, 1], offset: ?>>\n"
    "  return %v : f32\n"
    "}\n";

static void functionReflection(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = load(engine, typedSource, NULL);
  plim_function *typed = lookup(module, "typed");
  CHECK(strcmp(plim_function_name(typed), "typed") == 0);
  CHECK(plim_function_argument_count(typed) == 2);
  CHECK(plim_function_result_count(typed) == 1);
  CHECK(plim_function_stack_bytes(typed) > 0);
  plim_value_type type = {.struct_size = sizeof type};
  CHECK_OK(plim_function_argument_type(typed, 0, &type));
  CHECK(type.kind == PLIM_TENSOR && type.element == PLIM_F32 && type.rank == 2);
  CHECK(type.shape[0] == PLIM_DYNAMIC && type.shape[1] == 3 && type.strides == NULL);
  CHECK(type.access == PLIM_READ_WRITE && type.donated_to == 0);
  CHECK(type.name && strcmp(type.name, "x") == 0 && type.bounds == NULL);
  CHECK_OK(plim_function_argument_type(typed, 1, &type));
  CHECK(type.kind == PLIM_MEMREF && type.element == PLIM_I8 && type.rank == 2);
  CHECK(type.shape[0] == 2 && type.shape[1] == PLIM_DYNAMIC);
  CHECK(type.donated_to == -1);
  CHECK_OK(plim_function_result_type(typed, 0, &type));
  CHECK(type.kind == PLIM_TENSOR && type.donated_to == -1);
  CHECK(type.name == NULL);
  CHECK_FAILS(plim_function_argument_type(typed, 2, &type), PLIM_OUT_OF_RANGE,
              "has no argument #2, but 2");
  CHECK_FAILS(plim_function_result_type(typed, 1, &type), PLIM_OUT_OF_RANGE,
              "has no result #1, but 1");
  /* A host that knows less gets less. */
  type.name = "untouched";
  type.struct_size = offsetof(plim_value_type, name);
  CHECK_OK(plim_function_argument_type(typed, 0, &type));
  CHECK(type.rank == 2 && strcmp(type.name, "untouched") == 0);
  type.struct_size = 8;
  CHECK_FAILS(plim_function_result_type(typed, 0, &type), PLIM_INVALID_ARGUMENT, "struct_size 8");

  plim_function *strided = lookup(module, "strided");
  type.struct_size = sizeof type;
  CHECK_OK(plim_function_argument_type(strided, 0, &type));
  CHECK(type.strides && type.strides[0] == PLIM_DYNAMIC_STRIDE && type.strides[1] == 1);
  CHECK(type.access == PLIM_READ_WRITE);
  float elements[16];
  for (int i = 0; i < 16; ++i)
    elements[i] = (float)i;
  plim_buffer_memory memory = {.struct_size = sizeof memory,
                               .element = PLIM_F32,
                               .rank = 2,
                               .shape = (int64_t[]){2, 4},
                               .strides = (int64_t[]){6, 1},
                               .data = elements + 1,
                               .bytes = 10 * sizeof(float)};
  plim_buffer *buffer = NULL;
  CHECK_OK(plim_buffer_wrap(&memory, &buffer));
  plim_value argument = plim_value_buffer(buffer), result;
  CHECK_OK(plim_function_call(strided, &argument, 1, &result, 1, NULL));
  CHECK(result.as.f32 == 10 && elements[1] == 10);
  typedef float (*Raw)(float *, int64_t, int64_t);
  Raw raw;
  void *pointer = plim_function_raw_pointer(strided);
  CHECK(pointer != NULL);
  memcpy(&raw, &pointer, sizeof raw);
  CHECK(raw(elements, 2, 5) == 8 && elements[0] == 8);
  CHECK(plim_function_raw_pointer(typed) == NULL);
  plim_buffer_release(buffer);
  plim_function_release(strided);
  plim_function_release(typed);
  plim_module_release(module);
  plim_engine_release(engine);
}

static void functionOutputsAndDrops(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *scale = loadFunction(engine, scaleSource, "scale");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3}, 3), *out = NULL;
  CHECK_OK(plim_buffer_allocate(engine, PLIM_F32, 1, (int64_t[]){3}, &out));
  plim_value arguments[] = {plim_value_f32(3), plim_value_buffer(x)}, result;
  plim_call_options options = {.struct_size = sizeof options, .outputs = &out, .output_count = 1};
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, &options));
  CHECK(result.kind == PLIM_BUFFER && result.as.buffer == out);
  CHECK(holds(out, (float[]){3, 6, 9}, 3));
  plim_value_release(&result);
  CHECK(holds(out, (float[]){3, 6, 9}, 3));
  arguments[0].as.f32 = 4;
  CHECK_OK(plim_function_call(scale, arguments, 2, NULL, 0, &options));
  CHECK(holds(out, (float[]){4, 8, 12}, 3));
  /* What nobody wants is given back. */
  plim_memory_statistics before = {.struct_size = sizeof before}, after = before;
  CHECK_OK(plim_engine_memory_statistics(engine, &before));
  for (int i = 0; i < 3; ++i)
    CHECK_OK(plim_function_call(scale, arguments, 2, NULL, 0, NULL));
  CHECK_OK(plim_engine_memory_statistics(engine, &after));
  CHECK(after.live_bytes == before.live_bytes && after.allocations >= before.allocations + 3);
  /* Over its own argument. */
  plim_call_options inPlace = {.struct_size = sizeof inPlace, .outputs = &x, .output_count = 1};
  CHECK_OK(plim_function_call(scale, arguments, 2, NULL, 0, &inPlace));
  CHECK(holds(x, (float[]){4, 8, 12}, 3));
  plim_buffer *none = NULL;
  options.outputs = &none;
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, &options));
  CHECK(holds(result.as.buffer, (float[]){16, 32, 48}, 3));
  plim_value_release(&result);

  plim_buffer *small = makeVector(engine, (float[]){1}, 1);
  options.outputs = &small;
  plim_value untouched = result;
  CHECK_FAILS(plim_function_call(scale, arguments, 2, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "result #0");
  CHECK(memcmp(&untouched, &result, sizeof result) == 0);
  options.output_count = 2;
  CHECK_FAILS(plim_function_call(scale, arguments, 2, NULL, 0, &options), PLIM_INVALID_ARGUMENT,
              "1 results, got 2");
  options.output_count = 1;
  options.outputs = NULL;
  CHECK_FAILS(plim_function_call(scale, arguments, 2, NULL, 0, &options), PLIM_INVALID_ARGUMENT,
              "outputs");
  plim_buffer_release(small);
  plim_buffer_release(out);
  plim_buffer_release(x);
  plim_function_release(scale);
  plim_engine_release(engine);
}

static void functionBadArguments(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *scale = loadFunction(engine, scaleSource, "scale");
  plim_buffer *x = makeVector(engine, (float[]){1, 2}, 2);
  plim_value arguments[] = {plim_value_f32(3), plim_value_buffer(x)}, result = {0};
  CHECK_FAILS(plim_function_call(scale, arguments, 1, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "'scale' has 2 arguments, got 1");
  CHECK_FAILS(plim_function_call(scale, arguments, SIZE_MAX, &result, 1, NULL),
              PLIM_INVALID_ARGUMENT, "2 arguments");
  CHECK_FAILS(plim_function_call(scale, NULL, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "arguments");
  CHECK_FAILS(plim_function_call(scale, arguments, 2, &result, 2, NULL), PLIM_INVALID_ARGUMENT,
              "1 results, got 2");
  CHECK_FAILS(plim_function_call(scale, arguments, 2, NULL, 1, NULL), PLIM_INVALID_ARGUMENT,
              "results");
  CHECK_FAILS(plim_function_call(NULL, arguments, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "function is null");
  plim_value wrong[] = {plim_value_i32(3), plim_value_buffer(x)};
  CHECK_FAILS(plim_function_call(scale, wrong, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #0 (%a) of 'scale' is i32, expected f32");
  wrong[0].element = 99;
  CHECK_FAILS(plim_function_call(scale, wrong, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #0 (%a): 99 is no element type");
  wrong[0].kind = 7;
  CHECK_FAILS(plim_function_call(scale, wrong, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #0 (%a): neither");
  wrong[0] = arguments[0];
  wrong[1] = plim_value_buffer(NULL);
  CHECK_FAILS(plim_function_call(scale, wrong, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #1 (%x): buffer is null");
  wrong[1] = plim_value_buffer((plim_buffer *)engine);
  CHECK_FAILS(plim_function_call(scale, wrong, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #1 (%x): what was given as buffer is none");
  plim_buffer *matrix = NULL;
  CHECK_OK(plim_buffer_allocate(engine, PLIM_F64, 2, (int64_t[]){0, 7}, &matrix));
  wrong[1] = plim_value_buffer(matrix);
  CHECK_FAILS(plim_function_call(scale, wrong, 2, &result, 1, NULL), PLIM_INVALID_ARGUMENT,
              "argument #1 (%x) of 'scale' is 0x7xf64, expected ?xf32");
  plim_call_options options = {.struct_size = sizeof options, .flags = 1};
  CHECK_FAILS(plim_function_call(scale, arguments, 2, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "flags");
  options.struct_size = 3;
  CHECK_FAILS(plim_function_call(scale, arguments, 2, &result, 1, &options), PLIM_INVALID_ARGUMENT,
              "struct_size 3");
  CHECK(result.kind == PLIM_NONE);
  plim_buffer_release(matrix);
  plim_buffer_release(x);
  plim_function_release(scale);
  plim_engine_release(engine);
}

static void functionDonation(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *typed = loadFunction(engine, typedSource, "typed");
  plim_buffer *x = NULL, *y = NULL;
  const float elements[] = {1, 2, 3};
  CHECK_OK(plim_buffer_copy(engine, PLIM_F32, 2, (int64_t[]){1, 3}, elements, 12, &x));
  CHECK_OK(plim_buffer_allocate(engine, PLIM_I8, 2, (int64_t[]){2, 0}, &y));
  plim_value arguments[] = {plim_value_buffer(x), plim_value_buffer(y)}, result;
  CHECK_OK(plim_function_call(typed, arguments, 2, &result, 1, NULL));
  CHECK(result.as.buffer == x);
  CHECK(holds(x, (float[]){2, 4, 6}, 3));
  plim_value_release(&result);
  plim_buffer_release(x);
  plim_buffer_release(y);
  plim_function_release(typed);
  plim_engine_release(engine);
}

static const char *const workspaceSource =
    "func.func @softmax(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %n = tensor.dim %x, %c0 : tensor<?xf32>\n"
    "  %e = tensor.empty(%n) {plim.scope = \"global.workspace\"} : tensor<?xf32>\n"
    "  %s = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %i = tensor.empty() : tensor<f32>\n"
    "  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<f32>) -> tensor<f32>\n"
    "  %sum = linalg.reduce ins(%s : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]\n"
    "    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }\n"
    "  %o = tensor.empty(%n) : tensor<?xf32>\n"
    "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>,\n"
    "      affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}\n"
    "      ins(%s, %sum : tensor<?xf32>, tensor<f32>) outs(%o : tensor<?xf32>) {\n"
    "  ^bb0(%u: f32, %v: f32, %w: f32):\n"
    "    %q = arith.divf %u, %v : f32\n"
    "    linalg.yield %q : f32\n"
    "  } -> tensor<?xf32>\n"
    "  return %r : tensor<?xf32>\n"
    "}\n";

static void functionWorkspace(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *softmax = loadFunction(engine, workspaceSource, "softmax");
  static float zeros[1000];
  plim_buffer *x = makeVector(engine, zeros, 1000);
  plim_value argument = plim_value_buffer(x), result;
  plim_workspace workspace = {.struct_size = sizeof workspace};
  CHECK_FAILS(plim_function_workspace(softmax, NULL, 0, &workspace), PLIM_FAILED_PRECONDITION,
              "depends on the extents");
  CHECK_OK(plim_function_workspace(softmax, &argument, 1, &workspace));
  CHECK(workspace.bytes >= 4000);
  CHECK(workspace.alignment == PLIM_MEMORY_ALIGNMENT);
  void *memory = aligned_alloc(workspace.alignment, workspace.bytes);
  plim_call_options options = {
      .struct_size = sizeof options, .workspace = memory, .workspace_bytes = workspace.bytes};
  CHECK_OK(plim_function_call(softmax, &argument, 1, &result, 1, &options));
  CHECK(floats(result.as.buffer)[999] > 0.000999F && floats(result.as.buffer)[999] < 0.001001F);
  plim_value_release(&result);
  options.workspace_bytes -= 64;
  CHECK_FAILS(plim_function_call(softmax, &argument, 1, &result, 1, &options),
              PLIM_RESOURCE_EXHAUSTED, "64 are missing");
  options.workspace = (char *)memory + 4;
  options.workspace_bytes += 64;
  CHECK_FAILS(plim_function_call(softmax, &argument, 1, &result, 1, &options),
              PLIM_INVALID_ARGUMENT, "aligned");
  options.workspace = NULL;
  CHECK_FAILS(plim_function_call(softmax, &argument, 1, &result, 1, &options),
              PLIM_INVALID_ARGUMENT, "workspace is null");
  CHECK_FAILS(plim_function_workspace(softmax, &argument, 1, NULL), PLIM_INVALID_ARGUMENT,
              "out_workspace is null");
  free(memory);
  plim_buffer_release(x);
  plim_function_release(softmax);
  plim_engine_release(engine);
}

static const char *const boundedSource =
    "func.func @bounded(%first: tensor<?x?xf32> {plim.bounds = [{min = 1, max = 4}, {min = 2}]},\n"
    "                   %1: f32) -> tensor<?x?xf32> {\n"
    "  %r = arith.addf %first, %first : tensor<?x?xf32>\n"
    "  return %r : tensor<?x?xf32>\n"
    "}\n";

static void functionBounds(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *bounded = loadFunction(engine, boundedSource, "bounded");
  plim_value_type type = {.struct_size = sizeof type};
  CHECK_OK(plim_function_argument_type(bounded, 0, &type));
  CHECK(type.name && strcmp(type.name, "first") == 0);
  CHECK(type.bounds && type.bounds[0].min == 1 && type.bounds[0].max == 4);
  CHECK(type.bounds && type.bounds[1].min == 2 && type.bounds[1].max == INT64_MAX);
  CHECK_OK(plim_function_argument_type(bounded, 1, &type));
  CHECK(type.name == NULL && type.bounds == NULL);

  const float elements[20] = {0};
  const int64_t shapes[][2] = {{4, 5}, {5, 4}, {4, 1}};
  const char *const faults[] = {NULL, "is 5, but its bounds are 1 to 4",
                                "is 1, but its bounds are at least 2"};
  for (int i = 0; i < 3; ++i) {
    plim_buffer *x = NULL;
    CHECK_OK(plim_buffer_copy(engine, PLIM_F32, 2, shapes[i], elements,
                              (size_t)(shapes[i][0] * shapes[i][1]) * sizeof(float), &x));
    plim_value arguments[] = {plim_value_buffer(x), plim_value_f32(0)}, result;
    if (faults[i]) {
      CHECK_FAILS(plim_function_call(bounded, arguments, 2, &result, 1, NULL),
                  PLIM_INVALID_ARGUMENT, faults[i]);
    } else {
      CHECK_OK(plim_function_call(bounded, arguments, 2, &result, 1, NULL));
      plim_value_release(&result);
    }
    plim_buffer_release(x);
  }
  plim_function_release(bounded);
  plim_engine_release(engine);
}

static void functionSpecialization(void) {
  plim_engine *engine = makeEngine(0);
  const float elements[] = {1, 2, 3};
  plim_buffer *x = makeVector(engine, elements, 3);
  plim_value arguments[] = {plim_value_f32(2), plim_value_buffer(x)}, result;
  plim_specialization_statistics statistics = {.struct_size = sizeof statistics};

  plim_module *plain = load(engine, scaleSource, NULL);
  plim_function *scale = lookup(plain, "scale");
  CHECK_FAILS(plim_function_specialize(scale, arguments, 2), PLIM_FAILED_PRECONDITION, "");
  CHECK_OK(plim_module_specialization_statistics(plain, &statistics));
  CHECK(statistics.made == 0 && statistics.calls == 0);
  plim_function_release(scale);
  plim_module_release(plain);

  plim_load_options options = {.struct_size = sizeof options,
                               .specialization = PLIM_SPECIALIZATION_ON_REQUEST,
                               .specialization_count = 1};
  plim_module *module = load(engine, scaleSource, &options);
  scale = lookup(module, "scale");
  CHECK_FAILS(plim_function_specialize(scale, arguments, 1), PLIM_INVALID_ARGUMENT, "arguments");
  CHECK_FAILS(plim_function_specialize(NULL, arguments, 2), PLIM_INVALID_ARGUMENT, "function");
  CHECK_OK(plim_function_specialize(scale, arguments, 2));
  CHECK_OK(plim_function_specialize(scale, arguments, 2));
  CHECK_OK(plim_function_call(scale, arguments, 2, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){2, 4, 6}, 3));
  plim_value_release(&result);
  CHECK_OK(plim_module_specialization_statistics(module, &statistics));
  CHECK(statistics.made == 1 && statistics.calls == 1 && statistics.evicted == 0);
  /* Only one at a time. */
  plim_buffer *y = makeVector(engine, elements, 2);
  arguments[1] = plim_value_buffer(y);
  CHECK_OK(plim_function_specialize(scale, arguments, 2));
  CHECK_OK(plim_module_specialization_statistics(module, &statistics));
  CHECK(statistics.made == 2 && statistics.evicted == 1);
  statistics.struct_size = 0;
  CHECK_FAILS(plim_module_specialization_statistics(module, &statistics), PLIM_INVALID_ARGUMENT,
              "struct_size 0");
  plim_buffer_release(x);
  plim_buffer_release(y);
  plim_function_release(scale);
  plim_module_release(module);
  plim_engine_release(engine);
}

static void functionStops(void) {
  plim_engine *engine = makeEngine(0);
  plim_function *sum = loadFunction(engine, scaleSource, "sum");
  plim_stop *stop = NULL;
  CHECK_OK(plim_stop_create(&stop));
  CHECK(!plim_stop_is_requested(stop));
  plim_value arguments[] = {plim_value_i64(1), plim_value_i64(2)}, result;
  plim_call_options options = {.struct_size = sizeof options, .stop = stop};
  CHECK_OK(plim_function_call(sum, arguments, 2, &result, 1, &options));
  CHECK(result.as.i64 == 3);
  CHECK_OK(plim_stop_request(stop));
  CHECK(plim_stop_is_requested(stop));
  CHECK_FAILS(plim_function_call(sum, arguments, 2, &result, 1, &options), PLIM_CANCELLED,
              "cancelled");
  plim_stop_retain(stop);
  plim_stop_release(stop);
  CHECK(plim_stop_is_requested(stop));
  plim_stop_release(stop);
  plim_function_release(sum);
  plim_engine_release(engine);
}

static void valueElementTypes(void) {
  const struct {
    plim_element_type type;
    const char *name;
    size_t bytes;
  } types[] = {{PLIM_I1, "i1", 1},
               {PLIM_I8, "i8", 1},
               {PLIM_I16, "i16", 2},
               {PLIM_I32, "i32", 4},
               {PLIM_I64, "i64", 8},
               {PLIM_F16, "f16", 2},
               {PLIM_BF16, "bf16", 2},
               {PLIM_F32, "f32", 4},
               {PLIM_F64, "f64", 8},
               {PLIM_INDEX, "index", 8},
               {PLIM_F8E4M3FN, "f8E4M3FN", 1},
               {PLIM_F8E5M2, "f8E5M2", 1},
               {PLIM_COMPLEX_F32, "complex<f32>", 8},
               {PLIM_COMPLEX_F64, "complex<f64>", 16},
               {PLIM_I2, "i2", 1},
               {PLIM_I4, "i4", 1}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    CHECK(strcmp(plim_element_type_name(types[i].type), types[i].name) == 0);
    CHECK(plim_element_type_from_name(types[i].name) == types[i].type);
    CHECK(plim_element_type_bytes(types[i].type) == types[i].bytes);
  }
  CHECK(plim_element_type_name(0) == NULL);
  CHECK(plim_element_type_name(17) == NULL);
  CHECK(plim_element_type_bytes(17) == 0);
  CHECK(plim_element_type_from_name("i33") == 0);
  CHECK(plim_element_type_from_name(NULL) == 0);
  plim_value_release(NULL);
  plim_value scalar = plim_value_f32(1);
  plim_value_release(&scalar);
  CHECK(scalar.kind == PLIM_NONE);
  plim_value_release(&scalar);
}

const Test functionTests[] = {
    {"function.AllScalars", functionAllScalars},
    {"function.Reflection", functionReflection},
    {"function.OutputsAndDrops", functionOutputsAndDrops},
    {"function.BadArguments", functionBadArguments},
    {"function.Donation", functionDonation},
    {"function.Workspace", functionWorkspace},
    {"function.Bounds", functionBounds},
    {"function.Specialization", functionSpecialization},
    {"stop.Stops", functionStops},
    {"value.ElementTypes", valueElementTypes},
    {0},
};
