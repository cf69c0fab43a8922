// Reads a StableHLO module and writes one in upstream dialects: the whole of this format, as the door sees it.
//
// Thread safety: any thread. Needs 1 MiB of stack.
#pragma once

#include "importers/emit/Error.h"
#include "importers/emit/Tensor.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plim::importers::stablehlo {

/// So many bytes of a file tell what it is.
constexpr size_t headBytes = size_t(1) << 20;

/// Does a file that begins so hold StableHLO: a text in which an operation of it stands, or its portable bytecode?
bool isStablehlo(std::string_view head);

struct Imported {
  std::string text; // of the module
  std::vector<TensorPtr> parameters;
  std::string summary; // lines for people
};

/// Throws ImportError that begins with "line:column: " where it is known.
Imported import(std::string_view text);

} // namespace plim::importers::stablehlo
