#include "planner/Packing.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

namespace plim::planner {

namespace {

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// The pieces of an item with at most one in each section. Returns whether nothing is lost by that.
bool appendParts(const Model &model, const Item &item, std::vector<Piece> &parts) {
  auto first = model.pieces.begin() + item.pieces.first;
  auto last = model.pieces.begin() + item.pieces.last;
  bool areApart = true;
  for (auto it = first; it != last && it + 1 != last; ++it)
    areApart &= it->last <= (it + 1)->first;
  if (areApart) {
    parts.insert(parts.end(), first, last);
    return true;
  }
  std::vector<Piece> byOffset(first, last);
  std::vector<uint32_t> cuts = cutsOf(byOffset);
  std::sort(byOffset.begin(), byOffset.end(),
            [](const Piece &a, const Piece &b) { return a.low < b.low; });
  size_t begin = parts.size();
  bool isWhole = true;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    Piece part{cuts[i], cuts[i + 1], 0, 0};
    for (const Piece &piece : byOffset)
      if (piece.first <= cuts[i] && cuts[i] < piece.last) {
        if (part.high == 0)
          part.low = piece.low;
        else
          isWhole &= piece.low <= part.high;
        part.high = std::max(part.high, piece.high);
      }
    if (part.high == 0)
      continue;
    if (parts.size() > begin && parts.back().last == part.first && parts.back().low == part.low &&
        parts.back().high == part.high)
      parts.back().last = part.last;
    else
      parts.push_back(part);
  }
  return isWhole;
}

void bound(Packing &packing) {
  // Every section holds all its boxes, of which the highest need not be rounded.
  std::vector<int64_t> steps(packing.numSections + 1, 0), saved(packing.numSections, 0);
  for (const Box &box : packing.boxes) {
    if (box.extent > 0)
      packing.lowerBound = std::max(packing.lowerBound, box.lowest() + box.extent);
    for (uint32_t i = box.parts.first; i < box.parts.last; ++i) {
      const Piece &part = packing.parts[i];
      int64_t bytes = part.high - part.low, rounded = roundUp(bytes, packing.unit);
      steps[part.first] += rounded;
      steps[part.last] -= rounded;
      if (rounded > bytes)
        for (uint32_t s = part.first; s < part.last; ++s)
          saved[s] = std::max(saved[s], rounded - bytes);
    }
  }
  int64_t sum = 0;
  for (uint32_t s = 0; s < packing.numSections; ++s) {
    sum += steps[s];
    packing.lowerBound = std::max(packing.lowerBound, sum - saved[s]);
  }
}

} // namespace

void renumber(Packing &packing) {
  std::vector<std::pair<uint32_t, uint32_t>> events; // 2 * section + isStart, part
  events.reserve(2 * packing.parts.size());
  for (uint32_t i = 0; i < packing.parts.size(); ++i) {
    events.push_back({2 * packing.parts[i].first + 1, i});
    events.push_back({2 * packing.parts[i].last, i});
  }
  std::sort(events.begin(), events.end());
  uint32_t section = 0;
  bool ended = false;
  for (auto [time, part] : events) {
    if (time % 2) {
      section += ended;
      ended = false;
      packing.parts[part].first = section;
    } else {
      ended = true;
      packing.parts[part].last = section + 1;
    }
  }
  packing.numSections = events.empty() ? 0 : section + 1;
}

Packing packingOf(const Model &model, const std::vector<uint32_t> &items, uint32_t pool) {
  Packing packing;
  packing.boxes.reserve(items.size());
  packing.parts.reserve(items.size());
  int64_t unit = 0, step = 0;
  for (uint32_t index : items) {
    const Item &item = model.items[index];
    Box box;
    box.item = index;
    box.extent = item.extent;
    box.duration = item.duration;
    box.pin = item.pin.value_or(-1);
    for (uint32_t c = item.candidates.first; c < item.candidates.last; ++c)
      if (model.candidates[c].pool == pool)
        box.stride = model.candidates[c].stride;
    box.parts.first = uint32_t(packing.parts.size());
    packing.isExact &= appendParts(model, item, packing.parts);
    box.parts.last = uint32_t(packing.parts.size());
    if (box.parts.size() > 0) {
      unit = std::gcd(unit, std::gcd(box.stride.modulus, box.stride.residue));
      step = std::gcd(step, box.extent);
      step = std::gcd(step, std::gcd(box.stride.residue, std::max<int64_t>(box.pin, 0)));
      if (box.stride.modulus != 1)
        step = std::gcd(step, box.stride.modulus);
      for (uint32_t i = box.parts.first; i < box.parts.last; ++i) {
        const Piece &part = packing.parts[i];
        packing.isExact &= part.low == 0;
        unit = std::gcd(unit, part.low);
        step = std::gcd(step, std::gcd(part.low, part.high));
      }
    }
    packing.boxes.push_back(box);
  }
  packing.unit = std::max<int64_t>(unit, 1);
  packing.step = std::max<int64_t>(step, 1);
  renumber(packing);
  if (packing.isExact)
    bound(packing);
  else
    packing.lowerBound = lowerBound(model, items);
  return packing;
}

int64_t peakOf(const Packing &packing, const std::vector<int64_t> &offsets) {
  int64_t peak = 0;
  for (size_t i = 0; i < offsets.size(); ++i)
    if (packing.boxes[i].extent > 0)
      peak = std::max(peak, offsets[i] + packing.boxes[i].extent);
  return peak;
}

std::vector<uint32_t> orderBy(const Packing &packing, Order order) {
  size_t count = packing.boxes.size();
  std::vector<std::tuple<bool, double, double, uint32_t>> keys(count);
  std::vector<uint32_t> starts(packing.numSections + 1, 0), ends(packing.numSections + 1, 0);
  if (order == Order::Conflicts) {
    for (const Piece &part : packing.parts) {
      ++starts[part.first];
      ++ends[part.last];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Box &box = packing.boxes[i];
    double duration = box.duration, conflicts = 0, start = 0;
    for (uint32_t p = box.parts.first; p < box.parts.last; ++p) {
      const Piece &part = packing.parts[p];
      if (order == Order::Conflicts)
        conflicts += double(starts[part.last - 1]) - double(ends[part.first]);
      if (p == box.parts.first)
        start = part.first;
    }
    double size = double(box.extent), first = size;
    switch (order) {
    case Order::Size:
      break;
    case Order::Conflicts:
      first = conflicts;
      break;
    case Order::Area:
      first = duration * size;
      break;
    case Order::Duration:
      first = duration;
      break;
    case Order::Start:
      first = -start;
      break;
    }
    keys[i] = {box.pin < 0, -first, order == Order::Start ? -size : 0, i};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = std::get<3>(keys[i]);
  return result;
}

std::vector<int64_t> placeInOrder(const Packing &packing, const std::vector<uint32_t> &order,
                                  Fit fit, const std::function<bool()> &isStopped) {
  struct Placed {
    int64_t low, high; // bytes
    uint32_t first, last;
  };
  struct Forbidden {
    int64_t low, high; // offsets between these share bytes with a placed box
  };
  std::vector<int64_t> offsets(packing.boxes.size(), 0);
  std::vector<Placed> placed; // lowest first
  placed.reserve(packing.parts.size());
  std::vector<Forbidden> forbidden;
  int64_t top = 0;
  bool stopped = false;
  for (size_t step = 1; uint32_t index : order) {
    const Box &box = packing.boxes[index];
    stopped = stopped || (isStopped && step++ % 64 == 0 && isStopped());
    if (stopped && box.pin < 0) {
      offsets[index] = box.stride.atLeast(top);
      top = offsets[index] + box.extent;
      continue;
    }
    // Without branches that nobody could predict.
    forbidden.resize(std::max(forbidden.size(), placed.size() * box.parts.size()));
    size_t count = 0;
    for (uint32_t i = box.parts.first; i < box.parts.last; ++i) {
      Piece part = packing.parts[i];
      for (const Placed &other : placed) {
        forbidden[count] = {other.low - part.high, other.high - part.low};
        count += (part.first < other.last) & (other.first < part.last);
      }
    }
    auto lower = [](const Forbidden &a, const Forbidden &b) { return a.low < b.low; };
    if (box.parts.size() > 1)
      std::sort(forbidden.begin(), forbidden.begin() + count, lower);
    std::span<const Forbidden> ranges(forbidden.data(), count);
    int64_t best = -1, at = box.lowest();
    if (box.pin >= 0) {
      for (Forbidden range : ranges)
        if (range.low < at && at < range.high)
          return {};
    } else {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (Forbidden range : ranges) {
        int64_t slack = range.low - at;
        if (slack >= 0 && slack < least) {
          best = at;
          least = slack;
          if (fit == Fit::First)
            break;
        }
        if (at < range.high)
          at = box.stride.atLeast(range.high);
      }
    }
    offsets[index] = best >= 0 ? best : at;
    top = std::max(top, offsets[index] + box.extent);
    for (uint32_t i = box.parts.first; i < box.parts.last; ++i) {
      const Piece &part = packing.parts[i];
      Placed next{offsets[index] + part.low, offsets[index] + part.high, part.first, part.last};
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), next,
                           [](const Placed &a, const Placed &b) { return a.low < b.low; }),
          next);
    }
  }
  return offsets;
}

} // namespace plim::planner
