// TargetDescription to and from a JSON document, for the codec, overrides and the registry.
//
// Owns the error paths. Must not know tags or probes. Stateless.
#pragma once

#include "support/Json.h"
#include "targets/TargetDescription.h"

namespace plim::targets::internal {

Json toDocument(const TargetDescription &target);

/// Decodes and verifies.
StatusOr<TargetDescription> fromDocument(const Json &document);

} // namespace plim::targets::internal
