// Operations that apply a function to each element: makes an OperationFunction of a function of
// Scalars.
//
//   {"chlo.asin", {unary<mathOf<asinName>>, 1, 1}}
//
// Inputs of `binary` must have one type and one shape, else ImportError.
#pragma once

#include "importers/stablehlo/Operator.h"
#include "importers/stablehlo/Scalars.h"

namespace plim::importers::stablehlo {

using OfOne = Scalar (*)(Emitter &, const Scalar &);
using OfTwo = Scalar (*)(Emitter &, const Scalar &, const Scalar &);

template <OfOne Function> void unary(Operator &op) {
  const Value &x = op.input(0);
  op.give(elementwise(op.emit, x.type, {x},
                      [&](const Scalars &in) { return Function(op.emit, in[0]); }));
}

template <OfTwo Function> void binary(Operator &op) {
  const Value &x = op.input(0), &y = op.input(1);
  checkSameType(x, y);
  checkSameShape(x, y);
  op.give(elementwise(op.emit, x.type, {x, y},
                      [&](const Scalars &in) { return Function(op.emit, in[0], in[1]); }));
}

/// A function of the dialect math, by a name that is constant.
template <const char *const &Name> Scalar mathOf(Emitter &e, const Scalar &x) {
  return e.math(Name, {x});
}

} // namespace plim::importers::stablehlo
