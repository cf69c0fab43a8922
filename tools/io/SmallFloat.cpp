#include "tools/io/SmallFloat.h"

#include <algorithm>
#include <cmath>

namespace plim::tools {
namespace {

using runtime::ElementType;

/// A binary format with `exponentBits` and `fractionBits`.
struct Format {
  int exponentBits;
  int fractionBits;
  bool hasInfinity; // otherwise its bits are numbers, but for the last of them

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  unsigned topExponent() const { return ((1u << exponentBits) - 1) << fractionBits; }
  /// What is not below is no number.
  unsigned firstSpecial() const {
    return hasInfinity ? topExponent() : topExponent() + (1u << fractionBits) - 1;
  }
  unsigned quietNan() const {
    return hasInfinity ? topExponent() | 1u << (fractionBits - 1) : firstSpecial();
  }
  unsigned sign() const { return 1u << (exponentBits + fractionBits); }
};

Format formatOf(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return {4, 3, false};
  case ElementType::F8E5M2:
    return {5, 2, true};
  case ElementType::BF16:
    return {8, 7, true};
  default:
    return {5, 10, true};
  }
}

/// Without the sign.
unsigned encode(Format format, double magnitude) {
  if (std::isnan(magnitude))
    return format.quietNan();
  if (std::isinf(magnitude))
    return format.firstSpecial();
  if (magnitude == 0)
    return 0;
  // Counting in units of the last place turns rounding into rounding to an integer, and a carry
  // out of the fraction runs into the exponent by itself. Subnormals use the smallest exponent.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  double units = std::nearbyint(std::ldexp(magnitude, format.fractionBits - exponent));
  uint64_t bits = (static_cast<uint64_t>(exponent + format.bias() - 1) << format.fractionBits) +
                  static_cast<uint64_t>(units);
  return static_cast<unsigned>(std::min<uint64_t>(bits, format.firstSpecial()));
}

} // namespace

bool isSmallFloat(ElementType type) {
  return runtime::isFloat(type) && runtime::elementBytes(type) <= 2;
}

uint16_t smallFloatFromDouble(ElementType type, double value) {
  Format format = formatOf(type);
  unsigned sign = std::signbit(value) ? format.sign() : 0;
  return static_cast<uint16_t>(sign | encode(format, std::fabs(value)));
}

double smallFloatToDouble(ElementType type, uint16_t bits) {
  Format format = formatOf(type);
  unsigned size = bits & (format.sign() - 1);
  int exponent = static_cast<int>(size >> format.fractionBits);
  int fraction = static_cast<int>(size) & ((1 << format.fractionBits) - 1);
  double magnitude;
  if (size >= format.firstSpecial())
    magnitude = format.hasInfinity && fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, 1 - format.bias() - format.fractionBits);
  else
    magnitude = std::ldexp(fraction + (1 << format.fractionBits),
                           exponent - format.bias() - format.fractionBits);
  return bits & format.sign() ? -magnitude : magnitude;
}

} // namespace plim::tools
