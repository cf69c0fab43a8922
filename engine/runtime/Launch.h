// Launch: one run of a dispatch, as far as a single thread does it.
//
// Must not know schedules or other threads. Any thread.
#pragma once

#include "engine/abi/plim_abi.h"

#include <cstdint>
#include <limits>
#include <string>

namespace plim::runtime {

class CallContext;
class CallFrame;

/// What plim-choose-workgroups estimates as this many scalar operations takes about a microsecond:
/// 157,000 and 165,000 in products of 64 and 96, 172,000 in gelu.
inline constexpr int64_t operationsPerMicrosecond = 160000;

/// A launch with the size it has this time.
struct Launch {
  const plim_launch *launch;
  int64_t count; // of workgroups; never negative

  explicit Launch(const plim_launch &launch)
      : launch(&launch),
        count(launch.dispatch->grid > 0 ? launch.dispatch->grid
                                        : launch.dispatch->workgroups(launch.scalars)) {
    if (count < 0)
      count = 0;
  }
  const plim_dispatch &dispatch() const { return *launch->dispatch; }
  /// Estimated operations of a workgroup, at least 1.
  int64_t cost() const { return dispatch().cost > 1 ? dispatch().cost : 1; }
  /// Of all of them; saturates.
  int64_t work() const {
    int64_t product;
    return __builtin_mul_overflow(count, cost(), &product) ? std::numeric_limits<int64_t>::max()
                                                           : product;
  }

  /// What its bindings hold; 0 if nobody knows.
  int64_t bytes() const { return dispatch().bytes ? dispatch().bytes(launch->scalars) : 0; }

  /// Runs the workgroups [begin, end) in `frame`, a piece at a time, so that it ends soon after the call
  /// has failed. A failure is latched in the call.
  void run(CallFrame &frame, int64_t begin, int64_t end) const;

  /// Counts its accesses for a checked call, or takes them back: while there are any, what is only read
  /// is protected.
  void countAccesses(CallContext &call, bool begin) const;
  /// Looks for what was written just outside of what may be written, and latches it.
  void checkSlack(CallContext &call) const;

private:
  void runPiece(CallFrame &frame, int64_t begin, int64_t end) const;
  plim_code runChecked(CallFrame &frame, int64_t begin, int64_t end) const;
  void latchFault(CallContext &call, const std::string &what) const;
};

} // namespace plim::runtime
