// Call: one call of a function, from the arguments of the host application to its results.
//
//   Call call(function, arguments, results, options);
//   bind      the arguments fit, and so does what the caller lends
//   plan      which code runs, and where its buffers lie
//   acquire   its turn, where calls exclude each other, and memory of devices
//   run       the code
//   deliver   the results, to the caller
//
// Each step once, in this order, as long as all of them succeed. Whatever way it ends, what it took goes with it.
// It lives on the stack of the thread that makes the call, and belongs to it. In steady state no step takes memory from the system.
#pragma once

#include "engine/runtime/CallContext.h"
#include "engine/session/DevicePool.h"
#include "engine/session/Engine.h"
#include "engine/session/GuardedArguments.h"
#include "engine/session/LentMemory.h"
#include "engine/session/SmallArray.h"
#include "engine/session/Specializations.h"

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace plim::session {

class Call {
public:
  /// Borrows all of it, and what it borrows. No `results`: nobody wants them.
  Call(const Function &function, std::span<const runtime::Value> arguments,
       std::span<runtime::Value> results, const CallOptions &options);
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// The errors are those of Function::call(); nothing has run if one of the first three steps fails.
  Status bind();
  Status plan();
  /// Blocks until the calls that use the same pools or variables have ended. Cancelled if a stop is requested meanwhile.
  Status acquire();
  Status run();
  /// `results` are untouched if it fails.
  Status deliver();

private:
  Status checkWritten() const;
  Status copyTensors();
  Status leaveIfTooLarge();
  Status takeTurn();
  Status takePools(size_t count);
  Status guard(runtime::GuardedMemory &guards);
  /// A result that the call made in memory of its own, as a buffer.
  StatusOr<runtime::Buffer> detach(size_t result);
  Status copyTo(const runtime::Buffer &output, size_t result);

  const Function &function;
  const jit::FunctionSignature &signature;
  const std::span<const runtime::Value> arguments;
  const std::span<runtime::Value> results;
  const CallOptions &options;

  // bind. Scalars of results are passed by address.
  SmallArray<plim_view, 16> argumentViews, resultViews;
  SmallArray<uint64_t, 16> scalars;
  SmallArray<int64_t, 32> extents;
  SmallArray<runtime::Buffer, 4>
      copies; // of tensors that a memref overlaps, in the place of the argument
  LentMemory lent;

  // plan
  std::optional<Specializations::Call> specialized;
  const SpecializedCode *special = nullptr; // null: the general code
  const FunctionCode *code = nullptr;
  SmallArray<int64_t, 32> offsets;
  SmallArray<void *, 8> variables;
  runtime::CallMemory memory;

  // acquire
  std::unique_lock<std::timed_mutex> poolLock, stateLock;
  SmallArray<void *, 8> poolBases;
  SmallArray<DevicePool::Block, 4> blocks;
  struct Guarded {
    explicit Guarded(runtime::GuardedMemory &guards) : arguments(guards) {}
    GuardedArguments arguments;
    std::string name;
    runtime::CheckedCall checked;
  };
  std::optional<Guarded> guarded;

  // run
  std::optional<runtime::CallContext> context;
};

} // namespace plim::session
