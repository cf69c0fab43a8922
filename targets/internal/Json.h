// TargetDescription to and from a JSON document, for the codec, overrides and the registry.
//
// Owns the parsing rules (no repeated keys, bounded nesting) and the error paths; no exception of
// the JSON library leaves these functions. Must not know tags or probes. Stateless.
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

/// Reads a whole file. NotFound if it cannot be opened, DataLoss if reading fails half-way.
StatusOr<std::string> readFile(const std::string &path);

} // namespace plim::targets::internal
