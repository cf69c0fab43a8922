// A segment tree: numbers by section, raised and asked for by range. Internal to planner/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace plim::planner {

/// Adds to ranges and tells the most of ranges, in O(log n).
class RangeMaximum {
public:
  explicit RangeMaximum(const std::vector<int64_t> &values) {
    while (width < values.size())
      width *= 2;
    most.assign(2 * width, 0);
    added.assign(2 * width, 0);
    std::copy(values.begin(), values.end(), most.begin() + width);
    for (uint32_t i = width - 1; i > 0; --i)
      most[i] = std::max(most[2 * i], most[2 * i + 1]);
  }
  void add(uint32_t first, uint32_t last, int64_t value) { add(1, 0, width, first, last, value); }
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

  uint32_t width = 1;
  std::vector<int64_t> most, added;
};

} // namespace plim::planner
