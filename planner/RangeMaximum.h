// A segment tree: one number for each section, raised and asked for by range. Internal to planner/.
//
//   RangeMaximum loads(bytesBySection);
//   loads.add(first, last, bytes);
//   int64_t most = loads.in(first, last);
//
// Not for use by several threads, but const methods may run on several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace plim::planner {

/// Adds to ranges and tells the maximum of ranges. Ranges are half-open, [first, last), and within
/// the values that it was made of. Values and what is added must not be negative: 0 stands for
/// nodes outside of a range, so that a maximum below it would be lost. The caller sees to it that
/// sums do not overflow.
class RangeMaximum {
public:
  /// Copies the values. O(n), two numbers for each.
  explicit RangeMaximum(const std::vector<int64_t> &values) {
    while (width < values.size())
      width *= 2;
    most.assign(2 * width, 0);
    added.assign(2 * width, 0);
    std::copy(values.begin(), values.end(), most.begin() + width);
    for (uint32_t i = width - 1; i > 0; --i)
      most[i] = std::max(most[2 * i], most[2 * i + 1]);
  }
  /// Adds `value` to each section of the range. O(log n).
  void add(uint32_t first, uint32_t last, int64_t value) { add(1, 0, width, first, last, value); }
  /// The maximum of the range; 0 of an empty one. O(log n).
  int64_t in(uint32_t first, uint32_t last) const { return in(1, 0, width, first, last); }

private:
  void add(uint32_t node, uint32_t low, uint32_t high, uint32_t first, uint32_t last,
           int64_t value) {
    if (last <= low || high <= first)
      return;
    if (first <= low && high <= last) {
      most[node] += value;
      added[node] += value;
      return;
    }
    uint32_t middle = low + (high - low) / 2;
    add(2 * node, low, middle, first, last, value);
    add(2 * node + 1, middle, high, first, last, value);
    most[node] = std::max(most[2 * node], most[2 * node + 1]) + added[node];
  }
  int64_t in(uint32_t node, uint32_t low, uint32_t high, uint32_t first, uint32_t last) const {
    if (last <= low || high <= first)
      return 0;
    if (first <= low && high <= last)
      return most[node];
    uint32_t middle = low + (high - low) / 2;
    return std::max(in(2 * node, low, middle, first, last),
                    in(2 * node + 1, middle, high, first, last)) +
           added[node];
  }

  uint32_t width = 1; // leaves, a power of two
  // By node, the root being 1. `most` is the maximum below the node with what was added to it, but
  // without what was added to nodes above it; `added` is what was added to the node as a whole.
  std::vector<int64_t> most, added;
};

} // namespace plim::planner
