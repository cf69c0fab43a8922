// Takes the elements of large initialisers out of a file's bytes before protobuf copies them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace plim::importers {

/// A model without the `raw_data` of its larger initialisers, and where that lies.
struct WithoutWeights {
  std::string model;
  /// By the position of the initialiser in the graph; in the bytes of the file, unaligned.
  std::map<int, std::span<const std::byte>> weights;
};

/// Reads the encoding of a model, of which it knows three fields. Nothing if the encoding is
/// damaged, or not as every writer leaves it; then protobuf has to read all of it. The spans are in
/// `bytes`.
std::optional<WithoutWeights> takeWeights(std::span<const std::byte> bytes);

} // namespace plim::importers
