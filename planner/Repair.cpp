#include "planner/Repair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace plim::planner {

namespace {

/// More than all that is not pinned together: values are at most 1.
constexpr double pinned = 1e9;
/// A step counts as one node, and one more for every so many parts that it looks at.
constexpr uint64_t partsPerNode = 256;

} // namespace

Repair::Repair(const Packing &packing) : packing(packing), placed(packing.parts.size()) {
  double most = 1;
  for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
    const Box &box = packing.boxes[i];
    double sections = 0;
    for (uint32_t p = box.parts.first; p < box.parts.last; ++p)
      sections += packing.parts[p].last - packing.parts[p].first;
    value.push_back(std::pow(double(box.extent) * sections, 0.3));
    most = std::max(most, value.back());
  }
  for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
    value[i] /= most;
    worth.push_back(packing.boxes[i].pin >= 0 ? pinned : value[i]);
  }
  index();
}

void Repair::index() {
  uint32_t count = uint32_t(packing.parts.size());
  std::vector<uint32_t> byStart(count);
  std::iota(byStart.begin(), byStart.end(), 0u);
  std::sort(byStart.begin(), byStart.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(packing.parts[a].first, a) < std::pair(packing.parts[b].first, b);
  });
  indexOf.resize(count);
  for (uint32_t k = 0; k < count; ++k)
    indexOf[byStart[k]] = k;
  for (uint32_t i = 0; i < packing.boxes.size(); ++i)
    for (uint32_t p = packing.boxes[i].parts.first; p < packing.boxes[i].parts.last; ++p) {
      placed[indexOf[p]].last = packing.parts[p].last;
      placed[indexOf[p]].box = i;
    }
  firstFrom.assign(packing.numSections + 1, 0);
  for (const Piece &part : packing.parts)
    ++firstFrom[part.first + 1];
  std::partial_sum(firstFrom.begin(), firstFrom.end(), firstFrom.begin());

  period = 1 + uint32_t(std::sqrt(double(packing.numSections))) / 2;
  firstCrossing.assign(packing.numSections / period + 2, 0);
  auto forCrossings = [&](auto function) {
    for (uint32_t i : byStart)
      for (uint32_t c = packing.parts[i].first / period + 1; c * period < packing.parts[i].last;
           ++c)
        function(c, i);
  };
  forCrossings([&](uint32_t c, uint32_t) { ++firstCrossing[c + 1]; });
  std::partial_sum(firstCrossing.begin(), firstCrossing.end(), firstCrossing.begin());
  crossing.resize(firstCrossing.back());
  std::vector<uint32_t> at = firstCrossing;
  forCrossings([&](uint32_t c, uint32_t i) { crossing[at[c]++] = indexOf[i]; });
}

void Repair::hold(const std::vector<int64_t> &start) {
  held = offsets = start;
  for (uint32_t i = 0; i < held.size(); ++i)
    put(i, held[i]);
}

double Repair::random() {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return double(state >> 11) * 0x1p-53;
}

void Repair::put(uint32_t box, int64_t offset) {
  offsets[box] = offset;
  for (uint32_t i = packing.boxes[box].parts.first; i < packing.boxes[box].parts.last; ++i) {
    Placed &part = placed[indexOf[i]];
    part.low = offset + packing.parts[i].low;
    part.high = offset + packing.parts[i].high;
    part.worth = float(worth[box]);
  }
}

void Repair::take(uint32_t box) {
  for (uint32_t i = packing.boxes[box].parts.first; i < packing.boxes[box].parts.last; ++i)
    placed[indexOf[i]].worth = 0;
  out.push_back(box);
  std::push_heap(out.begin(), out.end(),
                 [&](uint32_t a, uint32_t b) { return value[a] < value[b]; });
}

uint32_t Repair::next() {
  std::pop_heap(out.begin(), out.end(),
                [&](uint32_t a, uint32_t b) { return value[a] < value[b]; });
  uint32_t box = out.back();
  out.pop_back();
  return box;
}

/// Calls `function` with each part of the box and each placed one that shares sections with it.
template <typename Function> void Repair::forOthers(uint32_t box, Function function) {
  for (uint32_t i = packing.boxes[box].parts.first; i < packing.boxes[box].parts.last; ++i) {
    const Piece &part = packing.parts[i];
    auto look = [&](uint32_t p) {
      const Placed &other = placed[p];
      if (other.last > part.first && other.worth > 0)
        function(part, other);
    };
    uint32_t c = part.first / period;
    for (uint32_t k = firstCrossing[c]; k < firstCrossing[c + 1]; ++k)
      look(crossing[k]);
    uint32_t begin = firstFrom[c * period], end = firstFrom[part.last];
    for (uint32_t k = begin; k < end; ++k)
      look(k);
    looked += firstCrossing[c + 1] - firstCrossing[c] + end - begin;
  }
}

/// In linear time where they are spread about evenly.
void Repair::sortEdges(std::vector<Edge> &edges) {
  auto less = [](const Edge &a, const Edge &b) { return a.offset < b.offset; };
  if (edges.empty())
    return;
  auto [least, most] = std::minmax_element(edges.begin(), edges.end(), less);
  int64_t low = least->offset;
  double scale = double(2 * edges.size() - 1) / std::max(1.0, double(most->offset - low));
  auto slotOf = [&](const Edge &edge) { return size_t(double(edge.offset - low) * scale); };
  counts.assign(2 * edges.size() + 1, 0);
  for (const Edge &edge : edges)
    ++counts[slotOf(edge) + 1];
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  sorted.resize(edges.size());
  for (const Edge &edge : edges)
    sorted[counts[slotOf(edge)]++] = edge;
  edges.swap(sorted);
  for (size_t i = 1; i < edges.size(); ++i) {
    Edge edge = edges[i];
    size_t j = i;
    for (; j > 0 && less(edge, edges[j - 1]); --j)
      edges[j] = edges[j - 1];
    edges[j] = edge;
  }
}

/// False if only what is pinned is in the way of the box everywhere.
bool Repair::choose(uint32_t box, int64_t capacity, Spot &spot) {
  const Box &what = packing.boxes[box];
  int64_t lowest = what.lowest(), highest = capacity - what.extent;
  if (lowest > highest)
    return false;
  lows.clear();
  highs.clear();
  forOthers(box, [&](const Piece &part, const Placed &other) {
    lows.push_back({other.low - part.high, other.worth});
    highs.push_back({other.high - part.low, other.worth});
  });
  sortEdges(lows);
  sortEdges(highs);
  double cost = 0, least = pinned / 2;
  int64_t tightest = std::numeric_limits<int64_t>::max(), end = 0;
  size_t i = 0, j = 0;
  spot.isFree = false;
  // Where it is as good up to the next one that begins to be in the way.
  auto look = [&](int64_t offset) {
    for (; i < lows.size() && lows[i].offset < offset; ++i)
      cost += lows[i].worth;
    for (; j < highs.size() && highs[j].offset <= offset; ++j)
      cost -= highs[j].worth;
    int64_t last = i < lows.size() ? std::min(lows[i].offset, highest) : highest;
    if (i == j) {
      cost = 0;
      if (!spot.isFree || last - offset < tightest) {
        spot = {offset, true};
        tightest = last - offset;
        end = last;
      }
    } else if (!spot.isFree) {
      double noisy = cost * (1 + 0.1 * random());
      if (noisy < least) {
        least = noisy;
        spot.offset = offset;
        end = last;
      }
    }
  };
  look(lowest);
  while (j < highs.size()) {
    for (; i < lows.size() && lows[i].offset < highs[j].offset; ++i)
      cost += lows[i].worth;
    for (; j < highs.size() && (i == lows.size() || highs[j].offset <= lows[i].offset); ++j)
      cost -= highs[j].worth;
    int64_t offset = what.stride.atLeast(std::max(lowest, highs[j - 1].offset));
    if (offset > highest)
      break;
    look(offset);
  }
  // Small gaps are best left at either side, as it comes.
  if ((spot.isFree || random() < 0.5) && end > spot.offset)
    spot.offset = end - (end - spot.offset) % what.stride.modulus;
  return spot.isFree || least < pinned / 2;
}

/// Brings what is held to at most that capacity. If it is false, that is as before.
bool Repair::reach(int64_t capacity, uint64_t nodes, const std::function<bool()> &isStopped) {
  spent += 1 + held.size() / partsPerNode;
  for (uint32_t i = 0; i < held.size(); ++i)
    if (packing.boxes[i].extent > 0 && held[i] + packing.boxes[i].extent > capacity)
      take(i);
  looked = 0;
  for (uint64_t steps = 1; !out.empty(); ++steps) {
    if (spent >= nodes || (steps % 16 == 0 && isStopped()))
      break;
    uint32_t box = next();
    Spot spot;
    if (packing.boxes[box].pin >= 0 || !choose(box, capacity, spot)) {
      out.push_back(box);
      break;
    }
    if (!spot.isFree) {
      worth[box] += value[box];
      forOthers(box, [&](const Piece &part, const Placed &other) {
        if (other.low - part.high < spot.offset && spot.offset < other.high - part.low)
          take(other.box);
      });
    }
    put(box, spot.offset);
    spent += 1 + looked / partsPerNode;
    looked %= partsPerNode;
  }
  bool isReached = out.empty();
  out.clear();
  if (isReached)
    held = offsets;
  else
    hold(held);
  return isReached;
}

Attempt Repair::run(int64_t bound, uint64_t nodes, const std::function<bool()> &isStopped) {
  Attempt attempt;
  spent = 0;
  int64_t peak = peakOf(packing, held);
  while (peak > bound && spent < nodes && !isStopped()) {
    int64_t gain = std::max<int64_t>(1, int64_t(share * double(peak - bound)));
    int64_t capacity = std::max(bound, (peak - gain) / packing.step * packing.step);
    bool isReached = reach(capacity, std::min(nodes, spent + held.size() / 2 + 200), isStopped);
    share = isReached ? std::min(0.5, share * 1.5) : std::max(0.01, share * 0.6);
    if (isReached) {
      attempt.outcome = Outcome::Found;
      peak = peakOf(packing, held);
    }
  }
  attempt.nodes = spent;
  if (attempt.outcome == Outcome::Found)
    attempt.offsets = held;
  return attempt;
}

} // namespace plim::planner
