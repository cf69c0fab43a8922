// A call in steady state performs no heap allocation: this program replaces malloc to count.
#include "engine/runtime/Buffer.h"
#include "tests/unit/engine/AllocationCounter.h"
#include "tests/unit/engine/RuntimeFixture.h"

#include <gtest/gtest.h>

#include <cstring>

namespace plim::runtime {
namespace {

plim_code entry(plim_context *context, void *const *bindings, const int64_t *, int64_t begin,
                int64_t end) {
  auto *out = static_cast<float *>(bindings[0]);
  auto *scratch = static_cast<float *>(plim_rt_scratch(context, 4096));
  if (!scratch)
    return context->status;
  for (int64_t i = begin; i < end; ++i) {
    for (int j = 0; j < 1024; ++j)
      scratch[j] = static_cast<float>(i);
    out[i] = scratch[i % 1024];
  }
  return 0;
}

constexpr plim_dispatch inlineDispatch = dispatchOf(entry, firstScalar, "inline", cheap);
constexpr plim_dispatch parallelDispatch = dispatchOf(entry, firstScalar, "parallel", dear);
constexpr uint64_t secondWaits[] = {0, 1};
constexpr plim_schedule atOnce = {2, nullptr}, inOrder = {2, secondWaits};

/// What host code does: a buffer, a temporary, dispatches and schedules of both kinds, the buffer as
/// result.
plim_code hostCode(plim_context *context, const plim_view *, const plim_view *results) {
  const int64_t sizes[] = {64, 4};
  void *result = plim_rt_allocate(context, 2, sizes, 4);
  void *temporary = plim_rt_allocate(context, 2, sizes, 4);
  if (!result || !temporary)
    return context->status;
  int64_t scalars[] = {256};
  void *bindings[] = {result};
  void *others[] = {temporary};
  if (plim_rt_dispatch(context, &inlineDispatch, others, scalars) != 0 ||
      plim_rt_dispatch(context, &parallelDispatch, bindings, scalars) != 0)
    return context->status;
  for (const plim_dispatch *dispatch : {&inlineDispatch, &parallelDispatch}) {
    const plim_launch launches[] = {{dispatch, bindings, scalars}, {dispatch, others, scalars}};
    if (plim_rt_schedule(context, &atOnce, launches) != 0 ||
        plim_rt_schedule(context, &inOrder, launches) != 0)
      return context->status;
  }
  plim_rt_release(context, temporary);
  const_cast<plim_view &>(results[0]).data = result;
  std::memcpy(results[0].sizes, sizes, sizeof(sizes));
  return 0;
}

void callOnce(RuntimeParts &parts) {
  Call call(parts);
  int64_t sizes[2];
  plim_view result = {nullptr, sizes, nullptr};
  Status status = call.run(hostCode, nullptr, &result);
  ASSERT_TRUE(status.ok());
  ASSERT_TRUE(call.detach(result.data));
  StatusOr<Buffer> buffer = Buffer::adopt(parts.pool, result.data, ElementType::F32, sizes);
  ASSERT_TRUE(buffer.ok());
  ASSERT_EQ(static_cast<const float *>(buffer->data())[255], 255.0f);
}

int64_t allocationsOf(RuntimeParts &parts, int calls) {
  int64_t before = allocationCount.load();
  for (int i = 0; i < calls; ++i)
    callOnce(parts);
  return allocationCount.load() - before;
}

TEST(SteadyState, OneThreadAllocatesNothing) {
  if (!PLIM_COUNTS_ALLOCATIONS)
    GTEST_SKIP() << "malloc belongs to the sanitizer";
  RuntimeParts parts(1, 10000);
  EXPECT_GT(allocationsOf(parts, 2), 0) << "the counter does not count";
  EXPECT_EQ(allocationsOf(parts, 1000), 0);
}

TEST(SteadyState, ParallelAllocatesNothing) {
  if (!PLIM_COUNTS_ALLOCATIONS)
    GTEST_SKIP() << "malloc belongs to the sanitizer";
  RuntimeParts parts(2, 10000);
  // Which worker comes first, and which task pool of oneTBB's grows, varies: warm up until calm.
  for (int i = 0; i < 20 && allocationsOf(parts, 500) != 0; ++i) {
  }
  int64_t allocations = allocationsOf(parts, 2000);
  RecordProperty("allocationsIn2000Calls", static_cast<int>(allocations));
  EXPECT_LE(allocations, 2);
}

TEST(SteadyState, ThePoolGivesAgainWhatItGot) {
  if (!PLIM_COUNTS_ALLOCATIONS)
    GTEST_SKIP() << "malloc belongs to the sanitizer";
  MemoryPool pool;
  pool.release(pool.allocate(1000));
  const int64_t before = allocationCount.load();
  for (int i = 0; i < 1000; ++i)
    pool.release(pool.allocate(1000));
  EXPECT_EQ(allocationCount.load() - before, 0);
}

} // namespace
} // namespace plim::runtime
