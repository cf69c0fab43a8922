// HostCall: what plim_rt_call needs to call a function of the host application.
//
// Immutable once made; it must outlive the code that is linked to it. Any thread may call it.
#pragma once

#include "engine/abi/plim_abi.h"

#include <memory>
#include <mutex>
#include <string>

struct plim_external {
  std::string name;
  plim_host_function function;
  void *user;
  /// Held while the function runs, if it must not run twice at once. Others may have it too.
  std::shared_ptr<std::timed_mutex> serial;
  std::shared_ptr<const void> owner; // of `user`
};

namespace plim::runtime {

/// Calls the function; returns 0 unless the call has failed. A failure without a message gets one that
/// begins with `location`; so does an exception, which is no code.
plim_code callHost(plim_context *context, const plim_external &external, const char *location,
                   const plim_view *arguments, const plim_view *results);

} // namespace plim::runtime
