// Values: scalars and buffers of the host's as the engine has them, and back.
#pragma once

#include "capi/Handle.h"
#include "engine/runtime/Value.h"
#include "engine/session/SmallArray.h"
#include "plimsoll/value.h"

#include <span>

namespace plim::capi {

/// InvalidArgument for what is no element type.
StatusOr<runtime::ElementType> elementType(plim_element_type type);
plim_element_type elementType(runtime::ElementType type);

/// The arguments of a call, borrowed: buffers are not retained.
class Arguments {
public:
  explicit Arguments(size_t count) : values(count) {}
  /// Gives the buffers back to their owner.
  ~Arguments();
  Arguments(const Arguments &) = delete;
  Arguments &operator=(const Arguments &) = delete;

  /// InvalidArgument, with the index, for what is no value. Once, for as many as there are.
  Status read(const plim_value *given, size_t count);
  std::span<const runtime::Value> get() { return {values.data(), held}; }

private:
  SmallArray<runtime::Value, 8> values;
  size_t held = 0;
};

/// The host becomes the owner of what it holds.
plim_value toHost(runtime::Value value);

} // namespace plim::capi
