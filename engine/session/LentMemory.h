// LentMemory: what the caller lends to one call (CallOptions), checked and bound: pools, variables,
// buffers for results, the workspace. What the caller does not lend comes from the module, as far
// as the module has it.
//
// Belongs to one call and its thread. Allocates nothing unless something does not fit.
#pragma once

#include "engine/abi/plim_abi.h"
#include "engine/runtime/CallContext.h"
#include "engine/session/Engine.h"
#include "engine/session/SmallArray.h"

#include <cstddef>
#include <span>

namespace plim::session {

class LentMemory {
public:
  /// Borrows both.
  LentMemory(const Function &function, const CallOptions &options)
      : function(function), options(options) {}

  /// Pools, state and outputs. `arguments` fit the signature. The errors are those of
  /// Function::call().
  Status bind(std::span<const runtime::Value> arguments);
  /// Lays out slab and scratch in the caller's workspace, which there must be. `memory` has the
  /// bytes of the slab and receives the rest.
  Status bindWorkspace(const FunctionCode &code, runtime::CallMemory &memory) const;
  /// Are the arguments apart from all of it? `memory` is that of the call, with the workspace if
  /// there is one.
  Status checkApart(std::span<const runtime::Value> arguments,
                    const runtime::CallMemory &memory) const;

  /// One for each pool of the module, in its order; null where this function needs nothing of the
  /// pool, or a device gives it.
  std::span<const HostMemory> pools() const { return poolMemories.span(); }
  /// Was one of them bound at load? Calls take turns with it.
  bool sharesPools() const { return isPoolShared; }
  /// Null unless the function uses variables.
  ModuleState *state() const { return variables; }
  /// Views for the results; null if the caller gives no buffers. A null `data`: the call makes that
  /// result itself.
  const plim_view *outputViews() const {
    return options.outputs.empty() ? nullptr : outputs.span().data();
  }
  /// The caller's buffer for a result, null if there is none.
  const runtime::Buffer *output(size_t result) const {
    return options.outputs.empty() || !options.outputs[result] ? nullptr : &options.outputs[result];
  }

private:
  Status bindPools();
  Status bindState();
  Status bindOutputs(std::span<const runtime::Value> arguments);
  Status bindOutput(size_t result, std::span<const runtime::Value> arguments);

  const Function &function;
  const CallOptions &options;
  SmallArray<HostMemory, 8> poolMemories;
  bool isPoolShared = false;
  ModuleState *variables = nullptr;
  SmallArray<plim_view, 16> outputs;
};

/// From the first byte of a buffer's elements to the last.
HostMemory memoryOf(const runtime::Buffer &buffer);

} // namespace plim::session
