#include "bench/policies/Rounding.h"

#include "tools/io/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace plim::bench {

using runtime::Buffer;
using runtime::ElementType;
using runtime::Scalar;
using runtime::Value;

namespace {

ElementType partOf(ElementType type) {
  return type == ElementType::ComplexF32   ? ElementType::F32
         : type == ElementType::ComplexF64 ? ElementType::F64
                                           : type;
}

template <typename T> T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double read(ElementType type, const std::byte *at) {
  if (type == ElementType::F32)
    return load<float>(at);
  if (type == ElementType::F64)
    return load<double>(at);
  // The low bytes come first on every machine that generated code runs on.
  uint64_t bits = 0;
  const auto bytes = static_cast<size_t>(elementBytes(type));
  std::memcpy(&bits, at, bytes);
  if (tools::isSmallFloat(type))
    return tools::smallFloatToDouble(type, static_cast<uint16_t>(bits));
  const auto unused = static_cast<unsigned>(64 - elementBits(type));
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

void write(ElementType type, double value, std::byte *at) {
  if (type == ElementType::F64) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == ElementType::F32) {
    const auto rounded = static_cast<float>(value);
    std::memcpy(at, &rounded, sizeof rounded);
  } else {
    const uint16_t bits = tools::smallFloatFromDouble(type, value);
    std::memcpy(at, &bits, static_cast<size_t>(elementBytes(type)));
  }
}

/// The numbers of a value; a complex one is two.
struct Numbers {
  ElementType type;
  const std::byte *data;
  int64_t count;
  int64_t perElement = 1;
};

Numbers numbersOf(const Value &value) {
  if (const auto *scalar = std::get_if<Scalar>(&value))
    return {scalar->type, reinterpret_cast<const std::byte *>(&scalar->bits), 1};
  const auto &buffer = std::get<Buffer>(value);
  const ElementType part = partOf(buffer.type());
  const int64_t perElement = elementBytes(buffer.type()) / elementBytes(part);
  return {part, static_cast<const std::byte *>(buffer.data()), buffer.elementCount() * perElement,
          perElement};
}

bool haveSameType(const Value &a, const Value &b) {
  const auto *left = std::get_if<Buffer>(&a), *right = std::get_if<Buffer>(&b);
  if (!left || !right)
    return !left && !right && std::get<Scalar>(a).type == std::get<Scalar>(b).type;
  return left->type() == right->type() && std::ranges::equal(left->shape(), right->shape());
}

} // namespace

Status shake(std::vector<Value> &values, double relative) {
  std::mt19937_64 random(1);
  for (Value &value : values) {
    const Numbers numbers = numbersOf(value);
    if (!isFloat(numbers.type))
      continue;
    auto *buffer = std::get_if<Buffer>(&value);
    if (buffer && !buffer->isDense())
      return invalidArgumentError("an argument is not dense");
    auto *data = buffer ? static_cast<std::byte *>(buffer->mutableData())
                        : reinterpret_cast<std::byte *>(&std::get<Scalar>(value).bits);
    for (int64_t i = 0; i < numbers.count; ++i) {
      std::byte *at = data + i * elementBytes(numbers.type);
      const double sign = random() % 2 == 0 ? 1 : -1;
      write(numbers.type, read(numbers.type, at) * (1 + sign * relative), at);
    }
  }
  return okStatus();
}

StatusOr<Distance> distanceOf(const Value &have, const Value &want) {
  if (!haveSameType(have, want))
    return invalidArgumentError("the types differ");
  for (const Value *value : {&have, &want})
    if (const auto *buffer = std::get_if<Buffer>(value); buffer && !buffer->isDense())
      return invalidArgumentError("not dense");
  const Numbers a = numbersOf(have), b = numbersOf(want);
  const auto bytes = elementBytes(a.type);
  Distance distance;
  distance.isOfIntegers = !isFloat(a.type);
  for (int64_t i = 0; i < a.count; ++i) {
    const std::byte *left = a.data + i * bytes, *right = b.data + i * bytes;
    const double x = read(a.type, left), y = read(b.type, right);
    if (std::isfinite(y))
      distance.magnitude = std::max(distance.magnitude, std::fabs(y));
    // Zeros of both signs are one number, NaNs are one; of large integers only the bits tell.
    const bool isSame = isFloat(a.type) ? x == y || (std::isnan(x) && std::isnan(y))
                                        : std::memcmp(left, right, static_cast<size_t>(bytes)) == 0;
    if (isSame)
      continue;
    double apart = std::fabs(x - y);
    if (!std::isfinite(apart))
      apart = std::numeric_limits<double>::infinity();
    else if (!isFloat(a.type))
      apart = std::max(apart, 1.0);
    if (apart > distance.most) {
      distance.most = apart;
      distance.element = i / a.perElement;
      distance.have = x;
      distance.want = y;
    }
  }
  return distance;
}

} // namespace plim::bench
