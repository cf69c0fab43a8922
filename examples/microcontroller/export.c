/* Makes of a module an object and a header for a Cortex-M55 with an accelerator for products of 8-bit integers.
 *
 *   export MODULE.mlir OBJECT.o HEADER.h
 *
 * The accelerator is a toy: its code is three numbers, and npu.c is its driver. Its compiler takes exactly what it knows, and
 * leaves the rest to the processor. */
#include "examples/microcontroller/npu.h"

#include <plimsoll/plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(plim_status *status) {
  if (!status)
    return;
  fprintf(stderr, "error: %s\n", plim_status_message(status));
  exit(1);
}

static int count(const char *text, const char *word) {
  int found = 0;
  while ((text = strstr(text, word))) {
    ++found;
    ++text;
  }
  return found;
}

/* A dispatch that is one product of the first two arguments, begun with zeros. */
static plim_code compile(plim_device_job *job, void *user, const char *name, const char *text,
                         size_t size) {
  (void)user, (void)name, (void)size;
  npu_product product = {0, 0, 0};
  int inner = 0;
  const char *op = strstr(text, "linalg.matmul");
  const char *types = op ? strstr(op, " : tensor<") : NULL;
  if (count(text, "= linalg.") != 2 || !strstr(text, "arith.constant 0 : i32") ||
      !strstr(text, "linalg.fill ins(") || !types ||
      sscanf(types, " : tensor<%dx%dxi8>, tensor<%dx%dxi8>) outs(", &product.rows, &product.depth,
             &inner, &product.columns) != 4 ||
      inner != product.depth)
    return plim_device_job_fail(job, PLIM_UNIMPLEMENTED, "only products of 8-bit integers");
  return plim_device_job_write(job, (const char *)&product, sizeof product);
}

static char *read(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "error: cannot read %s\n", path);
    exit(1);
  }
  const long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
    fprintf(stderr, "error: cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  *out_size = (size_t)size;
  return text;
}

static void write(const char *path, const plim_bytes *bytes) {
  FILE *file = fopen(path, "wb");
  const size_t size = plim_bytes_size(bytes);
  if (!file || fwrite(plim_bytes_data(bytes), 1, size, file) != size || fclose(file) != 0) {
    fprintf(stderr, "error: cannot write %s\n", path);
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: export MODULE.mlir OBJECT.o HEADER.h\n");
    return 2;
  }
  plim_target *target;
  check(plim_target_create("cortex-m55-ethos-u55", NULL, 0, &target));
  const plim_device_options npu_options = {
      .struct_size = sizeof npu_options, .name = "ethos-u55", .version = "1", .compile = compile};
  plim_device *npu;
  check(plim_device_create(&npu_options, &npu));
  const plim_device *devices[] = {npu};
  const plim_engine_options options = {
      .struct_size = sizeof options, .target = target, .devices = devices, .device_count = 1};
  plim_engine *engine;
  check(plim_engine_create(&options, &engine));

  size_t size;
  char *text = read(argv[1], &size);
  plim_bytes *object, *header;
  check(plim_module_export(engine, text, size, argv[1], "keywords", NULL, &object, &header));
  write(argv[2], object);
  write(argv[3], header);

  plim_bytes_release(object);
  plim_bytes_release(header);
  free(text);
  plim_engine_release(engine);
  plim_device_release(npu);
  plim_target_release(target);
  return 0;
}
