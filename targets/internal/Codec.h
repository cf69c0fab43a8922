// TargetDescription to and from a JSON document, for the codec, overrides and the registry.
//
// Owns the error paths. Must not know tags or probes. Stateless.
#pragma once

#include "support/Json.h"
#include "targets/TargetDescription.h"

namespace plim::targets::internal {

/// All fields, in the order of Fields.h.
Json toDocument(const TargetDescription &target);

/// Decodes and verifies. Keys that are absent keep their defaults. InvalidArgument, with the path
/// of the key, for one that there is not or a value that cannot be; also the errors of verify().
StatusOr<TargetDescription> fromDocument(const Json &document);

} // namespace plim::targets::internal
