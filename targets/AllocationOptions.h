// What a host says of allocations, as text: a policy, and stack limits. The one place that knows their
// names and what they may be; engines, the compiler and the dialect ask it.
//
// Must not know what follows from them (docs/design/placement.md).
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace plim::targets {

/// InvalidArgument unless it is auto, stack, workspace, heap or fixed:N, N a number of bytes.
Status checkPolicy(std::string_view policy);

/// Bytes, or a yes or no.
using LimitValue = std::variant<int64_t, bool>;

/// InvalidArgument for a name that is none, or a value that this limit cannot have.
Status checkLimit(std::string_view name, const LimitValue &value);

struct Limit {
  std::string name;
  LimitValue value;
};

/// Reads `name=value`, and checks it.
StatusOr<Limit> parseLimit(std::string_view text);

} // namespace plim::targets
