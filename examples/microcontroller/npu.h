/* The toy accelerator: what its code is, and its driver. */
#ifndef NPU_H
#define NPU_H

#include <stddef.h>
#include <stdint.h>

/* Its code: rows x depth times depth x columns, of int8_t, to int32_t. */
typedef struct npu_product {
  int32_t rows, depth, columns;
} npu_product;

/* Its state. */
typedef struct npu {
  const uint8_t *memory; /* all that it reaches for writing */
  size_t bytes;
  int opens, activations, runs; /* how often; the first two count back */
} npu;

/* What the header asks for; 0, or an error. `context` is an npu. */
int32_t npu_open(void *context);
int32_t npu_activate(void *context);
int32_t npu_run(void *context, const void *code, size_t code_bytes, void *const *buffers,
                size_t buffer_count);
int32_t npu_deactivate(void *context);
int32_t npu_close(void *context);

#endif
