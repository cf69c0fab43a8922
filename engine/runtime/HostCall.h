// HostCall: what plim_rt_call needs to call a function of the host application, and plim_rt_launch to run a
// dispatch on one of its devices.
//
// Immutable once made; it must outlive the code that is linked to it. Any thread may call it.
#pragma once

#include "engine/abi/plim_abi.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace plim::runtime {

/// A tensor result that the function makes, since only it knows how large it is.
struct OpenResult {
  int64_t index; // among the results
  int64_t elementBytes;
  std::vector<int64_t> shape; // as declared, -1 where it is open
};

} // namespace plim::runtime

struct plim_external {
  std::string name;
  plim_host_function function;
  void *user;
  /// Held while the function runs, if it must not run twice at once. Others may have it too.
  std::shared_ptr<std::timed_mutex> serial;
  std::shared_ptr<const void> owner; // of `user`
  std::vector<plim::runtime::OpenResult> openResults = {};
  std::string device = {}; // that the dispatch is for; empty: a function of the host application
};

namespace plim::runtime {

/// Calls the function; returns 0 unless the call has failed. A failure without a message gets one that
/// begins with `location`; so does an exception, which is no code.
plim_code callHost(plim_context *context, const plim_external &external, const char *location,
                   const plim_view *arguments, plim_view *results);

/// plim_rt_make_result, for the function that callHost runs in this context.
void *makeResult(plim_context *context, int64_t index, const int64_t *sizes);

} // namespace plim::runtime
