// Tensors that a model has: constants. The bytes of large ones stay where the file has them, kept by `owner`.
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

  /// Overflow is refused when a tensor is read.
  int64_t elementCount() const;
  /// Of an integer or truth value; index from 0 to elementCount() - 1.
  int64_t integerAt(int64_t index) const;
  /// Of any number.
  double realAt(int64_t index) const;
};

using TensorPtr = std::shared_ptr<const Tensor>;

/// A tensor that owns its elements.
TensorPtr makeTensor(ElementType type, std::vector<int64_t> shape, std::vector<std::byte> bytes,
                     std::string name = "");

} // namespace plim::importers
