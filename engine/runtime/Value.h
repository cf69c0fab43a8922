// Value: one argument or result of a function as the host sees it: a scalar or a buffer.
//
// A plain value; copies of a buffer share its elements.
#pragma once

#include "engine/runtime/Buffer.h"
#include "engine/runtime/ElementType.h"

#include <cstdint>
#include <variant>

namespace plim::runtime {

struct Scalar {
  ElementType type = ElementType::I64;
  /// The element as it lies in memory, in the low elementBytes(type) bytes; the rest is zero. Its
  /// address may be passed as plim_view::data on a little-endian machine.
  uint64_t bits = 0;

  bool operator==(const Scalar &) const = default;
};

using Value = std::variant<Scalar, Buffer>;

} // namespace plim::runtime
