// Inverses of the trigonometric and hyperbolic functions, of floats and of complex numbers, as arithmetic of single
// elements. Their branches are those of C99, and so of NumPy. Formulas and their sources stand in Inverses.cpp.
#pragma once

#include "importers/emit/Emitter.h"

namespace plim::importers::stablehlo {

Scalar arcSine(Emitter &e, const Scalar &z);
Scalar arcCosine(Emitter &e, const Scalar &z);
Scalar inverseTangent(Emitter &e, const Scalar &z);
Scalar arcHyperbolicSine(Emitter &e, const Scalar &z);
Scalar arcHyperbolicCosine(Emitter &e, const Scalar &z);
Scalar arcHyperbolicTangent(Emitter &e, const Scalar &z);
/// What the arcs of a sine and a cosine have in common, as chlo says it.
Scalar arcKernel(Emitter &e, const Scalar &z);

} // namespace plim::importers::stablehlo
