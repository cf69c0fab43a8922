// Floats of 16 bits, read as doubles: for constants of models. Exact; pure functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace plim::importers {

/// Of IEEE 754's binary16, subnormal numbers among it. Every NaN becomes a quiet one.
inline double fromHalf(uint16_t bits) {
  const double sign = bits >> 15 ? -1.0 : 1.0;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// Of bfloat16, which is the upper half of a float.
inline double fromBrainFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

} // namespace plim::importers
