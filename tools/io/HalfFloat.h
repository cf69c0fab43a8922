// Conversions of the two 16-bit float types, whose values are held as their bits.
//
// f16 is IEEE 754 binary16; bf16 is the upper half of binary32. To 16 bits they round to nearest,
// ties to even; too large becomes infinity, NaN stays NaN (quiet). From 16 bits they are exact.
// Pure functions; any thread.
#pragma once

#include <cstdint>

namespace plim::tools {

uint16_t halfFromDouble(double value);
double halfToDouble(uint16_t bits);

uint16_t bfloatFromDouble(double value);
double bfloatToDouble(uint16_t bits);

} // namespace plim::tools
