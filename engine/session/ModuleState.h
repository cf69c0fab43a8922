// ModuleState: what the variables of a module hold, for one stream of calls.
//
// A module has one of its own, which calls use that name no other. A server that has a stream of calls for
// each client makes a state for each: code and constants are shared, and calls with different states run at
// the same time. Those with the same state run one after the other.
//
//   auto session = module->createState();
//   function.call(arguments, {.state = *session});
//
// It keeps the memory that it lies in, but not its module. Threads: any, for all methods; what variable()
// gives is memory that calls with the state write, and reset() must not be called while one runs.
#pragma once

#include "engine/runtime/GuardedMemory.h"
#include "engine/runtime/MemoryPool.h"
#include "engine/runtime/Value.h"
#include "jit/Artifact.h"
#include "support/Status.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace plim {

namespace session {
class Call;
class LentMemory;
} // namespace session

/// The variables of a module, in the order in which generated code knows them, and what they begin with.
struct StateLayout {
  struct Variable {
    std::string name;
    jit::ValueType type;
    size_t bytes = 0;
    size_t alignment = 0;     // 0: that of a buffer
    jit::SharedBytes initial; // no bytes: zeros
  };
  std::vector<Variable> variables;

  explicit StateLayout(const jit::Artifact &artifact);
};

class ModuleState : public std::enable_shared_from_this<ModuleState> {
public:
  ~ModuleState();
  ModuleState(const ModuleState &) = delete;
  ModuleState &operator=(const ModuleState &) = delete;

  /// The memory of a variable, writable, which keeps this state: to look at, to fill, to save. NotFound,
  /// with the nearest name, if the module has none of that name.
  StatusOr<runtime::Buffer> variable(std::string_view name);
  /// Every variable is again what it was in the beginning.
  void reset();

private:
  friend class Module;
  friend class session::Call;
  friend class session::LentMemory;

  /// In blocks between guards if `guarded` is given, otherwise of `pool`. ResourceExhausted without memory.
  static StatusOr<std::shared_ptr<ModuleState>>
  create(std::shared_ptr<const StateLayout> layout, std::shared_ptr<runtime::MemoryPool> pool,
         std::shared_ptr<runtime::GuardedMemory> guarded);
  ModuleState(std::shared_ptr<const StateLayout> layout, std::shared_ptr<runtime::MemoryPool> pool,
              std::shared_ptr<runtime::GuardedMemory> guarded)
      : layout(std::move(layout)), pool(std::move(pool)), guarded(std::move(guarded)) {}

  bool overlaps(const void *memory, size_t bytes) const;

  const std::shared_ptr<const StateLayout> layout;
  const std::shared_ptr<runtime::MemoryPool> pool;
  const std::shared_ptr<runtime::GuardedMemory> guarded;
  std::vector<void *> blocks;
  std::vector<void *> bases; // in the blocks, aligned
  std::timed_mutex mutex;    // held by the call that uses it
};

} // namespace plim
