#include "tests/capi/Check.h"

#include <stdatomic.h>

/* A device that can negate vectors of f32. */
typedef struct Npu {
  atomic_int compiled, loaded, launched, released, functions;
  plim_code compileCode, loadCode, launchCode;
  const char *reason;
  bool withoutFunction, writesInLoad, failsAndReturnsOk;
  plim_host_function_kind kind;
} Npu;

static const char *const negateSource =
    "func.func @negate(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %n = tensor.dim %x, %c0 : tensor<?xf32>\n"
    "  %e = tensor.empty(%n) : tensor<?xf32>\n"
    "  %r = linalg.negf {plim.device = \"npu\"} ins(%x : tensor<?xf32>)\n"
    "      outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
    "  return %r : tensor<?xf32>\n"
    "}\n";

/* Nobody is named. */
static const char *const plainSource =
    "func.func @negate(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %n = tensor.dim %x, %c0 : tensor<?xf32>\n"
    "  %e = tensor.empty(%n) : tensor<?xf32>\n"
    "  %r = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n"
    "  return %r : tensor<?xf32>\n"
    "}\n";

static const char code[] = "ne\0gate"; /* bytes, not characters */

static plim_code npuCompile(plim_device_job *job, void *user, const char *name, const char *text,
                            size_t size) {
  Npu *npu = user;
  atomic_fetch_add(&npu->compiled, 1);
  CHECK(strcmp(name, "negate_elementwise_0") == 0);
  CHECK(strlen(text) == size && strstr(text, "func.func @negate_elementwise_0("));
  if (npu->compileCode != PLIM_OK)
    return npu->reason ? plim_device_job_fail(job, npu->compileCode, npu->reason)
                       : npu->compileCode;
  if (npu->failsAndReturnsOk) {
    CHECK(plim_device_job_fail(job, PLIM_UNAVAILABLE, "first") == PLIM_UNAVAILABLE);
    CHECK(plim_device_job_fail(job, PLIM_DATA_LOSS, "second") == PLIM_DATA_LOSS);
    return PLIM_OK;
  }
  CHECK(plim_device_job_write(job, code, 3) == PLIM_OK);
  CHECK(plim_device_job_write(job, NULL, 0) == PLIM_OK);
  return plim_device_job_write(job, code + 3, sizeof code - 3);
}

static plim_code npuLaunch(plim_host_call *call, void *user, const plim_host_value *arguments,
                           const plim_host_value *results) {
  Npu *npu = user;
  atomic_fetch_add(&npu->launched, 1);
  if (npu->launchCode != PLIM_OK)
    return npu->reason ? plim_host_call_fail(call, npu->launchCode, npu->reason) : npu->launchCode;
  CHECK(arguments[1].data == results[0].data);
  const float *x = arguments[0].data;
  float *y = results[0].data;
  for (int64_t i = 0; i < results[0].shape[0]; ++i)
    y[i] = -x[i];
  return PLIM_OK;
}

static void releaseFunction(void *user) { atomic_fetch_sub(&((Npu *)user)->functions, 1); }

static plim_code npuLoad(plim_device_job *job, void *user, const char *name, const void *bytes,
                         size_t size, plim_host_function_options *out_function) {
  Npu *npu = user;
  atomic_fetch_add(&npu->loaded, 1);
  CHECK(strcmp(name, "negate_elementwise_0") == 0);
  CHECK(size == sizeof code && memcmp(bytes, code, size) == 0);
  CHECK(out_function->struct_size == sizeof *out_function);
  if (npu->writesInLoad)
    return plim_device_job_write(job, code, 1);
  if (npu->loadCode != PLIM_OK)
    return plim_device_job_fail(job, npu->loadCode, npu->reason);
  if (npu->withoutFunction)
    return PLIM_OK;
  atomic_fetch_add(&npu->functions, 1);
  out_function->function = npuLaunch;
  out_function->kind = npu->kind;
  out_function->user = npu;
  out_function->release_user = releaseFunction;
  return PLIM_OK;
}

static void releaseNpu(void *user) { atomic_fetch_add(&((Npu *)user)->released, 1); }

static plim_device_options optionsOf(Npu *npu) {
  return (plim_device_options){.struct_size = sizeof(plim_device_options),
                               .name = "npu",
                               .version = "1.0",
                               .compile = npuCompile,
                               .load = npuLoad,
                               .user = npu,
                               .release_user = releaseNpu};
}

static plim_engine *engineWith(const plim_device_options *device, const plim_target *target) {
  plim_device *npu = NULL;
  CHECK_OK(plim_device_create(device, &npu));
  const plim_device *devices[] = {npu};
  plim_engine_options options = {.struct_size = sizeof options,
                                 .target = target,
                                 .threads = 2,
                                 .devices = devices,
                                 .device_count = 1};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_device_release(npu);
  return engine;
}

static void negates(plim_function *function) {
  plim_engine *engine = makeEngine(0);
  plim_buffer *x = makeVector(engine, (float[]){1, -2, 3}, 3);
  plim_value arguments[] = {plim_value_buffer(x)}, result;
  CHECK_OK(plim_function_call(function, arguments, 1, &result, 1, NULL));
  CHECK(holds(result.as.buffer, (float[]){-1, 2, -3}, 3));
  plim_value_release(&result);
  plim_buffer_release(x);
  plim_engine_release(engine);
}

static void deviceRuns(void) {
  Npu npu = {0};
  plim_device_options options = optionsOf(&npu);
  plim_engine *engine = engineWith(&options, NULL);
  plim_function *negate = loadFunction(engine, negateSource, "negate");
  CHECK(npu.compiled == 1 && npu.loaded == 1 && npu.functions == 1);
  negates(negate);
  CHECK(npu.launched == 1);
  plim_engine_release(engine);
  negates(negate);
  CHECK(npu.launched == 2 && npu.released == 0 && npu.functions == 1);
  plim_function_release(negate);
  CHECK(npu.released == 1 && npu.functions == 0);
}

static void deviceTakesWhatIsLeft(void) {
  Npu npu = {0};
  plim_device_options options = optionsOf(&npu);
  plim_engine *engine = engineWith(&options, NULL);
  plim_load_options loadOptions = {.struct_size = sizeof loadOptions, .device = "npu"};
  plim_module *module = load(engine, plainSource, &loadOptions);
  plim_function *negate = lookup(module, "negate");
  negates(negate);
  CHECK(npu.launched == 1);
  plim_function_release(negate);
  plim_module_release(module);

  /* What it does not take, the host runs, and the report says why. */
  npu.compileCode = PLIM_UNIMPLEMENTED;
  npu.reason = "only on Sundays";
  module = load(engine, plainSource, &loadOptions);
  negate = lookup(module, "negate");
  negates(negate);
  CHECK(npu.launched == 1);
  plim_report *report = NULL;
  CHECK_OK(plim_module_explain(module, &report));
  CHECK(strstr(plim_report_text(report), "\"refusal\":\"npu: only on Sundays\""));
  plim_report_release(report);
  plim_function_release(negate);
  plim_module_release(module);

  loadOptions.device = "npv";
  CHECK_FAILS(plim_module_load(engine, plainSource, strlen(plainSource), "test.mlir", &loadOptions,
                               &module),
              PLIM_INVALID_ARGUMENT, "'npv'; did you mean 'npu'?");
  plim_engine_release(engine);
}

static void deviceFails(void) {
  Npu npu = {0};
  plim_device_options options = optionsOf(&npu);
  plim_engine *engine = engineWith(&options, NULL);
  plim_module *module = NULL;
#define LOAD_FAILS(text)                                                                           \
  CHECK_FAILS(                                                                                     \
      plim_module_load(engine, negateSource, strlen(negateSource), "test.mlir", NULL, &module),    \
      PLIM_INVALID_ARGUMENT, text)
#define LINK_FAILS(code, text)                                                                     \
  CHECK_FAILS(                                                                                     \
      plim_module_load(engine, negateSource, strlen(negateSource), "test.mlir", NULL, &module),    \
      code, text)
  npu.compileCode = PLIM_UNIMPLEMENTED;
  LOAD_FAILS("test.mlir:5:8: device 'npu' does not take this: compile gave no reason");
  npu.reason = "too large";
  LOAD_FAILS("test.mlir:5:8: device 'npu' does not take this: too large");
  npu.compileCode = PLIM_UNAVAILABLE;
  LOAD_FAILS("test.mlir:5:8: device 'npu' does not compile this: too large");
  npu.compileCode = 12345;
  LOAD_FAILS("does not compile this: too large");
  npu.compileCode = PLIM_OK;
  npu.loadCode = PLIM_DATA_LOSS;
  LINK_FAILS(PLIM_DATA_LOSS, "test.mlir:5:8: device 'npu' does not load its code: too large");
  npu.loadCode = PLIM_OK;
  npu.withoutFunction = true;
  LINK_FAILS(PLIM_INVALID_ARGUMENT, "has no function");
  npu.withoutFunction = false;
  npu.writesInLoad = true;
  LINK_FAILS(PLIM_INVALID_ARGUMENT, "code is written in compile");
  npu.writesInLoad = false;
  npu.kind = 77;
  LINK_FAILS(PLIM_INVALID_ARGUMENT, "77 is no kind");
  npu.kind = PLIM_HOST_THREAD_SAFE;
  CHECK(npu.functions == 0);
  npu.failsAndReturnsOk = true;
  LOAD_FAILS("does not compile this: first");
  npu.failsAndReturnsOk = false;

  plim_function *negate = loadFunction(engine, negateSource, "negate");
  plim_buffer *x = makeVector(engine, (float[]){1}, 1);
  plim_value arguments[] = {plim_value_buffer(x)}, result;
  npu.launchCode = PLIM_UNAVAILABLE;
  npu.reason = NULL;
  CHECK_FAILS(plim_function_call(negate, arguments, 1, &result, 1, NULL), PLIM_UNAVAILABLE,
              "test.mlir:5:8: device 'npu' failed");
  npu.reason = "no power";
  CHECK_FAILS(plim_function_call(negate, arguments, 1, &result, 1, NULL), PLIM_UNAVAILABLE,
              "no power");
  npu.launchCode = PLIM_OK;
  negates(negate);
  plim_buffer_release(x);
  plim_function_release(negate);
  plim_engine_release(engine);
  CHECK(npu.released == 1 && npu.functions == 0);
}

static void deviceArtifacts(void) {
  Npu npu = {0};
  plim_device_options options = optionsOf(&npu);
  plim_engine *engine = engineWith(&options, NULL);
  plim_bytes *artifact = NULL;
  CHECK_OK(plim_module_compile(engine, negateSource, strlen(negateSource), "test.mlir", NULL,
                               &artifact));
  CHECK(npu.compiled == 1 && npu.loaded == 0);
  plim_engine_release(engine);

  const char *bytes = plim_bytes_data(artifact);
  size_t size = plim_bytes_size(artifact);
  plim_module *module = NULL;
  engine = makeEngine(0);
  CHECK_FAILS(plim_module_load(engine, bytes, size, "negate", NULL, &module),
              PLIM_FAILED_PRECONDITION,
              "test.mlir:5:8: this is compiled for device 'npu', which the engine does not have");
  plim_engine_release(engine);
  options.compile = NULL;
  engine = engineWith(&options, NULL);
  CHECK_OK(plim_module_load(engine, bytes, size, "negate", NULL, &module));
  plim_function *negate = lookup(module, "negate");
  negates(negate);
  CHECK(npu.compiled == 1 && npu.launched == 1);
  plim_function_release(negate);
  plim_module_release(module);
  LOAD_FAILS("has no compiler for");
  plim_engine_release(engine);
  plim_bytes_release(artifact);
}

/* Memory that only the device reaches: its addresses are none of this process. */
enum { sramBase = 4096 };
typedef struct Sram {
  atomic_int blocks, asked, released;
  bool isFull, isWrong;
  float memory[256];
  atomic_int inside; /* operands of launches that were there */
} Sram;

static void *sramAllocate(void *user, size_t bytes, size_t alignment, const char *memory) {
  Sram *sram = user;
  atomic_fetch_add(&sram->asked, 1);
  sram->isWrong |=
      strcmp(memory, "npu.sram") != 0 || bytes > sizeof sram->memory || sramBase % alignment != 0;
  if (sram->isFull)
    return NULL;
  atomic_fetch_add(&sram->blocks, 1);
  return (void *)(intptr_t)sramBase;
}

static void sramRelease(void *user, void *pointer, size_t bytes) {
  (void)bytes;
  Sram *sram = user;
  sram->isWrong |= pointer != (void *)(intptr_t)sramBase;
  atomic_fetch_sub(&sram->blocks, 1);
}

static void releaseSram(void *user) { atomic_fetch_add(&((Sram *)user)->released, 1); }

static float *reached(Sram *sram, void *data) {
  intptr_t offset = (intptr_t)data - sramBase;
  if (offset < 0 || offset >= (intptr_t)sizeof sram->memory)
    return data;
  atomic_fetch_add(&sram->inside, 1);
  return sram->memory + offset / (intptr_t)sizeof(float);
}

static plim_code sramLaunch(plim_host_call *call, void *user, const plim_host_value *arguments,
                            const plim_host_value *results) {
  (void)call;
  const float *x = reached(user, arguments[0].data);
  float *y = reached(user, results[0].data);
  for (int64_t i = 0; i < 8; ++i)
    y[7 - i] = 2 * x[i];
  return PLIM_OK;
}

static plim_code sramCompile(plim_device_job *job, void *user, const char *name, const char *text,
                             size_t size) {
  (void)user, (void)name, (void)text, (void)size;
  return plim_device_job_write(job, code, sizeof code);
}

static plim_code sramLoad(plim_device_job *job, void *user, const char *name, const void *bytes,
                          size_t size, plim_host_function_options *out_function) {
  (void)job, (void)name, (void)bytes, (void)size;
  out_function->function = sramLaunch;
  out_function->user = user;
  return PLIM_OK;
}

/* Twice and backwards, by operations of which no two can be one. */
static const char *const chainSource =
    "#back = affine_map<(d0) -> (7 - d0)>\n"
    "#id = affine_map<(d0) -> (d0)>\n"
    "func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
    "  %e = tensor.empty() : tensor<8xf32>\n"
    "  %a = linalg.generic {plim.device = \"npu\", indexing_maps = [#back, #id],\n"
    "      iterator_types = [\"parallel\"]}\n"
    "      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {\n"
    "  ^bb0(%u: f32, %v: f32):\n    %s = arith.addf %u, %u : f32\n"
    "    linalg.yield %s : f32\n  } -> tensor<8xf32>\n"
    "  %b = linalg.generic {plim.device = \"npu\", indexing_maps = [#back, #id],\n"
    "      iterator_types = [\"parallel\"]}\n"
    "      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {\n"
    "  ^bb0(%u: f32, %v: f32):\n    %s = arith.addf %u, %u : f32\n"
    "    linalg.yield %s : f32\n  } -> tensor<8xf32>\n"
    "  return %b : tensor<8xf32>\n"
    "}\n";

static void deviceMemory(void) {
  /* This machine, with the device and its memory. */
  plim_target *host = NULL, *board = NULL;
  plim_report *description = NULL;
  CHECK_OK(plim_target_create(NULL, NULL, 0, &host));
  CHECK_OK(plim_target_describe(host, &description));
  const char *text = plim_report_text(description);
  static const char npuText[] = "\"devices\": [", memoryText[] = "\"memories\": [";
  const char *devices = strstr(text, npuText), *memories = strstr(text, memoryText);
  CHECK(devices && memories && devices < memories);
  const char *devicesEnd = memories;
  while (*devicesEnd != ']')
    --devicesEnd;
  memories += sizeof memoryText - 1;
  static char json[1 << 16];
  int length =
      snprintf(json, sizeof json,
               "%.*s, {\"name\": \"npu\", \"kind\": \"npu\", \"stack_addressable\": false}"
               "%.*s{\"name\": \"npu.sram\", \"kind\": \"device\", \"bytes\": 1024, "
               "\"alignment\": 64, \"accessible_by\": [\"npu\"]}, %s",
               (int)(devicesEnd - text), text, (int)(memories - devicesEnd), devicesEnd, memories);
  CHECK(length > 0 && (size_t)length < sizeof json);
  CHECK_OK(plim_target_create_from_json(json, (size_t)length, &board));

  Sram sram = {0};
  plim_allocator memory = {.struct_size = sizeof memory,
                           .user = &sram,
                           .allocate = sramAllocate,
                           .release = sramRelease,
                           .release_user = releaseSram};
  plim_device_options options = {.struct_size = sizeof options,
                                 .name = "npu",
                                 .compile = sramCompile,
                                 .load = sramLoad,
                                 .user = &sram,
                                 .memory = &memory};
  plim_engine *engine = engineWith(&options, board);
  plim_function *chain = loadFunction(engine, chainSource, "chain");
  plim_buffer *x = makeVector(engine, (float[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
  plim_value arguments[] = {plim_value_buffer(x)}, result;
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(plim_function_call(chain, arguments, 1, &result, 1, NULL));
    CHECK(holds(result.as.buffer, (float[]){4, 8, 12, 16, 20, 24, 28, 32}, 8));
    plim_value_release(&result);
    CHECK(sram.inside == 2 * (i + 1)); /* written once, read once */
  }
  CHECK(sram.asked == 1 && sram.blocks == 1); /* kept */
  plim_function_release(chain);
  CHECK(sram.blocks == 0 && sram.released == 0);

  chain = loadFunction(engine, chainSource, "chain");
  sram.isFull = true;
  CHECK_FAILS(plim_function_call(chain, arguments, 1, &result, 1, NULL), PLIM_RESOURCE_EXHAUSTED,
              "of 'npu.sram', which its device does not have");
  sram.isFull = false;
  CHECK_OK(plim_function_call(chain, arguments, 1, &result, 1, NULL));
  plim_value_release(&result);
  plim_function_release(chain);
  plim_buffer_release(x);
  plim_engine_release(engine);
  CHECK(sram.blocks == 0 && sram.released == 1 && !sram.isWrong);
  plim_report_release(description);
  plim_target_release(board);
  plim_target_release(host);
}

static void deviceOptions(void) {
  Npu npu = {0};
  plim_device *device = NULL;
  const plim_device_options good = optionsOf(&npu);
  plim_device_options bad = good;
  CHECK_FAILS(plim_device_create(NULL, &device), PLIM_INVALID_ARGUMENT, "options");
  CHECK_FAILS(plim_device_create(&good, NULL), PLIM_INVALID_ARGUMENT, "out_device");
  bad.struct_size = 8;
  CHECK_FAILS(plim_device_create(&bad, &device), PLIM_INVALID_ARGUMENT, "struct_size");
  bad = good, bad.flags = 1;
  CHECK_FAILS(plim_device_create(&bad, &device), PLIM_INVALID_ARGUMENT, "flags");
  bad = good, bad.name = NULL;
  CHECK_FAILS(plim_device_create(&bad, &device), PLIM_INVALID_ARGUMENT, "name");
  bad = good, bad.load = NULL, bad.compile = NULL;
  CHECK_FAILS(plim_device_create(&bad, &device), PLIM_INVALID_ARGUMENT, "neither compile nor load");
  plim_allocator half = {.struct_size = sizeof half, .allocate = sramAllocate};
  bad = good, bad.memory = &half;
  CHECK_FAILS(plim_device_create(&bad, &device), PLIM_INVALID_ARGUMENT, "allocate and release");
  CHECK(npu.released == 0);

  CHECK_OK(plim_device_create(&good, &device));
  plim_engine *engine = NULL;
  const plim_device *devices[] = {device, device};
  plim_engine_options options = {
      .struct_size = sizeof options, .devices = devices, .device_count = 2};
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "twice");
  options.devices = NULL;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "devices");
  options.devices = devices, devices[1] = NULL;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "device");
  plim_device_retain(device);
  plim_device_release(device);
  CHECK(npu.released == 0);
  plim_device_release(device);
  CHECK(npu.released == 1);

  bad = good, bad.name = "host";
  CHECK_OK(plim_device_create(&bad, &device));
  devices[0] = device, options.device_count = 1;
  CHECK_FAILS(plim_engine_create(&options, &engine), PLIM_INVALID_ARGUMENT, "is a CPU");
  plim_device_release(device);
  CHECK(plim_device_job_fail(NULL, PLIM_UNKNOWN, "nothing") == PLIM_UNKNOWN);
  CHECK(plim_device_job_write(NULL, "x", 1) == PLIM_INVALID_ARGUMENT);
}

/* This machine with its accelerators; NULL if none of them is "vulkan0". */
static plim_target *targetWithGpu(void) {
  plim_target *target = NULL;
  plim_report *description = NULL;
  CHECK_OK(plim_target_create("host", NULL, 0, &target));
  CHECK_OK(plim_target_describe(target, &description));
  if (!strstr(plim_report_text(description), "\"vulkan0\"")) {
    puts("no device of Vulkan: nothing was tested");
    plim_target_release(target);
    target = NULL;
  }
  plim_report_release(description);
  return target;
}

static void deviceOfTheTarget(void) {
  plim_target *target = targetWithGpu();
  if (!target)
    return;
  plim_engine_options options = {.struct_size = sizeof options, .target = target, .threads = 2};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_load_options loadOptions = {.struct_size = sizeof loadOptions, .device = "vulkan0"};
  plim_module *module = load(engine, plainSource, &loadOptions);
  plim_report *report = NULL;
  CHECK_OK(plim_module_explain(module, &report));
  CHECK(strstr(plim_report_text(report), "\"device\":\"vulkan0\""));
  plim_report_release(report);
  plim_function *negate = lookup(module, "negate");
  negates(negate);
  negates(negate);
  plim_function_release(negate);
  plim_module_release(module);

  /* What was compiled for it is for any engine that does not say how to compile. */
  plim_bytes *artifact = NULL;
  CHECK_OK(plim_module_compile(engine, plainSource, strlen(plainSource), "test.mlir", &loadOptions,
                               &artifact));
  CHECK_FAILS(plim_module_load(engine, plim_bytes_data(artifact), plim_bytes_size(artifact),
                               "test.mlir", &loadOptions, &module),
              PLIM_INVALID_ARGUMENT, "too late for: device");
  plim_engine *plain = makeEngine(0);
  CHECK_OK(plim_module_load(plain, plim_bytes_data(artifact), plim_bytes_size(artifact),
                            "test.mlir", NULL, &module));
  negate = lookup(module, "negate");
  negates(negate);
  plim_function_release(negate);
  plim_module_release(module);
  plim_bytes_release(artifact);
  plim_engine_release(plain);

  loadOptions.device = "vulkan99";
  CHECK_FAILS(plim_module_load(engine, plainSource, strlen(plainSource), "test.mlir", &loadOptions,
                               &module),
              PLIM_INVALID_ARGUMENT, "no compiler for a device 'vulkan99'");
  plim_engine_release(engine);
  plim_target_release(target);
}

static void deviceThatTheTargetLeavesOut(void) {
  plim_engine *engine = makeEngine(0);
  plim_module *module = NULL;
  plim_load_options options = {.struct_size = sizeof options, .device = "vulkan0"};
  CHECK_FAILS(
      plim_module_load(engine, plainSource, strlen(plainSource), "test.mlir", &options, &module),
      PLIM_INVALID_ARGUMENT, "leaves out accelerators");
  options.device = "gpu";
  CHECK_FAILS(
      plim_module_load(engine, plainSource, strlen(plainSource), "test.mlir", &options, &module),
      PLIM_INVALID_ARGUMENT, "no compiler for a device 'gpu'");
  plim_engine_release(engine);
}

static void deviceThatIsNotHere(void) {
  plim_target *host = NULL, *target = NULL;
  plim_report *description = NULL;
  CHECK_OK(plim_target_create("host-cpu", NULL, 0, &host));
  CHECK_OK(plim_target_describe(host, &description));
  /* Behind the last device. */
  const char *begin = plim_report_text(description), *end = strstr(begin, "],\n  \"memories\"");
  const char gpu[] = ", {\"name\": \"cuda99\", \"kind\": \"cuda\", \"cpu\": \"sm_80\","
                     " \"max_workgroup_size\": 1024}";
  CHECK(end);
  if (!end)
    return;
  const size_t size = strlen(begin) + strlen(gpu);
  char *json = malloc(size + 1);
  snprintf(json, size + 1, "%.*s%s%s", (int)(end - begin), begin, gpu, end);
  CHECK_OK(plim_target_create_from_json(json, size, &target));
  free(json);
  plim_engine_options options = {.struct_size = sizeof options, .target = target, .threads = 2};
  plim_engine *engine = NULL;
  CHECK_OK(plim_engine_create(&options, &engine));
  plim_load_options loadOptions = {.struct_size = sizeof loadOptions, .device = "cuda99"};
  plim_bytes *artifact = NULL;
  plim_module *module = NULL;
  CHECK_OK(plim_module_compile(engine, plainSource, strlen(plainSource), "test.mlir", &loadOptions,
                               &artifact));
  CHECK_FAILS(plim_module_load(engine, plim_bytes_data(artifact), plim_bytes_size(artifact),
                               "test.mlir", NULL, &module),
              PLIM_UNAVAILABLE, "device 'cuda99'");
  plim_bytes_release(artifact);
  plim_engine_release(engine);
  plim_target_release(target);
  plim_target_release(host);
  plim_report_release(description);
}

const Test deviceTests[] = {
    {"device.Runs", deviceRuns},
    {"device.TakesWhatIsLeft", deviceTakesWhatIsLeft},
    {"device.Fails", deviceFails},
    {"device.Artifacts", deviceArtifacts},
    {"device.Memory", deviceMemory},
    {"device.Options", deviceOptions},
    {"device.OfTheTarget", deviceOfTheTarget},
    {"device.ThatTheTargetLeavesOut", deviceThatTheTargetLeavesOut},
    {"device.ThatIsNotHere", deviceThatIsNotHere},
    {0},
};
