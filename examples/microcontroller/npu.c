#include "examples/microcontroller/npu.h"

#include "examples/microcontroller/memory.h"

/* Errors of the driver. */
enum { npu_not_ready = 100, npu_bad_code, npu_out_of_reach };

int32_t npu_open(void *context) {
  ++((npu *)context)->opens;
  return 0;
}

int32_t npu_activate(void *context) {
  npu *self = context;
  if (self->opens != 1)
    return npu_not_ready;
  ++self->activations;
  return 0;
}

static int is_reached(const npu *self, const void *begin, size_t bytes) {
  const uint8_t *at = begin;
  return at >= self->memory && bytes <= self->bytes && at <= self->memory + self->bytes - bytes;
}

int32_t npu_run(void *context, const void *code, size_t code_bytes, void *const *buffers,
                size_t buffer_count) {
  npu *self = context;
  npu_product product;
  if (self->activations != 1)
    return npu_not_ready;
  if (code_bytes != sizeof product || buffer_count != 3)
    return npu_bad_code;
  memcpy(&product, code, sizeof product);
  const int8_t *a = buffers[0], *b = buffers[1];
  int32_t *c = buffers[2];
  if (!is_reached(self, a, (size_t)(product.rows * product.depth)) ||
      !is_reached(self, c, (size_t)(product.rows * product.columns) * sizeof *c))
    return npu_out_of_reach;
  for (int32_t i = 0; i < product.rows; ++i)
    for (int32_t j = 0; j < product.columns; ++j) {
      int32_t sum = 0;
      for (int32_t k = 0; k < product.depth; ++k)
        sum += a[i * product.depth + k] * b[k * product.columns + j];
      c[i * product.columns + j] = sum;
    }
  ++self->runs;
  return 0;
}

int32_t npu_deactivate(void *context) {
  --((npu *)context)->activations;
  return 0;
}

int32_t npu_close(void *context) {
  --((npu *)context)->opens;
  return 0;
}
