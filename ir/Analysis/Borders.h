// Tensors that are zero around an interior, as images are that were padded for a convolution.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace plim::ir {

/// On a tensor argument of a dispatch function: for each dimension, how many indices at its begin and how many at its end are zero in
/// all of its dispatches.
inline constexpr llvm::StringLiteral zeroBordersAttr =
    "plim.zero_borders"; // array<i64: begin, end, begin, end, ..>

/// The part of a tensor that may hold anything but zeros.
struct Interior {
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<mlir::OpFoldResult>
      sizes; // null where the interior ends with the tensor, or nobody knows where
};

/// Of a tensor that is inserted into zeros, or of an argument with that attribute; nothing of all others.
std::optional<Interior> interiorOf(mlir::Value tensor);

} // namespace plim::ir
