// CallPlanner: places the buffers of a function's slab when a call makes their sizes known.
//
// Plans are kept by the extents that they depend on, so that calls of the same sizes pay for a
// comparison and a copy. Any thread.
#pragma once

#include "jit/Artifact.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace plim {

class CallPlanner {
public:
  /// Plans kept at most; the one that was not used for the longest time goes.
  static constexpr size_t maxKept = 64;

  /// Borrows the signature, for messages too.
  explicit CallPlanner(const jit::FunctionSignature &function) : function(function) {}

  /// The bytes of the slab for `extents`, as the plan's function yields them, if they were planned
  /// before; `offsets` then receives one of each buffer, negative where its extents have no memory:
  /// one is negative, or their product is beyond any address space. Takes no memory.
  std::optional<size_t> find(std::span<const int64_t> extents, std::span<int64_t> offsets);

  /// The same for extents that are new: a search of up to milliseconds. Depends on nothing but the
  /// extents. ResourceExhausted if the sum is too large.
  StatusOr<size_t> plan(std::span<const int64_t> extents, std::span<int64_t> offsets);

private:
  struct Placement {
    std::vector<int64_t> extents, offsets;
    size_t bytes = 0;
  };
  StatusOr<Placement> place(std::span<const int64_t> extents) const;

  const jit::FunctionSignature &function;
  std::mutex mutex;
  std::list<Placement> kept; // guarded by `mutex`; the last one used first
};

} // namespace plim
