// What a host says of allocations and sources, as text: a policy, and limits. The one place that knows their
// names and what they may be; engines, the compiler and the dialect ask it.
//
// Must not know what follows from them (docs/design/placement.md, docs/design/isolation.md).
#pragma once

#include "support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace plim::targets {

/// InvalidArgument unless it is auto, stack, workspace, heap or fixed:N, N a number of bytes.
Status checkPolicy(std::string_view policy);

/// Bytes, or a yes or no.
using LimitValue = std::variant<int64_t, bool>;

/// InvalidArgument for a name that is no stack limit, or a value that this one cannot have. Sources may set them too.
Status checkStackLimit(std::string_view name, const LimitValue &value);

/// How much a source may hold: one with more is refused before it is lowered. Hosts alone set these.
struct SourceLimits {
  int64_t textBytes = int64_t(1) << 30; // max_text_bytes; bytecode has none
  int64_t operations = 1'000'000;       // max_operations
  int64_t rank = 64;                    // max_rank, of tensors, memrefs and vectors
  int64_t vectorElements = 16384;       // max_vector_elements, of one vector
  /// max_constant_bytes, of all constants: once written out, equal ones counted once.
  int64_t constantBytes = int64_t(4) << 30;
};

struct Limit {
  std::string name;
  LimitValue value;
};

/// Reads `name=value`, of either kind, and checks it.
StatusOr<Limit> parseLimit(std::string_view text);

/// The stack limits of `name=value` texts, in their order.
StatusOr<std::vector<Limit>> stackLimitsOf(std::span<const std::string> texts);

/// Sets those of `name=value` texts, later ones over earlier ones.
Status setSourceLimits(std::span<const std::string> texts, SourceLimits &limits);

} // namespace plim::targets
