// A function of the host, behind what the runtime calls. The runtime's views and the C interface's
// lie in memory alike, so that a call converts nothing. The callback must not throw: nothing
// catches it.
//
// Threads: a registered function is made by one thread, and called as its kind allows.
#pragma once

#include "plimsoll/host_functions.h"

#include "capi/Border.h"
#include "engine/session/HostFunctions.h"

#include <memory>
#include <string>

namespace plim::capi {

/// The callback, and its `user`, which goes back to the host with the last copy of the pointer to
/// this.
struct RegisteredFunction {
  explicit RegisteredFunction(const plim_host_function_options &options)
      : function(options.function), user(options.user, options.release_user) {}

  plim_host_callback function;
  UserData user; // to be taken by the function that got it
};

/// The function as the engine takes it, which keeps `registered`. InvalidArgument for a kind that
/// there is not, and without a function, in a message that begins with `what`.
StatusOr<HostFunction> toHostFunction(const plim_host_function_options &options,
                                      const std::shared_ptr<RegisteredFunction> &registered,
                                      const std::string &what);

} // namespace plim::capi
