// Functions of floats that the dialect math has not, as arithmetic of single elements. Formulas and
// their sources stand in Special.cpp.
#pragma once

#include "importers/emit/Emitter.h"

namespace plim::importers::stablehlo {

Scalar erfInverse(Emitter &e, const Scalar &x);
Scalar logGamma(Emitter &e, const Scalar &x);
Scalar digamma(Emitter &e, const Scalar &x);
/// Hurwitz's zeta function: the sum of (q + k) to the power of -x over k from 0. Of doubles.
Scalar zeta(Emitter &e, const Scalar &x, const Scalar &q);
/// The n-th derivative of digamma. Of doubles.
Scalar polygamma(Emitter &e, const Scalar &n, const Scalar &x);
/// exp(-|x|) times the modified Bessel function I of order 1. Of doubles.
Scalar besselI1e(Emitter &e, const Scalar &x);
/// The float beside `x` on the way to `y`.
Scalar nextAfter(Emitter &e, const Scalar &x, const Scalar &y);

} // namespace plim::importers::stablehlo
