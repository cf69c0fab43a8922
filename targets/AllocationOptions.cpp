#include "targets/AllocationOptions.h"

#include "support/Nearest.h"

#include <algorithm>
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

constexpr std::pair<std::string_view, int64_t SourceLimits::*> sourceLimits[] = {
    {"max_text_bytes", &SourceLimits::textBytes},
    {"max_operations", &SourceLimits::operations},
    {"max_rank", &SourceLimits::rank},
    {"max_vector_elements", &SourceLimits::vectorElements},
    {"max_constant_bytes", &SourceLimits::constantBytes},
};

/// Null for other names.
int64_t SourceLimits::*sourceLimit(std::string_view name) {
  for (auto [known, member] : sourceLimits)
    if (known == name)
      return member;
  return nullptr;
}

constexpr std::string_view stackLimits[] = {"max_stack_alloca_bytes", "stack_budget_bytes",
                                            "external_workspace_only", "workspace_alignment"};

Status unknownLimit(std::string_view name, bool isOfHost) {
  std::vector<std::string> known(std::begin(stackLimits), std::end(stackLimits));
  if (isOfHost)
    for (auto [each, member] : sourceLimits)
      known.emplace_back(each);
  std::string message = "unknown limit '" + std::string(name) + "'; known are ";
  for (size_t i = 0; i < known.size(); ++i)
    message += (i == 0 ? "" : i + 1 == known.size() ? " and " : ", ") + known[i];
  return invalidArgumentError(message + suggestion(name, known));
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

Status checkStackLimit(std::string_view name, const LimitValue &value) {
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
    return unknownLimit(name, /*isOfHost=*/false);
  }
  return okStatus();
}

StatusOr<Limit> parseLimit(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return invalidArgumentError("limit '" + std::string(text) +
                                "' must be NAME=NUMBER, or true or false");
  const std::string_view value = text.substr(equals + 1);
  Limit limit = {std::string(text.substr(0, equals)), value == "true"};
  if (value != "true" && value != "false") {
    std::optional<int64_t> number = parseNumber(value);
    if (!number)
      return invalidArgumentError("limit '" + std::string(text) +
                                  "' must be NAME=NUMBER, or true or false");
    limit.value = *number;
  }
  if (sourceLimit(limit.name)) {
    const auto *number = std::get_if<int64_t>(&limit.value);
    if (!number || *number < 0)
      return invalidArgumentError("limit '" + limit.name + "' must be an i64 that is not negative");
    return limit;
  }
  if (std::ranges::find(stackLimits, limit.name) == std::end(stackLimits))
    return unknownLimit(limit.name, /*isOfHost=*/true);
  PLIM_RETURN_IF_ERROR(checkStackLimit(limit.name, limit.value));
  return limit;
}

StatusOr<std::vector<Limit>> stackLimitsOf(std::span<const std::string> texts) {
  std::vector<Limit> limits;
  for (const std::string &text : texts) {
    PLIM_ASSIGN_OR_RETURN(Limit limit, parseLimit(text));
    if (!sourceLimit(limit.name))
      limits.push_back(std::move(limit));
  }
  return limits;
}

Status setSourceLimits(std::span<const std::string> texts, SourceLimits &limits) {
  for (const std::string &text : texts) {
    PLIM_ASSIGN_OR_RETURN(Limit limit, parseLimit(text));
    if (int64_t SourceLimits::*member = sourceLimit(limit.name))
      limits.*member = std::get<int64_t>(limit.value);
  }
  return okStatus();
}

} // namespace plim::targets
