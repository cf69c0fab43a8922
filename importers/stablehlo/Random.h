// Random bits as functions of a key and a counter: J. K. Salmon et al., "Parallel Random Numbers:
// As Easy as 1, 2, 3", 2011.
#pragma once

#include "importers/stablehlo/Operator.h"

#include <array>

namespace plim::importers::stablehlo {

using ScalarPair = std::array<Scalar, 2>;

/// Threefry-2x32 with 20 rounds; all words are U32.
ScalarPair threefry(Emitter &e, const ScalarPair &key, const ScalarPair &counter);

} // namespace plim::importers::stablehlo
