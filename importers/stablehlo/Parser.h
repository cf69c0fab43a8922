// Reads MLIR's text of the dialects that exporters of StableHLO write, in both of its forms. No other dialect, and no MLIR.
//
// Nothing in a text is trusted: nesting, sizes and counts are bounded. Throws ImportError that begins with "line:column: ".
// Thread safety: any thread. Needs some 500 bytes of stack for each level of nesting, of which there are at most 256.
#pragma once

#include "importers/stablehlo/Module.h"

#include <string>
#include <string_view>

namespace plim::importers::stablehlo {

/// The text must outlive the module.
Module parseModule(std::string_view text);

/// "12:5", both from 1.
std::string placeOf(std::string_view text, size_t offset);

/// The elements of a resource as a type wants them; `digits` are hexadecimal. Throws ImportError without a place.
TensorPtr resourceTensor(std::string_view digits, const Type &type, const std::string &name);

} // namespace plim::importers::stablehlo
