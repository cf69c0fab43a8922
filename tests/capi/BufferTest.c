#include "tests/capi/Check.h"

static plim_engine *engine; /* of the test that runs */

static void bufferAllocates(void) {
  engine = makeEngine(0);
  plim_buffer *buffer = NULL;
  CHECK_OK(plim_buffer_allocate(engine, PLIM_I16, 3, (int64_t[]){2, 3, 5}, &buffer));
  CHECK(plim_buffer_element_type(buffer) == PLIM_I16);
  CHECK(plim_buffer_rank(buffer) == 3);
  CHECK(memcmp(plim_buffer_shape(buffer), (int64_t[]){2, 3, 5}, 24) == 0);
  CHECK(memcmp(plim_buffer_strides(buffer), (int64_t[]){15, 5, 1}, 24) == 0);
  CHECK(plim_buffer_element_count(buffer) == 30);
  CHECK(plim_buffer_bytes(buffer) == 60);
  CHECK(plim_buffer_is_dense(buffer));
  CHECK(!plim_buffer_is_read_only(buffer));
  CHECK((uintptr_t)plim_buffer_data(buffer) % PLIM_MEMORY_ALIGNMENT == 0);
  CHECK(plim_buffer_mutable_data(buffer) == plim_buffer_data(buffer));
  memset(plim_buffer_mutable_data(buffer), 1, 60);
  plim_buffer_retain(buffer);
  plim_buffer_release(buffer);
  CHECK(*(const int16_t *)plim_buffer_data(buffer) == 0x0101);
  plim_buffer_release(buffer);

  CHECK_OK(plim_buffer_allocate(engine, PLIM_F64, 0, NULL, &buffer));
  CHECK(plim_buffer_rank(buffer) == 0 && plim_buffer_bytes(buffer) == 8);
  plim_buffer_release(buffer);
  CHECK_OK(plim_buffer_allocate(engine, PLIM_I1, 2, (int64_t[]){0, 1000}, &buffer));
  CHECK(plim_buffer_element_count(buffer) == 0 && plim_buffer_data(buffer) != NULL);
  plim_buffer_release(buffer);

  buffer = NULL;
  CHECK_FAILS(plim_buffer_allocate(engine, PLIM_F32, 1, (int64_t[]){-1}, &buffer),
              PLIM_INVALID_ARGUMENT, "");
  CHECK_FAILS(plim_buffer_allocate(engine, PLIM_F32, 3,
                                   (int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32, 16}, &buffer),
              PLIM_INVALID_ARGUMENT, "");
  CHECK_FAILS(plim_buffer_allocate(engine, PLIM_F32, 1, (int64_t[]){INT64_C(1) << 60}, &buffer),
              PLIM_RESOURCE_EXHAUSTED, "");
  CHECK_FAILS(plim_buffer_allocate(engine, 0, 0, NULL, &buffer), PLIM_INVALID_ARGUMENT,
              "0 is no element type");
  CHECK_FAILS(plim_buffer_allocate(engine, PLIM_F32, 1, NULL, &buffer), PLIM_INVALID_ARGUMENT,
              "shape is null");
  CHECK_FAILS(plim_buffer_allocate(NULL, PLIM_F32, 0, NULL, &buffer), PLIM_INVALID_ARGUMENT,
              "engine is null");
  CHECK_FAILS(plim_buffer_allocate(engine, PLIM_F32, 0, NULL, NULL), PLIM_INVALID_ARGUMENT,
              "out_buffer is null");
  CHECK(buffer == NULL);
  plim_engine_release(engine);
}

static void bufferCopies(void) {
  engine = makeEngine(0);
  plim_buffer *buffer = NULL;
  const float elements[] = {1, 2, 3};
  CHECK_OK(plim_buffer_copy(engine, PLIM_F32, 1, (int64_t[]){3}, elements, 12, &buffer));
  CHECK(plim_buffer_data(buffer) != elements && holds(buffer, elements, 3));
  plim_buffer_release(buffer);
  CHECK_OK(plim_buffer_copy(engine, PLIM_F32, 1, (int64_t[]){0}, NULL, 0, &buffer));
  plim_buffer_release(buffer);
  CHECK_FAILS(plim_buffer_copy(engine, PLIM_F32, 1, (int64_t[]){3}, elements, 8, &buffer),
              PLIM_INVALID_ARGUMENT, "8 bytes for a tensor of 12");
  CHECK_FAILS(plim_buffer_copy(engine, PLIM_F32, 1, (int64_t[]){3}, NULL, 12, &buffer),
              PLIM_INVALID_ARGUMENT, "data is null");
  plim_engine_release(engine);
}

static void countRelease(void *user, void *data) {
  if (data)
    ++*(int *)user;
}

static void bufferWraps(void) {
  float elements[24] = {0};
  int released = 0;
  const int64_t shape[] = {2, 3}, columns[] = {1, 8}, backward[] = {-8, 1}, broadcast[] = {0, 1};
  plim_buffer_memory memory = {.struct_size = sizeof memory,
                               .flags = PLIM_BUFFER_READ_ONLY,
                               .element = PLIM_F32,
                               .rank = 2,
                               .shape = shape,
                               .data = elements,
                               .bytes = 24,
                               .release = countRelease,
                               .user = &released};
  plim_buffer *buffer = NULL;
  CHECK_OK(plim_buffer_wrap(&memory, &buffer));
  CHECK(plim_buffer_data(buffer) == elements);
  CHECK(plim_buffer_is_read_only(buffer) && plim_buffer_mutable_data(buffer) == NULL);
  CHECK(plim_buffer_shape(buffer) != shape); /* a copy */
  plim_buffer_retain(buffer);
  plim_buffer_release(buffer);
  CHECK(released == 0);
  plim_buffer_release(buffer);
  CHECK(released == 1);

  memory.flags = 0;
  memory.strides = columns;
  memory.bytes = 4 * (1 + 1 + 2 * 8);
  CHECK_OK(plim_buffer_wrap(&memory, &buffer));
  CHECK(!plim_buffer_is_dense(buffer) && plim_buffer_strides(buffer)[1] == 8);
  plim_buffer_release(buffer);
  CHECK(released == 2);
  buffer = NULL;
  memory.bytes -= 1;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT,
              "needs 72 bytes, but the memory has 71");

  memory.strides = backward;
  memory.data = elements + 8;
  memory.bytes = 12;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "before its data");
  memory.bytes_before = 32;
  CHECK_OK(plim_buffer_wrap(&memory, &buffer));
  plim_buffer_release(buffer);
  memory.strides = broadcast;
  memory.bytes_before = 0;
  CHECK_OK(plim_buffer_wrap(&memory, &buffer));
  plim_buffer_release(buffer);
  CHECK(released == 4);

  /* From here on nothing is taken over. */
  buffer = NULL;
  memory.strides = NULL;
  memory.data = elements;
  memory.bytes = 23;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "needs 24 bytes");
  memory.bytes = 0;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "the memory has 0");
  memory.bytes = sizeof elements;
  memory.data = (char *)elements + 2;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "aligned");
  memory.data = NULL;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "null data");
  memory.data = elements;
  const int64_t huge[] = {INT64_MAX, INT64_MAX}, far[] = {INT64_MAX, 1}, negative[] = {-1, 2};
  memory.shape = huge;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "");
  memory.shape = negative;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "");
  memory.shape = shape;
  memory.strides = far;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "address space");
  memory.strides = NULL;
  memory.element = 77;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "77 is no element type");
  memory.element = PLIM_F32;
  memory.flags = 8;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "flags");
  memory.flags = 0;
  memory.shape = NULL;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "shape is null");
  memory.struct_size = 1;
  CHECK_FAILS(plim_buffer_wrap(&memory, &buffer), PLIM_INVALID_ARGUMENT, "struct_size 1");
  CHECK_FAILS(plim_buffer_wrap(NULL, &buffer), PLIM_INVALID_ARGUMENT, "memory is null");
  CHECK(buffer == NULL && released == 4);

  /* Without elements there need be no memory. */
  const int64_t empty[] = {3, 0};
  plim_buffer_memory nothing = {
      .struct_size = sizeof nothing, .element = PLIM_F32, .rank = 2, .shape = empty};
  CHECK_OK(plim_buffer_wrap(&nothing, &buffer));
  CHECK(plim_buffer_element_count(buffer) == 0);
  plim_buffer_release(buffer);
}

const Test bufferTests[] = {
    {"buffer.Allocates", bufferAllocates},
    {"buffer.Copies", bufferCopies},
    {"buffer.Wraps", bufferWraps},
    {0},
};
