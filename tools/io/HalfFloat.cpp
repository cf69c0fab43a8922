#include "tools/io/HalfFloat.h"

#include <algorithm>
#include <cmath>

namespace plim::tools {
namespace {

/// A binary format with `exponentBits` and `fractionBits` and the usual encodings.
struct Format {
  int exponentBits;
  int fractionBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint16_t infinity() const {
    return static_cast<uint16_t>(((1u << exponentBits) - 1) << fractionBits);
  }
  uint16_t quietNan() const { return static_cast<uint16_t>(infinity() | 1u << (fractionBits - 1)); }
};

constexpr Format half = {5, 10};
constexpr Format bfloat = {8, 7};

uint16_t encode(Format format, double value) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value))
    return sign | format.quietNan();
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | format.infinity();
  if (magnitude == 0)
    return sign;
  // Counting in units of the last place turns rounding into rounding to an integer, and a carry
  // out of the fraction runs into the exponent by itself. Subnormals use the smallest exponent.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  double units = std::nearbyint(std::ldexp(magnitude, format.fractionBits - exponent));
  uint64_t bits = (static_cast<uint64_t>(exponent + format.bias() - 1) << format.fractionBits) +
                  static_cast<uint64_t>(units);
  return sign | static_cast<uint16_t>(bits < format.infinity() ? bits : format.infinity());
}

double decode(Format format, uint16_t bits) {
  bool negative = bits & 0x8000;
  int exponent = (bits & 0x7fff) >> format.fractionBits;
  int fraction = bits & ((1 << format.fractionBits) - 1);
  double magnitude;
  if (exponent == (1 << format.exponentBits) - 1)
    magnitude = fraction ? std::nan("") : HUGE_VAL;
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, 1 - format.bias() - format.fractionBits);
  else
    magnitude = std::ldexp(fraction + (1 << format.fractionBits),
                           exponent - format.bias() - format.fractionBits);
  return negative ? -magnitude : magnitude;
}

} // namespace

uint16_t halfFromDouble(double value) { return encode(half, value); }
double halfToDouble(uint16_t bits) { return decode(half, bits); }
uint16_t bfloatFromDouble(double value) { return encode(bfloat, value); }
double bfloatToDouble(uint16_t bits) { return decode(bfloat, bits); }

} // namespace plim::tools
