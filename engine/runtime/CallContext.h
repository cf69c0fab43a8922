// CallContext: the runtime's state of one call of a public function, from begin to end.
//
// It lives on the stack of the thread that makes the call and owns, for that time: the plim_context
// that generated code sees, the workspace slab, the scratch of host code, the first failure, and
// every block taken with plim_rt_allocate that is not yet released or detached. Whatever way a call
// ends, the destructor gives all of that back: a failing call leaks nothing.
//
//   CallContext call(executor, pool, slabs, memory);
//   Status status = call.run(entry, arguments, results);
//   ... if ok: call.detach(result.data) for each result, then Buffer::adopt
//
// What plim_context::call points at is a CallFrame: one for the host code of the call, and one for
// each range of workgroups while it runs, because scratch belongs to a range.
//
// Must not know signatures, and oneTBB only through Executor. Thread safety: latch(), cancel(),
// failed(), allocate() and release() may be called from any thread while the call runs; the rest
// belongs to the thread that makes the call.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/Mutex.h"
#include "engine/runtime/ScratchArena.h"
#include "support/FloatEnvironment.h"
#include "support/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace plim::runtime {

class CallContext;
class Executor;
class GuardedMemory;

/// What a call asks of the stacks that it runs on.
struct StackDemand {
  int64_t bytes = 0;      // on the thread that runs host code
  bool workersFit = true; // false: a dispatch needs more than a worker has
};

/// What a checked call needs to turn a fault of generated code into a status. Borrowed for the
/// call.
struct CheckedCall {
  GuardedMemory *memory = nullptr;
  /// What runs, with its location: "net.mlir:3:8: kernel 'saxpy'".
  std::string_view function = {};
  std::span<const plim_view> arguments = {};
  /// Of the module: each may be written.
  std::span<void *const> variables = {};
};

/// What a call needs of planned memory, what the caller of the function lends it, and what is known
/// of its arguments. Memory is borrowed for that time, aligned to PLIM_BUFFER_ALIGNMENT.
struct CallMemory {
  uint32_t flags = 0; // plim_context::flags
  /// Null unless faults are looked for.
  const CheckedCall *checked = nullptr;
  size_t slabBytes = 0;             // 0 when nothing is planned (policy `heap`)
  void *const *pools = nullptr;     // plim_context::pools
  void *const *variables = nullptr; // plim_context::variables
  /// plim_context::offsets. Without memory for the slab they become negative: code then asks for
  /// each buffer when it comes to it.
  int64_t *offsets = nullptr;
  size_t offsetCount = 0;
  /// Buffers of the caller's for the results, with their extents; null, or `data` is null, for what
  /// the call has to allocate.
  const plim_view *outputs = nullptr;
  /// With `ownWorkspace` the call takes neither slab nor scratch of the engine's: the slab is here,
  /// and behind it are `scratchCount` areas of `scratchBytes` for the frames that run dispatches.
  /// Both sizes are multiples of PLIM_BUFFER_ALIGNMENT.
  bool ownWorkspace = false;
  std::byte *workspace = nullptr;
  size_t scratchBytes = 0;
  size_t scratchCount = 0;
};

/// What is wrong when the caller's buffer for a result has other extents than the result.
std::string outputMismatch(int64_t index, int64_t rank, const int64_t *given,
                           const int64_t *needed);

/// plim_context::status.
inline void setStatus(plim_context *context, plim_code code) {
  std::atomic_ref(context->status).store(code, std::memory_order_relaxed);
}

inline plim_code statusOf(plim_context *context) {
  return std::atomic_ref(context->status).load(std::memory_order_relaxed);
}

/// What plim_context::call points at. Used by one thread at a time. Generated code gets a copy of
/// the context, whose `call` is this frame, so that a frame neither moves nor is copied.
class CallFrame {
public:
  /// Borrows the call, which must outlive it.
  CallFrame(CallContext &call, const plim_context &context);
  /// Gives the scratch back.
  ~CallFrame();
  CallFrame(const CallFrame &) = delete;
  CallFrame &operator=(const CallFrame &) = delete;

  /// The frame that a context of generated code belongs to.
  static CallFrame &of(plim_context *context) { return *static_cast<CallFrame *>(context->call); }

  plim_context *context() { return &abi; }
  CallContext &call() { return owner; }

  /// The function of the host application that host code runs, and its results.
  struct HostCall {
    const plim_external *external = nullptr;
    plim_view *results = nullptr;
    const char *location = "";
  };
  HostCall hostCall;

  /// Memory valid until the frame ends or is reset to an earlier mark; latches when there is none.
  void *scratch(int64_t bytes);
  ScratchArena::Mark scratchMark() const {
    return arena ? arena->mark() : ScratchArena::Mark{nullptr, areaUsed};
  }
  void resetScratch(ScratchArena::Mark mark) {
    if (area)
      areaUsed = mark.used;
    if (arena)
      arena->reset(mark);
  }

private:
  void *scratchOfCaller(size_t bytes);

  plim_context abi;
  CallContext &owner;
  // One of both, borrowed at the first use from the executor's cache or from the caller's memory.
  ScratchArena *arena = nullptr;
  std::byte *area = nullptr;
  size_t areaUsed = 0;
};

class CallContext {
public:
  /// Takes a slab, with arbitrary contents, from `slabs` unless `memory` has one, and blocks from
  /// `pool`. All are borrowed and must outlive the call. When no slab can be had the call has
  /// failed already: run() returns ResourceExhausted without running.
  CallContext(Executor &executor, MemoryPool &pool, MemoryPool &slabs, const CallMemory &memory);
  /// Gives back everything that is still owned.
  ~CallContext();
  CallContext(const CallContext &) = delete;
  CallContext &operator=(const CallContext &) = delete;

  /// Runs host code under the default floating-point environment, which is put back after it: on
  /// the calling thread if that has the stack that is demanded, otherwise on one of CallThreads
  /// (ResourceExhausted if there is none). Dispatches run inline if they do not fit on workers.
  /// Returns the first failure of the call; on failure all blocks of the call are released before
  /// it returns. Blocks until the call is over. At most once per context.
  Status run(plim_function_entry entry, const plim_view *arguments, const plim_view *results,
             const StackDemand &stack = {});

  /// The context of host code, for code that is not run through run(): raw kernels, tests.
  plim_context *context() { return hostFrame.context(); }

  /// Records the first failure of the call; later ones are dropped. `code` must not be 0.
  void latch(plim_code code, std::string_view message);
  /// Latches StatusCode::Cancelled: ranges not yet started are dropped, and what runs ends when it
  /// next looks at plim_context::call_status.
  void cancel() { latch(static_cast<plim_code>(StatusCode::Cancelled), "the call was cancelled"); }
  /// The code of the first failure, 0 while there is none.
  plim_code failed() const { return firstCode.load(std::memory_order_acquire); }
  /// The first failure with its message.
  Status status() const;

  /// plim_rt_allocate: a block owned by the call; null after latching the reason.
  void *allocate(int64_t rank, const int64_t *sizes, int64_t elementBytes);
  /// plim_rt_allocate_result: the caller's buffer for that result if there is one and its extents
  /// are these, which the call does not own; otherwise allocate().
  void *allocateResult(int64_t index, int64_t rank, const int64_t *sizes, int64_t elementBytes);
  /// plim_rt_release: gives a block of allocate() back; null is ignored.
  void release(void *block);
  /// Passes a block of allocate() to the caller, who returns it to the pool. False, and nothing
  /// happens, when the call does not own such a block. Linear in the blocks still owned, which at
  /// the end of a call are its results.
  bool detach(void *block);

  Executor &executor() { return exec; }
  /// Null unless faults are looked for.
  const CheckedCall *checked() const { return memory.checked; }
  /// May dispatches of this call run on workers?
  bool workersFit() const { return demand.workersFit; }
  /// Has the calling thread, which runs the call, what it needs without PLIM_RECURSION_STACK?
  bool hasStackForRecursion() const;

private:
  friend class CallFrame;

  void runHere(plim_function_entry entry, const plim_view *arguments, const plim_view *results);
  /// The same where faults are looked for.
  plim_code runChecked(plim_function_entry entry, const plim_view *arguments,
                       const plim_view *results);
  /// Looks for what the function wrote just outside of the block at `block`, which it knows as
  /// `what`.
  void checkSlack(const void *block, const std::string &what);
  /// An area of scratch of the caller's memory; null when all are in use.
  std::byte *takeArea();
  void giveBackArea(std::byte *area);
  void releaseAll();
  void unlink(BlockLink *link) PLIM_REQUIRES(mutex);

  Executor &exec;
  MemoryPool &pool;
  MemoryPool &slabs;
  const CallMemory memory;
  void *const slab;
  StackDemand demand;

  // The winner of firstCode writes the message, then sets messageReady: readers wait for that.
  // Generated code reads it too, as plim_context::call_status.
  std::atomic<plim_code> firstCode{0};
  static_assert(sizeof firstCode == sizeof(plim_code) &&
                std::atomic<plim_code>::is_always_lock_free);
  std::atomic<bool> messageReady{false};
  std::string message;

  Mutex mutex;
  BlockLink owned PLIM_GUARDED_BY(mutex);                // sentinel of a ring
  std::byte *freeAreas PLIM_GUARDED_BY(mutex) = nullptr; // each begins with the address of the next
  size_t areasBegun PLIM_GUARDED_BY(mutex) = 0;          // areas behind these were never in use

  CallFrame hostFrame; // last: it ends by giving back scratch
};

} // namespace plim::runtime
