#include "engine/session/Overlap.h"

#include "engine/session/SmallArray.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace plim::session {

using runtime::Buffer;
using runtime::Value;

namespace {

/// A search for two elements, one of each buffer, that share a byte: for indices with strides of which
/// those of `a` less those of `b` add up to the distance between both buffers, in bytes. One dimension
/// after the other, the longest stride first: where the rest is shorter than a stride, as in a matrix,
/// that leaves a few indices to try.
class Search {
public:
  Search(const Buffer &a, const Buffer &b) : dimensions(a.shape().size() + b.shape().size()) {
    // With an index of `a` the distance grows by its stride, with one of `b` it shrinks.
    add(a, 1);
    add(b, -1);
    std::sort(dimensions.data(), dimensions.data() + count,
              [](const Dimension &x, const Dimension &y) { return x.stride > y.stride; });
    // One index for all dimensions with the same stride.
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      Dimension &last = dimensions[kept - (kept > 0)];
      if (kept > 0 && last.stride == dimensions[i].stride) {
        last.from += dimensions[i].from;
        last.to += dimensions[i].to;
      } else {
        dimensions[kept++] = dimensions[i];
      }
    }
    count = kept;
    // What the dimensions behind each can still add.
    int64_t least = 0, most = 0, divisor = 0;
    for (size_t i = count; i-- > 0;) {
      Dimension &dimension = dimensions[i];
      dimension.restLeast = least;
      dimension.restMost = most;
      least += dimension.from * dimension.stride;
      most += dimension.to * dimension.stride;
      divisor = std::gcd(divisor, dimension.stride);
      dimension.divisor = divisor;
    }
  }

  /// Is some distance at least `low` and at most `high`? True, too, where that takes too long.
  bool finds(int64_t low, int64_t high, size_t depth = 0) {
    if (depth == count)
      return low <= 0 && high >= 0;
    if (tries++ == maxTries)
      return true;
    const Dimension &dimension = dimensions[depth];
    // Only multiples of the divisor are ever reached.
    if (floorDivide(high, dimension.divisor) < ceilDivide(low, dimension.divisor))
      return false;
    int64_t first =
        std::max(ceilDivide(low - dimension.restMost, dimension.stride), dimension.from);
    int64_t last =
        std::min(floorDivide(high - dimension.restLeast, dimension.stride), dimension.to);
    for (int64_t index = first; index <= last; ++index)
      if (finds(low - index * dimension.stride, high - index * dimension.stride, depth + 1))
        return true;
    return false;
  }

private:
  /// Two views of a matrix, of rank 4 at most, are decided in less.
  static constexpr int maxTries = 256;

  struct Dimension {
    int64_t stride; // bytes, positive
    int64_t from, to;
    int64_t restLeast, restMost; // of all behind this one, bytes
    int64_t divisor;             // of all strides from here on
  };

  void add(const Buffer &buffer, int64_t sign) {
    for (size_t i = 0; i < buffer.shape().size(); ++i) {
      int64_t last = buffer.shape()[i] - 1;
      int64_t stride = buffer.strides()[i] * elementBytes(buffer.type()) * sign;
      if (last == 0 || stride == 0)
        continue;
      dimensions[count++] =
          stride > 0 ? Dimension{stride, 0, last, 0, 0, 0} : Dimension{-stride, -last, 0, 0, 0, 0};
    }
  }

  static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }
  static int64_t ceilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0); }

  SmallArray<Dimension, 16> dimensions;
  size_t count = 0;
  int tries = 0;
};

} // namespace

Interval intervalOf(const Buffer &buffer) {
  auto first = reinterpret_cast<uintptr_t>(buffer.data());
  if (buffer.isDense())
    return {first, first + buffer.bytes()};
  int64_t each = elementBytes(buffer.type()), before = 0, after = each;
  for (size_t i = 0; i < buffer.shape().size(); ++i) {
    int64_t reach = (buffer.shape()[i] - 1) * buffer.strides()[i] * each;
    (reach < 0 ? before : after) += reach;
  }
  return {first + static_cast<uintptr_t>(before), first + static_cast<uintptr_t>(after)};
}

bool overlap(const Buffer &a, const Buffer &b) {
  Interval ofA = intervalOf(a), ofB = intervalOf(b);
  if (!ofA.meets(ofB))
    return false;
  constexpr uintptr_t most = uintptr_t(1) << 60; // leaves room to add distances up
  if ((a.isDense() && b.isDense()) || ofA.end - ofA.begin > most || ofB.end - ofB.begin > most)
    return true;
  // An element of `b` begins less than its size before one of `a`, or less than a's size behind it.
  auto apart = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.data()) -
                                    reinterpret_cast<uintptr_t>(a.data()));
  int64_t low = apart - elementBytes(a.type()) + 1, high = apart + elementBytes(b.type()) - 1;
  return Search(a, b).finds(low, high);
}

bool areApart(std::span<const Value> values, std::span<const jit::ValueType> types) {
  SmallArray<uintptr_t, 16> begins(values.size()), ends(values.size());
  size_t count = 0;
  unsigned meets = 0;
  uintptr_t lowest = UINTPTR_MAX, highest = 0; // of all so far
  for (const Value &value : values) {
    const auto *buffer = std::get_if<Buffer>(&value);
    if (!buffer || buffer->elementCount() == 0)
      continue;
    Interval interval = intervalOf(*buffer);
    // Memory that was allocated in order is told apart by this alone. Otherwise without a branch for
    // each pair: nearly always none meets.
    if (interval.begin < highest && lowest < interval.end)
      for (size_t i = 0; i < count; ++i)
        meets |= unsigned(begins[i] < interval.end) & unsigned(interval.begin < ends[i]);
    lowest = std::min(lowest, interval.begin);
    highest = std::max(highest, interval.end);
    begins[count] = interval.begin;
    ends[count++] = interval.end;
  }
  if (meets == 0) [[likely]]
    return true;
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (types[i].access == jit::Access::ReadOnly && types[j].access == jit::Access::ReadOnly)
        continue;
      const auto *a = std::get_if<Buffer>(&values[i]), *b = std::get_if<Buffer>(&values[j]);
      if (a && b && overlap(*a, *b))
        return false;
    }
  return true;
}

} // namespace plim::session
