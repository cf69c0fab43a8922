// How far a value is from the one that it should be, element by element.
//
// Floats are compared by their distance, relative to the largest finite magnitude of both values:
// rounding inside of a sum is as large as its terms, however small the sum is. A complex number is
// as far off as the point in the plane. NaN equals NaN, and infinities equal themselves; all else
// is infinitely far from them. Integers are exact. Values are dense. Pure functions; any thread.
#pragma once

#include "engine/runtime/Value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plim::tools {

/// What rounding of the default numerics does not exceed in practice, in a result of this type
/// whose parts were computed in it; 0 for integers.
double usualTolerance(runtime::ElementType type);

struct ValueDifference {
  bool isComparable = true; // same type and extents; else nothing below is set
  int64_t elements = 0;
  int64_t different = 0; // in their bits; zeros of both signs are, NaNs are not
  int64_t wrong = 0;     // further off than the tolerance
  /// Of the element that is furthest off: of floats relative, of integers in units.
  double largest = 0;
  // That element; empty where none is different.
  std::vector<int64_t> index; // of a scalar empty, too
  std::string is, shouldBe;   // as they print
};

/// Of floats whose distance is larger than `tolerance` of the largest magnitude, or with a
/// tolerance of 0 whose bits are different, and of integers that are different, it says that they
/// are wrong.
ValueDifference differenceOf(const runtime::Value &value, const runtime::Value &expected,
                             double tolerance);

} // namespace plim::tools
