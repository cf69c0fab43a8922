// What the specification says of single elements, where it differs from Builder's arithmetic.
#pragma once

#include "importers/emit/Emitter.h"

namespace plim::importers::stablehlo {

/// Integers with a divisor of 0 give -1, as exporters expect; nothing traps.
Scalar divide(Emitter &e, const Scalar &a, const Scalar &b);
/// With the sign of `a`; integers with a divisor of 0 give `a`.
Scalar remainder(Emitter &e, const Scalar &a, const Scalar &b);
/// Truth values are added by "or" and multiplied by "and".
Scalar plus(Emitter &e, const Scalar &a, const Scalar &b);
Scalar times(Emitter &e, const Scalar &a, const Scalar &b);
Scalar minus(Emitter &e, const Scalar &a, const Scalar &b);
Scalar lesser(Emitter &e, const Scalar &a, const Scalar &b);
Scalar greater(Emitter &e, const Scalar &a, const Scalar &b);
Scalar conjunction(Emitter &e, const Scalar &a, const Scalar &b);
Scalar disjunction(Emitter &e, const Scalar &a, const Scalar &b);
Scalar exclusion(Emitter &e, const Scalar &a, const Scalar &b);
Scalar arcTangent(Emitter &e, const Scalar &a, const Scalar &b);
/// Of integers by squaring; a negative exponent leaves 0 but of 1 and -1.
Scalar power(Emitter &e, const Scalar &a, const Scalar &b);
/// By as many bits as there are, or more, they leave nothing, or the sign.
Scalar shiftLeft(Emitter &e, const Scalar &a, const Scalar &b);
Scalar shiftRightArithmetic(Emitter &e, const Scalar &a, const Scalar &b);
Scalar shiftRightLogical(Emitter &e, const Scalar &a, const Scalar &b);
/// The upper half of a product of twice the width.
Scalar upperHalf(Emitter &e, const Scalar &a, const Scalar &b);
/// By "LT" and "TOTALORDER"; ImportError for another direction.
Scalar compared(Emitter &e, const std::string &direction, const std::string &type, const Scalar &a,
                const Scalar &b);
/// Of floats itself.
Scalar conjugate(Emitter &e, const Scalar &a);
/// Of as many bits, without a sign.
ElementType bitsType(ElementType type);

} // namespace plim::importers::stablehlo
