// Where the stack stops paying: one kernel with its scratch buffer on the stack and in the workspace,
// over sizes of the buffer. A few seconds of one thread.
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plim::tools {

/// A kernel @main(x, shift, y) of MLIR: for each of some elements it fills a scratch buffer of
/// `bytes` bytes (a multiple of 4) and sums up products of what lies in it. `attributes` are those of
/// the buffer's allocation.
std::string scratchKernel(int64_t bytes, std::string_view attributes = "");

struct ScratchTimes {
  int64_t bytes = 0;
  double stackSeconds = 0;     // median of a call
  double workspaceSeconds = 0; // median of a call
  double ratio = 1;            // workspace by stack, median over the rounds
};

/// From 64 B up to a half of the stack budget of this machine, each size twice the one before.
StatusOr<std::vector<ScratchTimes>> measureScratch();

/// The largest size up to which the stack is at no size slower than the workspace; 0 if it always is.
int64_t chooseMaxStackAlloca(const std::vector<ScratchTimes> &times);

} // namespace plim::tools
