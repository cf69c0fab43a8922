// Modules: compiled code that is ready to be called (module.h).
#pragma once

#include "plimsoll/function.hpp"
#include "plimsoll/host_functions.hpp"
#include "plimsoll/module.h"
#include "plimsoll/report.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plimsoll {

/// plim_load_options. All is borrowed for the load, but for buffers of parameters and for host
/// functions, which it retains. The memory of pools must outlive the module. There is no field for
/// plim_load_options::release_source: a module has copies of the constants of a source in memory.
struct LoadOptions {
  std::string policy = {};
  Limits limits = {};
  bool oracle = false;
  bool lazy = false; // PLIM_LOAD_LAZY
  plim_numerics numerics = PLIM_NUMERICS_UNSPECIFIED;
  const Parameters *parameters = nullptr;
  const HostFunctions *hostFunctions = nullptr;
  std::vector<Pool> pools = {};
  std::function<void(double fraction)> progress =
      {}; // must not throw; loads that block do not copy it
  plim_specialization specialization = PLIM_SPECIALIZATION_DEFAULT;
  uint32_t specializationCount = 0;
  std::string device = {};
  const Stop *stop = nullptr;
  std::chrono::nanoseconds timeout{0}; // 0: none; must not be negative
};

/// A plim_module. Functions keep it: the handle may go before they do.
class Module : public detail::Handle<plim_module, plim_module_retain, plim_module_release> {
public:
  using Handle::Handle;
  /// Copies of the names of all public functions.
  std::vector<std::string> functionNames() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < plim_module_function_count(get()); ++i)
      names.emplace_back(plim_module_function_name(get(), i));
    return names;
  }
  Result<Function> function(const std::string &name) const {
    return detail::make<Function, plim_function>(
        [&](plim_function **out) { return plim_module_function(get(), name.c_str(), out); });
  }
  /// The same with its signature: `function<Buffer(float, std::span<const float>)>("scale")`.
  /// InvalidArgument for a function with another (TypedFunction).
  template <typename SignatureT>
  Result<TypedFunction<SignatureT>> function(const std::string &name) const {
    Result<Function> untyped = function(name);
    if (!untyped)
      return untyped.status();
    return untyped->template typed<SignatureT>();
  }
  /// Variables of their own for the calls that name them, as they are in the beginning.
  Result<State> createState() const {
    return detail::make<State, plim_state>(
        [&](plim_state **out) { return plim_state_create(get(), out); });
  }
  /// What the compiler decided, as JSON.
  Result<Report> explain() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_module_explain(get(), out); });
  }
  Result<plim_load_statistics> statistics() const {
    auto statistics = detail::sized<plim_load_statistics>();
    if (Status status(plim_module_statistics(get(), &statistics)); !status.ok())
      return status;
    return statistics;
  }
  Result<plim_specialization_statistics> specializationStatistics() const {
    auto statistics = detail::sized<plim_specialization_statistics>();
    if (Status status(plim_module_specialization_statistics(get(), &statistics)); !status.ok())
      return status;
    return statistics;
  }
};

/// The end of a load that runs by itself: what Engine::loadAsync() gives. Waiting, polling and
/// cancelling are those of the event.
class LoadEvent : public Event {
public:
  LoadEvent() = default;
  explicit LoadEvent(plim_event *owned) : Event(owned) {}

  /// Waits for the end. The module, or why there is none. May be asked for more than once.
  Result<Module> result() const {
    if (Status status = wait(); !status.ok())
      return status;
    return detail::make<Module, plim_module>(
        [this](plim_module **out) { return plim_event_module(get(), out); });
  }
};

} // namespace plimsoll
