// Checked arithmetic on sizes: what every byte count, extent and offset is computed with.
//
// Shapes come from outside, so a product of extents may exceed 64 bits; a wrapped size is a heap
// overflow later on. These functions give no value instead of a wrapped one. Header only, standard
// library only, no state: any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

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

/// a * b, or nothing when it does not fit.
template <SizeInteger T> constexpr std::optional<T> checkedMul(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

} // namespace plim
