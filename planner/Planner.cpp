#include "planner/Planner.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>

namespace plim::planner {

Plan planGreedy(const Problem &problem) {
  const std::vector<Buffer> &buffers = problem.buffers;
  auto alignUp = [&](int64_t value) {
    return (value + problem.alignment - 1) / problem.alignment * problem.alignment;
  };
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(buffers[b].bytes, a) < std::tuple(buffers[a].bytes, b);
  });

  Plan plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<size_t> byOffset; // the placed ones, lowest offset first
  for (size_t index : order) {
    const Buffer &buffer = buffers[index];
    if (buffer.bytes == 0)
      continue;
    int64_t best = -1, bestGap = std::numeric_limits<int64_t>::max(), end = 0;
    for (size_t placed : byOffset) {
      const Buffer &other = buffers[placed];
      if (other.upper <= buffer.lower || buffer.upper <= other.lower)
        continue;
      int64_t gap = plan.offsets[placed] - end;
      if (gap >= buffer.bytes && gap < bestGap) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, alignUp(plan.offsets[placed] + other.bytes));
    }
    plan.offsets[index] = best >= 0 ? best : end;
    plan.peak = std::max(plan.peak, plan.offsets[index] + buffer.bytes);
    byOffset.insert(
        std::upper_bound(byOffset.begin(), byOffset.end(), index,
                         [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
        index);
  }
  return plan;
}

} // namespace plim::planner
