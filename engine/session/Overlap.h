// Do buffers have memory in common? Asked when a call binds its arguments.
//
// First by the intervals of addresses from the first byte of a buffer to its last: most buffers are
// decided by that. Views with strides may share an interval and no byte, as the even and the odd columns
// of a matrix do: these are searched for a byte in common.
//
// Pure functions of what a buffer says of itself; nothing is allocated. Any thread.
#pragma once

#include "engine/runtime/Value.h"
#include "jit/Artifact.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plim::session {

/// Addresses from `begin` up to `end`; none if they are equal.
struct Interval {
  uintptr_t begin = 0, end = 0;

  bool meets(const Interval &other) const {
    return begin < other.end && other.begin < end && begin != end && other.begin != other.end;
  }
};

/// From the first byte of an element to the last.
Interval intervalOf(const runtime::Buffer &buffer);

/// Has an element of `a` a byte in common with one of `b`? Exact, except that true may be the answer
/// for strides among which the search would not end soon.
bool overlap(const runtime::Buffer &a, const runtime::Buffer &b);

/// Have no two of the buffers among `values` a byte in common? Scalars are of no account, and neither are
/// two that are only read by their `types`, one for each value.
bool areApart(std::span<const runtime::Value> values, std::span<const jit::ValueType> types);

} // namespace plim::session
