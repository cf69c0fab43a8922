/* Value: one argument or result of a function, a scalar or a buffer; and what types there are.
 *
 * A value is a plain struct of 16 bytes. One that holds a buffer does not count as an owner of it unless
 * a function says that the caller owns what it hands out: then plim_value_release() gives it back.
 */
#ifndef PLIMSOLL_VALUE_H
#define PLIMSOLL_VALUE_H

#include "plimsoll/base.h"

PLIM_C_BEGIN

/* What elements and scalars are. Integers have no sign of their own: operations of a module say how they
 * are read. */
typedef uint32_t plim_element_type;
enum {
  PLIM_I1 = 1, /* one byte, 0 or 1 */
  PLIM_I8 = 2,
  PLIM_I16 = 3,
  PLIM_I32 = 4,
  PLIM_I64 = 5,
  PLIM_F16 = 6,  /* IEEE 754 binary16, as its bits */
  PLIM_BF16 = 7, /* the upper half of an f32, as its bits */
  PLIM_F32 = 8,
  PLIM_F64 = 9,
  PLIM_INDEX = 10, /* 64 bits */
  /* Floats of 8 bits, as these. From wider ones numbers are rounded to nearest even; what is too large becomes
   * infinity in f8E5M2 and NaN in f8E4M3FN, which has no infinity. */
  PLIM_F8E4M3FN = 11, /* sign, 4 bits of exponent, 3 of mantissa: up to 448 */
  PLIM_F8E5M2 = 12,   /* the upper half of an f16: up to 57344 */
  /* Real and imaginary part, one behind the other. Of buffers only, whose rank may be 0: no scalar has room for
   * both. */
  PLIM_COMPLEX_F32 = 13,
  PLIM_COMPLEX_F64 = 14,
  /* One byte, whose low bits count: from -2 to 1 and from -8 to 7 with a sign. What a module computes has the
   * sign in all other bits. */
  PLIM_I2 = 15,
  PLIM_I4 = 16
};

/* The name that modules use: "i1", "bf16", "index". Static; NULL for what is no element type. */
PLIM_API const char *plim_element_type_name(plim_element_type type);

/* The type of that name; 0 if there is none. */
PLIM_API plim_element_type plim_element_type_from_name(const char *name);

/* Bytes that one element takes in memory, and what it is aligned to (a complex number only to its parts): 1 for
 * i1, 8 for index. 0 for what is no element type. */
PLIM_API size_t plim_element_type_bytes(plim_element_type type);

/* What a value is, or what a signature wants. Values are none, scalars and buffers; a signature has scalars, and says of
 * a buffer whether it is a tensor or a memref. */
typedef uint32_t plim_kind;
enum {
  PLIM_NONE = 0,
  PLIM_SCALAR = 1,
  PLIM_BUFFER = 2, /* of any rank */
  /* A buffer as a value: it does not change unless it is donated, whatever else the call does. */
  PLIM_TENSOR = 3,
  /* A buffer as memory, which the function reads and writes in the order of its source. */
  PLIM_MEMREF = 4
};

/* One argument or result. */
typedef struct plim_value {
  plim_kind kind;            /* PLIM_NONE, PLIM_SCALAR or PLIM_BUFFER */
  plim_element_type element; /* of a scalar */
  union {
    /* A scalar is in the member of its type; types of less than 32 bits in the low bits. Bits beyond the
     * type's are ignored in arguments, and zero in results. */
    uint64_t bits;
    int32_t i32;
    int64_t i64; /* and index */
    float f32;
    double f64;
    plim_buffer *buffer;
  } as;
} plim_value;

/* Values that own nothing. */
static inline plim_value plim_value_bits(plim_element_type element, uint64_t bits) {
  plim_value value;
  value.kind = PLIM_SCALAR;
  value.element = element;
  value.as.bits = bits;
  return value;
}
static inline plim_value plim_value_i32(int32_t scalar) {
  return plim_value_bits(PLIM_I32, (uint32_t)scalar);
}
static inline plim_value plim_value_i64(int64_t scalar) {
  return plim_value_bits(PLIM_I64, (uint64_t)scalar);
}
static inline plim_value plim_value_index(int64_t scalar) {
  return plim_value_bits(PLIM_INDEX, (uint64_t)scalar);
}
static inline plim_value plim_value_f32(float scalar) {
  plim_value value = plim_value_bits(PLIM_F32, 0);
  value.as.f32 = scalar;
  return value;
}
static inline plim_value plim_value_f64(double scalar) {
  plim_value value = plim_value_bits(PLIM_F64, 0);
  value.as.f64 = scalar;
  return value;
}
static inline plim_value plim_value_buffer(plim_buffer *buffer) {
  plim_value value;
  value.kind = PLIM_BUFFER;
  value.element = 0;
  value.as.buffer = buffer;
  return value;
}

/* Releases the buffer of a value that the caller owns, if it holds one, and makes it PLIM_NONE. NULL is
 * ignored. */
PLIM_API void plim_value_release(plim_value *value);

/* What a function does with the memory of an argument. */
typedef uint32_t plim_access;
enum { PLIM_READ_ONLY = 0, PLIM_WRITE_ONLY = 1, PLIM_READ_WRITE = 2 };

/* An extent that the caller, or the function, chooses. */
#define PLIM_DYNAMIC (-1)
/* A stride that the caller chooses. */
#define PLIM_DYNAMIC_STRIDE INT64_MIN

/* Bounds of an extent, both included. */
typedef struct plim_extent_bounds {
  int64_t min;
  int64_t max; /* INT64_MAX: there is none */
} plim_extent_bounds;

/* What the signature of a function says of an argument or a result. */
typedef struct plim_value_type {
  uint32_t struct_size; /* sizeof(plim_value_type), set by the caller */
  plim_kind kind;       /* PLIM_SCALAR, PLIM_TENSOR or PLIM_MEMREF */
  plim_element_type element;
  uint32_t rank; /* 0 for a scalar */
  /* `rank` extents, outermost first, or PLIM_DYNAMIC. Lives as long as the function. */
  const int64_t *shape;
  /* NULL: dense, in row-major order. Otherwise `rank` strides in elements, or PLIM_DYNAMIC_STRIDE. Lives
   * as long as the function. */
  const int64_t *strides;
  plim_access access; /* of an argument */
  /* Of an argument that is donated: the index of the result that takes its memory; otherwise -1. */
  int32_t donated_to;
  /* Of an argument: what the text of the source calls it, without '%'; NULL if it does not say. Lives as
   * long as the function. */
  const char *name;
  /* Of an argument whose source bounds an extent: `rank` bounds, which every call is checked for; otherwise
   * NULL. Lives as long as the function. */
  const plim_extent_bounds *bounds;
} plim_value_type;

PLIM_C_END

#endif /* PLIMSOLL_VALUE_H */
