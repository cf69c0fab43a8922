// Checked arithmetic on sizes: what every byte count, extent and offset is computed with.
//
// Shapes come from outside, so a product of extents may exceed 64 bits; a wrapped size is a heap
// overflow later on. These functions give no value instead of a wrapped one. Header only, standard
// library only, no state: any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

namespace plim {

/// The types that sizes are held in.
template <typename T>
concept SizeInteger = std::same_as<T, int64_t> || std::same_as<T, uint64_t>;

/// a + b, or nothing when it does not fit.
template <SizeInteger T> constexpr std::optional<T> checkedAdd(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum))
    return std::nullopt;
  return sum;
}

/// a - b, or nothing when it does not fit.
template <SizeInteger T> constexpr std::optional<T> checkedSub(T a, T b) {
  T difference{};
  if (__builtin_sub_overflow(a, b, &difference))
    return std::nullopt;
  return difference;
}

/// a * b, or nothing when it does not fit.
template <SizeInteger T> constexpr std::optional<T> checkedMul(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

/// The smallest multiple of `alignment` that is not below `value`, or nothing when it does not fit,
/// when `alignment` is no power of two, or when `value` is negative.
template <SizeInteger T> constexpr std::optional<T> checkedAlignUp(T value, T alignment) {
  if (alignment <= 0 || (alignment & (alignment - 1)) != 0)
    return std::nullopt;
  if constexpr (std::same_as<T, int64_t>)
    if (value < 0)
      return std::nullopt;
  std::optional<T> bumped = checkedAdd<T>(value, alignment - 1);
  if (!bumped)
    return std::nullopt;
  return *bumped & ~(alignment - 1);
}

/// sizes[0] * ... * sizes[n-1] * unit: the elements (unit 1) or bytes (unit: bytes of an element)
/// of a dense tensor; 1 * unit for rank 0. Nothing when a size or `unit` is negative or the product
/// does not fit; a shape with an extent of zero has product zero however large the others are.
constexpr std::optional<int64_t> checkedProduct(std::span<const int64_t> sizes, int64_t unit = 1) {
  bool isEmpty = unit == 0;
  bool isNegative = unit < 0;
  for (int64_t size : sizes) {
    isEmpty |= size == 0;
    isNegative |= size < 0;
  }
  if (isNegative)
    return std::nullopt;
  if (isEmpty)
    return 0;
  int64_t product = unit;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}

} // namespace plim
