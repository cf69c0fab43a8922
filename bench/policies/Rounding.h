// Rounding: how far from the oracle's a result may be that was computed in another order.
//
// A sum of n terms that are rounded independently is off by about sqrt(n) u, u being half of the type's precision (N. J.
// Higham and T. Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41(5), 2019); and an
// algorithm whose steps are off by so much returns the exact result of inputs that are off by so much. What inputs that
// are off by so much do to a result the function itself tells best: it is called with them, too.
//
// Any thread.
#pragma once

#include "engine/runtime/Value.h"
#include "support/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace plim::bench {

/// By which part of themselves numbers may be off after all operations of a module, which must compile. `extent`
/// stands for the extents and numbers of iterations that the source leaves open.
StatusOr<double> relativeRounding(std::string_view source, std::string_view name, int64_t extent);

/// Moves every floating-point number by that part of itself, up or down.
Status shake(std::vector<runtime::Value> &values, double relative);

/// How far two values are from each other where they are farthest.
struct Distance {
  double most = 0;     // infinite where one is a NaN or an infinity, and the other is not
  int64_t element = 0; // where, in row-major order
  double have = 0, want = 0;
  bool isOfIntegers = false;
  double magnitude = 0; // of the largest finite number wanted
};

/// InvalidArgument for values of different types or shapes.
StatusOr<Distance> distanceOf(const runtime::Value &have, const runtime::Value &want);

} // namespace plim::bench
