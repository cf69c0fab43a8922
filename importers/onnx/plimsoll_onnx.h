/* libplimsoll-onnx: reads an ONNX model and writes a module in MLIR's text.
 *
 * Opened at run time where a model comes, and linked by nobody. Plain C: nothing is thrown or printed, and the process does
 * not end. Any thread may call any function; one import is one thread's at a time. */
#ifndef PLIMSOLL_ONNX_H
#define PLIMSOLL_ONNX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLIM_ONNX_API __attribute__((visibility("default")))

/* Of this interface; an opener refuses another. */
#define PLIM_ONNX_VERSION 3

typedef struct plim_onnx_model plim_onnx_model;

/* What keeps the bytes of a parameter, beyond the life of the model. */
typedef struct plim_onnx_bytes plim_onnx_bytes;

/* A parameter of the module. All that is pointed at lives as long as the model; `data` also as long as what
 * plim_onnx_keep() gives, or, where it lies in the bytes that were imported, as long as those. */
typedef struct plim_onnx_parameter {
  const char *name;
  const char *type; /* "F32", as .safetensors files name it */
  const int64_t *shape;
  size_t rank;
  const void *data; /* dense, row-major, little-endian; of any alignment if it is of a file */
  size_t size;      /* bytes */
  int is_of_file;   /* it lies in the bytes that were imported, or in a file that is mapped */
} plim_onnx_parameter;

enum {
  PLIM_ONNX_OK = 0,
  PLIM_ONNX_INVALID = 1,     /* the model is wrong */
  PLIM_ONNX_UNSUPPORTED = 2, /* something of it is not supported */
  PLIM_ONNX_INTERNAL = 3     /* no memory, or a fault of the library */
};

PLIM_ONNX_API int plim_onnx_version(void);

/* Imports `size` bytes. `folder` is where external data lies. `*out_model` is set in any case but without memory, when it is
 * NULL; the caller frees it. The bytes must stay as long as the model: parameters lie in them. */
PLIM_ONNX_API int plim_onnx_import(const void *bytes, size_t size, const char *folder,
                                   plim_onnx_model **out_model);
PLIM_ONNX_API void plim_onnx_free(plim_onnx_model *model);

/* What is wrong, in one line; "" after PLIM_ONNX_OK. */
PLIM_ONNX_API const char *plim_onnx_message(const plim_onnx_model *model);
/* The module; "" after a failure. */
PLIM_ONNX_API const char *plim_onnx_text(const plim_onnx_model *model, size_t *out_size);
/* What came in, in lines for people. */
PLIM_ONNX_API const char *plim_onnx_summary(const plim_onnx_model *model);
PLIM_ONNX_API size_t plim_onnx_parameter_count(const plim_onnx_model *model);
PLIM_ONNX_API plim_onnx_parameter plim_onnx_parameter_at(const plim_onnx_model *model,
                                                         size_t index);

/* NULL without memory. The caller releases it. */
PLIM_ONNX_API plim_onnx_bytes *plim_onnx_keep(const plim_onnx_model *model, size_t index);
PLIM_ONNX_API void plim_onnx_release(plim_onnx_bytes *bytes);

#ifdef __cplusplus
}
#endif

#endif
