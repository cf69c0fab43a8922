#include "planner/Skyline.h"

#include "planner/Allocated.h"
#include "planner/RangeMaximum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

namespace plim::planner {

namespace {

std::vector<int64_t> loadsOf(const Packing &packing) {
  std::vector<int64_t> loads(packing.numSections + 1, 0);
  for (const Piece &part : packing.parts) {
    loads[part.first] += part.high - part.low;
    loads[part.last] -= part.high - part.low;
  }
  std::partial_sum(loads.begin(), loads.end(), loads.begin());
  return loads;
}

class Skyline {
public:
  Skyline(const Packing &packing, const SkylineWeights &weights)
      : packing(packing), weights(weights), needs(loadsOf(packing)) {
    most = double(std::max<int64_t>(1, needs.in(0, packing.numSections)));
    offsets.assign(packing.boxes.size(), 0);
    firstFrom.assign(packing.numSections + 1, 0);
    for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
      const Box &box = packing.boxes[i];
      offsets[i] = box.lowest();
      if (box.parts.size() == 0)
        continue;
      const Piece &part = packing.parts[box.parts.first];
      double worth = weights.size * std::log(double(box.extent)) +
                     weights.duration * std::log(double(part.last - part.first));
      byStart.push_back({worth, part.high, box.stride, part.first, part.last, i});
      ++firstFrom[part.first + 1];
    }
    std::sort(byStart.begin(), byStart.end(), [](const Waiting &a, const Waiting &b) {
      return std::pair(a.first, a.box) < std::pair(b.first, b.box);
    });
    std::partial_sum(firstFrom.begin(), firstFrom.end(), firstFrom.begin());
    next.resize(byStart.size() + 1);
    std::iota(next.begin(), next.end(), 0u);
  }

  std::vector<int64_t> run(const std::function<bool()> &isStopped) {
    open({0, packing.numSections, 0});
    for (size_t left = byStart.size(), steps = 1; left > 0; ++steps) {
      if (steps % 64 == 0 && isStopped())
        return {};
      auto [height, first] = lowest.top();
      lowest.pop();
      auto it = gaps.find(first);
      if (it == gaps.end() || it->second.height != height)
        continue; // has changed since
      uint32_t chosen = choose(it);
      if (chosen == none) {
        giveUp(it);
        continue;
      }
      place(it, chosen);
      --left;
    }
    return std::move(offsets);
  }

private:
  struct Gap {
    uint32_t first, last; // sections
    int64_t height;
  };
  using Gaps = std::map<uint32_t, Gap>; // by first section
  static constexpr uint32_t none = ~0u;

  /// A box that may have to be placed.
  struct Waiting {
    double worth; // a logarithm
    int64_t bytes;
    Stride stride;
    uint32_t first, last; // sections
    uint32_t box;
  };

  /// The first that is not placed, from this one on.
  uint32_t find(uint32_t i) {
    while (next[i] != i) {
      next[i] = next[next[i]];
      i = next[i];
    }
    return i;
  }

  void open(Gap gap) {
    if (gap.first == gap.last)
      return;
    gaps[gap.first] = gap;
    lowest.push({gap.height, gap.first});
  }

  uint32_t choose(Gaps::iterator it) {
    Gap gap = it->second;
    int64_t left = it == gaps.begin() ? -1 : std::prev(it)->second.height;
    int64_t right = std::next(it) == gaps.end() ? -1 : std::next(it)->second.height;
    double highest = double(needs.in(gap.first, gap.last));
    // Logarithms.
    double limit = weights.load * (highest / most - 1), best = -std::numeric_limits<double>::max();
    double touch = std::log(weights.touch), level = std::log(weights.level);
    double bonus = 2 * touch + level;
    uint32_t chosen = none, end = firstFrom[gap.last];
    for (uint32_t i = find(firstFrom[gap.first]); i < end; i = find(i + 1)) {
      const Waiting &candidate = byStart[i];
      if (candidate.last > gap.last || candidate.worth + bonus + limit <= best)
        continue;
      double value = candidate.worth;
      bool atLeft = candidate.first == gap.first, atRight = candidate.last == gap.last;
      if (atLeft || atRight) {
        int64_t top = candidate.stride.atLeast(gap.height) + candidate.bytes;
        value += touch * (atLeft + atRight);
        if ((atLeft && top == left) || (atRight && top == right))
          value += level;
      }
      if (value + limit <= best)
        continue;
      value += weights.load * (double(needs.in(candidate.first, candidate.last)) / most - 1);
      if (value > best) {
        best = value;
        chosen = i;
      }
    }
    return chosen;
  }

  void place(Gaps::iterator it, uint32_t chosen) {
    Gap gap = it->second;
    const Waiting &what = byStart[chosen];
    int64_t offset = what.stride.atLeast(gap.height);
    offsets[what.box] = offset;
    if (offset > gap.height)
      needs.add(what.first, what.last, offset - gap.height);
    next[chosen] = chosen + 1;
    gaps.erase(it);
    open({gap.first, what.first, gap.height});
    open({what.first, what.last, offset + what.bytes});
    open({what.last, gap.last, gap.height});
  }

  /// There is a higher neighbour: a gap of all sections holds any box.
  void giveUp(Gaps::iterator it) {
    Gap gap = it->second;
    auto right = std::next(it);
    int64_t height = right == gaps.end() ? std::prev(it)->second.height : right->second.height;
    if (it != gaps.begin())
      height = std::min(height, std::prev(it)->second.height);
    needs.add(gap.first, gap.last, height - gap.height);
    gap.height = height;
    if (right != gaps.end() && right->second.height == height) {
      gap.last = right->second.last;
      gaps.erase(right);
    }
    if (it != gaps.begin() && std::prev(it)->second.height == height) {
      gap.first = std::prev(it)->second.first;
      gaps.erase(std::prev(it));
    }
    gaps.erase(it);
    open(gap);
  }

  const Packing &packing;
  const SkylineWeights &weights;
  RangeMaximum needs; // by section: what is placed, given up, or still to be placed
  double most = 1;    // of them at the beginning
  std::vector<int64_t> offsets;
  std::vector<Waiting> byStart;
  std::vector<uint32_t> firstFrom, next; // positions in byStart: by section; by position
  Gaps gaps;
  std::priority_queue<std::pair<int64_t, uint32_t>, std::vector<std::pair<int64_t, uint32_t>>,
                      std::greater<>>
      lowest;
};

} // namespace

std::vector<int64_t> placeOnSkyline(const Packing &packing, const SkylineWeights &weights,
                                    const std::function<bool()> &isStopped) {
  if (!areRectangles(packing))
    return {};
  return Skyline(packing, weights).run(isStopped);
}

} // namespace plim::planner
