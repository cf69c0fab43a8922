// Specialization: what the host says of code for certain extents, of an engine or a load.
//
// Threads: any.
#pragma once

#include "engine/session/Engine.h"
#include "plimsoll/base.h"

#include <optional>

namespace plim::capi {

/// `out` stays as it is for the default. `count` is how many extents have code at a time, 0 for the
/// default number. InvalidArgument for a kind that there is not, and for a count above 65,536.
inline Status readSpecialization(plim_specialization given, uint32_t count,
                                 std::optional<SpecializationOptions> &out) {
  SpecializationOptions options;
  switch (given) {
  case PLIM_SPECIALIZATION_DEFAULT:
    return okStatus();
  case PLIM_SPECIALIZATION_NONE:
    break;
  case PLIM_SPECIALIZATION_ON_REQUEST:
    options.mode = Specialization::OnRequest;
    break;
  case PLIM_SPECIALIZATION_HOT:
    options.mode = Specialization::Hot;
    break;
  default:
    return invalidArgumentError(std::to_string(given) + " is no kind of specialization");
  }
  if (count > 1u << 16)
    return invalidArgumentError("specialization_count is too large");
  if (count != 0)
    options.atMost = static_cast<int>(count);
  out = options;
  return okStatus();
}

} // namespace plim::capi
