// What this machine can do at most, measured through the engine: the bandwidth of its memory, and operations a second.
//
// What dispatches are compared with. About a second. Must not know what is compared.
#pragma once

#include "tools/ModuleCall.h"

#include <cstdint>

namespace plim::tools {

struct Ceilings {
  double memoryGBps = 0;  // 10^9 bytes a second of the sum of two arrays
  int64_t arrayBytes = 0; // of each of the three, more than caches hold
  double productGops =
      0; // 10^9 additions and products a second of a product of two matrices of f32
  int64_t productSize = 0; // rows and columns of each
};

/// With an engine of its own, for the target and the threads of `options`. The errors of loads and calls.
StatusOr<Ceilings> measureCeilings(const ModuleOptions &options);

} // namespace plim::tools
