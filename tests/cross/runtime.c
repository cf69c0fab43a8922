/* The least that generated code needs to run, one workgroup after the other, with a main() for one call of @main.
 *
 * Usage: PROGRAM IN OUT. IN has numbers of 64 bits: arguments; for each its rank, bytes, extents, and then its elements; then
 * rank of the one result, and bytes of its elements. OUT gets the result's extents and elements. Variables, pools, buffers that
 * are planned for a call (compile with --policy heap), host functions and data of modules are not there. */
#include "engine/abi/plim_abi.h"

#include <stdio.h>
#include <stdlib.h>

enum { mostArguments = 32, mostDimensions = 16, mostScratch = 64 };

extern plim_code entry(plim_context *, const plim_view *,
                       const plim_view *) __asm__("plim.entry.main");

static void *scratch[mostScratch];
static int scratches;

static void *allocate(int64_t bytes) {
  void *memory = aligned_alloc(PLIM_BUFFER_ALIGNMENT,
                               ((size_t)bytes / PLIM_BUFFER_ALIGNMENT + 1) * PLIM_BUFFER_ALIGNMENT);
  if (!memory) {
    fputs("no memory\n", stderr);
    exit(1);
  }
  return memory;
}

static int64_t bytesOf(int64_t rank, const int64_t *sizes, int64_t bytes) {
  for (int64_t i = 0; i < rank; ++i)
    bytes *= sizes[i];
  return bytes;
}

plim_code plim_rt_dispatch(plim_context *context, const plim_dispatch *dispatch,
                           void *const *bindings, const int64_t *scalars) {
  const int64_t count = dispatch->workgroups(scalars);
  plim_code code = 0;
  for (int64_t i = 0; i < count && code == 0; ++i) {
    code = dispatch->entry(context, bindings, scalars, i, i + 1);
    while (scratches > 0)
      free(scratch[--scratches]);
  }
  return code;
}

plim_code plim_rt_schedule(plim_context *context, const plim_schedule *schedule,
                           const plim_launch *launches) {
  plim_code code = 0;
  for (uint64_t i = 0; i < schedule->count && code == 0; ++i)
    code =
        plim_rt_dispatch(context, launches[i].dispatch, launches[i].bindings, launches[i].scalars);
  return code;
}

void *plim_rt_allocate(plim_context *context, int64_t rank, const int64_t *sizes, int64_t bytes) {
  (void)context;
  return allocate(bytesOf(rank, sizes, bytes));
}

void *plim_rt_allocate_result(plim_context *context, int64_t index, int64_t rank,
                              const int64_t *sizes, int64_t bytes) {
  (void)index;
  return plim_rt_allocate(context, rank, sizes, bytes);
}

void plim_rt_release(plim_context *context, void *memory) {
  (void)context;
  free(memory);
}

void *plim_rt_scratch(plim_context *context, int64_t bytes) {
  (void)context;
  return scratches == mostScratch ? NULL : (scratch[scratches++] = allocate(bytes));
}

plim_code plim_rt_fail(plim_context *context, plim_code code, const char *message) {
  fprintf(stderr, "%s\n", message);
  context->status = code;
  return code;
}

void plim_rt_require_failed(plim_context *context, const char *message, const int64_t *values,
                            int64_t count) {
  (void)values, (void)count;
  plim_rt_fail(context, 3, message);
}

static void take(void *to, int64_t bytes, FILE *from) {
  if (fread(to, 1, (size_t)bytes, from) != (size_t)bytes) {
    fputs("the input is too short\n", stderr);
    exit(1);
  }
}

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (!in) {
    fputs("usage: PROGRAM IN OUT\n", stderr);
    return 2;
  }
  static int64_t extents[mostArguments + 1][mostDimensions];
  plim_view arguments[mostArguments] = {0}, result = {NULL, extents[mostArguments], NULL};
  int64_t count, head[2];
  take(&count, sizeof count, in);
  for (int64_t i = 0; i < count; ++i) {
    take(head, sizeof head, in);
    take(extents[i], head[0] * (int64_t)sizeof(int64_t), in);
    arguments[i].sizes = extents[i];
    arguments[i].data = allocate(head[1]);
    take(arguments[i].data, head[1], in);
  }
  take(head, sizeof head, in);
  fclose(in);

  plim_code status = 0;
  plim_context context = {
      .magic = PLIM_ABI_MAGIC, .version = PLIM_ABI_VERSION, .call_status = &status};
  context.call = &context;
  if (entry(&context, arguments, &result) != 0)
    return 1;
  FILE *out = fopen(argv[2], "wb");
  if (!out)
    return 1;
  fwrite(result.sizes, sizeof(int64_t), (size_t)head[0], out);
  fwrite(result.data, 1, (size_t)bytesOf(head[0], result.sizes, head[1]), out);
  return fclose(out) == 0 ? 0 : 1;
}
