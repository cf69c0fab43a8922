// Values: arguments and results of calls (value.h).
#pragma once

#include "plimsoll/buffer.hpp"
#include "plimsoll/value.h"

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace plimsoll {

/// A result: nothing, a scalar or a buffer, which it owns. It can be moved, not copied. What was
/// moved from by a constructor is nothing; an assignment swaps the two.
class Value {
public:
  Value() = default;
  /// Takes over the buffer that `value` holds.
  explicit Value(const plim_value &value) : held(value) {}
  Value(Value &&other) noexcept : held(std::exchange(other.held, {})) {}
  Value &operator=(Value &&other) noexcept {
    std::swap(held, other.held);
    return *this;
  }
  ~Value() { plim_value_release(&held); }

  /// For functions of the C interface: borrowed.
  const plim_value &get() const { return held; }
  bool isBuffer() const { return held.kind == PLIM_BUFFER; }
  /// The buffer, an owner of which this then is no more: it is nothing afterwards. Empty if there
  /// is no buffer.
  Buffer takeBuffer() { return Buffer(isBuffer() ? std::exchange(held, {}).as.buffer : nullptr); }
  /// The scalar, if it is of that type.
  template <typename T> std::optional<T> scalar() const {
    if (held.kind != PLIM_SCALAR)
      return std::nullopt;
    if constexpr (std::is_same_v<T, Index>) {
      return held.element == PLIM_INDEX ? std::optional(Index{held.as.i64}) : std::nullopt;
    } else {
      if (held.element != elementTypeOf<T>())
        return std::nullopt;
      if constexpr (std::is_same_v<T, float>)
        return held.as.f32;
      else if constexpr (std::is_same_v<T, double>)
        return held.as.f64;
      else
        return static_cast<T>(held.as.bits);
    }
  }

private:
  plim_value held{};
};

/// An argument of a call: a number, an Index, a Buffer, or a range of numbers in one piece, which
/// is a tensor or memref of rank 1 where it lies. Converts from all of them. It borrows: a Buffer
/// must live as long as the Argument, the memory of a range until the call has ended.
class Argument {
public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  Argument(T number) {
    if constexpr (std::is_same_v<T, float>)
      value = plim_value_f32(number);
    else if constexpr (std::is_same_v<T, double>)
      value = plim_value_f64(number);
    else
      value = plim_value_bits(elementTypeOf<T>(), static_cast<uint64_t>(number));
  }
  Argument(Index index) : value(plim_value_index(index.value)) {}
  Argument(const Buffer &buffer) : value(plim_value_buffer(buffer.get())) {}
  template <typename RangeT>
    requires std::ranges::contiguous_range<RangeT> && std::ranges::sized_range<RangeT> &&
             (std::is_arithmetic_v<std::ranges::range_value_t<RangeT>> ||
              ComplexElement<std::ranges::range_value_t<RangeT>>)
  Argument(RangeT &&range) {
    Result<Buffer> wrapped =
        Buffer::wrap(std::span(std::ranges::data(range), std::ranges::size(range)));
    // What cannot be wrapped is an empty buffer, which the call refuses with the number of the
    // argument.
    if (wrapped)
      owned = *std::move(wrapped);
    value = plim_value_buffer(owned.get());
  }
  Argument(const plim_value &value) : value(value) {}

  const plim_value &get() const { return value; }

private:
  plim_value value;
  Buffer owned;
};

} // namespace plimsoll
