/* DLPack: buffers from and for other libraries, without a copy.
 *
 * The exchange is that of DLPack 1.x, the versioned form; https://dmlc.github.io/dlpack describes it. The
 * functions take `struct DLManagedTensorVersioned`, which is only named here, so that this header goes
 * together with any dlpack.h, before or after it. For hosts without one the same bytes are declared below
 * under names of our own: cast the pointer.
 *
 * Memory of the host is exchanged: devices kDLCPU, and kDLCUDAHost for import. Strides, read-only memory
 * and tensors without elements come through. Element types: signed and unsigned integers of 8 to 64 bits
 * (both are iN), bool (i1), float of 16, 32 and 64 bits, bfloat of 16. index is exported as a signed
 * integer of 64 bits.
 *
 * Threads: any, for all functions; deleters run on the thread that drops the last owner.
 */
#ifndef PLIMSOLL_DLPACK_H
#define PLIMSOLL_DLPACK_H

#include "plimsoll/base.h"

struct DLManagedTensorVersioned;

PLIM_C_BEGIN

/* A buffer that is the tensor. On success it owns the tensor and calls its deleter when its last owner is
 * gone; the caller owns `*out_buffer`. On failure the tensor is the caller's as before, whatever is wrong
 * with it.
 * FAILED_PRECONDITION for another major version, of which nothing else is looked at; UNIMPLEMENTED for a
 * device, an element type, lanes or packed elements that there is no way to use; INVALID_ARGUMENT for what
 * cannot be: a negative rank or extent, no memory for elements, memory that is not aligned to them, sizes
 * that overflow. */
PLIM_NODISCARD PLIM_API plim_status *
plim_buffer_from_dlpack(struct DLManagedTensorVersioned *tensor, plim_buffer **out_buffer);

/* What the consumer of a tensor asks for. A field of zero asks for nothing. */
typedef struct plim_dlpack_request {
  uint32_t struct_size; /* sizeof(plim_dlpack_request) */
  uint32_t flags;       /* 0 */
  /* The highest version that it understands; 0 and 0: 1.0. */
  uint32_t major;
  uint32_t minor;
  /* Where it wants the tensor, as in DLDevice; 0 and 0: wherever it is. */
  int32_t device_type;
  int32_t device_id;
  /* The stream on which it will use it, as the device knows streams. The host has none: 0. */
  int64_t stream;
} plim_dlpack_request;

/* The buffer as a tensor, which the caller owns: its deleter gives it back. The tensor keeps the buffer.
 * `request` may be NULL. UNIMPLEMENTED for a version before 1.0 and for a device that is not the host's,
 * INVALID_ARGUMENT for a stream. */
PLIM_NODISCARD PLIM_API plim_status *
plim_buffer_to_dlpack(plim_buffer *buffer, const plim_dlpack_request *request,
                      struct DLManagedTensorVersioned **out_tensor);

/* The published layout of version 1. */
typedef struct plim_dlpack_tensor {
  void *data;
  int32_t device_type; /* 1: kDLCPU, 3: kDLCUDAHost */
  int32_t device_id;
  int32_t ndim;
  uint8_t type_code; /* 0: signed, 1: unsigned, 2: float, 4: bfloat, 6: bool */
  uint8_t type_bits;
  uint16_t type_lanes;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: dense, before version 1.2 */
  uint64_t byte_offset;
} plim_dlpack_tensor;

/* A tensor and who gives it back. */
typedef struct plim_dlpack_managed_tensor {
  uint32_t version_major;
  uint32_t version_minor;
  void *manager_context;
  void (*deleter)(struct plim_dlpack_managed_tensor *self); /* may be NULL */
  uint64_t flags;                                           /* PLIM_DLPACK_... */
  plim_dlpack_tensor tensor;
} plim_dlpack_managed_tensor;

/* For plim_dlpack_managed_tensor::flags. */
#define PLIM_DLPACK_READ_ONLY ((uint64_t)1 << 0)
#define PLIM_DLPACK_COPIED ((uint64_t)1 << 1)
#define PLIM_DLPACK_SUBBYTE_PADDED ((uint64_t)1 << 2)

PLIM_C_END

#endif /* PLIMSOLL_DLPACK_H */
