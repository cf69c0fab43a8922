// What loads and calls are lent: parameters, memories, limits, states, and requests to stop
// (parameters.h, pools.h, limits.h, state.h, stop.h).
#pragma once

#include "plimsoll/buffer.hpp"
#include "plimsoll/limits.h"
#include "plimsoll/parameters.h"
#include "plimsoll/pools.h"
#include "plimsoll/state.h"
#include "plimsoll/stop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plimsoll {

/// A plim_parameters: buffers by name. A copy of the handle is the same set, not a copy of it.
class Parameters
    : public detail::Handle<plim_parameters, plim_parameters_retain, plim_parameters_release> {
public:
  using Handle::Handle;
  /// An empty set.
  static Result<Parameters> create() {
    return detail::make<Parameters, plim_parameters>(plim_parameters_create);
  }
  /// Gives `name` this value, in place of what it had. The set becomes one more owner of the
  /// buffer.
  Status set(const std::string &name, const Buffer &buffer) {
    return Status(plim_parameters_set(get(), name.c_str(), buffer.get()));
  }
  /// Adds all tensors of a file, or the one of a .npy file, which stays mapped. On failure nothing
  /// is added.
  Status loadSafetensors(const std::string &path) {
    return Status(plim_parameters_load_safetensors(get(), path.c_str()));
  }
  Status loadNpy(const std::string &name, const std::string &path) {
    return Status(plim_parameters_load_npy(get(), name.c_str(), path.c_str()));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (size_t i = 0; i < plim_parameters_count(get()); ++i)
      result.emplace_back(plim_parameters_name(get(), i));
    return result;
  }
  Result<Buffer> value(const std::string &name) const {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_parameters_get(get(), name.c_str(), out); });
  }
};

/// plim_pool: memory of the host's for a pool that a module names. The memory is borrowed: for the
/// call, or as long as the module lives where it is lent to a load.
struct Pool {
  std::string name = {};
  std::span<std::byte> memory = {};
};

/// plim_limits. A limit that is not set stays as it is; 0 is a limit of 0 here, not "not set".
/// Numbers beyond int64_t become the largest one.
struct Limits {
  std::optional<bool> externalWorkspaceOnly = {};
  std::optional<uint64_t> maxStackAllocaBytes = {};
  std::optional<uint64_t> stackBudgetBytes = {};
  std::optional<uint64_t> workspaceAlignment = {};
  std::optional<uint64_t> maxTextBytes = {};
  std::optional<uint64_t> maxOperations = {};
  std::optional<uint64_t> maxRank = {};
  std::optional<uint64_t> maxVectorElements = {};
  std::optional<uint64_t> maxConstantBytes = {};
};

namespace detail {

/// Names are borrowed.
inline std::vector<plim_pool> poolsOf(std::span<const Pool> pools) {
  std::vector<plim_pool> all;
  for (const Pool &pool : pools)
    all.push_back({pool.name.c_str(), pool.memory.data(), pool.memory.size()});
  return all;
}

inline plim_limits limitsOf(const Limits &limits) {
  auto number = [](std::optional<uint64_t> limit) -> int64_t {
    if (!limit)
      return 0;
    return *limit == 0 ? PLIM_LIMIT_ZERO : int64_t(std::min(*limit, uint64_t(INT64_MAX)));
  };
  auto given = sized<plim_limits>();
  if (limits.externalWorkspaceOnly)
    given.external_workspace_only =
        *limits.externalWorkspaceOnly ? PLIM_CHOICE_YES : PLIM_CHOICE_NO;
  given.max_stack_alloca_bytes = number(limits.maxStackAllocaBytes);
  given.stack_budget_bytes = number(limits.stackBudgetBytes);
  given.workspace_alignment = number(limits.workspaceAlignment);
  given.max_text_bytes = number(limits.maxTextBytes);
  given.max_operations = number(limits.maxOperations);
  given.max_rank = number(limits.maxRank);
  given.max_vector_elements = number(limits.maxVectorElements);
  given.max_constant_bytes = number(limits.maxConstantBytes);
  return given;
}

} // namespace detail

/// A plim_stop: asks any number of calls and loads to end before their time. Any thread; copies of
/// the handle are the same request.
class Stop : public detail::Handle<plim_stop, plim_stop_retain, plim_stop_release> {
public:
  using Handle::Handle;
  static Result<Stop> create() { return detail::make<Stop, plim_stop>(plim_stop_create); }
  Status request() { return Status(plim_stop_request(get())); }
  bool isRequested() const { return plim_stop_is_requested(get()); }
};

/// A plim_state: what the variables of a module hold, for one stream of calls.
/// Module::createState() makes it; a copy of the handle is the same state.
class State : public detail::Handle<plim_state, plim_state_retain, plim_state_release> {
public:
  using Handle::Handle;
  /// The memory of a variable, not a copy: writable, and written by calls with the state.
  Result<Buffer> variable(const std::string &name) const {
    return detail::make<Buffer, plim_buffer>(
        [&](plim_buffer **out) { return plim_state_variable(get(), name.c_str(), out); });
  }
  Status reset() { return Status(plim_state_reset(get())); }
};

} // namespace plimsoll
