// A function of the host, behind what the runtime calls.
#pragma once

#include "plimsoll/host_functions.h"

#include "capi/Border.h"
#include "engine/session/HostFunctions.h"

#include <memory>
#include <string>

namespace plim::capi {

struct RegisteredFunction {
  explicit RegisteredFunction(const plim_host_function_options &options)
      : function(options.function), user(options.user, options.release_user) {}

  plim_host_callback function;
  UserData user; // to be taken by the function that got it
};

/// What the engine calls for it; `what` begins messages.
StatusOr<HostFunction> toHostFunction(const plim_host_function_options &options,
                                      const std::shared_ptr<RegisteredFunction> &registered,
                                      const std::string &what);

} // namespace plim::capi
