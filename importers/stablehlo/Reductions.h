// What operations have in common whose region combines elements.
#pragma once

#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

struct Reduction {
  Values inputs; // of the types that the region computes with
  Scalars initial;
  std::vector<ElementType> types;
  Emitter::Combine combine;
};

/// Operands and their initial values are the first 2 * `count` inputs of `op`, which must outlive it; what combines elements is
/// its first region, or the function that it names.
Reduction reductionOf(Operator &op, size_t count);

/// How many operands there are where an initial value for each is all that stands behind them.
size_t pairsOf(const Operator &op);

} // namespace plim::importers::stablehlo
