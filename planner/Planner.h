// The static memory planner: offsets for buffers with lifetimes.
//
// Standard library only; used by ir/ at load. Functions are pure and may run on any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace plim::planner {

/// A buffer that is live in the half-open interval [lower, upper) of schedule positions.
struct Buffer {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t bytes = 0;
};

struct Problem {
  std::vector<Buffer> buffers;
  int64_t alignment = 1; // of every offset, bytes
};

struct Plan {
  std::vector<int64_t> offsets; // of buffers, in their order, bytes
  int64_t peak = 0;             // end of the highest buffer, bytes
};

/// Greedy by size, best fit: largest buffer first, each into the smallest gap between the buffers it
/// overlaps in time that holds it (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
/// Net Inference", 2020). Buffers of size 0 get offset 0. O(n^2 log n).
Plan planGreedy(const Problem &problem);

} // namespace plim::planner
