#include "tests/capi/Check.h"

/* What a producer makes. */
static plim_dlpack_managed_tensor managed;
static int64_t shape[2], strides[2];
static float elements[12];
static int deleted;

static void countDelete(plim_dlpack_managed_tensor *self) { deleted += self == &managed; }

static void produce(void) {
  for (int i = 0; i < 12; ++i)
    elements[i] = (float)i;
  shape[0] = 3, shape[1] = 2;
  strides[0] = 4, strides[1] = 2;
  deleted = 0;
  managed = (plim_dlpack_managed_tensor){.version_major = 1,
                                         .version_minor = 3,
                                         .deleter = countDelete,
                                         .tensor = {.data = elements,
                                                    .device_type = 1,
                                                    .ndim = 2,
                                                    .type_code = 2,
                                                    .type_bits = 32,
                                                    .type_lanes = 1,
                                                    .shape = shape,
                                                    .strides = strides,
                                                    .byte_offset = 4}};
}

static plim_status *import(plim_buffer **out) {
  return plim_buffer_from_dlpack((struct DLManagedTensorVersioned *)&managed, out);
}

static void dlpackImports(void) {
  produce();
  plim_buffer *buffer = NULL;
  CHECK_OK(import(&buffer));
  CHECK(plim_buffer_data(buffer) == elements + 1);
  CHECK(plim_buffer_element_type(buffer) == PLIM_F32 && plim_buffer_rank(buffer) == 2);
  CHECK(plim_buffer_shape(buffer)[0] == 3 && plim_buffer_strides(buffer)[0] == 4);
  CHECK(!plim_buffer_is_read_only(buffer) && !plim_buffer_is_dense(buffer));
  CHECK(deleted == 0);
  plim_buffer_release(buffer);
  CHECK(deleted == 1);

  produce();
  managed.flags = PLIM_DLPACK_READ_ONLY | PLIM_DLPACK_COPIED;
  managed.tensor.strides = NULL;
  managed.tensor.device_type = 3;
  managed.deleter = NULL;
  CHECK_OK(import(&buffer));
  CHECK(plim_buffer_is_read_only(buffer) && plim_buffer_is_dense(buffer));
  plim_buffer_release(buffer);

  produce();
  shape[1] = 0;
  managed.tensor.data = NULL;
  CHECK_OK(import(&buffer));
  CHECK(plim_buffer_element_count(buffer) == 0);
  plim_buffer_release(buffer);
  CHECK(deleted == 1);

  produce();
  managed.tensor.ndim = 0;
  managed.tensor.shape = NULL;
  managed.tensor.strides = NULL;
  CHECK_OK(import(&buffer));
  CHECK(plim_buffer_rank(buffer) == 0 && floats(buffer)[0] == 1);
  plim_buffer_release(buffer);

  const struct {
    uint8_t code, bits;
    plim_element_type type;
  } types[] = {{0, 8, PLIM_I8},
               {0, 16, PLIM_I16},
               {0, 32, PLIM_I32},
               {0, 64, PLIM_I64},
               {1, 8, PLIM_I8},
               {1, 16, PLIM_I16},
               {1, 32, PLIM_I32},
               {1, 64, PLIM_I64},
               {2, 16, PLIM_F16},
               {2, 32, PLIM_F32},
               {2, 64, PLIM_F64},
               {4, 16, PLIM_BF16},
               {6, 8, PLIM_I1},
               {10, 8, PLIM_F8E4M3FN},
               {12, 8, PLIM_F8E5M2},
               {5, 64, PLIM_COMPLEX_F32},
               {5, 128, PLIM_COMPLEX_F64},
               {0, 4, PLIM_I4},
               {1, 2, PLIM_I2}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    produce();
    managed.tensor.data = elements;
    managed.tensor.byte_offset = 0;
    strides[0] = strides[1] = 0;
    managed.tensor.type_code = types[i].code;
    managed.tensor.type_bits = types[i].bits;
    managed.flags = types[i].bits < 8 ? PLIM_DLPACK_SUBBYTE_PADDED : 0;
    CHECK_OK(import(&buffer));
    CHECK(plim_buffer_element_type(buffer) == types[i].type);
    plim_buffer_release(buffer);
  }
}

static void dlpackRefuses(void) {
  plim_buffer *buffer = NULL;
  CHECK_FAILS(plim_buffer_from_dlpack(NULL, &buffer), PLIM_INVALID_ARGUMENT, "tensor is null");
  produce();
  CHECK_FAILS(import(NULL), PLIM_INVALID_ARGUMENT, "out_buffer is null");
  managed.version_major = 2;
  CHECK_FAILS(import(&buffer), PLIM_FAILED_PRECONDITION, "version 2");
  produce();
  managed.tensor.device_type = 2;
  CHECK_FAILS(import(&buffer), PLIM_UNIMPLEMENTED, "device type 2");
  produce();
  managed.tensor.type_code = 0;
  managed.tensor.type_bits = 4;
  CHECK_FAILS(import(&buffer), PLIM_UNIMPLEMENTED, "several elements in a byte");
  produce();
  managed.tensor.type_lanes = 4;
  CHECK_FAILS(import(&buffer), PLIM_UNIMPLEMENTED, "4 lanes");
  produce();
  managed.tensor.type_code = 5; /* complex, of two f16 */
  managed.tensor.type_bits = 32;
  CHECK_FAILS(import(&buffer), PLIM_UNIMPLEMENTED, "type code 5");
  produce();
  managed.tensor.type_bits = 128;
  CHECK_FAILS(import(&buffer), PLIM_UNIMPLEMENTED, "128 bits");
  produce();
  managed.tensor.ndim = -1;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "negative rank");
  produce();
  managed.tensor.shape = NULL;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "shape");
  produce();
  shape[0] = -3;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "DLPack");
  produce();
  shape[0] = shape[1] = INT64_MAX;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "DLPack");
  produce();
  strides[0] = INT64_MAX;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "address space");
  produce();
  managed.tensor.byte_offset = UINT64_MAX;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "overflows");
  produce();
  managed.tensor.byte_offset = 2;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "aligned");
  produce();
  managed.tensor.data = NULL;
  CHECK_FAILS(import(&buffer), PLIM_INVALID_ARGUMENT, "null data");
  CHECK(buffer == NULL && deleted == 0);
}

static void dlpackExports(void) {
  plim_engine *engine = makeEngine(0);
  plim_buffer *buffer = makeVector(engine, (float[]){1, 2, 3}, 3);
  struct DLManagedTensorVersioned *exported = NULL;
  CHECK_OK(plim_buffer_to_dlpack(buffer, NULL, &exported));
  plim_dlpack_managed_tensor *tensor = (plim_dlpack_managed_tensor *)exported;
  CHECK(tensor->version_major == 1 && tensor->flags == 0);
  CHECK(tensor->tensor.data == plim_buffer_data(buffer));
  CHECK(tensor->tensor.device_type == 1 && tensor->tensor.device_id == 0);
  CHECK(tensor->tensor.ndim == 1 && tensor->tensor.shape[0] == 3 && tensor->tensor.strides[0] == 1);
  CHECK(tensor->tensor.type_code == 2 && tensor->tensor.type_bits == 32 &&
        tensor->tensor.type_lanes == 1 && tensor->tensor.byte_offset == 0);
  plim_buffer_release(buffer);
  plim_engine_release(engine);
  CHECK(((const float *)tensor->tensor.data)[2] == 3);

  /* There and back. */
  plim_buffer *again = NULL;
  CHECK_OK(plim_buffer_from_dlpack(exported, &again));
  CHECK(holds(again, (float[]){1, 2, 3}, 3));
  plim_buffer_release(again);

  bool flag = true;
  plim_buffer_memory memory = {.struct_size = sizeof memory,
                               .flags = PLIM_BUFFER_READ_ONLY,
                               .element = PLIM_I1,
                               .data = &flag,
                               .bytes = 1};
  CHECK_OK(plim_buffer_wrap(&memory, &buffer));
  plim_dlpack_request request = {
      .struct_size = sizeof request, .major = 1, .minor = 1, .device_type = 1};
  CHECK_OK(plim_buffer_to_dlpack(buffer, &request, &exported));
  tensor = (plim_dlpack_managed_tensor *)exported;
  CHECK(tensor->flags == PLIM_DLPACK_READ_ONLY && tensor->tensor.ndim == 0);
  CHECK(tensor->tensor.type_code == 6 && tensor->tensor.type_bits == 8);
  tensor->deleter(tensor);

  exported = NULL;
  request.device_type = 2;
  CHECK_FAILS(plim_buffer_to_dlpack(buffer, &request, &exported), PLIM_UNIMPLEMENTED,
              "device type 2");
  request.device_type = 0;
  request.stream = 1;
  CHECK_FAILS(plim_buffer_to_dlpack(buffer, &request, &exported), PLIM_INVALID_ARGUMENT, "stream");
  request.stream = 0;
  request.major = 0;
  CHECK_FAILS(plim_buffer_to_dlpack(buffer, &request, &exported), PLIM_UNIMPLEMENTED, "1.0");
  request.flags = 1;
  CHECK_FAILS(plim_buffer_to_dlpack(buffer, &request, &exported), PLIM_INVALID_ARGUMENT, "flags");
  CHECK_FAILS(plim_buffer_to_dlpack(NULL, NULL, &exported), PLIM_INVALID_ARGUMENT,
              "buffer is null");
  CHECK_FAILS(plim_buffer_to_dlpack(buffer, NULL, NULL), PLIM_INVALID_ARGUMENT,
              "out_tensor is null");
  CHECK(exported == NULL);
  plim_buffer_release(buffer);
}

const Test dlpackTests[] = {
    {"dlpack.Imports", dlpackImports},
    {"dlpack.Refuses", dlpackRefuses},
    {"dlpack.Exports", dlpackExports},
    {0},
};
