// What is computed with offsets: sums that do not overflow, and the offsets that alignments allow. Internal to planner/.
#pragma once

#include <cstdint>

namespace plim::planner {

/// Offsets stay below this, so that sums of two never overflow.
constexpr int64_t offsetLimit = int64_t(1) << 62;

/// offsetLimit where the sum is larger.
int64_t saturatedAdd(int64_t a, int64_t b);

/// The offsets that an item may have in a pool: residue + k * modulus.
struct Stride {
  int64_t modulus = 1, residue = 0;
  /// The least one that is not below `offset`, which is not negative.
  int64_t atLeast(int64_t offset) const {
    if (modulus == 1)
      return offset;
    int64_t step = residue - offset % modulus;
    return offset + (step < 0 ? step + modulus : step);
  }
  bool holds(int64_t offset) const { return offset % modulus == residue; }
};

/// Makes of `stride` what both hold; false if there is nothing, or nothing below the limit.
bool intersect(Stride &stride, Stride other);

/// `value` modulo `modulus`, never negative.
int64_t remainder(int64_t value, int64_t modulus);

} // namespace plim::planner
