#include "engine/runtime/CallContext.h"

#include "engine/runtime/Buffer.h"
#include "engine/runtime/RuntimeSymbols.h"
#include "tests/unit/engine/RuntimeFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace plim::runtime {
namespace {

using ::testing::HasSubstr;

constexpr plim_code invalidArgument = static_cast<plim_code>(StatusCode::InvalidArgument);
constexpr plim_code resourceExhausted = static_cast<plim_code>(StatusCode::ResourceExhausted);

plim_code succeed(plim_context *, const plim_view *, const plim_view *) { return 0; }

TEST(CallContext, ContextIsWhatTheAbiSays) {
  RuntimeParts parts(1, 1000);
  Call call(parts);
  plim_context *context = call.context();
  EXPECT_EQ(context->magic, PLIM_ABI_MAGIC);
  EXPECT_EQ(context->version, PLIM_ABI_VERSION);
  EXPECT_EQ(context->status, 0);
  ASSERT_NE(context->workspace, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(context->workspace) % PLIM_BUFFER_ALIGNMENT, 0u);
  EXPECT_EQ(context->workspace_bytes, 1000u);
  std::memset(context->workspace, 1, 1000);
  EXPECT_TRUE(call.run(succeed, nullptr, nullptr).ok());
}

TEST(CallContext, WithoutAPlanThereIsNoSlab) {
  RuntimeParts parts(1, 0);
  Call call(parts);
  EXPECT_EQ(call.context()->workspace, nullptr);
  EXPECT_EQ(call.context()->workspace_bytes, 0u);
  EXPECT_TRUE(call.run(succeed, nullptr, nullptr).ok());
}

TEST(CallContext, NoSlabFailsTheCallBeforeItRuns) {
  RuntimeParts parts(1, 1 << 20, {.maxSystemBytes = 1000});
  Call call(parts);
  auto entry = [](plim_context *, const plim_view *, const plim_view *) -> plim_code {
    ADD_FAILURE() << "ran";
    return 0;
  };
  EXPECT_EQ(call.run(entry, nullptr, nullptr).code(), StatusCode::ResourceExhausted);
}

TEST(CallContext, FirstFailureWins) {
  RuntimeParts parts(1);
  Call call(parts);
  EXPECT_EQ(plim_rt_fail(call.context(), 0, "nothing"), 0);
  EXPECT_TRUE(call.status().ok());
  EXPECT_EQ(plim_rt_fail(call.context(), invalidArgument, "m.mlir:1:2: first"), invalidArgument);
  EXPECT_EQ(plim_rt_fail(call.context(), resourceExhausted, "second"), resourceExhausted);
  EXPECT_EQ(call.context()->status, invalidArgument);
  EXPECT_EQ(call.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(call.status().message(), "m.mlir:1:2: first");
}

TEST(CallContext, NumbersOfAFailedRequirement) {
  RuntimeParts parts(1);
  auto messageOf = [&](const char *message, const std::vector<int64_t> &values) {
    Call call(parts);
    plim_rt_require_failed(call.context(), message, values.data(),
                           static_cast<int64_t>(values.size()));
    EXPECT_EQ(call.status().code(), StatusCode::FailedPrecondition);
    return std::string(call.status().message());
  };
  EXPECT_EQ(messageOf("no numbers {0}", {}), "no numbers {0}");
  EXPECT_EQ(messageOf("{1} of {0}", {INT64_MIN, 7}), "7 of -9223372036854775808");
  // The name of a file may look like a number's.
  EXPECT_EQ(messageOf("a{0}.mlir:1:2: {0} elements", {3}), "a{0}.mlir:1:2: 3 elements");
}

TEST(CallContext, FirstFailureWinsAmongThreads) {
  RuntimeParts parts(1);
  for (int round = 0; round < 200; ++round) {
    Call call(parts);
    std::vector<std::thread> threads;
    for (int i = 1; i <= 3; ++i)
      threads.emplace_back([&, i] {
        call.latch(i, std::string(50, static_cast<char>('0' + i)));
        Status seen = call.status();
        EXPECT_EQ(seen.message(), std::string(50, static_cast<char>('0' + call.failed())));
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

TEST(CallContext, FailureWithoutMessageAndNullMessage) {
  RuntimeParts parts(1);
  {
    Call call(parts);
    auto entry = [](plim_context *, const plim_view *, const plim_view *) {
      return invalidArgument;
    };
    Status status = call.run(entry, nullptr, nullptr);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("without a message"));
  }
  Call call(parts);
  plim_rt_fail(call.context(), invalidArgument, nullptr);
  EXPECT_EQ(call.status().code(), StatusCode::InvalidArgument);
}

TEST(CallContext, FailureLatchedButNotReturnedIsStillTheResult) {
  RuntimeParts parts(1);
  Call call(parts);
  auto entry = [](plim_context *context, const plim_view *, const plim_view *) -> plim_code {
    plim_rt_fail(context, invalidArgument, "ignored by the code");
    return 0;
  };
  EXPECT_EQ(call.run(entry, nullptr, nullptr).message(), "ignored by the code");
}

TEST(CallContext, ExceptionsDoNotLeaveACall) {
  RuntimeParts parts(1);
  Call call(parts);
  auto entry = [](plim_context *, const plim_view *, const plim_view *) -> plim_code {
    throw std::runtime_error("from a host function");
  };
  EXPECT_EQ(call.run(entry, nullptr, nullptr).code(), StatusCode::Unknown);
}

TEST(CallContext, AllocateReleaseDetachAdopt) {
  RuntimeParts parts(1);
  void *result = nullptr;
  {
    Call call(parts);
    const int64_t sizes[] = {4, 5};
    void *temporary = plim_rt_allocate(call.context(), 2, sizes, 4);
    result = plim_rt_allocate(call.context(), 2, sizes, 4);
    void *forgotten = plim_rt_allocate(call.context(), 0, nullptr, 8);
    ASSERT_TRUE(temporary && result && forgotten);
    std::memset(result, 7, 80);
    plim_rt_release(call.context(), temporary);
    plim_rt_release(call.context(), nullptr);
    EXPECT_TRUE(call.detach(result));
    EXPECT_FALSE(call.detach(result)) << "the same memory returned twice";
    int elsewhere = 0;
    EXPECT_FALSE(call.detach(&elsewhere));
  }
  EXPECT_EQ(parts.pool->statistics().liveBytes, parts.pool->capacityOf(result));
  {
    Buffer buffer =
        *Buffer::adopt(parts.pool, result, ElementType::F32, std::vector<int64_t>{4, 5});
    EXPECT_EQ(static_cast<const char *>(buffer.data())[79], 7);
  }
  EXPECT_EQ(parts.pool->statistics().liveBytes, 0u);
}

TEST(CallContext, ZeroBytesAreAUniquePointer) {
  RuntimeParts parts(1);
  Call call(parts);
  const int64_t sizes[] = {0, 4};
  void *a = plim_rt_allocate(call.context(), 2, sizes, 4);
  void *b = plim_rt_allocate(call.context(), 2, sizes, 4);
  EXPECT_TRUE(a && b && a != b);
}

TEST(CallContext, BadAllocationsLatchTheReason) {
  RuntimeParts parts(1, 0, {.maxSystemBytes = 1 << 20});
  int64_t big = std::numeric_limits<int64_t>::max();
  struct Case {
    std::vector<int64_t> sizes;
    StatusCode code;
    const char *text;
  };
  for (const Case &bad : {Case{{3, -2}, StatusCode::InvalidArgument, "extent -2 of dimension 1"},
                          Case{{big, 2}, StatusCode::InvalidArgument, "overflow"},
                          Case{{1 << 20}, StatusCode::ResourceExhausted, "no memory"}}) {
    Call call(parts);
    int64_t rank = static_cast<int64_t>(bad.sizes.size());
    EXPECT_EQ(plim_rt_allocate(call.context(), rank, bad.sizes.data(), 4), nullptr);
    EXPECT_EQ(call.context()->status, static_cast<plim_code>(bad.code));
    EXPECT_EQ(call.status().code(), bad.code);
    EXPECT_THAT(std::string(call.status().message()), HasSubstr(bad.text));
  }
}

TEST(CallContext, AFailingCallLeaksNothing) {
  RuntimeParts parts(1, 4096);
  auto entry = [](plim_context *context, const plim_view *, const plim_view *) -> plim_code {
    const int64_t sizes[] = {1000};
    for (int i = 0; i < 10; ++i)
      if (void *block = plim_rt_allocate(context, 1, sizes, 4); i % 3 == 0)
        plim_rt_release(context, block);
    return plim_rt_fail(context, invalidArgument, "late");
  };
  uint64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    Call call(parts);
    before = parts.pool->statistics().liveBytes;
    EXPECT_FALSE(call.run(entry, nullptr, nullptr).ok());
    EXPECT_EQ(parts.pool->statistics().liveBytes, before);
  }
}

TEST(CallContext, ScratchOfHostCodeLivesAsLongAsTheCall) {
  RuntimeParts parts(1);
  void *first;
  {
    Call call(parts);
    first = plim_rt_scratch(call.context(), 100);
    void *second = plim_rt_scratch(call.context(), 100);
    ASSERT_TRUE(first && second && first != second);
    {
      Call nested(parts);
      void *inner = plim_rt_scratch(nested.context(), 100);
      EXPECT_TRUE(inner && inner != first && inner != second);
    }
  }
  Call call(parts);
  EXPECT_NE(plim_rt_scratch(call.context(), 100), nullptr);
  EXPECT_TRUE(call.status().ok());
}

TEST(CallContext, BadScratchLatches) {
  RuntimeParts parts(1, 0, {.maxSystemBytes = 1 << 20});
  {
    Call call(parts);
    EXPECT_EQ(plim_rt_scratch(call.context(), -1), nullptr);
    EXPECT_EQ(call.status().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(call.context()->status, invalidArgument);
  }
  Call call(parts);
  EXPECT_EQ(plim_rt_scratch(call.context(), 1 << 21), nullptr);
  EXPECT_EQ(call.status().code(), StatusCode::ResourceExhausted);
}

/// Fails unless its scratch is in [bindings[0], bindings[1]) and its own.
plim_code lentScratch(plim_context *context, void *const *bindings, const int64_t *, int64_t begin,
                      int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    auto *scratch = static_cast<int64_t *>(plim_rt_scratch(context, 512));
    if (!scratch)
      return context->status;
    if (scratch < bindings[0] || scratch + 64 > bindings[1])
      return plim_rt_fail(context, invalidArgument, "scratch is not in the workspace");
    for (int j = 0; j < 64; ++j)
      scratch[j] = i;
    std::this_thread::yield();
    for (int j = 0; j < 64; ++j)
      if (scratch[j] != i)
        return plim_rt_fail(context, invalidArgument, "scratch was overwritten");
  }
  return 0;
}

TEST(CallContext, LentWorkspacesHoldSlabAndScratch) {
  for (int threads : {1, 4}) {
    RuntimeParts parts(threads, 1000);
    CallMemory memory;
    memory.ownWorkspace = true;
    memory.slabBytes = 128;
    memory.scratchBytes = 512;
    memory.scratchCount = static_cast<size_t>(parts.executor.threads()) + 1;
    size_t bytes = memory.slabBytes + memory.scratchBytes * memory.scratchCount;
    void *block = parts.pool->allocate(bytes);
    memory.workspace = static_cast<std::byte *>(block);
    void *const pools[] = {&memory};
    memory.pools = pools;
    uint64_t before = parts.pool->statistics().allocations;
    {
      CallContext call(parts.executor, *parts.pool, *parts.pool, memory);
      EXPECT_EQ(call.context()->workspace, block);
      EXPECT_EQ(call.context()->workspace_bytes, 128u);
      EXPECT_EQ(call.context()->pools, pools);
      void *bindings[] = {memory.workspace + memory.slabBytes, memory.workspace + bytes};
      // A range has one scratch of this size: each runs one workgroup.
      constexpr plim_dispatch inlineDispatch =
          dispatchOf(lentScratch, firstScalar, "inline", cheap);
      constexpr plim_dispatch parallelDispatch =
          dispatchOf(lentScratch, firstScalar, "parallel", 100 * operationsPerMicrosecond);
      int64_t one = 1, many = 200;
      for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(plim_rt_dispatch(call.context(), &inlineDispatch, bindings, &one), 0)
            << call.status().toString();
        ASSERT_EQ(plim_rt_dispatch(call.context(), &parallelDispatch, bindings, &many), 0)
            << call.status().toString();
      }
      EXPECT_EQ(plim_rt_scratch(call.context(), 513), nullptr);
      EXPECT_EQ(call.status().code(), StatusCode::ResourceExhausted);
    }
    EXPECT_EQ(parts.pool->statistics().allocations, before);
    parts.pool->release(block);
  }
}

TEST(CallContext, ScratchOfNoBytesTakesAPlaceToo) {
  RuntimeParts parts(1);
  alignas(PLIM_BUFFER_ALIGNMENT) std::byte workspace[PLIM_BUFFER_ALIGNMENT];
  CallMemory memory;
  memory.ownWorkspace = true;
  memory.scratchBytes = sizeof workspace;
  memory.scratchCount = 1;
  memory.workspace = workspace;
  CallContext call(parts.executor, *parts.pool, *parts.pool, memory);
  EXPECT_EQ(plim_rt_scratch(call.context(), 0), workspace);
  EXPECT_TRUE(call.status().ok());
  EXPECT_EQ(plim_rt_scratch(call.context(), 0), nullptr);
  EXPECT_EQ(call.status().code(), StatusCode::ResourceExhausted);
}

TEST(RuntimeSymbols, AreTheWholeAbi) {
  std::map<std::string, void *> table;
  for (const RuntimeSymbol &symbol : runtimeSymbols())
    EXPECT_TRUE(table.emplace(symbol.name, symbol.address).second);
  EXPECT_EQ(table.size(), 11u);
  EXPECT_EQ(table["plim_rt_dispatch"], reinterpret_cast<void *>(&plim_rt_dispatch));
  EXPECT_EQ(table["plim_rt_schedule"], reinterpret_cast<void *>(&plim_rt_schedule));
  EXPECT_EQ(table["plim_rt_allocate"], reinterpret_cast<void *>(&plim_rt_allocate));
  EXPECT_EQ(table["plim_rt_allocate_result"], reinterpret_cast<void *>(&plim_rt_allocate_result));
  EXPECT_EQ(table["plim_rt_release"], reinterpret_cast<void *>(&plim_rt_release));
  EXPECT_EQ(table["plim_rt_scratch"], reinterpret_cast<void *>(&plim_rt_scratch));
  EXPECT_EQ(table["plim_rt_recurse"], reinterpret_cast<void *>(&plim_rt_recurse));
  EXPECT_EQ(table["plim_rt_call"], reinterpret_cast<void *>(&plim_rt_call));
  EXPECT_EQ(table["plim_rt_launch"], reinterpret_cast<void *>(&plim_rt_launch));
  EXPECT_EQ(table["plim_rt_fail"], reinterpret_cast<void *>(&plim_rt_fail));
  EXPECT_EQ(table["plim_rt_require_failed"], reinterpret_cast<void *>(&plim_rt_require_failed));
}

} // namespace
} // namespace plim::runtime
