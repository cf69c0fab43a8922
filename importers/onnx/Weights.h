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

/// Reads the encoding, of which it knows three fields. Nothing where that is damaged, or not as every writer leaves it: to
/// read it is protobuf's then.
std::optional<WithoutWeights> takeWeights(std::span<const std::byte> bytes);

} // namespace plim::importers
