// TargetDescription to and from a JSON document, for the codec, overrides and the registry.
//
// Owns the parsing rules (no repeated keys, bounded nesting) and the error paths; no exception of
// the JSON library leaves these functions. Must not know tags or probes. Stateless. To be included
// only where exceptions are on: without them the library's inline functions abort instead.
#pragma once

#include "targets/TargetDescription.h"

#include <nlohmann/json.hpp>

namespace plim::targets::internal {

/// Keeps keys in the order in which they were written.
using Json = nlohmann::ordered_json;

/// InvalidArgument with line and column; repeated keys and nesting beyond 16 levels are faults too.
StatusOr<Json> parseJson(std::string_view text);

Json toDocument(const TargetDescription &target);

/// Decodes and verifies.
StatusOr<TargetDescription> fromDocument(const Json &document);

} // namespace plim::targets::internal
