#include "capi/Limits.h"

#include "capi/Border.h"

namespace plim::capi {

namespace {

constexpr std::pair<const char *, int64_t plim_limits::*> numbers[] = {
    {"max_stack_alloca_bytes", &plim_limits::max_stack_alloca_bytes},
    {"stack_budget_bytes", &plim_limits::stack_budget_bytes},
    {"workspace_alignment", &plim_limits::workspace_alignment},
    {"max_text_bytes", &plim_limits::max_text_bytes},
    {"max_operations", &plim_limits::max_operations},
    {"max_rank", &plim_limits::max_rank},
    {"max_vector_elements", &plim_limits::max_vector_elements},
    {"max_constant_bytes", &plim_limits::max_constant_bytes},
};

} // namespace

Status readLimits(const plim_limits *limits, std::vector<std::string> &out) {
  plim_limits given;
  PLIM_RETURN_IF_ERROR(readStruct(limits, "limits", given));
  for (auto [name, member] : numbers) {
    const int64_t number = given.*member;
    if (number < PLIM_LIMIT_ZERO)
      return invalidArgumentError("limit '" + std::string(name) + "' is " + std::to_string(number) +
                                  ", which is negative");
    if (number != 0)
      out.push_back(std::string(name) + "=" +
                    std::to_string(number == PLIM_LIMIT_ZERO ? 0 : number));
  }
  switch (given.external_workspace_only) {
  case PLIM_CHOICE_UNSPECIFIED:
    return okStatus();
  case PLIM_CHOICE_YES:
    out.push_back("external_workspace_only=true");
    return okStatus();
  case PLIM_CHOICE_NO:
    out.push_back("external_workspace_only=false");
    return okStatus();
  default:
    return invalidArgumentError("limit 'external_workspace_only' is " +
                                std::to_string(given.external_workspace_only) +
                                ", which is no choice");
  }
}

} // namespace plim::capi
