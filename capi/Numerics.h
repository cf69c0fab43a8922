// Numerics: what the host says of rounding, of an engine or a load.
//
// Threads: any.
#pragma once

#include "jit/Compiler.h"
#include "plimsoll/base.h"

#include <optional>

namespace plim::capi {

/// `out` stays as it is for what is unspecified. InvalidArgument for a kind that there is not.
inline Status readNumerics(plim_numerics given, std::optional<jit::Numerics> &out) {
  switch (given) {
  case PLIM_NUMERICS_UNSPECIFIED:
    return okStatus();
  case PLIM_NUMERICS_DEFAULT:
    out = jit::Numerics::Default;
    return okStatus();
  case PLIM_NUMERICS_STRICT:
    out = jit::Numerics::Strict;
    return okStatus();
  default:
    return invalidArgumentError(std::to_string(given) + " is no kind of numerics");
  }
}

} // namespace plim::capi
