#include "tools/io/ValueDifference.h"

#include "tools/io/ElementText.h"
#include "tools/io/SmallFloat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace plim::tools {
namespace {

using runtime::Buffer;
using runtime::ElementType;
using runtime::Scalar;
using runtime::Value;

/// A number in the plane; a real one has no second part.
using Parts = std::array<double, 2>;

struct Elements {
  ElementType type;
  std::span<const int64_t> shape;
  int64_t count;
  const std::byte *data;

  const std::byte *at(int64_t i) const { return data + i * elementBytes(type); }
};

Elements elementsOf(const Value &value) {
  if (const auto *buffer = std::get_if<Buffer>(&value))
    return {buffer->type(), buffer->shape(), buffer->elementCount(),
            static_cast<const std::byte *>(buffer->data())};
  const auto &scalar = std::get<Scalar>(value);
  return {scalar.type, {}, 1, reinterpret_cast<const std::byte *>(&scalar.bits)};
}

template <typename T> T load(const std::byte *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

Parts partsOf(ElementType type, const std::byte *element) {
  switch (type) {
  case ElementType::F32:
    return {load<float>(element), 0};
  case ElementType::F64:
    return {load<double>(element), 0};
  case ElementType::ComplexF32:
    return {load<float>(element), load<float>(element + sizeof(float))};
  case ElementType::ComplexF64:
    return {load<double>(element), load<double>(element + sizeof(double))};
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return {smallFloatToDouble(type, load<uint8_t>(element)), 0};
  default:
    return {smallFloatToDouble(type, load<uint16_t>(element)), 0};
  }
}

/// The integer of the type's bits, with sign but for i1, whose byte is 0 or 1 or a fault.
int64_t integerOf(ElementType type, const std::byte *element) {
  if (type == ElementType::I1)
    return load<uint8_t>(element);
  uint64_t bits = 0; // whose low bytes come first on every machine that generated code runs on
  std::memcpy(&bits, element, static_cast<size_t>(elementBytes(type)));
  const auto unused = static_cast<unsigned>(64 - elementBits(type));
  return static_cast<int64_t>(bits << unused) >> unused;
}

/// What two elements of one type are to each other.
struct Pair {
  bool areDifferent;
  double distance;
};

Pair compareIntegers(ElementType type, const std::byte *a, const std::byte *b) {
  const int64_t left = integerOf(type, a), right = integerOf(type, b);
  const auto above = static_cast<uint64_t>(std::max(left, right));
  const auto below = static_cast<uint64_t>(std::min(left, right));
  return {left != right, static_cast<double>(above - below)};
}

Pair compareFloats(ElementType type, const std::byte *a, const std::byte *b) {
  if (std::memcmp(a, b, static_cast<size_t>(elementBytes(type))) == 0)
    return {false, 0};
  const Parts left = partsOf(type, a), right = partsOf(type, b);
  bool areDifferent = false;
  Parts distance = {};
  for (size_t i = 0; i < left.size(); ++i) {
    const bool isNan = std::isnan(left[i]);
    if (isNan && std::isnan(right[i]))
      continue;
    areDifferent |= left[i] != right[i] || std::signbit(left[i]) != std::signbit(right[i]);
    if (left[i] != right[i])
      distance[i] = std::isfinite(left[i]) && std::isfinite(right[i])
                        ? std::fabs(left[i] - right[i])
                        : std::numeric_limits<double>::infinity();
  }
  return {areDifferent, std::hypot(distance[0], distance[1])};
}

double largestMagnitudeOf(const Elements &elements) {
  double largest = 0;
  for (int64_t i = 0; i < elements.count; ++i)
    for (double part : partsOf(elements.type, elements.at(i)))
      if (std::isfinite(part))
        largest = std::max(largest, std::fabs(part));
  return largest;
}

std::vector<int64_t> indexOf(int64_t position, std::span<const int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dimension = shape.size(); dimension-- > 0; position /= shape[dimension])
    index[dimension] = position % shape[dimension];
  return index;
}

} // namespace

double usualTolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::ComplexF64:
    return 1e-9;
  case ElementType::F32:
  case ElementType::ComplexF32:
    return 1e-3;
  // What the oracle rounds after each step of a sum, the engine rounds once.
  case ElementType::F16:
    return 0.05;
  case ElementType::BF16:
    return 0.25;
  case ElementType::F8E4M3FN: // an element rounded the other way, and once more
    return 0.25;
  case ElementType::F8E5M2:
    return 0.5;
  default:
    return 0;
  }
}

ValueDifference differenceOf(const Value &value, const Value &expected, double tolerance) {
  const Elements is = elementsOf(value), shouldBe = elementsOf(expected);
  ValueDifference difference;
  difference.isComparable = value.index() == expected.index() && is.type == shouldBe.type &&
                            std::ranges::equal(is.shape, shouldBe.shape);
  if (!difference.isComparable)
    return difference;
  difference.elements = is.count;
  const bool areFloats = isFloat(is.type) || isComplex(is.type);
  const double scale =
      areFloats ? std::max(largestMagnitudeOf(is), largestMagnitudeOf(shouldBe)) : 1;
  int64_t furthest = -1;
  for (int64_t i = 0; i < is.count; ++i) {
    const Pair pair = areFloats ? compareFloats(is.type, is.at(i), shouldBe.at(i))
                                : compareIntegers(is.type, is.at(i), shouldBe.at(i));
    if (!pair.areDifferent)
      continue;
    ++difference.different;
    const double off = pair.distance > 0 ? pair.distance / scale : 0;
    difference.wrong += !areFloats || tolerance == 0 || !(off <= tolerance);
    if (furthest < 0 || off > difference.largest) {
      furthest = i;
      difference.largest = off;
    }
  }
  if (furthest < 0)
    return difference;
  difference.index = indexOf(furthest, is.shape);
  printElement(is.type, is.at(furthest), difference.is);
  printElement(is.type, shouldBe.at(furthest), difference.shouldBe);
  return difference;
}

} // namespace plim::tools
