// Host functions: functions of the host application that modules call (host_functions.h).
#pragma once

#include "plimsoll/handle.hpp"
#include "plimsoll/host_functions.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace plimsoll {

/// A function that a module calls: plim_host_callback without `user`, whose place what it captures
/// takes. It is called as its kind says, by several threads at once if it is thread-safe, and must
/// not throw.
using HostFunction = std::function<plim_code(plim_host_call *call, const plim_host_value *arguments,
                                             const plim_host_value *results)>;

/// A plim_host_functions: a set of functions by name. A copy of the handle is the same set.
class HostFunctions : public detail::Handle<plim_host_functions, plim_host_functions_retain,
                                            plim_host_functions_release> {
public:
  using Handle::Handle;
  /// An empty set.
  static Result<HostFunctions> create() {
    return detail::make<HostFunctions, plim_host_functions>(plim_host_functions_create);
  }
  /// Takes the function over: it lives until no set, engine or module has it any more. On
  /// failure it is destroyed. An empty `signature` is not compared.
  Status add(const std::string &name, HostFunction function,
             plim_host_function_kind kind = PLIM_HOST_THREAD_SAFE,
             const std::string &signature = "") {
    auto kept = std::make_unique<HostFunction>(std::move(function));
    auto options = detail::sized<plim_host_function_options>();
    options.kind = kind;
    options.function = [](plim_host_call *call, void *user, const plim_host_value *arguments,
                          const plim_host_value *results) noexcept {
      return (*static_cast<HostFunction *>(user))(call, arguments, results);
    };
    options.user = kept.get();
    options.release_user = detail::destroy<HostFunction>;
    options.signature = detail::orNull(signature);
    Status status(plim_host_functions_add(get(), name.c_str(), &options));
    if (status.ok())
      static_cast<void>(kept.release());
    return status;
  }
};

} // namespace plimsoll
