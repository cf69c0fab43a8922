// Conversions of the float types of 8 and 16 bits, whose values are held as their bits.
//
// f16 and f8E5M2 are formats as IEEE 754 has them; bf16 is the upper half of binary32; f8E4M3FN has no infinity and
// one NaN of each sign. To them numbers are rounded to nearest, ties to even; too large becomes infinity, or NaN
// where there is none; NaN stays NaN (quiet). From them conversions are exact. Pure functions; any thread.
#pragma once

#include "engine/runtime/ElementType.h"

#include <cstdint>

namespace plim::tools {

/// True for f8E4M3FN, f8E5M2, f16 and bf16, which the others take.
bool isSmallFloat(runtime::ElementType type);

/// The bits of the number nearest to `value`.
uint16_t smallFloatFromDouble(runtime::ElementType type, double value);
double smallFloatToDouble(runtime::ElementType type, uint16_t bits);

} // namespace plim::tools
