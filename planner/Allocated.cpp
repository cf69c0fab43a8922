#include "planner/Allocated.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace plim::planner {

namespace {

constexpr uint32_t none = ~0u;

/// Memory in segments. The free ones are in lists by size class, eight to a power of two, so that
/// taking and giving back cost a constant: M. Masmano et al., "TLSF: a New Dynamic Memory Allocator
/// for Real-Time Systems", 2004.
class Segments {
public:
  Segments() { heads.fill(none); }

  /// A segment of that many bytes, whose offset is `offsetOf` it.
  uint32_t take(int64_t bytes, Stride stride) {
    // The smallest in a class may be too small, and no offset in a segment may be allowed.
    for (uint32_t c = nonEmpty(classOf(bytes)); c != none; c = nonEmpty(c + 1)) {
      uint32_t i = heads[c];
      int64_t offset = stride.atLeast(segments[i].low);
      if (offset + bytes > segments[i].high)
        continue;
      unlist(i);
      if (segments[i].low < offset)
        list(splitOff(i, offset));
      if (offset + bytes < segments[i].high) {
        uint32_t front = splitOff(i, offset + bytes);
        list(i);
        return front;
      }
      return i;
    }
    int64_t top = last == none ? 0 : segments[last].high, offset = stride.atLeast(top);
    if (top < offset)
      list(append(top, offset));
    return append(offset, offset + bytes);
  }

  void giveBack(uint32_t i) {
    for (uint32_t neighbour : {segments[i].before, segments[i].after}) {
      if (neighbour == none || !segments[neighbour].isFree)
        continue;
      unlist(neighbour);
      segments[i].low = std::min(segments[i].low, segments[neighbour].low);
      segments[i].high = std::max(segments[i].high, segments[neighbour].high);
      unlink(neighbour);
    }
    if (i == last)
      unlink(i);
    else
      list(i);
  }

  int64_t offsetOf(uint32_t i) const { return segments[i].low; }

private:
  struct Segment {
    int64_t low = 0, high = 0;
    uint32_t before = none, after = none;          // by offset
    uint32_t previousFree = none, nextFree = none; // of its class
    bool isFree = false;
  };

  static uint32_t classOf(int64_t bytes) {
    if (bytes < 8)
      return uint32_t(bytes);
    uint32_t power = uint32_t(std::bit_width(uint64_t(bytes))) - 1;
    return (power - 2) * 8 + uint32_t(bytes >> (power - 3)) % 8;
  }

  uint32_t nonEmpty(uint32_t from) const {
    for (uint32_t word = from / 64; word < filled.size(); ++word) {
      uint64_t bits = filled[word];
      if (word == from / 64)
        bits &= ~uint64_t(0) << from % 64;
      if (bits)
        return word * 64 + uint32_t(std::countr_zero(bits));
    }
    return none;
  }

  uint32_t create(Segment segment) {
    if (unused.empty()) {
      segments.push_back(segment);
      return uint32_t(segments.size()) - 1;
    }
    uint32_t i = unused.back();
    unused.pop_back();
    segments[i] = segment;
    return i;
  }
  uint32_t append(int64_t low, int64_t high) {
    uint32_t i = create({low, high, last});
    if (last != none)
      segments[last].after = i;
    return last = i;
  }
  /// What is below `at` of the segment, which keeps the rest.
  uint32_t splitOff(uint32_t i, int64_t at) {
    uint32_t front = create({segments[i].low, at, segments[i].before, i});
    if (segments[i].before != none)
      segments[segments[i].before].after = front;
    segments[i].before = front;
    segments[i].low = at;
    return front;
  }
  void unlink(uint32_t i) {
    auto [before, after] = std::pair(segments[i].before, segments[i].after);
    if (before != none)
      segments[before].after = after;
    if (after != none)
      segments[after].before = before;
    if (i == last)
      last = before;
    unused.push_back(i);
  }

  void list(uint32_t i) {
    uint32_t c = classOf(segments[i].high - segments[i].low);
    segments[i].isFree = true;
    segments[i].previousFree = none;
    segments[i].nextFree = heads[c];
    if (heads[c] != none)
      segments[heads[c]].previousFree = i;
    heads[c] = i;
    filled[c / 64] |= uint64_t(1) << c % 64;
  }
  void unlist(uint32_t i) {
    uint32_t c = classOf(segments[i].high - segments[i].low);
    auto [previous, next] = std::pair(segments[i].previousFree, segments[i].nextFree);
    segments[i].isFree = false;
    if (next != none)
      segments[next].previousFree = previous;
    if (previous != none)
      segments[previous].nextFree = next;
    else
      heads[c] = next;
    if (heads[c] == none)
      filled[c / 64] &= ~(uint64_t(1) << c % 64);
  }

  std::vector<Segment> segments;
  std::vector<uint32_t> unused; // indices
  uint32_t last = none;         // the highest; never free
  std::array<uint32_t, 512> heads;
  std::array<uint64_t, 8> filled = {}; // classes that have a segment, a bit each
};

} // namespace

bool areRectangles(const Packing &packing) {
  return std::all_of(packing.boxes.begin(), packing.boxes.end(), [&](const Box &box) {
    return box.pin < 0 && (box.parts.size() == 0 ||
                           (box.parts.size() == 1 && packing.parts[box.parts.first].low == 0));
  });
}

std::vector<int64_t> placeAsAllocated(const Packing &packing) {
  if (!areRectangles(packing))
    return {};
  // The boxes that begin in a section and those that end before it.
  std::vector<uint32_t> firstStart(packing.numSections + 2, 0), firstEnd(firstStart);
  for (const Piece &part : packing.parts) {
    ++firstStart[part.first + 1];
    ++firstEnd[part.last + 1];
  }
  std::partial_sum(firstStart.begin(), firstStart.end(), firstStart.begin());
  std::partial_sum(firstEnd.begin(), firstEnd.end(), firstEnd.begin());
  std::vector<uint32_t> starts(packing.parts.size()), ends(packing.parts.size());
  std::vector<uint32_t> startAt = firstStart, endAt = firstEnd;
  std::vector<int64_t> offsets(packing.boxes.size());
  for (uint32_t i = 0; i < packing.boxes.size(); ++i) {
    offsets[i] = packing.boxes[i].lowest();
    if (packing.boxes[i].parts.size() == 0)
      continue;
    const Piece &part = packing.parts[packing.boxes[i].parts.first];
    starts[startAt[part.first]++] = i;
    ends[endAt[part.last]++] = i;
  }
  Segments memory;
  std::vector<uint32_t> segmentOf(packing.boxes.size());
  for (uint32_t s = 0; s < packing.numSections; ++s) {
    for (uint32_t k = firstEnd[s]; k < firstEnd[s + 1]; ++k)
      memory.giveBack(segmentOf[ends[k]]);
    for (uint32_t k = firstStart[s]; k < firstStart[s + 1]; ++k) {
      uint32_t i = starts[k];
      segmentOf[i] = memory.take(packing.boxes[i].extent, packing.boxes[i].stride);
      offsets[i] = memory.offsetOf(segmentOf[i]);
    }
  }
  return offsets;
}

} // namespace plim::planner
