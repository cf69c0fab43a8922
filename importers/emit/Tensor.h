// Tensors that a model has: constants. The bytes of large ones stay where the file has them, kept
// by `owner`.
//
// Immutable once made; any thread may read one.
#pragma once

#include "importers/emit/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plim::importers {

/// Elements densely in row-major order, little-endian.
struct Tensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner; // null: whoever gave the file's bytes
  bool isOfFile = false;             // not of memory: of a file that is mapped, and unaligned
  /// Of a type of less than 8 bits: has each of `bytes` several of them, the first in the low bits?
  /// Only the readers below do not mind.
  bool isPacked = false;

  /// The product of the extents. Readers refuse a tensor for which it overflows, or does not fit
  /// its bytes.
  int64_t elementCount() const;
  /// An element in row-major order, as an integer: `index` is from 0 to elementCount() - 1, which
  /// is not checked. Floats are cut off, those that modules do not have are their bits; U64 beyond 63 bits
  /// wraps. Not of complex numbers and strings.
  int64_t integerAt(int64_t index) const;
  /// The same as a double.
  double realAt(int64_t index) const;
};

using TensorPtr = std::shared_ptr<const Tensor>;

/// A tensor that owns its elements: `bytes` has all of them, dense and little-endian.
TensorPtr makeTensor(ElementType type, std::vector<int64_t> shape, std::vector<std::byte> bytes,
                     std::string name = "");

} // namespace plim::importers
