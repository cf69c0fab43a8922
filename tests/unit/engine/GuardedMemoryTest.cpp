// Memory of which a misuse is a fault, and faults that do not end the process.
#include "engine/runtime/GuardedMemory.h"
#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/FaultReport.h"
#include "engine/runtime/ThreadSanitizer.h"
#include "tests/unit/engine/RuntimeFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace plim::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The address of the fault that writing there is, null if it is none.
__attribute__((noinline)) const void *faultOfWrite(void *at) {
  std::optional<Fault> fault = FaultGuard::run([&] { *static_cast<volatile char *>(at) = 1; });
  return fault ? fault->address : nullptr;
}
__attribute__((noinline)) const void *faultOfRead(const void *at) {
  std::optional<Fault> fault =
      FaultGuard::run([&] { static_cast<void>(*static_cast<const volatile char *>(at)); });
  return fault ? fault->address : nullptr;
}

TEST(GuardedMemory, BlocksEndAtAGuard) {
  FaultHandlers handlers;
  GuardedMemory memory;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t alignment : {1u, 4u, 8u, 64u})
    for (size_t bytes : {size_t{1}, size_t{20}, size_t{64}, page - 8, page, page + 4, 3 * page}) {
      auto *block = static_cast<char *>(memory.allocate(bytes, alignment));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
      std::memset(block, 7, bytes);
      std::memset(memory.recordOf(block), 8, 64);
      char *end = block + bytes + (alignment - bytes % alignment) % alignment;
      EXPECT_EQ(faultOfWrite(end), end) << bytes;
      EXPECT_EQ(faultOfRead(end), end) << bytes;
      char *before = block - reinterpret_cast<uintptr_t>(block) % page - 1;
      EXPECT_EQ(faultOfRead(before), before) << bytes;
      EXPECT_EQ(faultOfRead(before - 16 * page + 1), before - 16 * page + 1) << bytes;
      for (const void *inside : {block, block + bytes - 1, end, before}) {
        std::optional<GuardedMemory::Block> found = memory.find(inside);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->begin, reinterpret_cast<uintptr_t>(block));
        EXPECT_EQ(found->end - found->begin, bytes);
      }
      memory.release(block);
      EXPECT_FALSE(memory.find(block).has_value());
    }
  void *empty = memory.allocate(0, 4);
  EXPECT_EQ(faultOfRead(empty), empty);
  EXPECT_TRUE(memory.find(empty).has_value());
  memory.release(empty);
  memory.release(nullptr);
  EXPECT_EQ(memory.allocate(SIZE_MAX, 1), nullptr);
  EXPECT_EQ(memory.allocate(size_t{1} << 60, 1), nullptr);
}

TEST(GuardedMemory, WritesOutsideOfABlockAreFoundOnce) {
  GuardedMemory memory;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t alignment : {1u, 4u, 64u})
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{20}, page - 8, page, page + 4}) {
      auto *block = static_cast<char *>(memory.allocate(bytes, alignment, "constant 'c'"));
      ASSERT_NE(block, nullptr);
      std::memset(block, 0, bytes);
      EXPECT_FALSE(memory.takeDamage(block).has_value());
      const size_t before = reinterpret_cast<uintptr_t>(block) % page;
      const size_t behind = (page - (before + bytes) % page) % page;
      auto expectDamage = [&](char *at) {
        *at = 0;
        std::optional<GuardedMemory::Damage> damage = memory.takeDamage(block);
        ASSERT_TRUE(damage.has_value()) << bytes << " " << at - block;
        EXPECT_EQ(damage->address, reinterpret_cast<uintptr_t>(at));
        EXPECT_EQ(damage->block.begin, reinterpret_cast<uintptr_t>(block));
        EXPECT_FALSE(memory.takeDamage(block).has_value());
      };
      // A block without bytes has a page of slack before it.
      for (size_t back : {size_t{1}, size_t{2}, before})
        if (back != 0 && back <= before)
          expectDamage(block - back);
      for (size_t on : {size_t{1}, behind})
        if (on != 0 && on <= behind)
          expectDamage(block + bytes + on - 1);
      if (before > 4) {
        // The nearest of several.
        std::memset(block - 4, 0, 3);
        std::optional<GuardedMemory::Damage> damage = memory.takeDamage(block);
        ASSERT_TRUE(damage.has_value());
        EXPECT_EQ(describeDamage(*damage, "binding #3"),
                  "writes byte 2 before the begin of binding #3, constant 'c', which has " +
                      std::to_string(bytes) + " bytes");
      }
      memory.release(block);
    }
  int other = 0;
  EXPECT_FALSE(memory.takeDamage(&other).has_value());
  EXPECT_FALSE(memory.takeDamage(nullptr).has_value());
}

TEST(GuardedMemory, ReadersProtectUnlessSomebodyWrites) {
  FaultHandlers handlers;
  GuardedMemory memory;
  void *block = memory.allocate(100, 4);
  auto isProtected = [&] {
    bool faults = faultOfWrite(block) == block;
    EXPECT_EQ(memory.find(block)->isProtected, faults);
    EXPECT_EQ(faultOfRead(block), nullptr);
    EXPECT_EQ(faultOfWrite(memory.recordOf(block)), nullptr);
    return faults;
  };
  EXPECT_FALSE(isProtected());
  memory.beginAccess(block, false);
  EXPECT_TRUE(isProtected());
  memory.beginAccess(block, false);
  memory.endAccess(block, false);
  EXPECT_TRUE(isProtected());
  memory.beginAccess(block, true);
  EXPECT_FALSE(isProtected());
  memory.endAccess(block, true);
  EXPECT_TRUE(isProtected());
  memory.endAccess(block, false);
  EXPECT_FALSE(isProtected());
  memory.release(block);
  int other = 0;
  memory.beginAccess(&other, false); // of other memory
  other = 1;
  memory.endAccess(&other, false);
}

TEST(GuardedMemory, ServesPools) {
  auto guarded = std::make_shared<GuardedMemory>();
  MemoryPool pool({.guarded = guarded});
  std::vector<void *> blocks;
  for (size_t bytes : {0u, 1u, 64u, 100u, 5000u}) {
    blocks.push_back(pool.allocate(bytes));
    ASSERT_NE(blocks.back(), nullptr);
    EXPECT_GE(pool.capacityOf(blocks.back()), bytes);
    EXPECT_EQ(pool.blockOf(pool.linkOf(blocks.back())), blocks.back());
    std::memset(blocks.back(), 1, bytes);
  }
  EXPECT_EQ(pool.statistics().allocations, 5u);
  for (void *block : blocks)
    pool.release(block);
  EXPECT_EQ(pool.statistics().liveBytes, 0u);
  EXPECT_EQ(pool.statistics().keptBytes, 0u);
}

sigjmp_buf hostJump;
std::atomic<int> hostFaults{0};
void hostHandler(int, siginfo_t *, void *) {
  ++hostFaults;
  siglongjmp(hostJump, 1);
}

TEST(FaultGuard, LeavesFaultsOfTheHostToTheHost) {
  struct sigaction own = {}, before = {};
  own.sa_sigaction = hostHandler;
  own.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGSEGV, &own, &before), 0);
  auto *page =
      static_cast<char *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  auto faultOfHost = [&] {
    int faults = hostFaults;
    if (sigsetjmp(hostJump, 1) == 0)
      *static_cast<volatile char *>(page) = 1;
    return hostFaults - faults;
  };
  {
    int faultsBefore = hostFaults;
    FaultHandlers one;
    FaultHandlers two;
    EXPECT_EQ(faultOfHost(), 1);
    EXPECT_EQ(faultOfWrite(page), page);
    EXPECT_EQ(hostFaults, faultsBefore + 1);
    // In the runtime, below generated code.
    int paused = 0;
    EXPECT_FALSE(FaultGuard::run([&] {
      FaultPause pause;
      paused = faultOfHost();
    }));
    EXPECT_EQ(paused, 1);
    // One in the other.
    std::optional<Fault> outer = FaultGuard::run([&] {
      EXPECT_EQ(faultOfWrite(page + 1), page + 1);
      *static_cast<volatile char *>(page + 2) = 1;
    });
    ASSERT_TRUE(outer.has_value());
    EXPECT_EQ(outer->address, page + 2);
    EXPECT_EQ(faultOfHost(), 1);
  }
  // Nothing of ours is left.
  struct sigaction now = {};
  sigaction(SIGSEGV, nullptr, &now);
  EXPECT_EQ(now.sa_sigaction, hostHandler);
  EXPECT_EQ(faultOfHost(), 1);
  {
    // A handler that the host puts on top stays there.
    sigaction(SIGSEGV, &before, nullptr);
    std::optional<FaultHandlers> handlers(std::in_place);
    sigaction(SIGSEGV, &own, nullptr);
    handlers.reset();
    EXPECT_EQ(faultOfHost(), 1);
  }
  {
    FaultHandlers covered; // by that one, which may call ours
    sigaction(SIGSEGV, nullptr, &now);
    EXPECT_EQ(now.sa_sigaction, hostHandler);
  }
  sigaction(SIGSEGV, &before, nullptr);
  FaultHandlers uncovered;
  EXPECT_EQ(faultOfWrite(page), page);
  munmap(page, 4096);
}

TEST(FaultGuard, PassesExceptionsOn) {
  FaultHandlers handlers;
  EXPECT_THROW(FaultGuard::run([] { throw 1; }), int);
  GuardedMemory memory;
  void *end = memory.allocate(0, 1);
  EXPECT_EQ(faultOfRead(end), end);
  memory.release(end);
}

/// Dispatches written by hand: binding #0 is read only, #1 is written.
class CheckedDispatch : public ::testing::TestWithParam<int> {
protected:
  CheckedDispatch() : parts(GetParam(), 0, {.guarded = guarded}) {
    checked.memory = guarded.get();
    parts.memory.checked = &checked;
  }

  static constexpr int64_t count = 64;
  /// Scalars: workgroups; which binding; the first element, of 4 bytes, in it; the workgroup that
  /// goes there, which ThreadSanitizer would take for a race where it is a fault.
  PLIM_NO_TSAN static plim_code entry(plim_context *, void *const *bindings, const int64_t *scalars,
                                      int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      static_cast<volatile int32_t *>(bindings[1])[i] =
          static_cast<volatile int32_t *>(bindings[0])[i];
      if (i == scalars[3])
        static_cast<volatile int32_t *>(bindings[scalars[1]])[scalars[2]] = 1;
    }
    return 0;
  }

  Status run(int64_t binding, int64_t element, int64_t workgroup, int64_t cost) {
    static constexpr uint8_t access[] = {PLIM_ACCESS_READ, PLIM_ACCESS_WRITE};
    plim_dispatch dispatch = {
        entry, firstScalar, "copy", cost, "in.mlir:7:3: ", 2, access, 0, nullptr};
    Call call(parts);
    int64_t bytes[] = {count};
    void *bindings[] = {call.allocate(1, bytes, 4), call.allocate(1, bytes, 4)};
    int64_t scalars[] = {count, binding, element, workgroup};
    plim_code code = plim_rt_dispatch(call.context(), &dispatch, bindings, scalars);
    EXPECT_EQ(code != 0, !call.status().ok());
    if (code == 0)
      EXPECT_EQ(std::memcmp(bindings[0], bindings[1], 4 * (count - 1)), 0);
    return call.status();
  }

  FaultHandlers handlers;
  std::shared_ptr<GuardedMemory> guarded = std::make_shared<GuardedMemory>();
  CheckedCall checked;
  RuntimeParts parts;
};

TEST_P(CheckedDispatch, NamesWhatWentWrong) {
  for (int64_t cost : {cheap, dear})
    for (int64_t workgroup : {int64_t{0}, count - 1}) {
      EXPECT_TRUE(run(1, count - 1, workgroup, cost).ok());
      auto expectFault = [&](int64_t binding, int64_t element, const char *text) {
        Status status = run(binding, element, workgroup, cost);
        EXPECT_EQ(status.code(), StatusCode::OutOfRange) << status.toString();
        EXPECT_THAT(std::string(status.message()),
                    AllOf(StartsWith("in.mlir:7:3: dispatch 'copy' "), HasSubstr(text)));
      };
      expectFault(1, count, "accesses byte 1 behind the end of binding #1, which has 256 bytes");
      expectFault(0, count, "accesses byte 1 behind the end of binding #0");
      expectFault(1, -sysconf(_SC_PAGESIZE) / 4, "before the begin of binding #1");
      expectFault(1, -1, "writes byte 1 before the begin of binding #1, which has 256 bytes");
      expectFault(1, -7, "writes byte 25 before the begin of binding #1, which has 256 bytes");
      expectFault(0, -1, "accesses byte 4 before the begin of binding #0");
      expectFault(0, 5, "writes to binding #0, which is only read there");
      expectFault(1, int64_t(1) << 44, "accesses");
      EXPECT_TRUE(run(1, count - 1, workgroup, cost).ok());
    }
}

TEST(FaultReport, KnowsTheBeginOfWhatHasNoGuards) {
  GuardedMemory memory;
  int constants[8] = {};
  char *guarded = static_cast<char *>(memory.allocate(16, 4));
  auto describe = [&](const void *address, std::vector<const void *> buffers) {
    return describeFault({address}, memory, "binding", buffers.size(),
                         [&](size_t i) { return buffers[i]; });
  };
  EXPECT_EQ(describe(&constants[2], {guarded, constants, nullptr}),
            "accesses byte 8 of binding #1, which is not there or only read there");
  EXPECT_EQ(describe(guarded + 16, {constants, guarded}),
            "accesses byte 1 behind the end of binding #1, which has 16 bytes");
  EXPECT_EQ(describe(guarded + 17, {constants}),
            "accesses byte 2 behind the end of a buffer that is no binding, which has 16 bytes");
  EXPECT_EQ(describe(guarded - 1, {guarded}),
            "accesses byte 1 before the begin of binding #0, which has 16 bytes");
  char *named = static_cast<char *>(memory.allocate(16, 4, "constant 'c'"));
  EXPECT_EQ(describe(named + 16, {guarded, named}),
            "accesses byte 1 behind the end of binding #1, constant 'c', which has 16 bytes");
  EXPECT_EQ(describe(named + 16, {guarded}),
            "accesses byte 1 behind the end of constant 'c', which has 16 bytes");
  EXPECT_EQ(describe(named, {guarded}), "writes to constant 'c', which is only read there");
  memory.release(named);
  EXPECT_EQ(describe(nullptr, {constants}), "accesses memory that is none of its buffers");
  memory.release(guarded);
}

TEST_P(CheckedDispatch, FaultsOfSeveralThreadsAreTold) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      for (int turn = 0; turn < 20; ++turn) {
        bool fails = (turn + i) % 2 == 0;
        EXPECT_EQ(run(i % 2, count, fails ? 3 : -1, dear).ok(), !fails);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

INSTANTIATE_TEST_SUITE_P(Threads, CheckedDispatch, ::testing::Values(1, 4));

} // namespace
} // namespace plim::runtime
