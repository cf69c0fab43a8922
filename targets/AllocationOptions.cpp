#include "targets/AllocationOptions.h"

#include <bit>
#include <charconv>
#include <optional>

namespace plim::targets {

namespace {

/// All of `text`, or nothing.
std::optional<int64_t> parseNumber(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

} // namespace

Status checkPolicy(std::string_view policy) {
  for (std::string_view known : {"auto", "stack", "workspace", "heap"})
    if (policy == known)
      return okStatus();
  constexpr std::string_view fixed = "fixed:";
  if (policy.starts_with(fixed) && parseNumber(policy.substr(fixed.size())).value_or(-1) >= 0)
    return okStatus();
  return invalidArgumentError("unknown allocation policy '" + std::string(policy) +
                              "'; known are auto, stack, workspace, heap and fixed:N");
}

Status checkLimit(std::string_view name, const LimitValue &value) {
  const std::string limit = "limit '" + std::string(name) + "' ";
  const auto *number = std::get_if<int64_t>(&value);
  if (name == "external_workspace_only") {
    if (number)
      return invalidArgumentError(limit + "must be true or false");
  } else if (name == "max_stack_alloca_bytes" || name == "stack_budget_bytes") {
    if (!number || *number < 0)
      return invalidArgumentError(limit + "must be an i64 that is not negative");
  } else if (name == "workspace_alignment") {
    if (!number || *number > int64_t(1) << 30 || *number <= 0 ||
        !std::has_single_bit(static_cast<uint64_t>(*number)))
      return invalidArgumentError(limit + "must be an i64, a power of two up to 2^30");
  } else {
    return invalidArgumentError("unknown limit '" + std::string(name) +
                                "'; known are max_stack_alloca_bytes, stack_budget_bytes, "
                                "external_workspace_only and workspace_alignment");
  }
  return okStatus();
}

StatusOr<Limit> parseLimit(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return invalidArgumentError("limit '" + std::string(text) +
                                "' must be NAME=BYTES, or true or false");
  const std::string_view value = text.substr(equals + 1);
  Limit limit = {std::string(text.substr(0, equals)), value == "true"};
  if (value != "true" && value != "false") {
    std::optional<int64_t> number = parseNumber(value);
    if (!number)
      return invalidArgumentError("limit '" + std::string(text) +
                                  "' must be NAME=BYTES, or true or false");
    limit.value = *number;
  }
  PLIM_RETURN_IF_ERROR(checkLimit(limit.name, limit.value));
  return limit;
}

} // namespace plim::targets
