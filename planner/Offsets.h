// Arithmetic of offsets: sums that do not overflow, and the offsets that alignments allow. Internal
// to planner/. Pure functions.
#pragma once

#include <cstdint>

namespace plim::planner {

/// Offsets stay below this, so that sums of two never overflow.
constexpr int64_t offsetLimit = int64_t(1) << 62;

/// The sum, or offsetLimit if that is less. Neither argument may be negative.
int64_t saturatedAdd(int64_t a, int64_t b);

/// The offsets that an item may have in a pool: residue + k * modulus.
struct Stride {
  int64_t modulus = 1, residue = 0;
  /// The least allowed offset that is not below `offset`, which is not negative.
  int64_t atLeast(int64_t offset) const {
    if (modulus == 1)
      return offset;
    int64_t step = residue - offset % modulus;
    return offset + (step < 0 ? step + modulus : step);
  }
  bool holds(int64_t offset) const { return offset % modulus == residue; }
};

/// Makes `stride` the offsets that both hold, by the Chinese remainder theorem. False if there are
/// none, or none below offsetLimit; then `stride` is one of the two.
bool intersect(Stride &stride, Stride other);

/// `value` modulo `modulus`, never negative.
int64_t remainder(int64_t value, int64_t modulus);

} // namespace plim::planner
