// Deferred: the functions of a lazy module, each of which is compiled when it is called first.
//
// A lazy module has the signatures of its functions and keeps its source. The first call of a
// function loads the source once more, of which all is dropped that this function does not need,
// as a module of its own: all that a load can do it can, and nothing else knows of it. From then on
// the function of that module is called.
//
// Calls that come meanwhile wait, until they are stopped. One that compiles and is stopped leaves
// that to the next. What the source is refused for is kept and told to each call; what may be
// otherwise the next time, such as memory that was missing, is tried again.
//
// Threads: any, for all methods.
#pragma once

#include "engine/session/Engine.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace plim::session {

class DeferredFunctions;

/// One of them. Belongs to the module, as what it gives does.
class DeferredFunction {
public:
  /// Null before it has code.
  const Function *made() const { return current.load(std::memory_order_acquire); }
  /// Compiles it if it has none. Cancelled if a stop is requested; else the errors of a load.
  StatusOr<const Function *> make(const std::stop_token &stop);

private:
  friend class DeferredFunctions;
  const DeferredFunctions *all = nullptr;
  std::string name;
  std::atomic<const Function *> current{nullptr};
  std::timed_mutex mutex; // held by who compiles it; guards the rest
  std::optional<Function> function;
  Status refused = okStatus();
};

class DeferredFunctions {
public:
  /// Of `module`, which owns this. `options` have an owner of `source`.
  DeferredFunctions(const Module &module, std::string_view source, const Digest &digest,
                    LoadOptions options);

  DeferredFunction &operator[](size_t position) const { return functions[position]; }
  /// Of all that have code.
  SpecializationStatistics specializationStatistics() const;

private:
  friend class DeferredFunction;
  StatusOr<Function> load(std::string_view name, const std::stop_token &stop) const;

  const Module &module;
  const std::string_view source;
  const Digest digest;
  const LoadOptions options;
  const size_t count;
  const std::unique_ptr<DeferredFunction[]> functions;
};

} // namespace plim::session
