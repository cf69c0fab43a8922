// Linear algebra of stacks of matrices: the last two dimensions.
#pragma once

#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

/// The factor l of x = l l^H, or u of u^H u. Only the triangle that `lower` says is read; the other
/// one of the result is zero.
Value cholesky(Emitter &e, const Value &x, bool lower);

struct Triangle {
  bool left = true; // a x = b, not x a = b
  bool lower = false;
  bool unit = false;                      // the diagonal is taken for ones
  std::string transpose = "NO_TRANSPOSE"; // "TRANSPOSE" or "ADJOINT"
};

Value triangularSolve(Emitter &e, const Value &a, const Value &b, const Triangle &triangle);

/// Lower factors below the diagonal, whose own is ones, and upper ones; and for each row of the
/// upper the one that it was exchanged with, from 0. A column without a pivot is left as it is.
struct Factors {
  Value matrix, pivots;
};
Factors factorised(Emitter &e, const Value &x);

} // namespace plim::importers::stablehlo
