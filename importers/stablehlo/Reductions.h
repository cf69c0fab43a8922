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

/// Operands and their initial values are the inputs of `op`, which must outlive it; the region is its first.
Reduction reductionOf(Operator &op);

} // namespace plim::importers::stablehlo
